/**
 * A few worker threads for scripts: started when needed, kept for the next script, given out in the order of asking. A thread that
 * won't stop, is worn out or has failed is ended, and its place is free once it is gone. Threads keep no program alive except
 * while they have a script.
 */
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { engineFiles } from "./engine-files.ts";
import type { FromWorker, ToWorker, WorkerData } from "./protocol.ts";

/** Who has a worker. */
export interface WorkerUser {
  onMessage(message: FromWorker): void;
  /** The thread is gone before its script ended. */
  onLost(error: Error): void;
}

export type Acquired =
  | { readonly ok: true; readonly worker: PooledWorker }
  | { readonly ok: false; readonly reason: "aborted" | "waited" | "closed" }
  | { readonly ok: false; readonly reason: "failed"; readonly error: Error };

export interface PoolOptions {
  readonly size: number;
  readonly workerUrl: URL;
  /** Milliseconds without a script after which a thread ends. */
  readonly idleMs: number;
}

/** Milliseconds that a thread may take after its script's end before it is taken for one that won't stop. */
const STOP_MS = 1000;
/** Milliseconds for which a waiting script would rather have a thread that is getting ready than one to be started. */
const SOON_MS = 100;
/** A thread's native stack: what QuickJS's own stack limit stands for fits in it several times. */
const STACK_MB = 16;
/** A thread's own heap; the VM's memory is apart. */
const HEAP_MB = 512;

interface WorkerEvents {
  onIdle(): void;
  /** It takes long to get ready again. */
  onLate(): void;
  onGone(error?: Error): void;
}

export class PooledWorker {
  readonly #thread: Worker;
  readonly #answers: MessagePort;
  readonly #answered = new Int32Array(new SharedArrayBuffer(4));
  readonly #pool: WorkerEvents;
  #user: WorkerUser | undefined;
  #timer: NodeJS.Timeout | undefined;
  #error: Error | undefined;
  idle = false;
  /** It has no script, and is not ready for one yet. */
  soon = true;
  readonly gone: Promise<void>;

