/**
 * What a schema demands beyond its TypeScript type, in words a script's author knows: `1..14`, `> 0`,
 * `non-empty`, `date-time`, `default 3`. Generator noise (safe-integer bounds, defaults that say
 * what leaving a value out says anyway) is no constraint. Every tag is one clean line.
 */

import { literalType } from "./literal.ts";
import type { JsonObject } from "./references.ts";
import { commentText } from "./untrusted-text.ts";

export interface TagLimits {
  /** Longest `pattern` shown, in characters. */
  readonly pattern: number;
  /** Longest `default` shown, in characters. */
  readonly default: number;
  /** Also say defaults that are falsy, or empty. */
  readonly plainDefaults: boolean;
  /** Only what helps to read a value: format, encoding, deprecation. */
  readonly readOnly: boolean;
}

const KEYWORDS = new Set([
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "pattern",
  "format",
  "contentEncoding",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minProperties",
  "maxProperties",
  "default",
  "deprecated",
  "anyOf",
  "oneOf",
]);
const MAX_FORMAT = 40;
/** Alternatives of `required` lists that are spelled out. */
const MAX_ALTERNATIVES = 6;

/** Tags of one schema (no `$ref`, no `allOf`), most telling first; `seen` text makes a stated default superfluous. */
export function constraintTags(schema: JsonObject, limits: TagLimits, seen: string): string[] {
  let any = false;
  for (const keyword in schema) {
    if (KEYWORDS.has(keyword)) {
      any = true;
      break;
    }
  }
  if (!any) return [];
  const tags: string[] = [];
  if (!limits.readOnly) demandTags(schema, limits, tags);
  if (typeof schema["format"] === "string") push(tags, commentText(schema["format"], MAX_FORMAT));
  push(tags, commentText(schema["contentEncoding"], MAX_FORMAT));
  if (schema["deprecated"] === true) tags.push("deprecated");
  if (!limits.readOnly) push(tags, defaultTag(schema["default"], limits, seen));
  return tags;
}

function demandTags(schema: JsonObject, limits: TagLimits, tags: string[]): void {
  push(tags, numberRange(schema));
  if (isCount(schema["multipleOf"]) && schema["multipleOf"] !== 1) tags.push(`multiple of ${schema["multipleOf"]}`);
  push(tags, countRange(schema["minLength"], schema["maxLength"], "chars"));
  push(tags, countRange(schema["minItems"], schema["maxItems"], "items"));
  push(tags, countRange(schema["minProperties"], schema["maxProperties"], "keys"));
  if (schema["uniqueItems"] === true) tags.push("unique");
  const pattern = schema["pattern"];
  if (typeof pattern === "string" && pattern.length <= limits.pattern) {
    tags.push(`/${commentText(pattern, limits.pattern)}/`);
  }
  push(tags, requiredAlternatives(schema["anyOf"] ?? schema["oneOf"]));
}

function push(tags: string[], tag: string): void {
  if (tag !== "") tags.push(tag);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/** A bound a person set: generators write the safe-integer range for "any integer". */
function bound(value: unknown): number | undefined {
  return isCount(value) && Math.abs(value) < Number.MAX_SAFE_INTEGER ? value : undefined;
}

/** `1..14`, `>= 1`, `> 0 < 1`. */
function numberRange(schema: JsonObject): string {
  const lower = limit(schema["minimum"], schema["exclusiveMinimum"], (a, b) => a > b);
  const upper = limit(schema["maximum"], schema["exclusiveMaximum"], (a, b) => a < b);
  if (lower?.within && upper?.within) return `${lower.value}..${upper.value}`;
  const words = [];
  if (lower !== undefined) words.push(`${lower.within ? ">=" : ">"} ${lower.value}`);
  if (upper !== undefined) words.push(`${upper.within ? "<=" : "<"} ${upper.value}`);
  return words.join(" ");
}

/** The bound that decides. Draft 4's `exclusiveMinimum: true` makes `minimum` itself exclusive; later ones have two numbers. */
function limit(
  inclusive: unknown,
  exclusive: unknown,
  isTighter: (a: number, b: number) => boolean,
): { readonly value: number; readonly within: boolean } | undefined {
  const within = bound(inclusive);
  const beyond = exclusive === true ? within : bound(exclusive);
  if (beyond !== undefined && (within === undefined || !isTighter(within, beyond))) {
    return { value: beyond, within: false };
  }
  return within === undefined ? undefined : { value: within, within: true };
}

function countRange(min: unknown, max: unknown, unit: string): string {
  const least = bound(min);
  const most = bound(max);
  if (most !== undefined) {
    if (least === most) return `${most} ${unit}`;
    return least !== undefined && least > 0 ? `${least}..${most} ${unit}` : `<= ${most} ${unit}`;
  }
  if (least === undefined || least <= 0) return "";
  return least === 1 ? "non-empty" : `>= ${least} ${unit}`;
}

function defaultTag(value: unknown, limits: TagLimits, seen: string): string {
  if (value === undefined || value === null) return "";
  if (!limits.plainDefaults && isPlainDefault(value)) return "";
  const json = literalType(value);
  if (json.length > limits.default) return "";
  // Descriptions often state the default themselves: "Results per page (default 20)".
  if (/default/i.test(seen) && seen.includes(typeof value === "string" ? value : json)) return "";
  return `default ${json}`;
}

function isPlainDefault(value: unknown): boolean {
  if (value === false || value === "") return true;
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/** `anyOf: [{required: [a]}, {required: [b, c]}]` as `a or b+c`; "" for any other union. */
function requiredAlternatives(variants: unknown): string {
  if (!Array.isArray(variants) || variants.length === 0 || !variants.every(onlyRequires)) return "";
  const names = variants.slice(0, MAX_ALTERNATIVES).map((variant: { required: unknown[] }) => {
    const list = variant.required.slice(0, MAX_ALTERNATIVES).map((name) => commentText(name, MAX_FORMAT));
    return list.join("+");
  });
  if (names.some((name) => name === "")) return "";
  return `needs ${names.join(" or ")}${variants.length > MAX_ALTERNATIVES ? " or …" : ""}`;
}

/** A variant that says no more than which properties must be there (or must not). */
export function onlyRequires(variant: unknown): variant is { required: unknown[] } {
  if (typeof variant !== "object" || variant === null || !Array.isArray((variant as JsonObject)["required"])) {
    return false;
  }
  for (const keyword in variant) {
    if (keyword !== "required" && keyword !== "not" && keyword !== "description" && keyword !== "title") return false;
  }
  return true;
}
