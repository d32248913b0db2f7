/**
 * Says in a few words what a schema asks for (`integer from 1 to 7`, `"c" or "f"`, `array of string`) and what
 * a value is (`"three"`, `an array of 3 items`). Short whatever the schema's or the value's size.
 */
import { isSchema } from "./schema-kinds.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Alternatives and constants named before `…`. */
const MAX_NAMED = 8;

/** `a value` where the schema says nothing that fits in a few words. */
export function describeSchema(schema: unknown): string {
  return describe(schema, 0);
}

function describe(schema: unknown, depth: number): string {
  if (schema === false) return "nothing";
  if (!isSchema(schema) || depth > 2) return "a value";
  if (Object.hasOwn(schema, "const")) return describeValue(schema["const"]);
  if (Array.isArray(schema["enum"])) return alternatives(schema["enum"].map(describeValue));
  const union = schema["anyOf"] ?? schema["oneOf"];
  const types = [schema["type"]].flat().filter((type) => typeof type === "string");
  if (types.length > 0) return alternatives(types.map((type) => describeType(type, schema, depth)));
  if (Array.isArray(union)) return alternatives(union.map((member) => describe(member, depth + 1)));
  if (typeof schema["$ref"] === "string") return cut(schema["$ref"].replace(/^.*\//, "")) || "a value";
  return isSchema(schema["properties"]) ? "object" : "a value";
}

function alternatives(descriptions: readonly string[]): string {
  const distinct = [...new Set(descriptions)];
  const named = distinct.slice(0, MAX_NAMED);
  if (distinct.length > MAX_NAMED) return `${named.join(", ")} or ${distinct.length - MAX_NAMED} more`;
  return named.length < 2 ? (named[0] ?? "nothing") : `${named.slice(0, -1).join(", ")} or ${named.at(-1)}`;
}

function describeType(type: string, schema: Schema, depth: number): string {
  switch (type) {
    case "integer":
    case "number":
      return (
        type +
        numericBounds(schema) +
        (typeof schema["multipleOf"] === "number" ? `, a multiple of ${schema["multipleOf"]}` : "")
      );
    case "string":
      return `string${countBounds(schema["minLength"], schema["maxLength"], "character")}${stringForm(schema)}`;
    case "array": {
      const items = schema["items"];
      const of = isSchema(items) ? ` of ${describe(items, depth + 1)}` : "";
      return `array${of === " of a value" ? "" : of}${countBounds(schema["minItems"], schema["maxItems"], "item")}`;
    }
    case "object":
      return `object${countBounds(schema["minProperties"], schema["maxProperties"], "property")}`;
    default:
      return type;
  }
}

function numericBounds(schema: Schema): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  if (typeof minimum === "number" && typeof maximum === "number") return ` from ${minimum} to ${maximum}`;
  const bounds = [
    typeof minimum === "number" ? `≥ ${minimum}` : undefined,
    typeof exclusiveMinimum === "number" ? `> ${exclusiveMinimum}` : undefined,
    typeof maximum === "number" ? `≤ ${maximum}` : undefined,
    typeof exclusiveMaximum === "number" ? `< ${exclusiveMaximum}` : undefined,
  ].filter((bound) => bound !== undefined);
  return bounds.length === 0 ? "" : ` ${bounds.join(" and ")}`;
}

function countBounds(least: unknown, most: unknown, unit: "character" | "item" | "property"): string {
  const units = (count: number) => `${count} ${count === 1 ? unit : unit === "property" ? "properties" : `${unit}s`}`;
  if (typeof least === "number" && typeof most === "number") {
    return least === most ? ` with exactly ${units(least)}` : ` with ${least} to ${units(most)}`;
  }
  if (typeof least === "number" && least > 0) return ` with at least ${units(least)}`;
  return typeof most === "number" ? ` with at most ${units(most)}` : "";
}

function stringForm(schema: Schema): string {
  const format = typeof schema["format"] === "string" ? ` in format ${cut(schema["format"])}` : "";
  return typeof schema["pattern"] === "string" ? `${format} matching /${cut(schema["pattern"])}/` : format;
}

/** `nothing` for undefined; long strings are cut, containers only counted. */
export function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") {
    return value.length > 60
      ? `${JSON.stringify(value.slice(0, 57))}… (${value.length} characters)`
      : JSON.stringify(value);
  }
  if (Array.isArray(value)) return value.length === 1 ? "an array of 1 item" : `an array of ${value.length} items`;
  if (typeof value !== "object" || value === null) return String(value);
  const keys = Object.keys(value);
  const named = keys
    .slice(0, 4)
    .map((key) => cut(key))
    .join(", ");
  return keys.length === 0 ? "an empty object" : `an object with ${named}${keys.length > 4 ? ", …" : ""}`;
}

function cut(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
