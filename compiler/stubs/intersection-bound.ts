/**
 * TypeScript multiplies the unions of an intersection out and gives up at 100,000 members. Here the product is
 * kept far below that by leaving out operands, which only widens the type, and saying so.
 */
import { intersection, type PlainSchema, type TokenTable, typeReference } from "./plain-schema.ts";
import type { NamedPlainSchema, TypeRemark } from "./schema-walk.ts";

const MAX_PRODUCT = 10_000;

export function boundIntersections(
  types: readonly NamedPlainSchema[],
  tokens: TokenTable,
  report: (remark: TypeRemark) => void,
): readonly NamedPlainSchema[] {
  if (!types.some(({ schema }) => containsIntersection(schema))) return types;
  const byReference = new Map(types.map(({ name, schema }) => [tokens.token(typeReference(name)), schema]));
  const widths = new Map<PlainSchema, number>();
  const width = (schema: PlainSchema): number => {
    const known = widths.get(schema);
    if (known !== undefined) return known;
    widths.set(schema, 1);
    const target = "tsType" in schema ? byReference.get(schema.tsType) : undefined;
    const result =
      target !== undefined
        ? width(target)
        : "anyOf" in schema
          ? schema.anyOf.reduce((sum, member) => sum + width(member), 0)
          : "allOf" in schema
            ? Math.min(
                schema.allOf.reduce((product, member) => product * width(member), 1),
                MAX_PRODUCT,
              )
            : 1;
    widths.set(schema, result);
    return result;
  };
  return types.map((type) => ({ ...type, schema: bounded(type.schema, width, () => report(remarkOn(type.name))) }));
}

function remarkOn(name: string): TypeRemark {
  const where = name === "" ? "the schema" : name;
  return {
    code: "stub-type-widened",
    message: `${where} combines too many alternatives; some are left out`,
    pointer: "",
  };
}

function bounded(schema: PlainSchema, width: (schema: PlainSchema) => number, report: () => void): PlainSchema {
  const inner = (member: PlainSchema) => bounded(member, width, report);
  if ("anyOf" in schema) return { ...schema, anyOf: schema.anyOf.map(inner) };
  if ("allOf" in schema) {
    let product = 1;
    const kept = schema.allOf.filter((member) => {
      const fits = product * width(member) <= MAX_PRODUCT;
      if (fits) product *= width(member);
      return fits;
    });
    if (kept.length < schema.allOf.length) report();
    return { ...schema, ...intersection(kept.map(inner)) };
  }
  if (!("type" in schema)) return schema;
  if ("properties" in schema) {
    const members = Object.entries(schema.properties).map(([name, member]) => [name, inner(member)] as const);
    const rest = schema.additionalProperties;
    return {
      ...schema,
      properties: Object.fromEntries(members),
      additionalProperties: typeof rest === "boolean" ? rest : inner(rest),
    };
  }
  if (!("items" in schema)) return schema;
  if ("minItems" in schema) {
    const { additionalItems: rest } = schema;
    return { ...schema, items: schema.items.map(inner), additionalItems: rest === false ? false : inner(rest) };
  }
  return { ...schema, items: inner(schema.items as PlainSchema) };
}

function containsIntersection(schema: PlainSchema): boolean {
  if ("allOf" in schema) return true;
  if ("anyOf" in schema) return schema.anyOf.some(containsIntersection);
  if ("properties" in schema) {
    const rest = schema.additionalProperties;
    return (
      Object.values(schema.properties).some(containsIntersection) ||
      (typeof rest !== "boolean" && containsIntersection(rest))
    );
  }
  if (!("items" in schema)) return false;
  return Array.isArray(schema.items)
    ? schema.items.some(containsIntersection)
    : containsIntersection(schema.items as PlainSchema);
}
