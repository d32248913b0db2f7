/**
 * One negotiated session: the SDK's `Client` on an exchange on a wire, from handshake to close. It sends
 * requests and turns whatever happens to them into values. It doesn't know how the wire came about,
 * and never starts another one.
 */
import type * as Sdk from "@modelcontextprotocol/client";
import { type DirectQuestions, directQuestions } from "./direct-questions.ts";
import { Exchange, type Wire } from "./exchange.ts";
import { type Failure, failureOf, oversizeFailure, timeoutFailure } from "./failure.ts";
import { readInitialize } from "./initialize-result.ts";
import type { AnswerQuestion } from "./input-required.ts";
import { withoutResultType } from "./message.ts";
import type { NoticeStream } from "./notice-stream.ts";
import { type ClientIdentity, MODERN_VERSION } from "./probe.ts";
import { type Busy, sendInTime, type TimedOptions } from "./request-clock.ts";
import { type ResultSlot, withSlot } from "./result-slot.ts";
import type { StdioTransport } from "./stdio.ts";
import { type Listening, type NoticeFilter, openListening } from "./subscriptions.ts";
import { type EraVerdict, type Opening, priorOf } from "./verdict.ts";
import { MAX_TIMER_MS } from "./waiting.ts";

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds without an answer or progress; default the server's `requestTimeoutMs`. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds in all, progress or not. */
  readonly maxTotalMs?: number | undefined;
  readonly onProgress?: ((progress: { progress: number; total?: number; message?: string }) => void) | undefined;
  /** Headers for a modern server over Streamable HTTP; not even made for any other. */
  readonly headers?: (() => Readonly<Record<string, string>>) | undefined;
}

export type RequestOutcome =
  /** `result` as the server sent it, a `resultType` of `complete` left out. */
  | { readonly ok: true; readonly result: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly failure: Failure };

export interface SessionSettings {
  readonly sdk: typeof Sdk;
  readonly identity: ClientIdentity;
  readonly secrets: readonly string[];
  readonly requestTimeoutMs: number;
  /** Registers handlers (elicitation, sampling, roots) before the handshake; a new session is set up anew. */
  readonly configure?: ((client: Sdk.Client) => void) | undefined;
  /** Answers what the server asks, of the kinds whose capability is advertised. Without it, `configure` does. */
  readonly answer?: AnswerQuestion | undefined;
  /** A question of the server's own that failed and belongs to no request in particular. */
  readonly onUnanswered?: ((failure: Failure) => void) | undefined;
}

/** A wire with what is known of what it leads to. */
export interface OpenWire {
  readonly wire: Wire;
  readonly transport: EraVerdict["transport"];
  readonly process?: StdioTransport | undefined;
  /** Ends what the wire's own `close` leaves on the server: an HTTP session. */
  readonly farewell?: (() => Promise<void>) | undefined;
  /** Resolves when the stream on which the server speaks unasked is open, or can't be had; undefined where there is none. */
  readonly listening?: Promise<void> | undefined;
  /** A person is signing in for its requests. */
  readonly busy?: Busy | undefined;
  /** That stream, to be told of its breaks. */
  readonly notices?: NoticeStream | undefined;
}

export type SessionOutcome =
  | { readonly ok: true; readonly session: Session }
  | { readonly ok: false; readonly failure: Failure };

const asItComes = {
  "~standard": { version: 1 as const, vendor: "pimcp", validate: (value: unknown) => ({ value }) },
};

/** Results go around the SDK's validation, so the validator it would build is never asked. */
const noValidator = { getValidator: () => (input: unknown) => ({ valid: true, data: input, errorMessage: undefined }) };

/**
 * Runs the handshake (none for a modern server known beforehand) within `timeoutMs`. The wire is closed when it fails.
 */
