/**
 * What a model reads of one tool: a member of `declare const tools: { … }`, in the fewest characters that
 * keep every name, type, constraint and reason. A declaration that outgrows its cap loses detail step by
 * step (descriptions, constraints, depth, long enumerations, properties), says so in place and in a note, and
 * never turns into a bare `unknown`. Pure: same tool, same text, whatever the order of its keys.
 */
import type { TagLimits } from "./constraints.ts";
import { propertyKey } from "./literal.ts";
import type { NamedType } from "./named-types.ts";
import { type Detail, type RenderedType, renderType } from "./schema-type.ts";
import { commentLines, commentText } from "./untrusted-text.ts";

/** Characters of a tool's description in the compact form. */
export const TOOL_DESCRIPTION_CHARS = 600;
/** Characters of a property's description in the compact form: of an argument, and of a result. */
export const PROPERTY_DESCRIPTION_CHARS = 200;
export const RESULT_DESCRIPTION_CHARS = 120;
/** Characters of one tool's arguments and result in the compact form, their named types included. */
export const INPUT_CHARS = 8_000;
export const OUTPUT_CHARS = 4_000;
/** Characters of each in the other forms. */
export const FULL_CHARS = 60_000;

/**
 * - `compact`: what codemode.d.ts shows, capped.
 * - `full`: what `describe` and `describeTool` show: whole descriptions, every constraint.
 * - `check`: what scripts are type-checked against: no comments; open objects take any property, and what a
 *   schema leaves open is `any`.
 */
export type DeclarationForm = "compact" | "full" | "check";

export interface DeclarableTool {
  /** The folded name; any other is quoted. */
  readonly name: string;
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
  /** `value`: a call resolves to what `outputSchema` describes, not to a result that holds it. */
  readonly resolvesTo?: "result" | "value";
}

export interface DeclarationNote {
  readonly kind: "degraded" | "external-ref" | "unresolved-ref";
  /** JSON Pointer into the tool. */
  readonly pointer: "/inputSchema" | "/outputSchema";
  readonly message: string;
}

export interface Declaration {
  /** The member, its comment first, without indentation or a newline at its end. */
  readonly text: string;
  /** Type statements the member refers to, by name. Equal names in several declarations have equal texts. */
  readonly types: readonly NamedType[];
  readonly notes: readonly DeclarationNote[];
}

export function renderDeclaration(
  tool: DeclarableTool,
  options: { readonly form?: DeclarationForm } = {},
): Declaration {
  const form = options.form ?? "compact";
  const notes: DeclarationNote[] = [];
  const input =
    tool.inputSchema === undefined ? undefined : renderFitting(tool.inputSchema, "/inputSchema", form, notes);
  const output =
    tool.outputSchema === undefined ? undefined : renderFitting(tool.outputSchema, "/outputSchema", form, notes);
  const head = comment(tool.description, input?.rootTags ?? [], form);
  const type = output === undefined || isUntold(output.text) ? undefined : output.text;
  const result = tool.resolvesTo === "value" ? promised(type, form) : type === undefined ? "R" : `R<${type}>`;
  const text = `${head}${propertyKey(tool.name)}(${parameter(input, form)}): ${result};`;
  return { text, types: together(input?.types ?? [], output?.types ?? []), notes };
}

/** One tool by itself, in full: its named types and its declaration, as `describe` and `describeTool` show it. */
export function renderDescription(tool: DeclarableTool): string {
  const { text, types } = renderDeclaration(tool, { form: "full" });
  return [...types.map((type) => type.text), text].join("\n");
}

function comment(description: unknown, tags: readonly string[], form: DeclarationForm): string {
  if (form === "check") return "";
  const suffix = tags.length === 0 ? "" : `[${tags.join(", ")}]`;
  if (form === "full") {
    const lines = commentLines(description, FULL_CHARS);
    return [...lines, ...(suffix === "" ? [] : [suffix])].map((line) => `// ${line}\n`).join("");
  }
  const words = commentText(description, TOOL_DESCRIPTION_CHARS);
  if (words === "") return suffix === "" ? "" : `// ${suffix}\n`;
  return suffix === "" ? `// ${words}\n` : `// ${words} ${suffix}\n`;
}

function parameter(input: RenderedType | undefined, form: DeclarationForm): string {
  if (input === undefined) return form === "check" ? "args?: any" : "args?: object";
  if (input.empty && form !== "check") return "";
  return input.optional ? `args?: ${input.text}` : `args: ${input.text}`;
}

function promised(type: string | undefined, form: DeclarationForm): string {
  return `Promise<${type ?? (form === "check" ? "any" : "unknown")}>`;
}

function isUntold(type: string): boolean {
  return type === "unknown" || type === "any";
}

function together(a: readonly NamedType[], b: readonly NamedType[]): readonly NamedType[] {
  if (a.length === 0 || b.length === 0) return a.length === 0 ? b : a;
  return [...new Map([...a, ...b].map((type) => [type.name, type])).values()];
}

const COMPACT_TAGS: TagLimits = { pattern: 60, default: 40, plainDefaults: false, readOnly: false };
const RESULT_TAGS: TagLimits = { ...COMPACT_TAGS, readOnly: true };
const FULL_TAGS: TagLimits = { pattern: 2_000, default: 2_000, plainDefaults: true, readOnly: false };

