/**
 * A server as a child process, one JSON-RPC message a line. Implements the SDK's `Transport` without
 * importing it. Promises: time linear in what arrives; memory bounded by the largest message allowed; a
 * line that isn't JSON-RPC is skipped and remembered, never fatal; closing ends the child and all it
 * started. Knows nothing of requests beyond the framing: who awaits what is `exchange.ts`'s matter.
 *
 * The child and its pipes hold the host process only while `hold(true)`, so a program that awaits nothing ends.
 */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { jsonIn } from "../../schemas/json.ts";
import type { OversizeMessage } from "./exchange.ts";
import { brokenPipe, LineWriter } from "./line-writer.ts";
import { LineReader } from "./lines.ts";
import { isMessage } from "./message.ts";
import { endGroup, groupAlive, trackGroup, USE_GROUPS } from "./process-group.ts";
import type { ResolvedStdio } from "./resolve.ts";
import type { WireTrace } from "./trace.ts";

/** Largest message in bytes that is delivered; a longer one fails its request and is dropped. */
export const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;
const STDERR_TAIL_BYTES = 4096;
const NOISE_LINES_KEPT = 3;
/** More than is shown, so that no secret is cut to a part that isn't recognised. */
const NOISE_LINE_BYTES = 4096;
/** After its leader has exited, how long a group may still write to the pipes. */
const DRAIN_MS = 300;

export interface StdioOptions {
  readonly maxMessageBytes?: number | undefined;
  /** Milliseconds from closing stdin to SIGTERM, and from that to SIGKILL. */
  readonly graceMs?: { readonly stdin: number; readonly term: number } | undefined;
  readonly trace?: WireTrace | undefined;
}

/** Lines on stdout that were no JSON-RPC. `samples` are raw: redact and clean before showing. */
export interface StdoutNoise {
  readonly lines: number;
  readonly samples: readonly string[];
}

