/**
 * Writes lines to a pipe. Those of one turn of the event loop go out together, in their order: with many requests
 * at once the system call a message is the largest cost there is, and this makes it one for all of them.
 */
import type { Writable } from "node:stream";

interface Batch {
  text: string;
  readonly taken: Promise<void>;
  readonly settle: (error?: Error | null) => void;
}

export class LineWriter {
  readonly #pipe: Writable;
  #batch: Batch | undefined;

  constructor(pipe: Writable) {
    this.#pipe = pipe;
  }

  /** `line` ends with its newline. Resolves when the pipe took it; rejects when the pipe is broken. */
  write(line: string): Promise<void> {
    if (this.#batch === undefined) {
      this.#batch = openBatch();
      // After the callbacks and promises of this turn, and before anything is waited for.
      process.nextTick(() => this.flush());
    }
    this.#batch.text += line;
    return this.#batch.taken;
  }

  /** Hands over what has been collected. */
  flush(): void {
    const batch = this.#batch;
    if (batch === undefined) return;
    this.#batch = undefined;
    if (!this.#pipe.writable) {
      batch.settle(brokenPipe("the pipe is closed"));
      return;
    }
    const hasRoom = this.#pipe.write(batch.text, (error) => error && batch.settle(error));
    if (hasRoom) batch.settle();
    else this.#pipe.once("drain", batch.settle);
  }
}

/** With the system's code for it, by which a connection that ended is told from an answer that is no good. */
export function brokenPipe(message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code: "EPIPE" });
}

function openBatch(): Batch {
  let settle: Batch["settle"] = () => {};
  const taken = new Promise<void>((resolve, reject) => {
    settle = (error) => (error ? reject(error) : resolve());
  });
  return { text: "", taken, settle };
}
