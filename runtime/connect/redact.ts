/**
 * What may be shown of text that came from a server or a command: secrets taken out, control and
 * bidirectional characters made harmless, length bounded. Everything that `runtime/connect` puts into a
 * diagnostic, an error or a note and didn't write itself passes through here.
 */

/** Shorter values are too common in ordinary text to be searched for. */
const MIN_SECRET_LENGTH = 6;
/** Shorter numbers are limits and sizes. */
const MIN_NUMBER_LENGTH = 9;
const REDACTED = "[redacted]";
const LONE_SURROGATE = /\p{Surrogate}/u;

/** `text` with every occurrence of a secret, plain, URL-encoded or JSON-escaped, replaced. */
export function redact(text: string, secrets: readonly string[]): string {
  if (secrets.length === 0) return text;
  let shown = text;
  for (const secret of spellings(secrets)) shown = shown.replaceAll(secret, REDACTED);
  return shown;
}

/**
 * A copy of JSON data with the secrets taken out of its texts and keys, and whether there were any. Of keys that
 * become equal the last one stands. Takes data of any depth, as `JSON.parse` gives it; the original is returned when
 * it holds none.
 */
export function redactData<T>(value: T, secrets: readonly string[]): { readonly value: T; readonly found: boolean } {
  let found = false;
  const clean = (text: string): string => {
    const shown = redact(text, secrets);
    found ||= shown !== text;
    return shown;
  };
  const left: [source: object, target: object][] = [];
  const copy = (item: unknown): unknown => {
    if (typeof item === "string") return clean(item);
    // A number stands where a secret of digits was read as one.
    if (typeof item === "number")
      return String(item).length >= MIN_NUMBER_LENGTH && secrets.includes(String(item)) ? clean(String(item)) : item;
    if (typeof item !== "object" || item === null) return item;
    const target = Array.isArray(item) ? [] : {};
    left.push([item, target]);
    return target;
  };
  const root = copy(value);
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [source, target] = next;
    if (Array.isArray(source)) for (const item of source) (target as unknown[]).push(copy(item));
    else for (const [key, item] of Object.entries(source)) define(target, clean(key), copy(item));
  }
  return found ? { value: root as T, found } : { value, found };
}

/** A key named `__proto__` stays an ordinary one. */
function define(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Longest first, so that a secret that contains another is replaced whole. */
function spellings(secrets: readonly string[]): string[] {
  const all = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < MIN_SECRET_LENGTH) continue;
    all.add(secret).add(JSON.stringify(secret).slice(1, -1));
    // A lone surrogate can't be URL-encoded, and so can't have been sent that way.
    if (!LONE_SURROGATE.test(secret)) all.add(encodeURIComponent(secret));
  }
  return [...all].sort((a, b) => b.length - a.length);
}

const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
const TERMINAL_SEQUENCE = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;

/** One line of untrusted text for a person: no control characters, at most `maxLength` characters. */
export function printableLine(text: string, maxLength = 200): string {
  // Cut before cleaning so that a line of 100 MB costs nothing, and after, for the limit asked for.
  const line = text
    .slice(0, maxLength * 4)
    .replace(TERMINAL_SEQUENCE, "")
    .replace(/\s+/g, " ")
    .replace(UNPRINTABLE, "")
    .trim();
  return line.length > maxLength ? `${line.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, "")}…` : line;
}

/** The last lines of an untrusted output, cleaned: what stands in the notes of a failed start. */
export function printableTail(text: string, maxLines = 20): string[] {
  return text
    .split(/\r\n|\n|\r/)
    .map((line) => printableLine(line))
    .filter((line) => line !== "")
    .slice(-maxLines);
}
