/** Objects, maps, arrays and tuples as TypeScript types: the kinds of schema that hold others. */
import { propertyKey } from "./literal.ts";
import { hasReference } from "./named-types.ts";
import { isObject, type JsonObject } from "./references.ts";
import type { Rendering } from "./rendering.ts";
import { isFilled } from "./schema-shape.ts";
import { arrayOf, join, objectOf, type Row, unique } from "./type-text.ts";

/** Nesting no person writes; deeper schemas are cut off before the stack is. */
const MAX_NESTING = 80;
const NONE: ReadonlySet<unknown> = new Set();
const NO_PROPERTIES: JsonObject = Object.freeze(Object.create(null));

/** An array or a tuple. */
export function arrayType(r: Rendering, schema: JsonObject): string {
  if (r.nesting >= MAX_NESTING) return r.cutOff("levels", "nested too deeply")[0]!;
  const listed = schema["prefixItems"] ?? schema["items"];
  const text = r.nested(() =>
    Array.isArray(listed) && listed.length > 0
      ? tupleType(r, schema, listed)
      : arrayOf(r.alternatives(Array.isArray(listed) ? true : (listed ?? true))),
  );
  r.spent += 2;
  return text;
}

/** For readers a tuple has its elements; a check also takes the shorter and longer arrays a schema allows. */
function tupleType(r: Rendering, schema: JsonObject, listed: readonly unknown[]): string {
  const { check } = r.detail;
  const rest = Array.isArray(schema["prefixItems"]) ? schema["items"] : schema["additionalItems"];
  const least = typeof schema["minItems"] === "number" ? schema["minItems"] : 0;
  const elements = listed.map((item, place) => {
    const text = join(r.alternatives(item));
    r.spent += 4;
    return check && place >= least ? `(${text})?` : text;
  });
  const closed = rest === false || (typeof schema["maxItems"] === "number" && schema["maxItems"] <= listed.length);
  if (!closed && (check || isObject(rest))) elements.push(`...${arrayOf(r.alternatives(rest ?? true))}`);
  return `[${elements.join(", ")}]`;
}

/** An object with its properties, one a line where any has something to say. */
export function objectType(r: Rendering, schema: JsonObject): string {
  const properties = isObject(schema["properties"]) ? schema["properties"] : NO_PROPERTIES;
  const required: ReadonlySet<unknown> = isFilled(schema["required"]) ? new Set(schema["required"]) : NONE;
  const names = Object.keys(properties);
  for (const name of required) {
    if (typeof name === "string" && !Object.hasOwn(properties, name)) names.push(name);
  }
  if (names.length === 0) return mapType(r, schema);
  if (r.objects >= r.detail.levels || r.nesting >= MAX_NESTING) {
    return r.cutOff("levels", `${names.length} ${names.length === 1 ? "property" : "properties"}`)[0]!;
  }
  names.sort(); // by code unit
  const shown = names.length > r.detail.properties ? foremost(r, names, required) : names;
  r.objects++;
  const rows = r.nested(() => {
    const own = propertyRows(r, shown, properties, required, schema["additionalProperties"]);
    const others = othersRow(r, schema["additionalProperties"], names.length - shown.length);
    return others === undefined ? own : [...own, others];
  });
  r.objects--;
  return objectOf(rows, r.indent);
}

function foremost(r: Rendering, names: readonly string[], required: ReadonlySet<unknown>): string[] {
  r.cut.add("properties");
  const sorted = [...names.filter((name) => required.has(name)), ...names.filter((name) => !required.has(name))];
  return sorted.slice(0, r.detail.properties);
}

function propertyRows(
  r: Rendering,
  names: readonly string[],
  properties: JsonObject,
  required: ReadonlySet<unknown>,
  others: unknown,
): Row[] {
  const schemas: unknown[] = [];
  const comments: string[] = [];
  let commented = false;
  for (const name of names) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : isObject(others) ? others : true;
    const comment = r.spent > r.detail.maxChars ? "" : r.comments.of(name, schema);
    r.spent += name.length + comment.length + 8;
    schemas.push(schema);
    comments.push(comment);
    if (comment !== "") commented = true;
  }
  if (commented) r.indent++;
  const rows: Row[] = [];
  for (let at = 0; at < names.length; at++) {
    const isRequired = required.has(names[at]);
    // A property that no value satisfies can only be left out.
    if (schemas[at] === false && !isRequired) continue;
    const head = propertyKey(names[at]!) + (isRequired ? ": " : "?: ");
    rows.push({ text: head + join(r.alternatives(schemas[at])), comment: comments[at]! });
  }
  if (commented) r.indent--;
  return rows;
}

/**
 * The index signature of an object with properties. Its type is `unknown`, as TypeScript wants it to fit
 * the declared properties too; what the schema says of the others stands in a comment.
 */
function othersRow(r: Rendering, others: unknown, hidden: number): Row | undefined {
  const { check, description } = r.detail;
  if (hidden > 0) return { text: `[k: string]: ${r.anything}`, comment: check ? "" : `${hidden} more` };
  if (check) return others === false ? undefined : { text: "[k: string]: any", comment: "" };
  if (!isObject(others) || Object.keys(others).length === 0) return undefined;
  const type = join(r.alternatives(others));
  const tellable = description > 0 && !type.includes("\n") && !hasReference(type) && type !== "unknown";
  return { text: "[k: string]: unknown", comment: tellable ? `others: ${type}` : "" };
}

/** An object without named properties: a map, a closed empty object, or any object. */
function mapType(r: Rendering, schema: JsonObject): string {
  const others = schema["additionalProperties"];
  const patterns = isObject(schema["patternProperties"]) ? schema["patternProperties"] : NO_PROPERTIES;
  const values = Object.keys(patterns)
    .sort()
    .map((pattern) => patterns[pattern]);
  if (values.length === 0 && others === false) return "{}";
  // Unless told otherwise an object is open, which tells a reader of `^x-: string` nothing.
  if (isObject(others) || (r.detail.check && others !== false)) values.push(others ?? true);
  if (r.nesting >= MAX_NESTING) return r.cutOff("levels", "nested too deeply")[0]!;
  const types =
    values.length === 0 ? [r.anything] : r.nested(() => unique(values.flatMap((value) => r.alternatives(value))));
  r.spent += 16;
  return types[0] === "unknown" ? "object" : `{[k: string]: ${join(types)}}`;
}
