/**
 * One attempt to connect: what is asked for, by when, and what is shared by its steps. Its signal is
 * aborted by the caller or when the time is up; `stopped()` says which.
 */
import type * as Sdk from "@modelcontextprotocol/client";
import type { ServerConfig } from "../../schemas/config/server-config.ts";
import { type Failure, timeoutFailure } from "./failure.ts";
import type { ClientIdentity } from "./probe.ts";
import type { SessionSettings } from "./session.ts";
import type { OnStep } from "./steps.ts";
import { type TraceSink, WireTrace } from "./trace.ts";
import type { EraVerdict } from "./verdict.ts";

/** How we introduce ourselves unless told otherwise. A constant, so that a bundle needs no package.json; a test compares. */
export const CLIENT_INFO = { name: "pimcp", version: "0.1.0" } as const;

export interface ConnectTaskOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly clientInfo?: ClientIdentity["clientInfo"] | undefined;
  readonly capabilities?: ClientIdentity["capabilities"] | undefined;
  readonly configure?: ((client: Sdk.Client) => void) | undefined;
  readonly answer?: SessionSettings["answer"];
  readonly onUnanswered?: SessionSettings["onUnanswered"];
  readonly maxMessageBytes?: number | undefined;
  readonly trace?: TraceSink | undefined;
  readonly onStep?: OnStep | undefined;
}

export class ConnectTask {
  readonly protocolVersion: ServerConfig["protocolVersion"];
  readonly probeTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly identity: ClientIdentity;
  readonly prior: EraVerdict | undefined;
  readonly signal: AbortSignal;
  readonly maxMessageBytes: number | undefined;
  readonly onStep: OnStep | undefined;
  /** The trace of one more wire; nothing where nobody traces. */
  readonly newTrace: () => WireTrace | undefined;
  /** Waits for something that takes none of the time. */
  readonly holding: (work: Promise<void>) => Promise<void>;
  #deadline: number;
  readonly #timeoutMs: number;
  readonly #ended = new AbortController();
  readonly #settings: () => Promise<SessionSettings>;
  readonly #release: () => void;

  constructor(
    config: ServerConfig,
    secrets: readonly string[],
    prior: EraVerdict | undefined,
    options: ConnectTaskOptions,
  ) {
    const { signal: callers, timeoutMs } = options;
    this.protocolVersion = config.protocolVersion;
    this.probeTimeoutMs = config.probeTimeoutMs;
    this.requestTimeoutMs = config.requestTimeoutMs;
    this.identity = { clientInfo: options.clientInfo ?? CLIENT_INFO, capabilities: options.capabilities ?? {} };
    this.prior = prior;
    this.signal = this.#ended.signal;
    this.maxMessageBytes = options.maxMessageBytes;
    this.onStep = options.onStep;
    const { trace } = options;
    this.newTrace = () => trace && new WireTrace(trace, config.name, secrets);
    this.#timeoutMs = timeoutMs;
    this.#deadline = performance.now() + timeoutMs;
    const cancel = () => this.#ended.abort("cancelled");
    const start = () => setTimeout(() => this.#ended.abort("time is up"), this.leftMs());
    let timer = start();
    this.holding = async (work) => {
      clearTimeout(timer);
      const since = performance.now();
      await untilAborted(work, this.signal);
      this.#deadline += performance.now() - since;
      timer = start();
    };
    callers?.addEventListener("abort", cancel, { once: true });
    if (callers?.aborted) cancel();
    this.#release = () => {
      clearTimeout(timer);
      callers?.removeEventListener("abort", cancel);
    };
    let loaded: Promise<SessionSettings> | undefined;
    this.#settings = () => {
      loaded ??= import("@modelcontextprotocol/client").then((sdk) => ({
        sdk,
        identity: this.identity,
        secrets,
        requestTimeoutMs: config.requestTimeoutMs,
        configure: options.configure,
        answer: options.answer,
        onUnanswered: options.onUnanswered,
      }));
      return loaded;
    };
  }

  /** The SDK is loaded on first use: it costs a tenth of a second. */
  settings(): Promise<SessionSettings> {
    return this.#settings();
  }

  /** Milliseconds for a handshake: a request like any other, within what is left in all. */
  handshakeMs(): number {
    return Math.min(this.requestTimeoutMs, this.leftMs());
  }

  leftMs(): number {
    return Math.max(1, Math.ceil(this.#deadline - performance.now()));
  }

  /** Why the signal is aborted. */
  stopped(): Failure {
    const cancelled = this.signal.reason === "cancelled";
    return cancelled ? { kind: "cancelled", message: "cancelled" } : timeoutFailure(this.#timeoutMs);
  }

  /** Lets go of timers and of the caller's signal. */
  end(): void {
    this.#release();
  }
}

function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => resolve();
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
