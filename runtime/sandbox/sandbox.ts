/**
 * Runs scripts that call many tools, away from this process: QuickJS in worker threads, with no files, network, timers or
 * anything of Node. What a script can reach is what its host offers (`host.ts`). A run ends as data, whatever the script does: it
 * never rejects, blocks this thread or leaves a call under way. Loads neither QuickJS nor an MCP client itself.
 */
import { MAX_TIMER_MS } from "../connect/waiting.ts";
import { type CallRecord, Execution, type Failure } from "./execution.ts";
import { globalNames, type SandboxHost } from "./host.ts";
import { codeFrame, placeOf, scriptStack } from "./place.ts";
import { WorkerPool } from "./pool.ts";
import type { Emission, FailureKind, OutputItem } from "./protocol.ts";
import { parseSource, type SourceOptions } from "./source.ts";

export interface SandboxOptions {
  /** Scripts that run at a time, each in a thread of its own; default 2. More wait in the order they came. */
  readonly workers?: number;
  /** Milliseconds that a script waits for a thread before it fails; default 60,000. */
  readonly waitMs?: number;
  /** Milliseconds without a script after which a thread ends; default 60,000. */
  readonly idleMs?: number;
  /** The worker's file, where a bundler has put it elsewhere; `quickjs.wasm` and `quickjs.image` lie beside it. */
  readonly workerUrl?: URL;
}

export interface RunOptions {
  /** Ends the script. */
  readonly signal?: AbortSignal;
  /**
   * Milliseconds for the script, waiting for a thread included and `prepare` not; none by default. The script's own `timeout_ms`
   * counts where it is shorter.
   */
  readonly timeoutMs?: number;
  /** What `load()` finds; JSON values. */
  readonly store?: Readonly<Record<string, unknown>>;
  /** Gets text, images and console lines as they come. */
  readonly onOutput?: (item: Emission) => void;
  /** What this script reaches, in place of the sandbox's host. */
  readonly host?: SandboxHost;
  /** The script's name in stacks; default `script`. */
  readonly file?: string;
  /**
   * Makes what is run of the script without its options line: JavaScript with every character at its place. An error of its keeps
   * the script from running. A thread gets ready meanwhile.
   */
  readonly prepare?: (code: string) => Promise<PreparedScript>;
}

export type PreparedScript =
  | { readonly ok: true; readonly js: string }
  | { readonly ok: false; readonly error: RunError };

export interface RunError {
  readonly kind: FailureKind;
  readonly name: string;
  readonly message: string;
  /** Both 1-based, in the script as given. */
  readonly line?: number;
  readonly column?: number;
  /** The line, and under it a caret. */
  readonly frame?: string;
  /** Frames of the script, one a line. */
  readonly stack?: string;
}

interface RunBase {
  /** What `text()`, `image()` and `return` showed, in order; complete. `output.ts` cuts it for a model. */
  readonly output: readonly OutputItem[];
  readonly console: readonly string[];
  readonly calls: readonly CallRecord[];
  readonly durationMs: number;
  /** What the script's options line said. */
  readonly options: SourceOptions;
}

export type RunResult = RunBase &
  (
    | {
        readonly ok: true;
        /** What the script returned. */
        readonly value?: unknown;
        readonly storeWrites: { readonly set: Readonly<Record<string, unknown>>; readonly delete: readonly string[] };
      }
    | { readonly ok: false; readonly error: RunError }
  );

