/**
 * Changes one value in the text of a configuration file and leaves every other byte as it is: comments, order, indentation,
 * line ends, byte order mark, trailing commas. What is added looks like what stands beside it. A file that doesn't parse is
 * refused, and so is a path that leads through something that is no object. Pure.
 * This module imports jsonc-parser; import it lazily where a session starts.
 */
import { type Diagnostic, diagnostic } from "../diagnostic.ts";
import { additionTo } from "./edit-addition.ts";
import { indentAt, layoutOf, type Member, membersOf, printed, type Splice, spanOf, spliced } from "./edit-layout.ts";
import { removalFrom } from "./edit-removal.ts";
import { type Node, parseTree } from "./jsonc.ts";
import { quoted } from "./quote.ts";
import { parseConfigSource } from "./source.ts";

/** Objects are maps, because the order of their keys means something and `1` may be one of them. */
export type ConfigValue = string | number | boolean | ReadonlyMap<string, ConfigValue>;

export interface SourceEdit {
  /** Keys from the root on. Objects that are missing on the way are made. */
  readonly path: readonly [string, ...string[]];
  /** Undefined takes the last key of the path out. */
  readonly value: ConfigValue | undefined;
  /** What is written where the key can't be taken out alone, as when a comment beside it would lose what it is about. */
  readonly otherwise?: ConfigValue;
}

export type EditedSource =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

const BOM = "\ufeff";

/** `display` is the file's name as people should see it. */
export function editSource(text: string, display: string, edits: readonly SourceEdit[]): EditedSource {
  const bom = text.startsWith(BOM) ? BOM : "";
  let json = text.slice(bom.length);
  const { root, diagnostics } = parseConfigSource(json, display);
  if (root === undefined) return { ok: false, diagnostic: unparsed(display, diagnostics) };
  for (const edit of edits) {
    const splices = splicesFor(json, edit);
    if (typeof splices === "string") {
      return { ok: false, diagnostic: diagnostic("config-shape", `${display}: ${splices}`, { file: display }) };
    }
    json = spliced(json, splices);
  }
  return { ok: true, text: bom + json };
}

function unparsed(display: string, diagnostics: readonly Diagnostic[]): Diagnostic {
  const { line, column, message } = diagnostics.find(({ code }) => code === "config-syntax")!;
  return diagnostic("config-syntax", `${display} can't be changed as long as it doesn't parse: ${message}`, {
    file: display,
    line,
    column,
    notes: [`correct line ${line}, column ${column} first; nothing was written`],
  });
}

/** What has to be done to `json`, or why it can't be. */
function splicesFor(json: string, { path, value, otherwise }: SourceEdit): readonly Splice[] | string {
  let node: Node = parseTree(json, [], { allowTrailingComma: true })!;
  for (const [depth, key] of path.entries()) {
    if (node.type !== "object") return `${depth === 0 ? "its content" : pathText(path.slice(0, depth))} is no object`;
    const members = membersOf(node);
    const index = members.findLastIndex((member) => member.key === key);
    const member = members[index];
    const rest = path.slice(depth + 1);
    if (member === undefined) {
      return value === undefined ? [] : additionTo(json, node, key, nested(rest, value));
    }
    if (rest.length > 0) node = member.value;
    else if (value !== undefined) return replacement(json, member, value);
    else
      return (
        removed(json, node, members, index) ??
        (otherwise === undefined ? NOT_ALONE : replacement(json, member, otherwise))
      );
  }
  return [];
}

const NOT_ALONE = "it can't be taken out without what stands beside it; edit the file by hand";

/** A key that stands twice would come back with its other value. */
function removed(json: string, object: Node, members: readonly Member[], index: number): readonly Splice[] | undefined {
  const isOnlyOne = members.findIndex(({ key }) => key === members[index]!.key) === index;
  return isOnlyOne ? removalFrom(json, object, members, index) : undefined;
}

function replacement(json: string, { value: node }: Member, value: ConfigValue): readonly Splice[] {
  const isSame = typeof value !== "object" && node.value === value;
  if (isSame) return [];
  const { start, end } = spanOf(node);
  return [{ start, end, text: printed(value, layoutOf(json), { indent: indentAt(json, start), isMultiLine: true }) }];
}

function nested(path: readonly string[], value: ConfigValue): ConfigValue {
  return path.reduceRight<ConfigValue>((inner, key) => new Map([[key, inner]]), value);
}

function pathText(path: readonly string[]): string {
  return path.map(quoted).join(" → ");
}
