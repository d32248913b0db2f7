/**
 * An input schema as Pi can use it. Pi refuses every call of a tool whose schema it can't compile: for one pattern that
 * JavaScript doesn't know, or one reference that leads nowhere or back to itself. Such constraints are taken out and all others
 * stay; whether the arguments are right is checked again when the call is made, and by the server. A schema without them is
 * given back as it is, the same object. Pure.
 */
import { isRecord } from "../../../schemas/record.ts";
import { compilePattern } from "../../calls/dialect.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Keywords whose value is a schema, schemas by name, a list of schemas. */
const SINGLE = [
  "additionalItems",
  "additionalProperties",
  "contains",
  "else",
  "if",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
] as const;
const MAPS = ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"] as const;
const LISTS = ["allOf", "anyOf", "oneOf", "prefixItems"] as const;
const KINDS = new Map<string, "single" | "map" | "list" | "items" | "pattern" | "ref">([
  ...SINGLE.map((keyword) => [keyword, "single"] as const),
  ...MAPS.map((keyword) => [keyword, "map"] as const),
  ...LISTS.map((keyword) => [keyword, "list"] as const),
  ["items", "items"],
  ["pattern", "pattern"],
  ["$ref", "ref"],
]);
/** The schema that references start from. */
interface Whole {
  readonly schema: Schema;
  /** Whether schemas in it have names of their own, once that was asked. */
  hasNames: boolean | undefined;
}

/** Accepts anything. */
const ANY: Schema = {};

export function usableSchema(root: Schema): Schema {
  return usable(root, { schema: root, hasNames: undefined });
}

function usable(schema: Schema, whole: Whole): Schema {
  let changed: Map<string, unknown> | undefined;
  // At every start for every tool: nothing is made where nothing is wrong.
  for (const keyword in schema) {
    const kind = KINDS.get(keyword);
    if (kind === undefined) continue;
    const value = schema[keyword];
    const kept = usableValue(kind, value, schema, whole);
    if (kept === value) continue;
    changed ??= new Map();
    changed.set(keyword, kept);
  }
  if (changed === undefined) return schema;
  // Properties that only a pattern allowed are not to be refused without it.
  if (changed.has("patternProperties") && schema["additionalProperties"] === false)
    changed.set("additionalProperties", undefined);
  return replaced(schema, changed);
}

/** What is left of a keyword's value, the same where nothing is wrong with it; undefined for nothing. */
function usableValue(
  kind: "single" | "map" | "list" | "items" | "pattern" | "ref",
  value: unknown,
  schema: Schema,
  whole: Whole,
): unknown {
  switch (kind) {
    case "single":
      return isSchema(value) ? usableAny(value, whole) : undefined;
    case "items":
      if (Array.isArray(value)) return usableList(value, whole);
      return isSchema(value) ? usableAny(value, whole) : undefined;
    case "list":
      return Array.isArray(value) ? usableList(value, whole) : undefined;
    case "map":
      return isRecord(value) ? usableMap(value, value === schema["patternProperties"], whole) : undefined;
    case "pattern":
      return typeof value === "string" && isPattern(value) ? value : undefined;
    default:
      return typeof value === "string" && leadsSomewhere(value, schema, whole) ? value : undefined;
  }
}

function isSchema(value: unknown): value is Schema | boolean {
  return isRecord(value) || typeof value === "boolean";
}

function usableAny(value: unknown, whole: Whole): unknown {
  if (isRecord(value)) return usable(value, whole);
  return typeof value === "boolean" ? value : ANY;
}

function usableList(list: readonly unknown[], whole: Whole): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (const [index, one] of list.entries()) {
    const kept = usableAny(one, whole);
    if (kept === one) continue;
    copy ??= [...list];
    copy[index] = kept;
  }
  return copy ?? list;
}

function usableMap(map: Schema, isByPattern: boolean, whole: Whole): Schema {
  let changed: Map<string, unknown> | undefined;
  for (const name in map) {
    const kept = isByPattern && !isPattern(name) ? undefined : usableAny(map[name], whole);
    if (kept === map[name]) continue;
    changed ??= new Map();
    changed.set(name, kept);
  }
  return changed === undefined ? map : replaced(map, changed);
}

/** A copy in which the members of `changed` are what they are there; those that are undefined are left out. */
function replaced(members: Schema, changed: ReadonlyMap<string, unknown>): Schema {
  const entries = Object.entries(members).map(([key, value]) => [key, changed.has(key) ? changed.get(key) : value]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** Pi takes a pattern with Unicode rules, or without where it is none by them. */
function isPattern(source: string): boolean {
  return compilePattern(source) !== undefined;
}

/** Whether a reference leads to a schema, and not back to where it stands before anything of the value was looked at. */
function leadsSomewhere(reference: string, from: Schema, whole: Whole): boolean {
  // Names of schemas within schemas: Pi finds those.
  if (!/^#(?:\/|$)/.test(reference)) return hasNames(whole);
  const target = resolved(reference, whole);
  if (target === undefined) return false;
  const seen = new Set<unknown>();
  const waiting: unknown[] = [target];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next === from) return false;
    if (!isRecord(next) || seen.has(next)) continue;
    seen.add(next);
    waiting.push(...inPlace(next, whole));
  }
  return true;
}

function hasNames(whole: Whole): boolean {
  whole.hasNames ??= /"\$(?:id|anchor|dynamicAnchor)":/.test(JSON.stringify(whole.schema));
  return whole.hasNames;
}

/** Schemas that a value has to meet besides, as a whole. */
function inPlace(schema: Schema, whole: Whole): unknown[] {
  const { $ref, allOf, anyOf, oneOf, not, if: condition, then, else: otherwise } = schema;
  const lists = [allOf, anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  const target = typeof $ref === "string" ? resolved($ref, whole) : undefined;
  return [target, not, condition, then, otherwise, ...lists].filter(isRecord);
}

function resolved(reference: string, whole: Whole): Schema | boolean | undefined {
  if (!reference.startsWith("#")) return undefined;
  let at: unknown = whole.schema;
  for (const part of reference.slice(1).split("/").slice(1)) {
    const name = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return isSchema(at) ? at : undefined;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a sign that was not meant as an escape
  }
}
