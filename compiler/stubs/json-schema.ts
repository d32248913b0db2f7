/**
 * How to look at a JSON Schema that a stranger wrote, of any draft from 04 to 2020-12: which members are
 * schemas, which JSON types a schema allows, what a `$ref` points at. Nothing here trusts a member to have
 * the shape its name promises, reads through a prototype, or opens a file or a connection.
 */

export type SchemaObject = Readonly<Record<string, unknown>>;

/** A set of JSON types as bits; `integer` counts as number. */
export type TypeSet = number;
export const NULL = 1;
export const BOOLEAN = 2;
export const OBJECT = 4;
export const ARRAY = 8;
export const NUMBER = 16;
export const STRING = 32;
export const ANY_TYPE = 63;

const TYPE_BITS = new Map<unknown, TypeSet>([
  ["null", NULL],
  ["boolean", BOOLEAN],
  ["object", OBJECT],
  ["array", ARRAY],
  ["number", NUMBER],
  ["integer", NUMBER],
  ["string", STRING],
]);

export function isSchemaObject(value: unknown): value is SchemaObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value of a keyword, never something inherited. */
export function keyword(schema: SchemaObject, name: string): unknown {
  return Object.hasOwn(schema, name) ? schema[name] : undefined;
}

/** The members of `allOf`, `anyOf`, `oneOf` or `prefixItems`; undefined unless it is a list that holds something. */
export function schemaList(schema: SchemaObject, name: string): readonly unknown[] | undefined {
  const list = keyword(schema, name);
  return Array.isArray(list) && list.length > 0 ? list : undefined;
}

/** The members of `properties` and its like. */
export function schemaMap(schema: SchemaObject, name: string): readonly (readonly [string, unknown])[] {
  const map = keyword(schema, name);
  return isSchemaObject(map) ? Object.entries(map) : [];
}

/** The types that `type` names; every type when it is absent or names one that no draft knows (`any`, `file`). */
export function declaredTypes(schema: SchemaObject): TypeSet {
  const type = keyword(schema, "type");
  const names = Array.isArray(type) ? type : type === undefined ? [] : [type];
  if (names.length === 0) return ANY_TYPE;
  return names.reduce((set: TypeSet, name: unknown) => set | (TYPE_BITS.get(name) ?? ANY_TYPE), 0);
}

/** The type of a JSON value. */
export function typeOfValue(value: unknown): TypeSet {
  if (value === null) return NULL;
  if (Array.isArray(value)) return ARRAY;
  return TYPE_BITS.get(typeof value) ?? 0;
}

/** The values of `enum` and `const`, those that meet both; undefined when neither restricts. */
export function literalsOf(schema: SchemaObject): readonly unknown[] | undefined {
  const listed = keyword(schema, "enum");
  const values = Array.isArray(listed) ? listed : undefined;
  if (!Object.hasOwn(schema, "const")) return values;
  const constant = schema["const"];
  const text = JSON.stringify(constant);
  return values === undefined || values.some((value) => JSON.stringify(value) === text) ? [constant] : [];
}

/** Whether the schema says something about the members of objects. */
export function describesObject(schema: SchemaObject): boolean {
  return (
    ["properties", "patternProperties", "additionalProperties"].some((name) => Object.hasOwn(schema, name)) ||
    Array.isArray(keyword(schema, "required"))
  );
}

/** Whether the schema says something about the elements of arrays. */
export function describesArray(schema: SchemaObject): boolean {
  return Object.hasOwn(schema, "items") || Object.hasOwn(schema, "prefixItems");
}

/** Whether this schema is a resource of its own, so that `#` in it means itself. */
export function isResource(schema: SchemaObject): boolean {
  const id = keyword(schema, "$id");
  return typeof id === "string" && id !== "" && !id.startsWith("#");
}

/** Drafts up to 07, where everything beside a `$ref` is ignored. Only an explicit `$schema` counts. */
export function ignoresRefSiblings(root: unknown): boolean {
  const dialect = isSchemaObject(root) ? keyword(root, "$schema") : undefined;
  return typeof dialect === "string" && /draft-0[3-7]/.test(dialect);
}

const SCHEMA_MAPS = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
const SCHEMA_LISTS = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
const SCHEMA_MEMBERS = [
  ...["items", "additionalItems", "additionalProperties", "not", "if", "then", "else", "contains"],
  ...["propertyNames", "unevaluatedItems", "unevaluatedProperties"],
];

/** Every direct subschema. */
export function subschemas(schema: SchemaObject): SchemaObject[] {
  return [
    ...SCHEMA_MAPS.flatMap((name) => schemaMap(schema, name).map(([, member]) => member)),
    ...SCHEMA_LISTS.flatMap((name) => schemaList(schema, name) ?? []),
    ...SCHEMA_MEMBERS.map((name) => keyword(schema, name)),
  ].filter(isSchemaObject);
}
