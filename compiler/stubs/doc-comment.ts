/**
 * Text of servers as JSDoc. Whatever a server writes, the result is one comment: it can't end it, carry a
 * JSDoc tag or a compiler directive, reverse the reading direction, or hide characters.
 */
import { keyword, type SchemaObject } from "./json-schema.ts";

/** Characters of a comment taken from a server; the rest is cut. Descriptions of 5,000 characters exist. */
const MAX_COMMENT_LENGTH = 4000;

/** Controls, bidirectional marks, invisible and tag characters. Joiners stay: emoji and scripts need them. */
const UNSAFE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Lines of a comment, safe and without blank ends; empty when nothing is left to say. */
export function commentText(text: unknown): string {
  if (typeof text !== "string") return "";
  const clean = text
    .slice(0, 2 * MAX_COMMENT_LENGTH)
    .replace(/\r\n?|[\u2028\u2029\u0085]/g, "\n")
    .replace(/\t/g, "  ")
    .replace(UNSAFE, "")
    .replace(/\p{Cs}/gu, "\ufffd")
    .replace(/[^\S\n]+$/gm, "")
    .replace(/^\n+|\n+$/g, "")
    .replace(/\n{3,}/g, "\n\n");
  const cut = clean.length > MAX_COMMENT_LENGTH || text.length > 2 * MAX_COMMENT_LENGTH;
  const kept = cut ? `${clean.slice(0, MAX_COMMENT_LENGTH).replace(/[\ud800-\udbff]$/, "")}…` : clean;
  return kept.trim() === "" ? "" : kept.replace(/@/g, "\\@").replace(/\*\//g, "*\\/");
}

/** A JSDoc block of safe lines at an indent, without a line break at its end; empty for no text. */
export function docComment(text: string, indent: string): string {
  if (text === "") return "";
  const lines = text.split("\n");
  if (lines.length === 1 && text.length <= 110) return `${indent}/** ${text} */`;
  return [`${indent}/**`, ...lines.map((line) => `${indent} *${line === "" ? "" : ` ${line}`}`), `${indent} */`].join(
    "\n",
  );
}

/** What a property's comment says: its description, what its TypeScript type can't say, and `@deprecated`. */
export function propertyComment(name: string, schema: unknown): string {
  if (typeof schema !== "object" || schema === null) return "";
  const node = schema as SchemaObject;
  return [
    commentText(keyword(node, "description")) || informativeTitle(name, node),
    commentText(constraints(node)),
    keyword(node, "deprecated") === true ? "@deprecated" : "",
  ]
    .filter((part) => part !== "")
    .join("\n");
}

/** Generators write the property's own name again as its title; that says nothing. */
function informativeTitle(name: string, schema: SchemaObject): string {
  const title = commentText(keyword(schema, "title"));
  const plain = (text: string) => text.replace(/[^\p{L}\p{N}]/gu, "").toLowerCase();
  return plain(title) === plain(name) ? "" : title;
}

function constraints(schema: SchemaObject): string {
  const type = keyword(schema, "type");
  const parts = [
    type === "integer" || (Array.isArray(type) && type.includes("integer")) ? "integer" : "",
    bound(schema, "minimum", "exclusiveMinimum", ">"),
    bound(schema, "maximum", "exclusiveMaximum", "<"),
    count(schema, "minLength", "maxLength", "characters"),
    count(schema, "minItems", "maxItems", "items"),
    typeof keyword(schema, "multipleOf") === "number" ? `multiple of ${schema["multipleOf"]}` : "",
    typeof keyword(schema, "format") === "string" ? `format ${short(schema["format"] as string)}` : "",
    typeof keyword(schema, "pattern") === "string" ? `pattern ${short(schema["pattern"] as string)}` : "",
    Object.hasOwn(schema, "default") ? `default ${short(JSON.stringify(schema["default"]) ?? "")}` : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? "" : `(${parts.join(", ")})`;
}

/** `>= 0`, or `> 0` in either spelling of an exclusive bound; bounds that generators add for safe integers are noise. */
function bound(schema: SchemaObject, inclusive: string, exclusive: string, sign: string): string {
  const limit = keyword(schema, inclusive);
  const strict = keyword(schema, exclusive);
  const says = (value: unknown) => typeof value === "number" && Math.abs(value) < Number.MAX_SAFE_INTEGER;
  if (says(strict)) return `${sign} ${strict}`;
  return says(limit) ? `${sign}${strict === true ? "" : "="} ${limit}` : "";
}

function count(schema: SchemaObject, least: string, most: string, unit: string): string {
  const min = keyword(schema, least);
  const max = keyword(schema, most);
  const from = typeof min === "number" && min > 0 ? min : undefined;
  const to = typeof max === "number" && max < Number.MAX_SAFE_INTEGER ? max : undefined;
  if (from !== undefined && to !== undefined) return from === to ? `${from} ${unit}` : `${from} to ${to} ${unit}`;
  return from !== undefined ? `at least ${from} ${unit}` : to !== undefined ? `at most ${to} ${unit}` : "";
}

function short(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
