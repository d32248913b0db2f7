/**
 * Cuts text to a number of UTF-8 bytes by taking its middle out. Every figure it states is exact:
 * bytes are those of UTF-8, characters are Unicode code points, a lone surrogate counts as the three
 * bytes of U+FFFD it would be written as. Time is one pass and memory one small buffer whatever the
 * text's size: it is never copied, encoded or split as a whole. A surrogate pair is never cut in two.
 */

export interface TextMeasure {
  /** Bytes in UTF-8. */
  readonly bytes: number;
  /** Lines; a final newline ends the last line instead of starting another, and empty text has none. */
  readonly lines: number;
  /** Unicode code points; a lone surrogate is one. */
  readonly characters: number;
}

export interface LimitedText {
  readonly cut: boolean;
  /** The text itself where it fits, else `head`, `…N chars truncated…` and `tail`. */
  readonly text: string;
  /** First part kept: a prefix of the original, at most half of the limit. */
  readonly head: string;
  /** Last part kept: a suffix of the original; empty when nothing was cut. */
  readonly tail: string;
  /** Code points between `head` and `tail`. */
  readonly removedCharacters: number;
  /** Bytes and lines of the original. */
  readonly totalBytes: number;
  readonly totalLines: number;
}

/** `text` within `maxBytes` bytes of UTF-8, not counting the marker that says how much is missing. */
export function limitText(text: string, maxBytes: number): LimitedText {
  // A UTF-16 unit is at most three bytes, so most texts are known to fit without being measured.
  if (text.length * 3 <= maxBytes) return whole(text, Buffer.byteLength(text));
  if (text.length <= maxBytes) {
    const bytes = Buffer.byteLength(text);
    if (bytes <= maxBytes) return whole(text, bytes);
  }
  const measure = measureText(text);
  const headBytes = Math.floor(maxBytes / 2);
  const head = text.slice(0, prefixLength(text, headBytes));
  const tail = text.slice(suffixStart(text, maxBytes - headBytes));
  const removedCharacters = measure.characters - countCharacters(head) - countCharacters(tail);
  return {
    cut: true,
    text: `${head}…${removedCharacters} chars truncated…${tail}`,
    head,
    tail,
    removedCharacters,
    totalBytes: measure.bytes,
    totalLines: measure.lines,
  };
}

function whole(text: string, totalBytes: number): LimitedText {
  const totalLines = measureText(text).lines;
  return { cut: false, text, head: text, tail: "", removedCharacters: 0, totalBytes, totalLines };
}

/** UTF-16 units of the longest prefix within `maxBytes` bytes. */
function prefixLength(text: string, maxBytes: number): number {
  let bytes = 0;
  let index = 0;
  while (index < text.length) {
    const units = isPair(text, index) ? 2 : 1;
    bytes += bytesAt(text, index, units);
    if (bytes > maxBytes) break;
    index += units;
  }
  return index;
}

/** Start of the longest suffix within `maxBytes` bytes. */
function suffixStart(text: string, maxBytes: number): number {
  let bytes = 0;
  let index = text.length;
  while (index > 0) {
    const units = index > 1 && isPair(text, index - 2) ? 2 : 1;
    bytes += bytesAt(text, index - units, units);
    if (bytes > maxBytes) break;
    index -= units;
  }
  return index;
}

function isPair(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00;
}

function bytesAt(text: string, index: number, units: number): number {
  if (units === 2) return 4;
  const unit = text.charCodeAt(index);
  return unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
}

function countCharacters(text: string): number {
  let pairs = 0;
  for (let index = 0; index + 1 < text.length; index++) if (isPair(text, index)) pairs++;
  return text.length - pairs;
}

/** UTF-16 units looked at together: the buffer below is twice as many bytes. */
const CHUNK_UNITS = 1 << 16;

/** Bytes, lines and characters of `text`, in one pass over it. */
export function measureText(text: string): TextMeasure {
  const buffer = Buffer.allocUnsafeSlow(Math.min(text.length, CHUNK_UNITS) * 2);
  const units = new Uint16Array(buffer.buffer);
  const total = { bytes: 0, newlines: 0, characters: 0 };
  // Most text is ASCII throughout or nowhere, so a chunk is first taken for what the last one was.
  let ascii = true;
  for (let start = 0; start < text.length; ) {
    let end = Math.min(text.length, start + CHUNK_UNITS);
    if (end < text.length && isPair(text, end - 1)) end--;
    const chunk = text.slice(start, end);
    if (ascii && Buffer.byteLength(chunk) === chunk.length) {
      total.bytes += chunk.length;
      total.characters += chunk.length;
      total.newlines += countNewlines(chunk);
    } else {
      buffer.write(chunk, "utf16le");
      ascii = addChunk(units, chunk.length, total);
    }
    start = end;
  }
  const lines = total.newlines + (text.length > 0 && !text.endsWith("\n") ? 1 : 0);
  return { bytes: total.bytes, lines, characters: total.characters };
}

/** Adds the figures of the first `length` units; true when all of them are ASCII. */
function addChunk(
  units: Uint16Array,
  length: number,
  total: { bytes: number; newlines: number; characters: number },
): boolean {
  let newlines = 0;
  let beyondOneByte = 0;
  let beyondTwoBytes = 0;
  let pairs = 0;
  let previousIsHigh = 0;
  for (let index = 0; index < length; index++) {
    const unit = units[index]!;
    newlines += unit === 0x0a ? 1 : 0;
    beyondOneByte += unit >= 0x80 ? 1 : 0;
    beyondTwoBytes += unit >= 0x800 ? 1 : 0;
    pairs += (unit & 0xfc00) === 0xdc00 ? previousIsHigh : 0;
    previousIsHigh = (unit & 0xfc00) === 0xd800 ? 1 : 0;
  }
  total.newlines += newlines;
  total.characters += length - pairs;
  // The halves of a pair were counted as three bytes each; together they are four.
  total.bytes += length + beyondOneByte + beyondTwoBytes - 2 * pairs;
  return beyondOneByte === 0;
}

function countNewlines(chunk: string): number {
  let count = 0;
  for (let index = chunk.indexOf("\n"); index !== -1; index = chunk.indexOf("\n", index + 1)) count++;
  return count;
}
