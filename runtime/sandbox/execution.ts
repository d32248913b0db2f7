/**
 * One run, seen from the host: makes the calls a script asks for, keeps what it prints, and ends it. The first end counts: the
 * script's own, the deadline, the caller's, a lost thread. From then on nothing of the script is heard, and every call still under
 * way is cancelled.
 */
import { nearestAll } from "../../schemas/nearest.ts";
import { isRecord } from "../../schemas/record.ts";
import { type HostFunction, lookupFunctions, type SandboxHost } from "./host.ts";
import type { PooledWorker, WorkerUser } from "./pool.ts";
import type {
  CallRequest,
  Emission,
  Ending,
  FailureKind,
  FromWorker,
  OutputItem,
  Question,
  Settlement,
} from "./protocol.ts";

export interface CallRecord {
  /** Of the tool. */
  readonly name: string;
  status: "ok" | "error" | "cancelled";
  durationMs: number;
  /** The error's text; never a result. */
  error?: string;
}

export interface Failure {
  readonly kind: FailureKind;
  readonly name: string;
  readonly message: string;
  /** Frames of the script, as the VM has them. */
  readonly stack?: string;
}

export interface ExecutionResult {
  readonly output: readonly OutputItem[];
  readonly console: readonly string[];
  readonly calls: readonly CallRecord[];
  readonly ending:
    | { readonly ok: true; readonly json?: string; readonly writesJson: string }
    | { readonly ok: false; readonly failure: Failure };
}

export interface ExecutionOptions {
  readonly host: SandboxHost;
  readonly source: string;
  readonly storeJson: string;
  readonly globalNames: readonly string[];
  readonly signal?: AbortSignal | undefined;
  /** What is left of the deadline. */
  readonly timeoutMs?: number | undefined;
  /** The whole deadline, for its message. */
  readonly deadlineMs?: number | undefined;
  readonly onOutput?: ((item: Emission) => void) | undefined;
}

/** Characters of JSON that one result may have. More never fits into a VM beside its parsed form. */
const RESULT_CHARS = 128 * 1024 * 1024;
/** Milliseconds for which calls are started before this thread does something else: some are work for it, as a search is. */
const TURN_MS = 10;
/** Characters of an error's text that are kept in the trace. */
const ERROR_CHARS = 500;

export class Execution implements WorkerUser {
  readonly result: Promise<ExecutionResult>;
  readonly #options: ExecutionOptions;
  readonly #worker: PooledWorker;
  readonly #functions: Readonly<Record<string, HostFunction>>;
  readonly #output: OutputItem[] = [];
  readonly #console: string[] = [];
  readonly #calls: CallRecord[] = [];
  /** One signal a call: with one for all, thousands of listeners would take time by their square. */
  readonly #running = new Map<number, { record: CallRecord; startedAt: number; abort: AbortController }>();
  /** Calls not started yet. */
  #waiting: CallRequest[] = [];
  #settlements: Settlement[] = [];
  #timer: NodeJS.Timeout | undefined;
  #finished = false;
  #resolve!: (result: ExecutionResult) => void;

  constructor(worker: PooledWorker, options: ExecutionOptions) {
    this.#worker = worker;
    this.#options = options;
    this.#functions = { ...lookupFunctions(options.host.tools), ...options.host.globals };
    this.result = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    const { signal, timeoutMs, deadlineMs, source, storeJson, globalNames } = options;
    worker.use(this);
    if (timeoutMs !== undefined) this.#timer = setTimeout(() => this.#onDeadline(deadlineMs ?? timeoutMs), timeoutMs);
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (signal?.aborted) this.#onAbort();
    else worker.post({ type: "run", source, storeJson, globalsJson: JSON.stringify(globalNames) });
  }

  onMessage(message: FromWorker): void {
    if (this.#finished) return;
    switch (message.type) {
      case "batch":
        for (const item of message.output) this.#keep(item);
        this.#waiting.push(...message.calls);
        // Otherwise a turn is under way already.
        if (this.#waiting.length === message.calls.length) this.#startSome();
        return;
      case "ask":
        this.#worker.answer(this.#answer(message.question));
        return;
      case "done":
        for (const name of message.unmade) this.#calls.push({ name, status: "cancelled", durationMs: 0 });
        this.#onDone(message.ending);
    }
  }

  onLost(error: Error): void {
    const isMemory = (error as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY";
    const message = isMemory ? "out of memory" : `the script's worker ended: ${error.message}`;
    this.#finish({ ok: false, failure: { kind: isMemory ? "memory" : "sandbox", name: "Error", message } });
  }

  readonly #onAbort = (): void => {
    const { reason } = this.#options.signal!;
    const message = reason instanceof Error ? reason.message : "the run was cancelled";
    this.#kill({ kind: "aborted", name: "AbortError", message });
  };

  #onDeadline(ms: number): void {
    this.#kill({ kind: "timeout", name: "TimeoutError", message: `the script did not end within ${ms} ms` });
  }

  #onDone(ending: Ending): void {
    if (!ending.ok && ending.kind === "sandbox") this.#worker.end();
    else this.#worker.release();
    if (ending.ok) {
      this.#finish(ending);
      return;
    }
    const { name, message, stack } = JSON.parse(ending.errorJson) as { name: string; message: string; stack?: string };
    this.#finish({ ok: false, failure: { kind: ending.kind, name, message, ...(stack && { stack }) } });
  }

