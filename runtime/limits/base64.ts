/**
 * Finds binary data that travels as base64 inside text or structured content, where a model would read
 * it as thousands of senseless tokens. Short strings are left alone, and so is anything that merely uses
 * the letters of base64 (a DNA sequence, a digest, a line of `x`): there must be evidence that it is binary. Linear in
 * the text's length.
 */
import { essenceOf, sniffBase64 } from "./mime.ts";

/** Shorter base64 (characters) is never looked for. */
export const MIN_BASE64_LENGTH = 1024;

export interface EncodedRun {
  /** UTF-16 offsets of what to replace, a `data:…;base64,` prefix included. */
  readonly start: number;
  readonly end: number;
  /** The base64 alone, JSON escapes and line breaks taken out. */
  readonly base64: string;
  /** Undefined where nothing tells. */
  readonly mimeType: string | undefined;
}

/** Bytes that a base64 string decodes to. */
export function decodedSize(base64: string): number {
  return Buffer.byteLength(base64, "base64");
}

/**
 * Runs of base64 in `text` that are in `known` (base64 of the same result's images and files), follow a
 * data URI's prefix, or begin like a common binary format. In order, not overlapping.
 */
export function findEncodedRuns(text: string, known: ReadonlyMap<string, string | undefined>): EncodedRun[] {
  const runs: EncodedRun[] = [];
  const step = MIN_BASE64_LENGTH / 2;
  // A run this long covers two neighbouring probes, so most text is skipped unread. `reach` is where the run
  // that ends at `floor` began: nothing before `floor` is looked at twice.
  for (let probe = step, floor = 0, reach = 0; probe < text.length; probe += step) {
    const back = runStart(text, probe, floor);
    const start = back === floor ? reach : back;
    floor = probe;
    reach = start;
    if (probe - start < step) continue;
    const end = runEnd(text, probe);
    const run = judge(text, start, end, known);
    if (run !== undefined) runs.push(run);
    probe = floor = reach = end;
  }
  return runs;
}

/** First unit of the run that reaches to `probe`, looking back no further than `floor`. */
function runStart(text: string, probe: number, floor: number): number {
  let start = probe;
  while (start > floor && isBase64Unit(text.charCodeAt(start - 1))) start--;
  return start;
}

function runEnd(text: string, probe: number): number {
  RUN.lastIndex = probe;
  return RUN.test(text) ? RUN.lastIndex : probe;
}

/** `\` is one of the letters: JSON writes `/` as `\/` and line breaks as `\n`. */
const RUN = /[A-Za-z0-9+/\\_-]*=*/y;

function isBase64Unit(unit: number): boolean {
  return unit < 128 && IS_BASE64[unit] === 1;
}

const IS_BASE64 = Uint8Array.from({ length: 128 }, (_, unit) =>
  /[A-Za-z0-9+/\\_-]/.test(String.fromCharCode(unit)) ? 1 : 0,
);

function judge(
  text: string,
  start: number,
  end: number,
  known: ReadonlyMap<string, string | undefined>,
): EncodedRun | undefined {
  if (end - start < MIN_BASE64_LENGTH) return undefined;
  const run = text.slice(start, end);
  const base64 = run.includes("\\") ? run.replace(/\\[nr]|\\(?=\/)/g, "") : run;
  const prefix = DATA_URI_PREFIX.exec(text.slice(Math.max(0, start - 200), start));
  if (prefix !== null) return { start: start - prefix[0].length, end, base64, mimeType: essenceOf(prefix[1]) };
  // Looking up a string costs a pass over it.
  if (known.size > 0 && known.has(base64)) return { start, end, base64, mimeType: known.get(base64) };
  const sniffed = sniffBase64(base64);
  return sniffed === undefined ? undefined : { start, end, base64, mimeType: sniffed };
}

const DATA_URI_PREFIX = /data:([^;,\s"']{0,120})(?:;[^;,\s"']{0,60}){0,3};base64,$/;

/** A string value that is binary data as a whole. */
export interface EncodedString {
  readonly base64: string;
  readonly mimeType: string | undefined;
}

/**
 * The string values inside a JSON value that are binary data, by the string itself. Evidence is a data URI, a
 * MIME type beside the string, how the data begins, or an even mix of capitals, small letters beyond `f` and digits.
 */
export function collectEncodedStrings(value: unknown): Map<string, EncodedString> {
  const found = new Map<string, EncodedString>();
  // A list of its own instead of recursion: nesting is up to the server.
  const pending: { value: unknown; mimeType: string | undefined }[] = [{ value, mimeType: undefined }];
  for (let item = pending.pop(); item !== undefined; item = pending.pop()) {
    if (typeof item.value === "string") {
      const encoded = encodedString(item.value, item.mimeType);
      if (encoded !== undefined) found.set(item.value, encoded);
    } else if (typeof item.value === "object" && item.value !== null) {
      const mimeType = Array.isArray(item.value) ? undefined : statedMimeType(item.value);
      for (const member of Object.values(item.value)) pending.push({ value: member, mimeType });
    }
  }
  return found;
}

function encodedString(text: string, stated: string | undefined): EncodedString | undefined {
  if (text.length < MIN_BASE64_LENGTH) return undefined;
  const prefix = /^data:([^;,\s]{0,120})(?:;[^;,\s]{0,60}){0,3};base64,/.exec(text.slice(0, 400));
  const base64 = prefix === null ? text : text.slice(prefix[0].length);
  if (!/^[A-Za-z0-9+/_\-\r\n]+={0,2}\s*$/.test(base64)) return undefined;
  if (prefix !== null) return { base64, mimeType: essenceOf(prefix[1]) };
  const mimeType = stated ?? sniffBase64(base64);
  const sample = base64.slice(0, 4096);
  const mixed = /[A-Z]/.test(sample) && /[g-z]/.test(sample) && /[0-9]/.test(sample) && /^[^_-]+$/.test(sample);
  return mimeType !== undefined || mixed ? { base64, mimeType } : undefined;
}

function statedMimeType(holder: object): string | undefined {
  for (const key of ["mimeType", "mime_type", "contentType", "content_type", "mediaType", "media_type"]) {
    const stated = Object.hasOwn(holder, key) ? essenceOf((holder as Record<string, unknown>)[key]) : undefined;
    if (stated !== undefined && !stated.startsWith("text/")) return stated;
  }
  return undefined;
}
