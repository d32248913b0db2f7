/**
 * `Mcp-Param-*` headers (SEP-2243, 2026-07-28 over Streamable HTTP): a tool's schema may ask that an argument is sent as
 * a header too, so that a gateway can route by it. Made from the compiled schema; nothing else becomes a header, and a
 * value that isn't plain ASCII travels as base64, so no argument can smuggle in a header of its own.
 */
import { isRecord } from "../../schemas/record.ts";

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const PLAIN = /^[\x20-\x7e\t]+$/;
const MAX_DEPTH = 20;

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
