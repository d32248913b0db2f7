/**
 * The text of a configuration file as a tree in which everything knows its place. JSON with comments,
 * trailing commas and a byte order mark is accepted. Members keep the order of the file (a JavaScript
 * object would sort keys like `1` to the front, and the order of `toolExposure` means something), and
 * keys such as `__proto__` are only names.
 *
 * A file with a syntax error yields no tree: half a file could have lost the very line that hides a tool.
 * This module imports jsonc-parser; import it lazily where a session starts.
 */

import { type Diagnostic, diagnostic } from "../diagnostic.ts";
import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from "./jsonc.ts";
import { quoted } from "./quote.ts";
import type { SourceLocation } from "./server-config.ts";

export type ConfigPath = readonly (string | number)[];
export type ConfigNode = ConfigObject | ConfigArray | ConfigScalar;

export interface ConfigObject {
  readonly kind: "object";
  readonly at: SourceLocation;
  /** In the order of the file, each key once: of duplicates the last value counts, as in `JSON.parse`. */
  readonly members: ReadonlyMap<string, ConfigMember>;
}
export interface ConfigMember {
  readonly key: string;
  readonly keyAt: SourceLocation;
  readonly value: ConfigNode;
}
export interface ConfigArray {
  readonly kind: "array";
  readonly at: SourceLocation;
  readonly items: readonly ConfigNode[];
}
export interface ConfigScalar {
  readonly kind: "scalar";
  readonly at: SourceLocation;
  readonly value: string | number | boolean | null;
}

export interface ConfigSource {
  /** Absent when the text is not JSON. */
  readonly root?: ConfigNode;
  /** Syntax errors and duplicate keys. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Deeper than any real configuration, and far from where a recursive parser runs out of stack. */
const DEEPEST = 100;
/** After the first syntax error of a line the parser mostly stumbles over the same mistake again. */
const MOST_SYNTAX_ERRORS = 5;

/** Parses the text of one file; `display` is the file's name as people should see it. */
export function parseConfigSource(text: string, display: string): ConfigSource {
  const json = text.startsWith("\ufeff") ? text.slice(1) : text;
  const locationOf = locator(json, display);
  const syntaxError = (offset: number, message: string) =>
    diagnostic("config-syntax", message, locationOf(offset) satisfies SourceLocation);

  const tooDeep = offsetOfDepth(json, DEEPEST);
  if (tooDeep !== undefined) {
    return { diagnostics: [syntaxError(tooDeep, `nested more than ${DEEPEST} levels deep`)] };
  }
  const errors: ParseError[] = [];
  const tree = parseTree(json, errors, { allowTrailingComma: true });
  if (tree === undefined) return { diagnostics: [syntaxError(0, "the file is empty; the least it can hold is {}")] };
  if (errors.length > 0) {
    const firstOfLine = errors.filter(
      (error, index) =>
        errors.findIndex((other) => locationOf(other.offset).line === locationOf(error.offset).line) === index,
    );
    return {
      diagnostics: firstOfLine
        .slice(0, MOST_SYNTAX_ERRORS)
        .map((error) => syntaxError(error.offset, syntaxMessage(error))),
    };
  }
  const diagnostics: Diagnostic[] = [];
  return { root: convert(tree, locationOf, diagnostics), diagnostics };
}

/** The place of the value at `path`, or of its key; of the deepest part of the path that exists. */
export function locate(root: ConfigNode, path: ConfigPath, part: "key" | "value" = "value"): SourceLocation {
  let node = root;
  let at = root.at;
  for (const step of path) {
    const member = node.kind === "object" ? node.members.get(String(step)) : undefined;
    const next = member?.value ?? (node.kind === "array" ? node.items[Number(step)] : undefined);
    if (next === undefined) return at;
    at = part === "key" && member ? member.keyAt : next.at;
    node = next;
  }
  return at;
}

/** The tree as plain JSON data; its objects have no prototype. */
export function plainValue(node: ConfigNode): unknown {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "array") return node.items.map(plainValue);
  const value: Record<string, unknown> = Object.create(null);
  for (const [key, member] of node.members) value[key] = plainValue(member.value);
  return value;
}