  /** Ends the script and its thread: nothing less is sure to. */
  #kill(failure: Failure): void {
    if (this.#finished) return;
    this.#worker.end();
    this.#finish({ ok: false, failure });
  }

  #finish(ending: ExecutionResult["ending"]): void {
    if (this.#finished) return;
    this.#finished = true;
    clearTimeout(this.#timer);
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    const now = performance.now();
    for (const { record, startedAt } of this.#running.values()) {
      record.status = "cancelled";
      record.durationMs = now - startedAt;
    }
    for (const { kind, name } of this.#waiting) {
      if (kind === "tool") this.#calls.push({ name, status: "cancelled", durationMs: 0 });
    }
    this.#waiting = [];
    this.#resolve({ output: this.#output, console: this.#console, calls: this.#calls, ending });
    const reason = new Error("the script has ended");
    for (const { abort } of this.#running.values()) abort.abort(reason);
    this.#running.clear();
  }

  #keep(item: Emission): void {
    if (item.type === "console") this.#console.push(item.text);
    else this.#output.push(item);
    this.#options.onOutput?.(item);
  }

  /** JSON of `{ value }`, or of `{ error }` where the host failed to say. */
  #answer(question: Question): string {
    try {
      return JSON.stringify({ value: this.#valueFor(question) });
    } catch (error) {
      return JSON.stringify({ error: error instanceof Error ? error.message : String(error) });
    }
  }

  #valueFor(question: Question): unknown {
    const { tools } = this.#options.host;
    if (question.what === "names") return tools.names();
    if (question.what === "list") return tools.list();
    const exists = tools.has(question.name);
    return { exists, near: exists ? [] : nearestAll(question.name, tools.names(), 3) };
  }

  /** A flood of calls is taken up in turns, between which this thread does other things. */
  #startSome(): void {
    const until = performance.now() + TURN_MS;
    while (this.#waiting.length > 0 && performance.now() < until) void this.#start(this.#waiting.shift()!);
    if (this.#waiting.length > 0) setImmediate(() => this.#startSome());
  }

  async #start({ id, kind, name, json }: CallRequest): Promise<void> {
    const startedAt = performance.now();
    const record: CallRecord = { name, status: "ok", durationMs: 0 };
    if (kind === "tool") this.#calls.push(record);
    const abort = new AbortController();
    this.#running.set(id, { record, startedAt, abort });
    const settled = await this.#perform({ id, kind, name, ...(json !== undefined && { json }) }, abort.signal);
    // After the end the record says cancelled, and stays so.
    if (this.#finished) return;
    this.#running.delete(id);
    record.durationMs = performance.now() - startedAt;
    if (!settled.ok) {
      record.status = "error";
      record.error = settled.message.slice(0, ERROR_CHARS);
    }
    this.#settle(settled.settlement);
  }

  async #perform(
    { id, kind, name, json }: CallRequest,
    signal: AbortSignal,
  ): Promise<{ ok: true; settlement: Settlement } | { ok: false; message: string; settlement: Settlement }> {
    try {
      const context = { signal };
      const args: unknown = json === undefined ? undefined : JSON.parse(json);
      const call = async () =>
        kind === "tool"
          ? this.#options.host.tools.call(name, args, context)
          : this.#functions[name]!((args ?? []) as unknown[], context);
      return { ok: true, settlement: settlementOf(id, name, await call()) };
    } catch (error) {
      const message = (error instanceof Error ? error.message : String(error)) || `${name} failed without saying why`;
      return { ok: false, message, settlement: { id, ok: false, json: JSON.stringify(message) } };
    }
  }

  /** Answers that come in the same turn go to the script together. */
  #settle(settlement: Settlement): void {
    this.#settlements.push(settlement);
    if (this.#settlements.length > 1) return;
    setImmediate(() => {
      const results = this.#settlements;
      this.#settlements = [];
      if (!this.#finished) this.#worker.post({ type: "settle", results });
    });
  }
}

function settlementOf(id: number, name: string, value: unknown): Settlement {
  if (value === undefined) return { id, ok: true };
  const { structured, ...rest } = (isRecord(value) ? value : {}) as Record<string, unknown>;
  const alias = structured !== undefined && structured === rest["structuredContent"];
  let json: string | undefined;
  try {
    json = JSON.stringify(alias ? rest : value);
  } catch (error) {
    throw new TypeError(`the result of ${name} can't be made JSON: ${(error as Error).message}`);
  }
  if (json === undefined) return { id, ok: true };
  if (json.length > RESULT_CHARS) {
    throw new RangeError(
      `the result of ${name} has ${json.length} characters of JSON, more than a script's memory holds`,
    );
  }
  return { id, ok: true, json, ...(alias && { alias: true as const }) };
}
