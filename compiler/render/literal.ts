/**
 * JSON values as TypeScript literal types and property names. Whatever the value, the text is one
 * valid type or key on one line; a value TypeScript has no literal for becomes its widest type.
 */
import { stringLiteral } from "./untrusted-text.ts";

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;
/** Constants nested deeper than this show as `unknown`. */
const MAX_LITERAL_DEPTH = 8;

/** A property name: bare where it may be. `__proto__` and reserved words are plain names in a type. */
export function propertyKey(name: string): string {
  return IDENTIFIER.test(name) ? name : stringLiteral(name);
}

export function literalType(value: unknown, depth = 0): string {
  if (typeof value === "string") return stringLiteral(value);
  // JSON such as 1e999 parses to Infinity, which has no literal type.
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "number";
  if (typeof value === "boolean" || value === null) return String(value);
  if (typeof value !== "object" || depth === MAX_LITERAL_DEPTH) return "unknown";
  if (Array.isArray(value)) return `[${value.map((item) => literalType(item, depth + 1)).join(", ")}]`;
  const members = Object.keys(value)
    .sort()
    .map((key) => `${propertyKey(key)}: ${literalType((value as Record<string, unknown>)[key], depth + 1)}`);
  return `{${members.join("; ")}}`;
}
