/**
 * `allOf`, and `$ref` beside other keywords, as one plain schema. What all parts demand is demanded of
 * the result; what no single keyword can say (two patterns, a third `anyOf`) is left out, so the result
 * accepts at least what the parts accept together. A part holding only `if`, `not` or annotations adds
 * nothing and so widens nothing.
 */
import { literalType } from "./literal.ts";
import { isObject, type JsonObject } from "./references.ts";

/** Keywords that shape the type. A `$ref` beside none of them is just a reference. */
const STRUCTURAL = [
  "properties",
  "required",
  "additionalProperties",
  "patternProperties",
  "items",
  "prefixItems",
  "enum",
  "const",
  "anyOf",
  "oneOf",
  "allOf",
];

export function isStructural(schema: JsonObject): boolean {
  return STRUCTURAL.some((keyword) => schema[keyword] !== undefined);
}

/** Keywords that add nothing to what a merged schema shows. */
const SILENT = new Set([
  "if",
  "then",
  "else",
  "not",
  "allOf",
  "$ref",
  "$comment",
  "$schema",
  "$id",
  "$defs",
  "definitions",
  "title",
]);

/** False for a part that holds conditions and containers only, as the `allOf` of many a generator does. */
export function hasSay(part: JsonObject): boolean {
  for (const keyword in part) if (!SILENT.has(keyword)) return true;
  return false;
}

type Both = (schemas: readonly unknown[]) => unknown;
type Merged = Record<string, unknown>;

/** `parts` (own keywords first) as one schema without `$ref` and `allOf`; `both` joins two schemas of one place. */
export function mergeParts(parts: readonly JsonObject[], both: Both): JsonObject {
  const merged: Merged = {};
  const properties = new Map<string, unknown[]>();
  const required = new Set<unknown>();
  const unions: unknown[] = [];
  for (const part of parts) {
    for (const keyword in part) {
      const value = part[keyword];
      if (keyword === "properties") collectProperties(properties, value);
      else if (keyword === "required") addAll(required, value);
      else if (keyword === "type") mergeTypes(merged, value);
      else mergeKeyword(merged, keyword, part, both);
    }
    unions.push(part["anyOf"], part["oneOf"]);
  }
  if (properties.size > 0) {
    const joined: Merged = Object.create(null);
    for (const [name, schemas] of properties) joined[name] = schemas.length === 1 ? schemas[0] : both(schemas);
    merged["properties"] = joined;
  }
  if (required.size > 0) merged["required"] = [...required];
  const [first, second] = unions.filter(Array.isArray);
  if (first !== undefined) merged["anyOf"] = first;
  if (second !== undefined) merged["oneOf"] = second;
  return merged;
}

function mergeKeyword(merged: Merged, keyword: string, part: JsonObject, both: Both): void {
  const value = part[keyword];
  switch (keyword) {
    case "additionalProperties":
    case "items":
    case "additionalItems":
      merged[keyword] = narrower(merged[keyword], value, both);
      return;
    case "const":
      mergeValues(merged, [value]);
      return;
    case "enum":
      mergeValues(merged, value);
      return;
    case "minLength":
    case "minItems":
    case "minProperties":
      tighten(merged, keyword, value, Math.max);
      return;
    case "maxLength":
    case "maxItems":
    case "maxProperties":
      tighten(merged, keyword, value, Math.min);
      return;
    // Draft 4's booleans make the bound beside them exclusive; merged, all bounds are numbers.
    case "minimum":
      tighten(merged, part["exclusiveMinimum"] === true ? "exclusiveMinimum" : keyword, value, Math.max);
      return;
    case "maximum":
      tighten(merged, part["exclusiveMaximum"] === true ? "exclusiveMaximum" : keyword, value, Math.min);
      return;
    case "exclusiveMinimum":
      tighten(merged, keyword, value, Math.max);
      return;
    case "exclusiveMaximum":
      tighten(merged, keyword, value, Math.min);
      return;
    default:
      // Annotations and what can't be combined: the first part's word counts.
      if (merged[keyword] === undefined && FIRST_WORD.has(keyword)) merged[keyword] = value;
  }
}

const FIRST_WORD = new Set([
  "description",
  "default",
  "format",
  "pattern",
  "prefixItems",
  "patternProperties",
  "multipleOf",
  "deprecated",
  "uniqueItems",
  "contentEncoding",
  "nullable",
]);

function collectProperties(properties: Map<string, unknown[]>, value: unknown): void {
  if (!isObject(value)) return;
  for (const name of Object.keys(value)) {
    const schemas = properties.get(name);
    if (schemas === undefined) properties.set(name, [value[name]]);
    else schemas.push(value[name]);
  }
}

function addAll(names: Set<unknown>, value: unknown): void {
  if (Array.isArray(value)) for (const name of value) names.add(name);
}

function mergeTypes(merged: Merged, type: unknown): void {
  const before = merged["type"];
  if (before === undefined || before === type) {
    merged["type"] = type;
    return;
  }
  const theirs = Array.isArray(type) ? type : [type];
  const kept = (Array.isArray(before) ? before : [before]).flatMap((name) => {
    if (theirs.includes(name)) return [name];
    if (name === "number" && theirs.includes("integer")) return ["integer"];
    return name === "integer" && theirs.includes("number") ? ["integer"] : [];
  });
  merged["type"] = kept.length === 1 ? kept[0] : kept;
}

function tighten(merged: Merged, keyword: string, value: unknown, pick: (a: number, b: number) => number): void {
  if (typeof value !== "number") return;
  const before = merged[keyword];
  merged[keyword] = typeof before === "number" ? pick(before, value) : value;
}

function mergeValues(merged: Merged, values: unknown): void {
  if (!Array.isArray(values)) return;
  const before = merged["enum"];
  if (!Array.isArray(before)) {
    merged["enum"] = values;
    return;
  }
  const theirs = new Set(values.map((value) => literalType(value)));
  merged["enum"] = before.filter((value) => theirs.has(literalType(value)));
}

function narrower(before: unknown, next: unknown, both: Both): unknown {
  if (before === undefined || before === true) return next;
  if (next === true || before === false) return before;
  if (next === false) return false;
  return both([before, next]);
}
