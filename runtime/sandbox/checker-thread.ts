/**
 * The thread that reads scripts, seen from outside: started when needed, kept warm, given back when idle. It has one question at a
 * time, so that whatever ends it, a script that takes for ever or all its memory, is the doing of the one that it had; the
 * others go to a new thread.
 */
import module from "node:module";
import { homedir } from "node:os";
import { extname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { cacheFolder } from "../../schemas/user-folders.ts";
import type { DeclareReply, DeclareRequest, WorkerReply, WorkerRequest, WorkerSettings } from "./checker-worker.ts";

type Request = WorkerRequest | DeclareRequest;
type Reply = WorkerReply | DeclareReply;
/** Why there is no answer: the thread ended, or was ended because it took too long. */
export type Gone = "failed" | "late";

interface Asked {
  readonly request: Request;
  readonly settle: (reply: Reply | Gone) => void;
  /** False once nobody waits for it any more. */
  isWanted: boolean;
}

/** MiB of the thread's heap: TypeScript with its library takes 100, and a script can make it want more. */
const HEAP_MB = 1_024;

export class CheckerThread {
  readonly #timeoutMs: number;
  readonly #idleMs: number;
  #worker: Worker | undefined;
  /** In the order in which they came; the thread has the first and hears of no other. */
  readonly #queue: Asked[] = [];
  #late: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;

  /** `timeoutMs`: for one answer, its wait for others not included. `idleMs`: without a question, then it ends; 0 never. */
  constructor(timeoutMs: number, idleMs: number) {
    this.#timeoutMs = timeoutMs;
    this.#idleMs = idleMs;
  }

  /** Starts the thread, so that it loads while something else is read. */
  warm(): void {
    this.#start();
    // Where no script comes after all, its memory is given back too.
    if (this.#queue.length === 0) this.#rest();
  }

  ask(request: WorkerRequest, signal?: AbortSignal): Promise<WorkerReply | Gone>;
  ask(request: DeclareRequest): Promise<DeclareReply | Gone>;
  /** Rejects only with the signal's reason. */
  ask(request: Request, signal?: AbortSignal): Promise<Reply | Gone> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#abandon(asked);
        reject(signal?.reason);
      };
      const settle = (reply: Reply | Gone) => {
        signal?.removeEventListener("abort", onAbort);
        resolve(reply);
      };
      const asked: Asked = { request, settle, isWanted: true };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#queue.push(asked);
      if (this.#queue.length === 1) this.#send();
      // While a script waits the process does too.
      else this.#worker?.ref();
    });
  }

  /** Ends the thread; what waits for it gets no answer. A question asked later starts a new one. */
  async close(): Promise<void> {
    const worker = this.#worker;
    this.#lose();
    for (const asked of this.#queue.splice(0)) asked.settle("failed");
    await worker?.terminate();
  }

  /** Hands the first question to the thread, a new one where there is none. */
  #send(): void {
    const [first] = this.#queue;
    if (first === undefined) {
      this.#rest();
      return;
    }
    const worker = this.#start();
    clearTimeout(this.#idle);
    worker.ref();
    this.#late = setTimeout(() => {
      this.#lose();
      void worker.terminate();
      this.#settleFirst("late");
    }, this.#timeoutMs).unref();
    worker.postMessage(first.request);
  }

  #settleFirst(reply: Reply | Gone): void {
    clearTimeout(this.#late);
    this.#queue.shift()?.settle(reply);
    this.#send();
  }

  /** What the thread has can't be taken from it: it goes on, and nobody waits. */
  #abandon(asked: Asked): void {
    asked.isWanted = false;
    const place = this.#queue.indexOf(asked);
    if (place > 0) this.#queue.splice(place, 1);
    if (!this.#queue.some(({ isWanted }) => isWanted)) this.#worker?.unref();
  }

  #start(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const extension = extname(import.meta.url);
    const ofProcess = (module as { getCompileCacheDir?(): string | undefined }).getCompileCacheDir?.();
    const settings: WorkerSettings = {
      checkModule: new URL(`../../compiler/scripts/check-script${extension}`, import.meta.url).href,
      compileCache: ofProcess ?? join(cacheFolder(process.env, homedir()), "compiled-code"),
    };
    const worker = new Worker(new URL(`./checker-worker${extension}`, import.meta.url), {
      name: "pimcp script checker",
      workerData: settings,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
      // What the process was started with (a debugger, a loader) is not for this thread; nor is its input.
      execArgv: [],
      stdin: false,
    });
    // A thread that was given up may still have something to say.
    worker.on("message", (reply: Reply) => this.#worker === worker && this.#settleFirst(reply));
    const onEnd = () => {
      if (this.#worker !== worker) return;
      this.#lose();
      this.#settleFirst("failed");
    };
    worker.on("error", onEnd);
    worker.on("exit", onEnd);
    worker.unref();
    this.#worker = worker;
    return worker;
  }

  #lose(): void {
    this.#worker = undefined;
    clearTimeout(this.#late);
    clearTimeout(this.#idle);
  }

  #rest(): void {
    clearTimeout(this.#idle);
    this.#worker?.unref();
    if (this.#idleMs === 0 || this.#worker === undefined) return;
    this.#idle = setTimeout(() => void this.close(), this.#idleMs).unref();
  }
}
