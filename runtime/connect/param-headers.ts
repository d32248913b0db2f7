/**
 * `Mcp-Param-*` headers (SEP-2243, 2026-07-28 over Streamable HTTP): a tool's schema may ask that an argument is sent as
 * a header too, so that a gateway can route by it. Made from the compiled schema; nothing else becomes a header, and a
 * value that isn't plain ASCII travels as base64, so no argument can smuggle in a header of its own.
 */
import { isRecord } from "../../schemas/record.ts";

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const PLAIN = /^[\x20-\x7e\t]+$/;
const MAX_DEPTH = 20;

/**
 * What makes a tool's header declarations invalid, in words that follow "its"; undefined for nearly every tool. The
 * specification has clients leave such a tool out: a gateway that routes by the header would see another call than the server.
 */
export function headerFault(inputSchema: unknown): string | undefined {
  return faultIn(inputSchema, { path: "", reachable: true, names: new Set() });
}

interface Place {
  /** Of properties, dotted; empty for the schema itself. */
  readonly path: string;
  /** By `properties` alone: what stands anywhere else doesn't name one value of the arguments. */
  readonly reachable: boolean;
  /** Header names met so far, in lower case. */
  readonly names: Set<string>;
}

const TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);
const SUBSCHEMAS = ["additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"];
const SUBSCHEMA_LISTS = ["allOf", "anyOf", "items", "oneOf", "prefixItems"];
const SUBSCHEMA_MAPS = ["$defs", "definitions", "dependentSchemas", "patternProperties"];

function faultIn(schema: unknown, place: Place): string | undefined {
  if (!isRecord(schema)) return undefined;
  const own = Object.hasOwn(schema, "x-mcp-header") ? ownFault(schema, place) : undefined;
  if (own !== undefined) return own;
  const aside = { ...place, reachable: false };
  const children: (readonly [unknown, Place])[] = [
    ...entriesOf(schema["properties"]).map(([name, child]) => {
      const path = place.path === "" ? name : `${place.path}.${name}`;
      return [child, { ...place, path }] as const;
    }),
    ...[...SUBSCHEMAS, "unevaluatedItems", "unevaluatedProperties"].map((key) => [schema[key], aside] as const),
    ...SUBSCHEMA_LISTS.flatMap((key) =>
      (Array.isArray(schema[key]) ? schema[key] : []).map((one) => [one, aside] as const),
    ),
    ...SUBSCHEMA_MAPS.flatMap((key) => entriesOf(schema[key]).map(([, one]) => [one, aside] as const)),
  ];
  for (const [child, at] of children) {
    const fault = faultIn(child, at);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function ownFault(schema: Readonly<Record<string, unknown>>, { path, reachable, names }: Place): string | undefined {
  const header = schema["x-mcp-header"];
  const where = `x-mcp-header of "${path}"`;
  if (!reachable || path === "") return `${where} belongs to no property of its own`;
  if (typeof header !== "string" || !TOKEN.test(header)) return `${where} is no name of a header`;
  if (!TYPES.has(schema["type"])) return `${where} stands on what is no string, integer or boolean`;
  if (names.has(header.toLowerCase())) return `${where} names a header that another property has`;
  names.add(header.toLowerCase());
  return undefined;
}

function entriesOf(value: unknown): [string, unknown][] {
  return isRecord(value) ? Object.entries(value) : [];
}

/** Headers by name; empty for nearly every tool. A declaration the specification doesn't permit is left out. */
export function paramHeaders(inputSchema: unknown, args: unknown): Record<string, string> {
  const headers: Record<string, string> = {};
  collect(inputSchema, args, headers, 0);
  return headers;
}

function collect(schema: unknown, value: unknown, headers: Record<string, string>, depth: number): void {
  if (!isRecord(schema) || !isRecord(value) || depth > MAX_DEPTH) return;
  const properties = Object.hasOwn(schema, "properties") ? schema["properties"] : undefined;
  if (!isRecord(properties)) return;
  for (const [name, property] of Object.entries(properties)) {
    if (!isRecord(property) || !Object.hasOwn(value, name)) continue;
    const header = property["x-mcp-header"];
    const text = textOf(value[name]);
    if (typeof header === "string" && TOKEN.test(header) && text !== undefined) {
      headers[`Mcp-Param-${header}`] = headerValue(text);
    }
    collect(property, value[name], headers, depth + 1);
  }
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string" || typeof value === "boolean") return String(value);
  return typeof value === "number" && Number.isSafeInteger(value) ? String(value) : undefined;
}

function headerValue(text: string): string {
  const isPlain = PLAIN.test(text) && text === text.trim() && !(text.startsWith("=?base64?") && text.endsWith("?="));
  return isPlain ? text : `=?base64?${Buffer.from(text, "utf8").toString("base64")}?=`;
}