type LocationOf = (offset: number) => SourceLocation;

function convert(node: Node, locationOf: LocationOf, diagnostics: Diagnostic[]): ConfigNode {
  const at = locationOf(node.offset);
  if (node.type === "array") {
    return { kind: "array", at, items: (node.children ?? []).map((child) => convert(child, locationOf, diagnostics)) };
  }
  if (node.type !== "object") return { kind: "scalar", at, value: node.value };
  const members = new Map<string, ConfigMember>();
  for (const property of node.children ?? []) {
    const [keyNode, valueNode] = property.children ?? [];
    if (keyNode === undefined || valueNode === undefined) continue; // can't be without a syntax error
    const key: string = keyNode.value;
    const keyAt = locationOf(keyNode.offset);
    const earlier = members.get(key);
    if (earlier) {
      const notes = [`the first is in line ${earlier.keyAt.line}, column ${earlier.keyAt.column}; remove one of them`];
      diagnostics.push(
        diagnostic("duplicate-key", `key ${quoted(key)} appears twice here; the last one counts`, { ...keyAt, notes }),
      );
    }
    members.set(key, { key, keyAt, value: convert(valueNode, locationOf, diagnostics) });
  }
  return { kind: "object", at, members };
}

/** Lines end at LF, CRLF or CR; columns count UTF-16 units, as editors do. */
function locator(text: string, file: string): LocationOf {
  const starts = [0];
  for (const lineEnd of text.matchAll(/\r\n|\n|\r/g)) starts.push(lineEnd.index + lineEnd[0].length);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { file, line: low + 1, column: offset - starts[low]! + 1 };
  };
}

/** Where the text is nested deeper than `limit`. The tree parser recurses, so it must be known beforehand. */
function offsetOfDepth(text: string, limit: number): number | undefined {
  // jsonc-parser's token kinds are a `const enum`, which isolated modules can't read.
  const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET, END] = [1, 2, 3, 4, 17];
  const scanner = createScanner(text, true);
  let depth = 0;
  for (let token: number = scanner.scan(); token !== END; token = scanner.scan()) {
    if (token === OPEN_BRACE || token === OPEN_BRACKET) depth++;
    else if (token === CLOSE_BRACE || token === CLOSE_BRACKET) depth--;
    if (depth > limit) return scanner.getTokenOffset();
  }
  return undefined;
}

function syntaxMessage(error: ParseError): string {
  return SYNTAX_MESSAGES.get(printParseErrorCode(error.error)) ?? "this is not JSON";
}

const SYNTAX_MESSAGES = new Map([
  ["InvalidSymbol", "unexpected text; JSON strings stand in double quotes"],
  ["InvalidNumberFormat", "this is not a JSON number"],
  ["PropertyNameExpected", "expected a key in double quotes"],
  ["ValueExpected", "expected a value"],
  ["ColonExpected", 'expected ":" after the key'],
  ["CommaExpected", 'expected "," before this'],
  ["CloseBraceExpected", 'expected "}" or "," here'],
  ["CloseBracketExpected", 'expected "]" or "," here'],
  ["EndOfFileExpected", "unexpected text after the end of the configuration"],
  ["UnexpectedEndOfComment", "this comment never ends"],
  ["UnexpectedEndOfString", "this string never ends"],
  ["UnexpectedEndOfNumber", "this number never ends"],
  ["InvalidUnicode", "\\u needs four hexadecimal digits"],
  ["InvalidEscapeCharacter", "unknown escape; a backslash is written \\\\"],
  ["InvalidCharacter", "control character in a string; write it as an escape such as \\n or \\t"],
]);