export interface Sandbox {
  /** Starts a thread, so that the first script needn't wait for one. */
  warm(): void;
  /** Runs JavaScript, the body of an async function. Rejects only with the `TypeError` for a name in `host` that can't be one. */
  run(source: string, options?: RunOptions): Promise<RunResult>;
  /** Ends all scripts. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The bundle that the build makes; from the sources where node itself takes types away. */
const WORKER = new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.cjs", import.meta.url);

export function createSandbox(host: SandboxHost, options: SandboxOptions = {}): Sandbox {
  const { workers = 2, workerUrl = WORKER } = options;
  const waitMs = Math.min(options.waitMs ?? 60_000, MAX_TIMER_MS);
  const idleMs = Math.min(options.idleMs ?? 60_000, MAX_TIMER_MS);
  if (!Number.isInteger(workers) || workers < 1) throw new TypeError("workers is a positive whole number");
  const pool = new WorkerPool({ size: workers, workerUrl, idleMs });
  const closing = new AbortController();
  const surroundings = { host, pool, names: globalNames(host), waitMs, closing: closing.signal };
  const close = async () => {
    closing.abort(new Error("the sandbox was closed"));
    await pool.close();
  };
  return {
    warm: () => pool.warm(),
    async run(source, runOptions = {}) {
      const own = runOptions.host && { host: runOptions.host, names: globalNames(runOptions.host) };
      return runScript({ ...surroundings, ...own }, source, runOptions);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface Surroundings {
  readonly host: SandboxHost;
  readonly pool: WorkerPool;
  readonly names: readonly string[];
  readonly waitMs: number;
  readonly closing: AbortSignal;
}

async function runScript(around: Surroundings, source: string, options: RunOptions): Promise<RunResult> {
  const startedAt = performance.now();
  const base = () => ({ output: [], console: [], calls: [], durationMs: performance.now() - startedAt, options: {} });
  const failed = (kind: FailureKind, name: string, message: string, line?: number): RunResult => ({
    ...base(),
    ok: false,
    error: { kind, name, message, ...(line !== undefined && { line, column: 1 }) },
  });
  const parsed = parseSource(source);
  if (!parsed.ok) return failed("source", "SyntaxError", parsed.message, parsed.line);
  const deadlines = [parsed.options.timeoutMs, options.timeoutMs].filter((ms) => ms !== undefined);
  const deadlineMs = deadlines.length > 0 ? Math.min(...deadlines, MAX_TIMER_MS) : undefined;
  let storeJson: string;
  try {
    storeJson = storeEntries(options.store);
  } catch (error) {
    return failed("source", "TypeError", `the stored values can't be made JSON: ${(error as Error).message}`);
  }
  // One a run: a signal that many share warns of its many listeners.
  const signal = AbortSignal.any([...(options.signal ? [options.signal] : []), around.closing]);
  let code = parsed.code;
  if (options.prepare) {
    around.pool.warm();
    const prepared = await prepare(options.prepare, code, signal);
    if (!prepared.ok) return { ...base(), options: parsed.options, ok: false, error: prepared.error };
    code = prepared.js;
  }
  const dueAt = deadlineMs === undefined ? undefined : performance.now() + deadlineMs;
  const left = () => (dueAt === undefined ? undefined : Math.max(1, dueAt - performance.now()));
  const acquired = await around.pool.acquire(signal, Math.min(left() ?? Number.POSITIVE_INFINITY, around.waitMs));
  if (!acquired.ok)
    return { ...notStarted(acquired, around.waitMs, deadlineMs, options.signal, failed), options: parsed.options };
  const execution = new Execution(acquired.worker, {
    host: around.host,
    source: code,
    storeJson,
    globalNames: around.names,
    signal,
    timeoutMs: left(),
    deadlineMs,
    onOutput: options.onOutput,
  });
  const { output, console, calls, ending } = await execution.result;
  const shared = { console, calls, durationMs: performance.now() - startedAt, options: parsed.options };
  if (!ending.ok) return { ...shared, output, ok: false, error: runError(ending.failure, parsed.code, options.file) };
  const value: unknown = ending.json === undefined ? undefined : JSON.parse(ending.json);
  const text = typeof value === "string" ? value : ending.json;
  const returned: OutputItem[] = text === undefined ? [] : [{ type: "text", text }];
  for (const item of returned) options.onOutput?.(item);
  return {
    ...shared,
    output: [...output, ...returned],
    ok: true,
    ...(value !== undefined && { value }),
    storeWrites: writesOf(ending.writesJson),
  };
}

/** What the caller's step makes of the script; where that step throws, the script is not started. */
async function prepare(
  step: NonNullable<RunOptions["prepare"]>,
  code: string,
  signal: AbortSignal,
): Promise<PreparedScript> {
  try {
    return await Promise.race([step(code), abortOf(signal)]);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const kind = signal.aborted ? "aborted" : "sandbox";
    const name = signal.aborted ? "AbortError" : "Error";
    return { ok: false, error: { kind, name, message: `${message}; the script was not started` } };
  }
}

/** Rejects when the signal is aborted. */
function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}

function notStarted(
  acquired: Exclude<Awaited<ReturnType<WorkerPool["acquire"]>>, { ok: true }>,
  waitMs: number,
  deadlineMs: number | undefined,
  signal: AbortSignal | undefined,
  failed: (kind: FailureKind, name: string, message: string) => RunResult,
): RunResult {
  switch (acquired.reason) {
    case "aborted":
    case "closed": {
      const reason: unknown = signal?.aborted ? signal.reason : undefined;
      const why =
        reason instanceof Error
          ? reason.message
          : acquired.reason === "closed"
            ? "the sandbox was closed"
            : "cancelled";
      return failed("aborted", "AbortError", `${why}; the script was not started`);
    }
    case "waited": {
      const message =
        deadlineMs !== undefined && deadlineMs <= waitMs
          ? `no worker was free within the script's ${deadlineMs} ms`
          : `no worker was free within ${waitMs / 1000} seconds: other scripts have them all`;
      return failed("timeout", "TimeoutError", `${message}; the script was not started`);
    }
    case "failed":
      return failed("sandbox", acquired.error.name, `no worker could be started: ${acquired.error.message}`);
  }
}

function runError(failure: Failure, code: string, file = "script"): RunError {
  const { kind, name, message, stack } = failure;
  const place = stack === undefined ? undefined : placeOf(stack, code);
  return {
    kind,
    name,
    message,
    ...(place && { ...place, frame: codeFrame(code, place) }),
    ...(stack && { stack: scriptStack(stack, file) }),
  };
}

function storeEntries(store: Readonly<Record<string, unknown>> = {}): string {
  const entries = Object.entries(store).flatMap(([key, value]) => {
    const json = JSON.stringify(value);
    return json === undefined ? [] : [[key, json]];
  });
  return JSON.stringify(entries);
}

function writesOf(json: string): { set: Record<string, unknown>; delete: string[] } {
  const set: Record<string, unknown> = Object.create(null);
  const deleted: string[] = [];
  for (const [key, value] of JSON.parse(json) as [string, string?][]) {
    if (value === undefined) deleted.push(key);
    else set[key] = JSON.parse(value);
  }
  return { set, delete: deleted };
}