  constructor(workerUrl: URL, pool: WorkerEvents) {
    this.#pool = pool;
    const { port1, port2 } = new MessageChannel();
    this.#answers = port1;
    const workerData: WorkerData = { answers: port2, answered: this.#answered };
    this.#thread = new Worker(workerUrl, {
      workerData,
      transferList: [port2],
      name: "pimcp script",
      // Nothing of this process is a script's business.
      env: {},
      argv: [],
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, stackSizeMb: STACK_MB },
    });
    this.#thread.unref();
    this.#thread.on("message", (message: FromWorker) => this.#onMessage(message));
    this.#thread.on("error", (error) => {
      this.#error = error;
    });
    this.gone = new Promise((resolve) => {
      this.#thread.once("exit", () => {
        this.#onExit();
        resolve();
      });
    });
    engineFiles(workerUrl).then(
      (files) => this.#thread.postMessage({ type: "engine", ...files } satisfies ToWorker),
      (error: Error) => {
        this.#error = error;
        this.end();
      },
    );
  }

  /** Gives the thread a script; it keeps the program alive until that ends. */
  use(user: WorkerUser): void {
    clearTimeout(this.#timer);
    this.idle = false;
    this.#user = user;
    this.#thread.ref();
  }

  post(message: ToWorker): void {
    this.#thread.postMessage(message);
  }

  /** Answers the question that the thread waits with. */
  answer(json: string): void {
    this.#answers.postMessage(json);
    Atomics.store(this.#answered, 0, 1);
    Atomics.notify(this.#answered, 0);
  }

  /** The user is through with it; the thread gets ready for the next, or is ended when it doesn't. */
  release(): void {
    this.#user = undefined;
    this.#thread.unref();
    clearTimeout(this.#timer);
    this.soon = true;
    this.#timer = setTimeout(() => this.#onLate(), SOON_MS).unref();
  }

  #onLate(): void {
    this.soon = false;
    this.#timer = setTimeout(() => this.end(), STOP_MS - SOON_MS).unref();
    this.#pool.onLate();
  }

  /** Ends the thread whatever it does. Its place in the pool is free when it is gone. */
  end(): void {
    clearTimeout(this.#timer);
    this.idle = false;
    this.soon = false;
    this.#user = undefined;
    void this.#thread.terminate();
    // Ending a thread holds on to the program by itself.
    this.#thread.unref();
  }

  /** Ends the thread and keeps the program until it is gone. */
  close(): Promise<void> {
    this.end();
    this.#thread.ref();
    return this.gone;
  }

  /** Ends the thread when it had nothing to do for so long. */
  endAfter(ms: number): void {
    this.#timer = setTimeout(() => this.end(), ms).unref();
  }

  #onMessage(message: FromWorker): void {
    if (message.type !== "idle") {
      this.#user?.onMessage(message);
      return;
    }
    clearTimeout(this.#timer);
    if (message.spent) {
      this.end();
      return;
    }
    this.soon = false;
    this.idle = true;
    this.#pool.onIdle();
  }

  #onExit(): void {
    clearTimeout(this.#timer);
    this.#answers.close();
    const user = this.#user;
    this.#user = undefined;
    this.idle = false;
    this.soon = false;
    this.#pool.onGone(this.#error);
    user?.onLost(this.#error ?? new Error("the worker ended"));
  }
}

interface Waiter {
  settle(outcome: Acquired): void;
}

export class WorkerPool {
  readonly #options: PoolOptions;
  readonly #workers = new Set<PooledWorker>();
  readonly #waiters: Waiter[] = [];
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Starts a thread for the first script to come, unless there is one. */
  warm(): void {
    if (!this.#closed && this.#workers.size === 0) this.#start();
  }

  /** A ready worker, in the order of asking; after `waitMs` none. */
  acquire(signal: AbortSignal | undefined, waitMs: number): Promise<Acquired> {
    if (this.#closed) return Promise.resolve({ ok: false, reason: "closed" });
    if (signal?.aborted) return Promise.resolve({ ok: false, reason: "aborted" });
    return new Promise((resolve) => {
      const onAbort = () => waiter.settle({ ok: false, reason: "aborted" });
      const timer = setTimeout(() => waiter.settle({ ok: false, reason: "waited" }), waitMs);
      const waiter: Waiter = {
        settle: (outcome) => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", onAbort);
          const index = this.#waiters.indexOf(waiter);
          if (index !== -1) this.#waiters.splice(index, 1);
          resolve(outcome);
        },
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#waiters.push(waiter);
      this.#pump();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const waiter of [...this.#waiters]) waiter.settle({ ok: false, reason: "closed" });
    await Promise.all([...this.#workers].map((worker) => worker.close()));
  }

  #pump(): void {
    for (const worker of this.#workers) {
      if (this.#waiters.length === 0) return;
      if (!worker.idle) continue;
      worker.idle = false;
      this.#waiters[0]!.settle({ ok: true, worker });
    }
    const soon = [...this.#workers].filter((worker) => worker.soon).length;
    if (this.#waiters.length > soon && this.#workers.size < this.#options.size && !this.#closed) this.#start();
  }

  #start(): void {
    let wasReady = false;
    const worker = new PooledWorker(this.#options.workerUrl, {
      onIdle: () => {
        wasReady = true;
        worker.endAfter(this.#options.idleMs);
        this.#pump();
      },
      onLate: () => this.#pump(),
      onGone: (error) => {
        this.#workers.delete(worker);
        // One that never got ready would not the next time either.
        const reason = error ?? new Error("the worker ended before it was ready");
        if (!wasReady)
          for (const waiter of [...this.#waiters]) waiter.settle({ ok: false, reason: "failed", error: reason });
        this.#pump();
      },
    });
    this.#workers.add(worker);
  }
}