export async function establish(
  open: OpenWire,
  opening: Opening,
  evidence: EraVerdict["verdict"],
  settings: SessionSettings,
  limits: { timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<SessionOutcome> {
  const { sdk, identity } = settings;
  const exchange = new Exchange(open.wire);
  const client = new sdk.Client(identity.clientInfo, {
    capabilities: identity.capabilities as Sdk.ClientCapabilities,
    jsonSchemaValidator: noValidator as unknown as Sdk.jsonSchemaValidator,
  });
  settings.configure?.(client);
  const direct = opening.era === "legacy" ? directQuestions(settings, open.busy) : undefined;
  direct?.register(client);
  const ended = watchClose(client);
  try {
    const timeout = Math.min(limits.timeoutMs, MAX_TIMER_MS);
    await client.connect(exchange, {
      prior: priorOf(opening),
      timeout,
      ...(limits.signal && { signal: limits.signal }),
    });
  } catch (error) {
    await open.wire.close();
    return { ok: false, failure: handshakeFailure(error, settings, limits) };
  }
  return { ok: true, session: new Session(open, exchange, client, { ...settings, direct }, opening, evidence, ended) };
}

function handshakeFailure(
  error: unknown,
  settings: SessionSettings,
  limits: { timeoutMs: number; signal?: AbortSignal | undefined },
): Failure {
  const failure = failureOf(error, {
    secrets: settings.secrets,
    sdk: settings.sdk,
    timeoutMs: limits.timeoutMs,
    aborted: limits.signal?.aborted === true,
  });
  // Of the handshake's own errors only the SDK's version check is a plain Error, and a pipe that broke has a code.
  const plain = error instanceof Error && error.constructor === Error && !("code" in error);
  return plain && failure.kind === "closed"
    ? { kind: "unusable", reason: "version", message: failure.message }
    : failure;
}

/** Listeners for the end of a connection; those that come too late are called at once. */
function watchClose(client: Sdk.Client): Closing {
  const listeners = new Set<() => void>();
  const closing: Closing = { closed: false, listeners };
  client.onclose = () => {
    closing.closed = true;
    for (const listener of listeners) listener();
    listeners.clear();
  };
  return closing;
}

interface Closing {
  closed: boolean;
  readonly listeners: Set<() => void>;
}

interface EstablishedSettings extends SessionSettings {
  readonly direct: DirectQuestions | undefined;
}

export class Session {
  readonly client: Sdk.Client;
  verdict: EraVerdict;
  readonly process: StdioTransport | undefined;
  readonly notices: NoticeStream | undefined;
  /** A result has been received: what was assumed of the server's era holds. */
  proven: boolean;
  /** Any answer has, if only an error. */
  heard = false;
  readonly #open: OpenWire;
  readonly #exchange: Exchange;
  readonly #settings: EstablishedSettings;
  readonly #closing: Closing;

  constructor(
    open: OpenWire,
    exchange: Exchange,
    client: Sdk.Client,
    settings: EstablishedSettings,
    opening: Opening,
    evidence: EraVerdict["verdict"],
    closing: Closing,
  ) {
    this.client = client;
    this.process = open.process;
    this.notices = open.notices;
    this.proven = opening.era === "legacy";
    this.#open = open;
    this.#exchange = exchange;
    this.#settings = settings;
    this.#closing = closing;
    const said = opening.era === "modern" ? opening.discovery : readInitialize(exchange.initializeResult ?? {});
    this.verdict = {
      era: opening.era,
      verdict: evidence,
      protocolVersion: client.getNegotiatedProtocolVersion() ?? MODERN_VERSION,
      transport: open.transport,
      ...(opening.era === "modern" && { supportedVersions: opening.discovery.supportedVersions }),
      capabilities: said.capabilities,
      ...(said.serverInfo && { serverInfo: said.serverInfo }),
      ...(said.instructions !== undefined && { instructions: said.instructions }),
    };
  }

  /** The probe has been answered after all, if late: the verdict doesn't rest on silence any more. */
  confirmed(): SessionOutcome {
    this.verdict = { ...this.verdict, verdict: "answered" };
    return { ok: true, session: this };
  }

  get closed(): boolean {
    return this.#closing.closed;
  }

  get #takesHeaders(): boolean {
    return this.verdict.era === "modern" && this.verdict.transport === "streamable-http";
  }

  get strayResponses(): number {
    return this.#exchange.strayResponses;
  }

  async request(
    method: string,
    params: Record<string, unknown> | undefined,
    options: RequestOptions,
  ): Promise<RequestOutcome> {
    const { direct, requestTimeoutMs } = this.#settings;
    const timed = { ...options, timeoutMs: Math.min(options.timeoutMs ?? requestTimeoutMs, MAX_TIMER_MS) };
    const send = (during: TimedOptions) => this.#send(method, params, during);
    return direct ? direct.during(method, params, timed, send) : sendInTime(this.#open.busy, timed, send);
  }

  async #send(
    method: string,
    params: Record<string, unknown> | undefined,
    options: TimedOptions,
  ): Promise<RequestOutcome> {
    const takesQuestions = this.verdict.era === "modern" && this.#settings.answer !== undefined;
    const slot: ResultSlot = { takesQuestions };
    const { timeoutMs } = options;
    const inSession = this.#exchange.sessionId !== undefined;
    try {
      const answer = await this.client.request({ method, params: withSlot(params, slot) }, asItComes, {
        timeout: timeoutMs,
        resetTimeoutOnProgress: true,
        ...(options.maxTotalMs !== undefined && { maxTotalTimeout: options.maxTotalMs }),
        ...(options.signal && { signal: options.signal }),
        ...(options.onProgress && { onprogress: options.onProgress as Sdk.ProgressCallback }),
        ...(options.headers && this.#takesHeaders && { headers: options.headers() }),
      });
      this.proven = true;
      this.heard = true;
      return { ok: true, result: withoutResultType(slot.result ?? (answer as Record<string, unknown>)) };
    } catch (error) {
      if (slot.oversize !== undefined) return { ok: false, failure: oversizeFailure(slot.oversize.limitBytes) };
      if (slot.brokenOff) return { ok: false, failure: { kind: "closed", message: "the answer broke off" } };
      if (isOverdue(options, error, this.#settings.sdk)) return { ok: false, failure: timeoutFailure(timeoutMs) };
      const { secrets, sdk } = this.#settings;
      const aborted = options.signal?.aborted === true;
      const failure = failureOf(error, { secrets, sdk, timeoutMs, aborted, inSession });
      if (failure.kind === "rpc-error") this.heard = true;
      return { ok: false, failure };
    }
  }

  /** Rejects when the message can't be sent. */
  notify(method: string, params?: Record<string, unknown>): Promise<void> {
    return this.client.notification({ method, ...(params && { params }) } as Parameters<Sdk.Client["notification"]>[0]);
  }

  /** Calls back for each notification. */
  onNotification(listener: (method: string, params: unknown) => void): void {
    this.#exchange.onnotification = (method, message) =>
      listener(method, "params" in message ? message.params : undefined);
  }

  /** Opens a stream of notices. Refused by a legacy server, which sends its notices unasked. */
  listen(filter: NoticeFilter): Promise<Listening> {
    const { sdk, secrets } = this.#settings;
    return openListening(this.client, this.verdict, filter, (error) => failureOf(error, { sdk, secrets }));
  }

  onClose(listener: () => void): () => void {
    if (this.#closing.closed) listener();
    else this.#closing.listeners.add(listener);
    return () => this.#closing.listeners.delete(listener);
  }

  async close(): Promise<void> {
    if (!this.#closing.closed) await this.#open.farewell?.();
    await this.client.close();
    // The SDK lets go of a transport that closed by itself; what it started may still be there.
    await this.#open.wire.close();
  }
}

function isOverdue(options: RequestOptions, error: unknown, sdk: typeof Sdk): boolean {
  return (
    options.signal?.aborted !== true && sdk.SdkError.isInstance(error) && error.code === sdk.SdkErrorCode.RequestTimeout
  );
}
