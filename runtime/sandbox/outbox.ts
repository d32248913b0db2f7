/**
 * What a VM sends to the other thread: the first items at once, so that a script which then hangs has shown them, later ones
 * together, so that a flood costs the other thread a few hundred messages. Counts, and says when a script has printed too much.
 */
import { type CallRequest, type Emission, OUTPUT_LIMITS } from "./protocol.ts";

/** Items that are sent at once. */
const SENT_AT_ONCE = 64;
const BATCH_CHARS = 65_536;
const BATCH_ITEMS = 512;

export class Outbox {
  readonly #send: (output: readonly Emission[], calls: readonly CallRequest[]) => void;
  #output: Emission[] = [];
  #outputChars = 0;
  #calls: CallRequest[] = [];
  #items = 0;
  #chars = 0;

  constructor(send: (output: readonly Emission[], calls: readonly CallRequest[]) => void) {
    this.#send = send;
  }

  /** Counts an item of so many characters; false when that is more than a script may print. */
  count(chars: number): boolean {
    this.#items++;
    this.#chars += chars;
    return this.#items <= OUTPUT_LIMITS.items && this.#chars <= OUTPUT_LIMITS.chars;
  }

  /** Takes an item that was counted. */
  add(item: Emission, chars: number): void {
    this.#output.push(item);
    this.#outputChars += chars;
    if (this.#items <= SENT_AT_ONCE) this.flush();
    else this.flushWhenMuch();
  }

  addCall(call: CallRequest): void {
    this.#calls.push(call);
  }

  /** Calls that were not sent yet; they never are. */
  takeCalls(): readonly CallRequest[] {
    const calls = this.#calls;
    this.#calls = [];
    return calls;
  }

  flushWhenMuch(): void {
    if (this.#outputChars >= BATCH_CHARS || this.#output.length >= BATCH_ITEMS) this.flush();
  }

  flush(): void {
    if (this.#output.length === 0 && this.#calls.length === 0) return;
    this.#send(this.#output, this.#calls);
    this.#output = [];
    this.#outputChars = 0;
    this.#calls = [];
  }
}
