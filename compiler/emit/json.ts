/**
 * The byte form of JSON artifacts: keys in a fixed order, what fits on a line on one line, so that a
 * change of one tool is a change of few lines in a review. Never anything that differs between machines.
 */
import { sortKeys } from "../../schemas/canonical.ts";

const LINE_CHARS = 120;

/** `value` as JSON text that ends with a newline. Keys keep the order they were given: sort servers' JSON first. */
export function artifactJson(value: unknown): string {
  return `${print(value, "", 0)}\n`;
}

/** JSON on one line, with what an editor would not show, or show elsewhere, escaped: the same value, told honestly. */
export function plainJson(value: unknown): string {
  const text = JSON.stringify(value) ?? "null";
  return UNSEEN.test(text)
    ? text.replace(UNSEEN_ALL, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`)
    : text;
}

/** DEL and C1 controls, bidirectional marks, invisible blanks, line separators. */
const UNSEEN = /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/;
const UNSEEN_ALL = new RegExp(UNSEEN, "g");

/** A server's own JSON (a schema, `_meta`) in the one order that two answers of the same meaning share. */
export function declaredJson<T>(value: T): T {
  return sortKeys(value) as T;
}

function print(value: unknown, indent: string, used: number): string {
  if (typeof value !== "object" || value === null) return plainJson(value);
  const line = onOneLine(value, LINE_CHARS - indent.length - used);
  if (line !== undefined) return line;
  const inner = `${indent}  `;
  if (Array.isArray(value)) return `[\n${value.map((item) => inner + print(item, inner, 1)).join(",\n")}\n${indent}]`;
  const members = entriesOf(value).map(([key, member]) => {
    const name = `${plainJson(key)}: `;
    return inner + name + print(member, inner, name.length + 1);
  });
  return `{\n${members.join(",\n")}\n${indent}}`;
}

/** JSON of at most `room` characters, or undefined. Gives up early, so printing stays linear in the value's size. */
function onOneLine(value: unknown, room: number): string | undefined {
  if (typeof value !== "object" || value === null) {
    if (typeof value === "string" && value.length > room) return undefined;
    const text = plainJson(value);
    return text.length <= room ? text : undefined;
  }
  const isArray = Array.isArray(value);
  const members: readonly (readonly [string, unknown])[] = isArray
    ? value.map((item) => ["", item] as const)
    : entriesOf(value);
  if (members.length === 0) return isArray ? "[]" : "{}";
  let text = isArray ? "[" : "{ ";
  for (const [index, [key, member]] of members.entries()) {
    const head = `${index > 0 ? ", " : ""}${isArray ? "" : `${plainJson(key)}: `}`;
    const tail = onOneLine(member, room - text.length - head.length - 2);
    if (tail === undefined) return undefined;
    text += head + tail;
  }
  text += isArray ? "]" : " }";
  return text.length <= room ? text : undefined;
}

function entriesOf(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, member]) => member !== undefined);
}
