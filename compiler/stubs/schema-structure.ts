/**
 * Questions about a schema that need its references: which JSON types it allows, whether `{}` can satisfy it,
 * and whether a reference would make a type refer to itself with nothing in between. All are bounded, whatever
 * the references do.
 */
import {
  ANY_TYPE,
  declaredTypes,
  isSchemaObject,
  keyword,
  literalsOf,
  NULL,
  type SchemaObject,
  schemaList,
  schemaMap,
  type TypeSet,
  typeOfValue,
} from "./json-schema.ts";
import type { RefResolver, SchemaPlace } from "./schema-refs.ts";

/** References followed to learn a schema's types; further ones count as allowing all. */
const MAX_LOOKUP_DEPTH = 40;

/** The JSON types of values that can satisfy the schema, from `type`, literals, references and compositions. */
export function allowedTypes(
  schema: unknown,
  resource: unknown,
  resolver: RefResolver,
  known: Map<SchemaObject, TypeSet>,
  depth = 0,
): TypeSet {
  if (schema === false) return 0;
  if (!isSchemaObject(schema) || depth > MAX_LOOKUP_DEPTH) return ANY_TYPE;
  const memo = known.get(schema);
  if (memo !== undefined) return memo;
  known.set(schema, ANY_TYPE); // what a loop back to here finds
  const of = (member: unknown, at = resource) => allowedTypes(member, at, resolver, known, depth + 1);
  let types = declaredTypes(schema);
  const literals = literalsOf(schema);
  if (literals !== undefined) types &= literals.reduce((set: TypeSet, value) => set | typeOfValue(value), 0);
  const ref = keyword(schema, "$ref");
  const target = typeof ref === "string" ? resolver.resolve(ref, resource) : undefined;
  if (target?.kind === "found") types &= of(target.schema, target.resource);
  for (const member of schemaList(schema, "allOf") ?? []) types &= of(member);
  for (const name of ["anyOf", "oneOf"]) {
    const members = schemaList(schema, name);
    if (members !== undefined) types &= members.reduce((set: TypeSet, member) => set | of(member), 0);
  }
  if (keyword(schema, "nullable") === true) types |= NULL;
  known.set(schema, types);
  return types;
}

/** Whether no keyword about members keeps `{}` from satisfying the schema; `false` when in doubt. */
export function acceptsEmptyObject(root: unknown, resolver: RefResolver): boolean {
  const known = new Map<unknown, boolean>();
  const accepts = (schema: unknown, resource: unknown, depth: number): boolean => {
    if (!isSchemaObject(schema)) return schema !== false;
    const memo = known.get(schema);
    if (memo !== undefined || depth > MAX_LOOKUP_DEPTH) return memo ?? false;
    known.set(schema, false); // what a loop back to here finds
    const every = (name: string) =>
      (schemaList(schema, name) ?? []).every((member) => accepts(member, resource, depth + 1));
    const some = (name: string) =>
      schemaList(schema, name)?.some((member) => accepts(member, resource, depth + 1)) ?? true;
    const ref = keyword(schema, "$ref");
    const target = typeof ref === "string" ? resolver.resolve(ref, resource) : undefined;
    const minimum = keyword(schema, "minProperties");
    const result =
      requiredNames(schema).length === 0 &&
      !(typeof minimum === "number" && minimum > 0) &&
      (target?.kind !== "found" || accepts(target.schema, target.resource, depth + 1)) &&
      every("allOf") &&
      some("anyOf") &&
      some("oneOf");
    known.set(schema, result);
    return result;
  };
  return accepts(root, root, 0);
}

/** Names in `required`, and properties that say `required: true` of themselves (draft-03). */
export function requiredNames(schema: SchemaObject): string[] {
  const listed = keyword(schema, "required");
  const names = Array.isArray(listed) ? listed.filter((name) => typeof name === "string") : [];
  const selfRequired = schemaMap(schema, "properties")
    .filter(([, member]) => isSchemaObject(member) && keyword(member, "required") === true)
    .map(([name]) => name);
  return [...new Set([...names, ...selfRequired])];
}

/** Schemas looked through for such a loop. TypeScript itself overflows on chains of a few thousand aliases. */
const MAX_CHAIN = 200;

/**
 * Whether `target` mentions `declaring` again through references and compositions alone; also when that takes more
 * than a bounded look to find out.
 */
export function referenceClosesLoop(target: SchemaPlace, declaring: SchemaObject, resolver: RefResolver): boolean {
  const seen = new Set<unknown>();
  const pending: { schema: unknown; resource: unknown }[] = [target];
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    const { schema, resource } = place;
    if (schema === declaring || seen.size > MAX_CHAIN) return true;
    if (!isSchemaObject(schema) || seen.has(schema)) continue;
    seen.add(schema);
    for (const name of ["$ref", "$dynamicRef", "$recursiveRef"]) {
      const ref = keyword(schema, name);
      const found = typeof ref === "string" ? resolver.resolve(ref, resource) : undefined;
      if (found?.kind === "found") pending.push(found);
    }
    for (const name of ["allOf", "anyOf", "oneOf"])
      for (const member of schemaList(schema, name) ?? []) pending.push({ schema: member, resource });
  }
  return false;
}
