/**
 * Brings a schema as servers write it into a form ajv compiles: picks the dialect by `$schema`, and turns what other
 * drafts and sloppy generators leave behind into what that dialect says. Never widens or narrows what a
 * well-formed keyword allows, and leaves the original untouched. The copy keeps an own `__proto__` property.
 */
import { isSchema, KINDS } from "./schema-kinds.ts";

export type Dialect = "draft-07" | "2019-09" | "2020-12";

export interface NormalisedSchema {
  readonly dialect: Dialect;
  readonly schema: unknown;
  /** Its cost isn't bounded by the size of schema and value together: it must be checked under a time limit. */
  readonly unbounded: boolean;
}

/** Schemas with more subschemas than this are not compiled: ajv would take seconds. */
const MAX_SUBSCHEMAS = 20_000;

/** Undefined for a schema with more than 20,000 subschemas. */
export function normaliseSchema(schema: unknown): NormalisedSchema | undefined {
  const dialect = dialectOf(schema);
  const state = { dialect, left: MAX_SUBSCHEMAS, unbounded: false };
  const normalised = subschema(schema, state);
  return state.left < 0 ? undefined : { dialect, schema: normalised, unbounded: state.unbounded };
}

const DRAFTS: ReadonlyMap<string, Dialect> = new Map([
  ["json-schema.org/draft-04/schema", "draft-07"],
  ["json-schema.org/draft-06/schema", "draft-07"],
  ["json-schema.org/draft-07/schema", "draft-07"],
  ["json-schema.org/draft/2019-09/schema", "2019-09"],
]);

/** Draft-04 and -06 are read as draft-07 once their own spellings are replaced; 2020-12 is MCP's default. */
function dialectOf(schema: unknown): Dialect {
  const stated = isSchema(schema) ? schema["$schema"] : undefined;
  if (typeof stated !== "string") return "2020-12";
  return DRAFTS.get(stated.replace(/^https?:\/\//, "").replace(/#$/, "")) ?? "2020-12";
}

interface State {
  readonly dialect: Dialect;
  left: number;
  unbounded: boolean;
}
type Members = Readonly<Record<string, unknown>>;
type Copy = Record<string, unknown>;

/** Keywords that hold one schema, a list of schemas, and schemas by name. */
const ONE = new Set(
  "additionalItems additionalProperties contains contentSchema else if items not propertyNames then unevaluatedItems unevaluatedProperties".split(
    " ",
  ),
);
const LIST = new Set(["allOf", "anyOf", "oneOf", "prefixItems", "items"]);
const NAMED = new Set("$defs definitions dependencies dependentSchemas patternProperties properties".split(" "));
/** `$async` would make a validator return a promise; `id` is data or draft-04, which ajv refuses. */
const DROPPED = new Set(["$schema", "$async", "id", "nullable", "discriminator"]);
const UNBOUNDED = new Set(["$ref", "$dynamicRef", "$recursiveRef", "pattern", "patternProperties", "uniqueItems"]);

function subschema(schema: unknown, state: State): unknown {
  if (!isSchema(schema) || state.left-- < 0) return schema;
  const copy: Copy = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (UNBOUNDED.has(keyword)) state.unbounded = true;
    if (DROPPED.has(keyword)) continue;
    if (LIST.has(keyword) && Array.isArray(value)) copy[keyword] = value.map((member) => subschema(member, state));
    else if (ONE.has(keyword)) copy[keyword] = subschema(value, state);
    else if (NAMED.has(keyword) && isSchema(value)) copy[keyword] = named(value, state);
    else setOwn(copy, keyword, value);
  }
  repairTypes(copy, schema);
  repairBounds(copy);
  if (state.dialect === "2020-12") repairTuple(copy);
  liftProto(copy, state);
  dropInvalidPatterns(copy);
  return copy;
}

function named(members: Members, state: State): Copy {
  const copy: Copy = {};
  // `dependencies` has lists of names beside schemas; `subschema` hands those back as they are.
  for (const [name, member] of Object.entries(members)) setOwn(copy, name, subschema(member, state));
  return copy;
}

/** An unknown type excludes nothing; OpenAPI's `nullable` is a type, and `null` among the constants. */
function repairTypes(copy: Copy, original: Members): void {
  const types = [copy["type"]].flat();
  const known = types.every((type) => KINDS.includes(type as (typeof KINDS)[number]));
  if (!known || types.length === 0) delete copy["type"];
  if (!Array.isArray(copy["required"])) delete copy["required"];
  if (original["nullable"] !== true || copy["type"] === undefined) return;
  copy["type"] = [...new Set([...types, "null"])];
  if (Array.isArray(copy["enum"]) && !copy["enum"].includes(null)) copy["enum"] = [...copy["enum"], null];
}

/** Draft-04: `exclusiveMinimum: true` makes `minimum` exclusive. */
function repairBounds(copy: Copy): void {
  for (const [bound, exclusive] of [
    ["minimum", "exclusiveMinimum"],
    ["maximum", "exclusiveMaximum"],
  ] as const) {
    if (typeof copy[exclusive] !== "boolean") continue;
    const isExclusive = copy[exclusive] && typeof copy[bound] === "number";
    delete copy[exclusive];
    if (!isExclusive) continue;
    copy[exclusive] = copy[bound];
    delete copy[bound];
  }
}

/** Up to 2019-09 a tuple was `items: [...]`, and its rest `additionalItems`. */
function repairTuple(copy: Copy): void {
  if (!Array.isArray(copy["items"])) return;
  const { items, additionalItems } = copy;
  delete copy["items"];
  delete copy["additionalItems"];
  if ((items as unknown[]).length > 0) copy["prefixItems"] = items;
  if (additionalItems !== undefined) copy["items"] = additionalItems;
}

/** ajv ignores a property declared as `__proto__`; as a pattern it is a property like any other. */
function liftProto(copy: Copy, state: State): void {
  const properties = copy["properties"];
  if (!isSchema(properties) || !Object.hasOwn(properties, "__proto__")) return;
  state.unbounded = true;
  const declared = Object.getOwnPropertyDescriptor(properties, "__proto__")!.value as unknown;
  const patterns: Copy = isSchema(copy["patternProperties"]) ? { ...copy["patternProperties"] } : {};
  patterns["^__proto__$"] = declared;
  copy["patternProperties"] = patterns;
}

/** Which names an invalid pattern meant can't be known, so an object that has one is open. */
function dropInvalidPatterns(copy: Copy): void {
  if (!isSchema(copy["patternProperties"])) return;
  const entries = Object.entries(copy["patternProperties"]);
  const valid = entries.filter(([pattern]) => compilePattern(pattern) !== undefined);
  if (valid.length === entries.length) return;
  copy["patternProperties"] = Object.fromEntries(valid);
  delete copy["additionalProperties"];
  delete copy["unevaluatedProperties"];
}

/**
 * A server's pattern as an expression, undefined for one that ECMAScript can't read in either of its grammars:
 * Python and PCRE patterns are common in schemas.
 */
export function compilePattern(pattern: string): RegExp | undefined {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(pattern, flags);
    } catch {
      // The looser grammar is next.
    }
  }
  return undefined;
}

/** Assignment to `__proto__` would set the prototype instead of a property. */
export function setOwn(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}