export class StdioTransport {
  onmessage?: ((message: unknown) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  /** A message passed the limit: called with its head when it does, and with its tail and length when it ends. */
  onoversize?: ((message: OversizeMessage) => void) | undefined;
  readonly maxMessageBytes: number;
  readonly #server: ResolvedStdio;
  readonly #grace: { readonly stdin: number; readonly term: number };
  readonly #noise = { lines: 0, samples: [] as string[] };
  readonly #trace: WireTrace | undefined;
  #child: ChildProcess | undefined;
  #writer: LineWriter | undefined;
  #stderr: Buffer[] = [];
  #stderrBytes = 0;
  #stderrCut = false;
  #held = true;
  #closed = false;
  #closing: Promise<void> | undefined;
  #untrack = () => {};

  constructor(server: ResolvedStdio, options: StdioOptions = {}) {
    this.#server = server;
    this.maxMessageBytes = options.maxMessageBytes ?? MAX_MESSAGE_BYTES;
    this.#grace = options.graceMs ?? { stdin: 500, term: 2000 };
    this.#trace = options.trace;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get noise(): StdoutNoise {
    return this.#noise;
  }

  /** How the leader ended, in words that follow "the server process ", or nothing while it runs. */
  get ending(): string | undefined {
    const child = this.#child;
    if (child?.signalCode) return `was ended by ${child.signalCode}`;
    return typeof child?.exitCode === "number" ? `exited with status ${child.exitCode}` : undefined;
  }

  /** The lines that the last 4 kB of stderr hold whole, raw. A secret that is cut would not be recognised. */
  get stderrTail(): string {
    const kept = Buffer.concat(this.#stderr);
    const tail = kept.subarray(-STDERR_TAIL_BYTES);
    const isCut = tail.length < kept.length || this.#stderrCut;
    return tail.subarray(isCut ? tail.indexOf("\n") + 1 || tail.length : 0).toString("utf8");
  }

  /** Rejects with the `spawn` error (`code` ENOENT, EACCES, …) when the process can't be started. */
  async start(): Promise<void> {
    const child = await launch(this.#server);
    this.#child = child;
    this.#writer = new LineWriter(child.stdin!);
    this.#untrack = trackGroup(child);
    const lines = new LineReader(this.maxMessageBytes, {
      onLine: (line) => this.#deliver(line),
      onOversize: (head) => this.onoversize?.({ head: head.toString("utf8") }),
      onOversizeEnd: (bytes, tail) => {
        this.#trace?.oversize({ bytes });
        this.onoversize?.({ tail: tail.toString("utf8"), bytes });
      },
    });
    child.stdout!.on("data", (chunk: Buffer) => lines.push(chunk));
    child.stdout!.on("end", () => lines.end());
    child.stderr!.on("data", (chunk: Buffer) => this.#keepStderr(chunk));
    for (const pipe of [child.stdin!, child.stdout!, child.stderr!]) pipe.on("error", (error) => this.#report(error));
    child.on("error", (error) => this.#report(error));
    child.once("exit", () => this.#leaderExited());
    child.once("close", () => this.#finish());
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (error) => {
        this.#finish();
        reject(error);
      });
    });
    this.#applyHold();
  }

  /** Resolves when the pipe took the message; rejects when the server is gone. */
  send(message: unknown): Promise<void> {
    if (this.#closed || !this.#child?.stdin?.writable || this.#writer === undefined) {
      return Promise.reject(brokenPipe("the server process is not running"));
    }
    const text = JSON.stringify(message);
    this.#trace?.sent(message, Buffer.byteLength(text));
    return this.#writer.write(`${text}\n`);
  }

  /** Whether the child keeps this process from ending by itself. */
  hold(held: boolean): void {
    this.#held = held;
    this.#applyHold();
  }

  /** stdin closed, then SIGTERM, then SIGKILL, to the whole group. Resolves when none of it is left. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child?.pid !== undefined) {
      this.hold(true);
      this.#writer?.flush();
      child.stdin?.end();
      await waitUntil(() => !groupAlive(child), this.#grace.stdin);
      await this.#endGroup(child);
    }
    this.#finish();
  }

  async #endGroup(child: ChildProcess): Promise<void> {
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      if (!groupAlive(child)) break;
      endGroup(child, signal);
      await waitUntil(() => !groupAlive(child), this.#grace.term);
    }
    this.#untrack();
  }

  #deliver(line: Buffer): void {
    if (this.#closed) return;
    const parsed = parseLine(line);
    if (isMessage(parsed)) this.#hand(parsed, line.length);
    else if (Array.isArray(parsed) && parsed.some(isMessage)) this.#deliverBatch(parsed);
    else this.#keepNoise(line);
  }

  /** What protocol revisions before 2025-06-18 allowed. */
  #deliverBatch(elements: readonly unknown[]): void {
    for (const element of elements) {
      if (isMessage(element)) this.#hand(element);
    }
  }

  #hand(message: unknown, bytes?: number): void {
    this.#trace?.received(message, bytes ?? Buffer.byteLength(JSON.stringify(message)));
    this.onmessage?.(message);
  }

  #keepNoise(line: Buffer): void {
    this.#noise.lines++;
    this.#trace?.junk(line.length);
    const { samples } = this.#noise;
    if (samples.length >= NOISE_LINES_KEPT) return;
    const sample = line.subarray(0, NOISE_LINE_BYTES).toString("utf8").trim();
    if (sample !== "" && !samples.includes(sample)) samples.push(sample);
  }

  #keepStderr(chunk: Buffer): void {
    this.#stderr.push(chunk);
    this.#stderrBytes += chunk.length;
    if (this.#stderrBytes < 16 * STDERR_TAIL_BYTES) return;
    const tail = Buffer.from(Buffer.concat(this.#stderr).subarray(-STDERR_TAIL_BYTES));
    this.#stderr = [tail];
    this.#stderrCut = true;
    this.#stderrBytes = tail.length;
  }

  /** What it started may hold the pipes open for ever; what was written before the exit still arrives. */
  #leaderExited(): void {
    setTimeout(() => this.#finish(), DRAIN_MS).unref();
  }

  /** The connection is over, whatever of the group is left to be ended. */
  #finish(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#trace?.closed();
    const child = this.#child;
    for (const pipe of [child?.stdin, child?.stdout, child?.stderr]) pipe?.destroy();
    child?.unref();
    if (child !== undefined) this.#closing ??= this.#endGroup(child);
    this.onclose?.();
  }

  #report(error: Error): void {
    // A pipe that breaks while or after we close is the close.
    if (!this.#closed && this.#closing === undefined) this.onerror?.(error);
  }

  #applyHold(): void {
    const child = this.#child;
    if (child === undefined || this.#closed) return;
    const handles = [child, child.stdin, child.stdout, child.stderr] as { ref?(): void; unref?(): void }[];
    for (const handle of handles) this.#held ? handle?.ref?.() : handle?.unref?.();
  }
}

function parseLine(line: Buffer): unknown {
  // A look at the first character first: most noise is text, and an exception costs more.
  let at = 0;
  while (at < line.length && line[at]! <= 32) at++;
  if (line[at] !== 0x7b && line[at] !== 0x5b) return undefined;
  return jsonIn(line.toString("utf8"));
}

async function launch(server: ResolvedStdio): Promise<ChildProcess> {
  const options: SpawnOptions = {
    cwd: server.cwd,
    env: server.env,
    stdio: ["pipe", "pipe", "pipe"],
    windowsHide: true,
    detached: USE_GROUPS,
  };
  if (USE_GROUPS) return spawn(server.command, server.args, options);
  // Windows needs cross-spawn to run `.cmd` shims such as npx without a shell; it comes with the MCP client.
  const crossSpawn = "cross-spawn";
  const module: { default: typeof spawn } = await import(crossSpawn);
  return module.default(server.command, server.args, options);
}

/** Polls, as there is no event for the end of a process group. False when the time is up. */
async function waitUntil(condition: () => boolean, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  for (let pauseMs = 1; !condition(); pauseMs = Math.min(pauseMs * 2, 25)) {
    const leftMs = deadline - performance.now();
    if (leftMs <= 0) return false;
    await new Promise((resolve) => setTimeout(resolve, Math.min(pauseMs, leftMs)));
  }
  return true;
}
