/**
 * What kind of schema a plain object of keywords is. Predicates only: they look at keywords, follow
 * no reference and decide nothing about text.
 */
import { isStructural } from "./merge.ts";
import { isObject, type JsonObject } from "./references.ts";

/** Pydantic wraps a reference that has a description in an `allOf` of one. */
export function isWrapper(schema: JsonObject): boolean {
  const allOf = schema["allOf"];
  if (!Array.isArray(allOf) || allOf.length !== 1 || schema["type"] !== undefined) return false;
  for (const keyword in schema) if (keyword !== "allOf" && isStructural({ [keyword]: schema[keyword] })) return false;
  return true;
}

export function isObjectLike(schema: JsonObject): boolean {
  const type = schema["type"];
  if (type !== undefined) return type === "object";
  return (
    schema["properties"] !== undefined ||
    schema["required"] !== undefined ||
    schema["additionalProperties"] !== undefined ||
    schema["patternProperties"] !== undefined
  );
}

export function hasMembers(schema: JsonObject): boolean {
  return (
    hasKeys(schema["properties"]) ||
    isFilled(schema["required"]) ||
    isObject(schema["additionalProperties"]) ||
    hasKeys(schema["patternProperties"])
  );
}

function hasKeys(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length > 0;
}

export function isFilled(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0;
}

export function kindOf(value: unknown): string {
  if (value === null) return "null";
  return typeof value;
}
