/**
 * Says how much of a cut JSON text is left, so that a shortened array or object doesn't look complete:
 * how many entries of the outermost container lie whole in the part kept, and, where the cut went
 * through one entry, the same for the container in there. Works on the text alone, whoever
 * wrote it; text that isn't a JSON container has no counts. Never parses, never copies.
 */

export interface EntryCount {
  /** Keys and indexes from the root to this container: `[]` for the root. */
  readonly path: readonly string[];
  readonly kind: "array" | "object";
  readonly total: number;
  /** Entries that lie whole before or after the cut. */
  readonly shown: number;
}

/** Texts longer than this many UTF-16 units are not counted. */
const MAX_COUNTED_UNITS = 16 * 1024 * 1024;
const MAX_DEPTH = 4;

/**
 * Counts for `text` with everything from `cutStart` to `cutEnd` (UTF-16 units) removed, outermost container
 * first, at most four deep. Empty when `text` isn't a JSON object or array, or is longer than 16 Mi units.
 */
export function countEntries(text: string, cutStart: number, cutEnd: number): EntryCount[] {
  const counts: EntryCount[] = [];
  if (text.length > MAX_COUNTED_UNITS) return counts;
  let path: readonly string[] = [];
  let start = skipBlanks(text, 0);
  while (counts.length < MAX_DEPTH && isContainer(text, start)) {
    const scanned = scanContainer(text, start, cutStart, cutEnd);
    if (scanned === undefined) return [];
    if (counts.length === 0 && skipBlanks(text, scanned.end) !== text.length) return [];
    counts.push({ path, kind: scanned.kind, total: scanned.total, shown: scanned.shown });
    if (scanned.straddling === undefined) break;
    path = [...path, scanned.straddling.key];
    start = scanned.straddling.valueStart;
  }
  return counts;
}

/** `Structured content is incomplete. Shown whole: 0 of 1 keys; 210 of 5000 items of "items"`; undefined for no counts. */
export function describeCounts(counts: readonly EntryCount[]): string | undefined {
  const parts = counts.map(({ path, kind, total, shown }) => {
    const where = path.length === 0 ? "" : ` of ${JSON.stringify(path.join("."))}`;
    return `${shown} of ${total} ${kind === "array" ? "items" : "keys"}${where}`;
  });
  return parts.length === 0 ? undefined : `Structured content is incomplete. Shown whole: ${parts.join("; ")}`;
}

interface ScannedContainer {
  readonly kind: "array" | "object";
  readonly total: number;
  readonly shown: number;
  /** Just past the closing bracket. */
  readonly end: number;
  /** The entry that begins before the cut and ends behind it. */
  readonly straddling: { readonly key: string; readonly valueStart: number } | undefined;
}

/** Undefined where brackets don't match or a string has no end. */
function scanContainer(text: string, start: number, cutStart: number, cutEnd: number): ScannedContainer | undefined {
  const kind = text[start] === "[" ? "array" : "object";
  let total = 0;
  let shown = 0;
  let straddling: ScannedContainer["straddling"];
  let depth = 0;
  let entryStart = start + 1;
  let colon = -1;
  for (let index = start; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === QUOTE) {
      index = stringEnd(text, index);
      if (index === -1) return undefined;
    } else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) depth++;
    else if (unit === COLON && depth === 1 && colon < entryStart) colon = index;
    else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) depth--;
    if (depth > 1 || (depth === 1 && unit !== COMMA)) continue;
    const first = skipBlanks(text, entryStart);
    if (first < index) {
      total++;
      if (index <= cutStart || first >= cutEnd) shown++;
      else if (first < cutStart && index > cutEnd) {
        const valueStart = kind === "array" ? first : skipBlanks(text, colon + 1);
        straddling = { key: kind === "array" ? String(total - 1) : keyAt(text, first, colon), valueStart };
      }
    }
    entryStart = index + 1;
    if (depth === 0) return { kind, total, shown, end: index + 1, straddling };
  }
  return undefined;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Index of the closing quote of the string that opens at `open`, or -1. */
function stringEnd(text: string, open: number): number {
  for (let close = text.indexOf('"', open + 1); close !== -1; close = text.indexOf('"', close + 1)) {
    let slashes = 0;
    while (text.charCodeAt(close - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return close;
  }
  return -1;
}

/** The key as a short piece of text: it comes from a server and goes into a line of ours. */
function keyAt(text: string, start: number, colon: number): string {
  const source = text.slice(start, Math.min(colon, start + 60)).trim();
  return source.replace(/^"|"$/g, "");
}

function skipBlanks(text: string, from: number): number {
  let index = from;
  while (index < text.length && /[ \t\r\n]/.test(text[index]!)) index++;
  return index;
}

function isContainer(text: string, index: number): boolean {
  return text[index] === "{" || text[index] === "[";
}
