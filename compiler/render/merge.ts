/**
 * `allOf`, and `$ref` beside other keywords, as one plain schema. What all parts demand is demanded of
 * the result; what no single keyword can say (two patterns, a third `anyOf`) is left out, so the result
 * accepts at least what the parts accept together. A part holding only `if`, `not` or annotations adds
 * nothing and so widens nothing.
 */
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
const LOWER = ["minLength", "minItems", "minProperties"];
const UPPER = ["maxLength", "maxItems", "maxProperties"];

export function isStructural(schema: JsonObject): boolean {
  return STRUCTURAL.some((keyword) => schema[keyword] !== undefined);
}

/** `parts` (own keywords first) as one schema without `$ref` and `allOf`; `both` joins two schemas of one place. */
export function mergeParts(parts: readonly JsonObject[], both: (schemas: readonly unknown[]) => unknown): JsonObject {
  const merged: Record<string, unknown> = Object.create(null);
  const properties = new Map<string, unknown[]>();
  const required = new Set<unknown>();
  const unions: unknown[] = [];
  for (const part of parts) {
    annotate(merged, part);
    mergeTypes(merged, part);
    mergeValues(merged, part);
    mergeBounds(merged, part);
    for (const keyword of ["additionalProperties", "items", "additionalItems"]) {
      if (part[keyword] !== undefined) merged[keyword] = narrower(merged[keyword], part[keyword], both);
    }
    if (isObject(part["properties"])) {
      for (const name of Object.keys(part["properties"])) {
        properties.set(name, [...(properties.get(name) ?? []), part["properties"][name]]);
      }
    }
    if (Array.isArray(part["required"])) for (const name of part["required"]) required.add(name);
    for (const keyword of ["anyOf", "oneOf"]) if (Array.isArray(part[keyword])) unions.push(part[keyword]);
  }
  if (properties.size > 0) {
    const joined: Record<string, unknown> = Object.create(null);
    for (const [name, schemas] of properties) joined[name] = schemas.length === 1 ? schemas[0] : both(schemas);
    merged["properties"] = joined;
  }
  if (required.size > 0) merged["required"] = [...required];
  if (unions[0] !== undefined) merged["anyOf"] = unions[0];
  if (unions[1] !== undefined) merged["oneOf"] = unions[1];
  return merged;
}

/** Keywords of which the first part's word counts. */
const FIRST_WORD = [
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
];

function annotate(merged: Record<string, unknown>, part: JsonObject): void {
  for (const keyword of FIRST_WORD) {
    if (merged[keyword] === undefined && part[keyword] !== undefined) merged[keyword] = part[keyword];
  }
}

function mergeTypes(merged: Record<string, unknown>, part: JsonObject): void {
  const type = part["type"];
  if (type === undefined) return;
  const before = merged["type"];
  if (before === undefined) {
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

function mergeValues(merged: Record<string, unknown>, part: JsonObject): void {
  const values = part["const"] !== undefined ? [part["const"]] : part["enum"];
  if (!Array.isArray(values)) return;
  const before = merged["enum"];
  if (!Array.isArray(before)) {
    merged["enum"] = values;
    return;
  }
  const theirs = new Set(values.map((value) => JSON.stringify(value)));
  merged["enum"] = before.filter((value) => theirs.has(JSON.stringify(value)));
}

function mergeBounds(merged: Record<string, unknown>, part: JsonObject): void {
  const tighten = (keyword: string, value: unknown, pick: (a: number, b: number) => number) => {
    if (typeof value !== "number") return;
    const before = merged[keyword];
    merged[keyword] = typeof before === "number" ? pick(before, value) : value;
  };
  for (const keyword of LOWER) tighten(keyword, part[keyword], Math.max);
  for (const keyword of UPPER) tighten(keyword, part[keyword], Math.min);
  const openBelow = part["exclusiveMinimum"] === true;
  const openAbove = part["exclusiveMaximum"] === true;
  tighten(openBelow ? "exclusiveMinimum" : "minimum", part["minimum"], Math.max);
  tighten("exclusiveMinimum", part["exclusiveMinimum"], Math.max);
  tighten(openAbove ? "exclusiveMaximum" : "maximum", part["maximum"], Math.min);
  tighten("exclusiveMaximum", part["exclusiveMaximum"], Math.min);
}

function narrower(before: unknown, next: unknown, both: (schemas: readonly unknown[]) => unknown): unknown {
  if (before === undefined || before === true) return next;
  if (next === true || before === false) return before;
  if (next === false) return false;
  return both([before, next]);
}
