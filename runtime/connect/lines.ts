/**
 * Cuts a byte stream into lines, each byte looked at once and copied at most once, so a line of 50 MB in
 * 64 kB chunks costs 50 times one of 1 MB. Memory is bounded by `maxBytes`: a longer line is dropped
 * while it streams, and reported twice, as soon as it is too long and when it ends, with its two ends.
 */

export interface LineEvents {
  /** A line without its newline. The bytes are valid during the call only. */
  onLine(line: Buffer): void;
  /** The line just became too long; `head` is its beginning. The rest is being dropped. */
  onOversize(head: Buffer): void;
  /** The line that was too long has ended: its length in bytes and its last bytes. */
  onOversizeEnd(bytes: number, tail: Buffer): void;
}

const NEWLINE = 10;
/** Bytes of an oversize line's beginning and end that are kept. */
const END_BYTES = 4096;

export class LineReader {
  readonly #maxBytes: number;
  readonly #events: LineEvents;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  /** Set while a line is being dropped. */
  #dropped: { bytes: number; tail: Buffer } | undefined;

  constructor(maxBytes: number, events: LineEvents) {
    this.#maxBytes = maxBytes;
    this.#events = events;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      this.#append(chunk.subarray(from, at));
      this.#finishLine();
      from = at + 1;
    }
    if (from < chunk.length) this.#append(chunk.subarray(from));
  }

  /** The stream has ended; what follows the last newline is a line too. */
  end(): void {
    if (this.#pendingBytes > 0 || this.#dropped !== undefined) this.#finishLine();
  }

  #append(part: Buffer): void {
    if (this.#dropped !== undefined) {
      this.#drop(part);
      return;
    }
    this.#pending.push(part);
    this.#pendingBytes += part.length;
    if (this.#pendingBytes <= this.#maxBytes) return;
    const kept = this.#pending;
    const bytes = this.#pendingBytes;
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#dropped = { bytes, tail: lastBytes(kept) };
    this.#events.onOversize(firstBytes(kept));
  }

  #drop(part: Buffer): void {
    const dropped = this.#dropped!;
    dropped.bytes += part.length;
    dropped.tail = lastBytes([dropped.tail, part]);
  }

  #finishLine(): void {
    if (this.#dropped !== undefined) {
      const { bytes, tail } = this.#dropped;
      this.#dropped = undefined;
      this.#events.onOversizeEnd(bytes, tail);
      return;
    }
    const [only] = this.#pending;
    const line = this.#pending.length === 1 ? only! : Buffer.concat(this.#pending, this.#pendingBytes);
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#events.onLine(line);
  }
}

function firstBytes(parts: readonly Buffer[]): Buffer {
  const head: Buffer[] = [];
  let bytes = 0;
  for (const part of parts) {
    head.push(part);
    bytes += part.length;
    if (bytes >= END_BYTES) break;
  }
  return Buffer.from(Buffer.concat(head).subarray(0, END_BYTES));
}

/** A copy, so that the chunks themselves can be collected. */
function lastBytes(parts: readonly Buffer[]): Buffer {
  const tail: Buffer[] = [];
  let bytes = 0;
  for (let index = parts.length - 1; index >= 0 && bytes < END_BYTES; index--) {
    const part = parts[index]!.subarray(-END_BYTES);
    tail.unshift(part);
    bytes += part.length;
  }
  return Buffer.from(Buffer.concat(tail).subarray(-END_BYTES));
}