const WHOLE = { levels: 80, enumValues: 2_000, properties: 2_000, named: true, check: false };
const UNTOLD = { description: 0, tags: undefined };
const CHECK: Detail = { ...WHOLE, ...UNTOLD, maxChars: FULL_CHARS, check: true };
const FULL: Detail = { ...WHOLE, maxChars: FULL_CHARS, description: FULL_CHARS, tags: FULL_TAGS };
const INPUT: Detail = {
  ...WHOLE,
  maxChars: INPUT_CHARS,
  description: PROPERTY_DESCRIPTION_CHARS,
  tags: COMPACT_TAGS,
};
const OUTPUT: Detail = { ...WHOLE, maxChars: OUTPUT_CHARS, description: RESULT_DESCRIPTION_CHARS, tags: RESULT_TAGS };

/** A way to show less, and how a note tells it. */
interface Step {
  readonly says: string;
  readonly change: Partial<Detail>;
}

const BARE: Step = { says: "without descriptions and constraints", change: { ...UNTOLD, enumValues: 40 } };
/** Where the bare type fits, as much of the rest as fits too. */
const TELLING: readonly Step[] = [
  { says: "with short descriptions", change: { description: 60 } },
  { says: "without descriptions", change: { description: 0 } },
];
const MIDDLE = down(3);
const DEEPER: readonly Step[] = [down(4), down(6)];
const SHALLOWER: readonly Step[] = [
  down(2),
  down(1),
  {
    says: "with some of its own properties only",
    change: { ...UNTOLD, enumValues: 4, levels: 1, named: false, properties: 60 },
  },
];

function down(levels: number): Step {
  const says = `down to ${levels === 1 ? "its own properties" : `${levels} levels`}, ${BARE.says}`;
  return { says, change: { ...UNTOLD, enumValues: 12, levels, named: false } };
}

type Shown = { readonly says: string; readonly type: RenderedType };

/** The most detailed rendering that fits, found without trying every step: each costs up to the cap. */
function mostThatFits(schema: unknown, whole: Detail): Shown | undefined {
  const attempt = ({ says, change }: Step): Shown | undefined => {
    const type = renderType(schema, { ...whole, ...change });
    return type === undefined ? undefined : { says, type };
  };
  const firstOf = (steps: readonly Step[]): Shown | undefined => {
    for (const step of steps) {
      const shown = attempt(step);
      if (shown !== undefined) return shown;
    }
    return undefined;
  };
  const bare = attempt(BARE);
  if (bare !== undefined) return firstOf(TELLING) ?? bare;
  let shown = attempt(MIDDLE);
  if (shown === undefined) return firstOf(SHALLOWER);
  for (const step of DEEPER) {
    const deeper = attempt(step);
    if (deeper === undefined) break;
    shown = deeper;
  }
  return shown;
}

/** The whole type, or as much of it as fits; notes tell what is missing. */
function renderFitting(
  schema: unknown,
  pointer: DeclarationNote["pointer"],
  form: DeclarationForm,
  notes: DeclarationNote[],
): RenderedType {
  const whole = form === "check" ? CHECK : form === "full" ? FULL : pointer === "/inputSchema" ? INPUT : OUTPUT;
  const what = pointer === "/inputSchema" ? "arguments" : "result";
  const complete = renderType(schema, whole);
  const shown =
    complete !== undefined
      ? { says: "", type: complete }
      : (mostThatFits(schema, whole) ?? { says: "as what kind of value it is", type: kindAlone(schema, form) });
  const { says, type } = shown;
  if (says !== "") {
    notes.push({
      kind: "degraded",
      pointer,
      message: `${what}: longer than ${whole.maxChars} characters, shown ${says}`,
    });
  } else if (type.cut.size > 0) {
    notes.push({ kind: "degraded", pointer, message: `${what}: ${[...type.cut].sort().map(cutWords).join("; ")}` });
  }
  for (const { kind, ref } of type.lost) {
    const where = kind === "external-ref" ? "leads out of the schema" : "leads nowhere";
    notes.push({ kind, pointer, message: `${what}: $ref "${commentText(ref, 200)}" ${where}; shown as unknown` });
  }
  return type;
}

/** For a schema no step makes fit: names of many thousand characters, unions of as many variants. */
function kindAlone(schema: unknown, form: DeclarationForm): RenderedType {
  const { properties, required } = (schema ?? {}) as { properties?: unknown; required?: unknown };
  const count = typeof properties === "object" && properties !== null ? Object.keys(properties).length : 0;
  const words = count === 0 ? "unknown /* too large to show */" : `object /* ${count} properties */`;
  return {
    text: form === "check" ? "any" : words,
    types: [],
    rootTags: [],
    optional: count > 0 && !(Array.isArray(required) && required.length > 0),
    empty: false,
    lost: [],
    cut: new Set(),
  };
}

function cutWords(cut: string): string {
  switch (cut) {
    case "levels":
      return "nested too deeply to show";
    case "enumerations":
      return "long enumerations shown as their type";
    case "properties":
      return "some properties left out";
    default:
      return "a $ref that refers only to itself is shown as unknown";
  }
}
