/** The part of normalising that goes into members: objects, arrays, tuples, and the unions of simple types. */
import { byCodeUnit } from "../../schemas/canonical.ts";
import { propertyComment } from "./doc-comment.ts";
import {
  ANY_TYPE,
  ARRAY,
  BOOLEAN,
  isSchemaObject,
  keyword,
  NULL,
  NUMBER,
  OBJECT,
  type SchemaObject,
  STRING,
  schemaMap,
  type TypeSet,
} from "./json-schema.ts";
import {
  BOOLEAN_TYPE,
  NEVER,
  NULL_TYPE,
  NUMBER_TYPE,
  OPEN_OBJECT,
  type PlainObject,
  type PlainSchema,
  quoted,
  STRING_TYPE,
  UNKNOWN,
  UNKNOWN_ARRAY,
  union,
} from "./plain-schema.ts";
import { requiredNames } from "./schema-structure.ts";
import { down, type Position, type SchemaWalk } from "./schema-walk.ts";

/** A tuple whose last elements may be missing is a union of tuples, one for each length; longer ones are lists. */
const MAX_OPTIONAL_ELEMENTS = 8;

/** Members every object has: an optional property of such a name must admit what `{}` already carries. */
const INHERITED = new Set(
  "constructor hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf".split(" "),
);

/** A pattern that every name matches. */
const MATCHES_ALL = new Set(["", ".*", "^.*$", "^.*", ".*$", "[\\s\\S]*", "^[\\s\\S]*$"]);

/** Any value of the given types; `every` when that is all of them. */
export function typesAsUnion(types: TypeSet, every: PlainSchema): PlainSchema {
  if (types === ANY_TYPE) return every;
  return union([
    ...(types & STRING ? [STRING_TYPE] : []),
    ...(types & NUMBER ? [NUMBER_TYPE] : []),
    ...(types & BOOLEAN ? [BOOLEAN_TYPE] : []),
    ...(types & ARRAY ? [UNKNOWN_ARRAY] : []),
    ...(types & OBJECT ? [OPEN_OBJECT] : []),
    ...(types & NULL ? [NULL_TYPE] : []),
  ]);
}

export function objectType(walk: SchemaWalk, schema: SchemaObject, here: Position): PlainSchema {
  const inside = { ...here, declaring: undefined };
  const required = new Set(requiredNames(schema));
  const declared = schemaMap(schema, "properties");
  const names = new Set(declared.map(([name]) => name));
  const undeclared = [...required].filter((name) => !names.has(name)).map((name) => [name, true] as const);
  const index = indexType(walk, schema, inside);
  const signature = index === UNKNOWN || index === NEVER ? undefined : index;
  const properties: Record<string, PlainObject["properties"][string]> = {};
  const requiredTokens: string[] = [];
  for (const [name, member] of [...declared, ...undeclared].sort(byName)) {
    const position = down(inside, `properties/${name.replace(/~/g, "~0").replace(/\//g, "~1")}`);
    // An index signature has to repeat the types of its neighbours; names keep that from doubling with every level.
    let type = signature === undefined ? walk.shape(member, position, ANY_TYPE) : walk.named(member, position, name);
    if (INHERITED.has(name) && !required.has(name) && type !== UNKNOWN)
      type = union([type, walk.tokens.atom(`Object[${quoted(name)}]`)]);
    const token = walk.tokens.token(propertyName(name));
    const comment = propertyComment(name, member);
    properties[token] = comment === "" ? type : { ...type, description: walk.tokens.token(comment) };
    if (required.has(name)) requiredTokens.push(token);
  }
  if (Object.keys(properties).length > 0) {
    return {
      type: "object",
      properties,
      required: requiredTokens,
      additionalProperties: signature ?? index === UNKNOWN,
    };
  }
  if (index === undefined || index === UNKNOWN) return OPEN_OBJECT;
  return { type: "object", properties, required: [], additionalProperties: index };
}

/** The index signature's type: `never` for a closed object, undefined where the schema says nothing. */
function indexType(walk: SchemaWalk, schema: SchemaObject, inside: Position): PlainSchema | undefined {
  const patterns = [...schemaMap(schema, "patternProperties")].sort(byName);
  const additional = keyword(schema, "additionalProperties");
  const shapes = patterns.map(([pattern, member]) => ({
    pattern,
    type: walk.shape(member, down(inside, "patternProperties"), ANY_TYPE),
  }));
  const all = shapes.filter(({ pattern }) => MATCHES_ALL.has(pattern));
  if (all.length > 0) return union(all.map(({ type }) => type));
  if (additional === undefined) {
    const unevaluated = keyword(schema, "unevaluatedProperties");
    const opened = unevaluated !== undefined && unevaluated !== false;
    return shapes.length > 0 || opened ? UNKNOWN : undefined;
  }
  const rest =
    typeof additional === "boolean" || isSchemaObject(additional)
      ? walk.shape(additional, down(inside, "additionalProperties"), ANY_TYPE)
      : UNKNOWN;
  return union([...shapes.map(({ type }) => type), rest]);
}

export function arrayType(walk: SchemaWalk, schema: SchemaObject, here: Position): PlainSchema {
  const inside = { ...here, declaring: undefined };
  const items = keyword(schema, "items");
  const prefix = keyword(schema, "prefixItems");
  const elements = Array.isArray(prefix) ? prefix : Array.isArray(items) ? items : [];
  const rest = Array.isArray(items) ? keyword(schema, "additionalItems") : items;
  const name = Array.isArray(items) ? "additionalItems" : "items";
  const restType = rest === undefined ? UNKNOWN : walk.shape(rest, down(inside, name), ANY_TYPE);
  if (elements.length === 0) return { type: "array", items: restType };

  const list = Array.isArray(prefix) ? "prefixItems" : "items";
  const least = keyword(schema, "minItems");
  const most = keyword(schema, "maxItems");
  const minItems = typeof least === "number" ? Math.min(Math.max(Math.ceil(least), 0), elements.length) : 0;
  const optional = elements.length - minItems;
  const types = elements.map((element, index) => {
    const position = down(inside, `${list}/${index}`);
    // Each length is written out; names keep that from multiplying with every level.
    return optional > 0 ? walk.named(element, position, `Item${index}`) : walk.shape(element, position, ANY_TYPE);
  });
  if (optional > MAX_OPTIONAL_ELEMENTS) return { type: "array", items: union([...types, restType]) };
  const closed = restType === NEVER || (typeof most === "number" && most <= types.length);
  const lengths = Array.from({ length: optional }, (_, extra) => tuple(types.slice(0, minItems + extra), false));
  return union([...lengths, tuple(types, closed ? false : restType)]);
}

function tuple(items: readonly PlainSchema[], rest: PlainSchema | false): PlainSchema {
  if (items.length === 0 && rest === false) return { tsType: "[]" };
  return { type: "array", items, minItems: items.length, additionalItems: rest };
}

/** A name as it stands in a type: bare where every tool agrees that it is an identifier. */
function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) && name !== "__proto__" ? name : quoted(name);
}

/** Members in one order, so that no output depends on the order of a server's keys. */
function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return byCodeUnit(a, b);
}
