/**
 * A connection as its users see it: one server, one stable object, whatever becomes of the session beneath. It
 * replaces the session in two cases, once each per request: the server forgot it (HTTP 404), or the first
 * thing it said shows that an earlier verdict about its era was wrong. A request that was turned away in either
 * case did not run, so it is sent again. Any other call is sent once; only listing and reading are tried
 * once more, when the server was unavailable or went away instead of answering in the era assumed.
 */
import type * as Sdk from "@modelcontextprotocol/client";
import type { ServerConfig } from "../../schemas/config/server-config.ts";
import { type Diagnostic, diagnostic } from "../../schemas/diagnostic.ts";
import { failureOf } from "./failure.ts";
import { type AnswerQuestion, answerRounds, toolOf } from "./input-required.ts";
import { printableTail, redact, redactData } from "./redact.ts";
import type { RequestOptions, RequestOutcome, Session, SessionOutcome } from "./session.ts";
import { hearToolChanges, type NoticeFilter, Subscriptions } from "./subscriptions.ts";
import { type EraVerdict, hintsAtOtherEra, mayHaveRun } from "./verdict.ts";
import { settled } from "./waiting.ts";

export interface Connection {
  readonly server: string;
  /** Era, protocol version, capabilities, instructions…: what negotiation found, current after a renewal. */
  readonly verdict: EraVerdict;
  readonly closed: boolean;
  /** Whether calls may become tasks, as far as the configuration is concerned. */
  readonly tasks: boolean;
  /** The SDK's client of the current session, for its request handlers and extensions. */
  readonly client: Sdk.Client;
  request(method: string, params?: Record<string, unknown>, options?: RequestOptions): Promise<RequestOutcome>;
  /** Rejects when the message can't be sent. */
  notify(method: string, params?: Record<string, unknown>): Promise<void>;
  /** What the server printed on stdout that was no message, and answers nobody asked for; nothing if neither. */
  noise(): Diagnostic | undefined;
  /** How the server's process ended, in words that follow "the server process "; nothing while it runs or over HTTP. */
  ending(): string | undefined;
  /**
   * JSON data of the server without the credentials that it was given, and whether it repeated any; without every value
   * of a variable or header, for what only people read.
   */
  redact<T>(value: T, of?: "credentials" | "secrets"): { readonly value: T; readonly found: boolean };
  /** Whether the server's era rests on an earlier verdict alone: nothing has been heard of it since. */
  readonly unheard: boolean;
  /** The last lines of stderr, cleaned of secrets and control characters. */
  stderrTail(): string[];
  /** Calls back once, when the connection ends. The returned function stops that. */
  onClose(listener: () => void): () => void;
  /** Calls back once for a burst of announcements, and when announcements may have been missed. */
  onToolsListChanged(listener: () => void): () => void;
  /**
   * Has the server send these notices, to be heard with `onNotification`, until the returned function is called. Asks
   * a modern server alone; over HTTP that is a stream, which keeps a program from ending.
   */
  listenFor(filter: NoticeFilter): () => void;
  onNotification(listener: (method: string, params: unknown) => void): () => void;
  close(): Promise<void>;
}

export interface ConnectionContext {
  readonly config: ServerConfig;
  readonly secrets: readonly string[];
  readonly credentials: readonly string[];
  /** A new session, by the verdict given or by negotiation. */
  reconnect(verdict: EraVerdict | undefined, signal: AbortSignal): Promise<SessionOutcome>;
  onVerdictChanged(before: EraVerdict, after: EraVerdict): void;
  /** Answers what comes instead of a result. Without it that is left to the SDK. */
  readonly answer?: AnswerQuestion | undefined;
}

export function connectionOver(session: Session, context: ConnectionContext): Connection {
  return new LiveConnection(session, context);
}

/** Methods that change nothing, so that asking twice does no harm. A task is polled at its server's pace and no faster. */
const REPEATABLE = /^(?!tasks\/).*\/(?:list|read|get)$/;
const REPEAT_PAUSE_MS = 300;
/** How long a call waits for the answer to something harmless that is to prove the era. */
const PROOF_MS = 3000;

class LiveConnection implements Connection {
  readonly server: string;
  readonly #context: ConnectionContext;
  readonly #closeListeners = new Set<() => void>();
  readonly #notificationListeners = new Set<(method: string, params: unknown) => void>();
  #session: Session;
  #replacing: Promise<Session | undefined> | undefined;
  /** Aborted by `close`: what ends from then on ends because we want it to. */
  readonly #closing = new AbortController();
  #closed = false;
  readonly #subscriptions = new Subscriptions({
    onMissed: (method) => this.#notified(method, undefined),
    // A harmless request finds out whether the server still knows the session, which is renewed if it doesn't.
    onTrouble: () => void this.request("ping"),
  });
  /**
   * The first harmless request of a session whose era is only assumed. Calls wait for it: one that meets the wrong era
   * by losing its server may have run, and could not be sent again.
   */
  #proof: Promise<void> | undefined;

  constructor(session: Session, context: ConnectionContext) {
    this.server = context.config.name;
    this.#context = context;
    this.#session = session;
    this.#adopt(session);
  }

  get verdict(): EraVerdict {
    return this.#session.verdict;
  }

  get closed(): boolean {
    return this.#closed || this.#closing.signal.aborted || (this.#session.closed && this.#replacing === undefined);
  }

  get unheard(): boolean {
    return !this.#session.proven && !this.#session.heard;
  }

  get tasks(): boolean {
    return this.#context.config.tasks;
  }

  get client(): Sdk.Client {
    return this.#session.client;
  }

  async request(
    method: string,
    params?: Record<string, unknown>,
    options: RequestOptions = {},
  ): Promise<RequestOutcome> {
    const first = await this.#once(method, params, options);
    const { answer, secrets } = this.#context;
    if (answer === undefined) return first;
    return answerRounds(first, {
      send: (answers) => this.#once(method, { ...params, ...answers }, options),
      answer,
      tool: toolOf(method, params),
      signal: options.signal,
      failureOf: (error) => failureOf(error, { secrets, sdk: undefined, aborted: options.signal?.aborted === true }),
    });
  }

  async #once(
    method: string,
    params: Record<string, unknown> | undefined,
    options: RequestOptions,
  ): Promise<RequestOutcome> {
    const isHarmless = REPEATABLE.test(method);
    if (!isHarmless && !this.#session.proven && this.#proof) await settled(this.#proof, PROOF_MS, options.signal);
    const session = this.#session;
    if (!isHarmless || session.proven) return this.#ask(session, method, params, options);
    const asked = this.#ask(session, method, params, options);
    this.#proof ??= asked.then(() => undefined);
    return asked;
  }

  async #ask(
    session: Session,
    method: string,
    params: Record<string, unknown> | undefined,
    options: RequestOptions,
  ): Promise<RequestOutcome> {
    const wasProven = session.proven;
    const outcome = await session.request(method, params, options);
    if (outcome.ok || this.#closing.signal.aborted || options.signal?.aborted) return outcome;
    const { failure } = outcome;
    const inNewSession = async (lost: RequestOutcome) => {
      const renewed = await this.#replace(session, session.verdict);
      return renewed === undefined ? lost : renewed.request(method, params, options);
    };
    if (failure.kind === "session-lost") return inNewSession(outcome);
    if (!wasProven && hintsAtOtherEra(failure)) {
      const renewed = await this.#replace(session, undefined);
      const changed = renewed !== undefined && renewed.verdict.era !== session.verdict.era;
      const again = changed && (REPEATABLE.test(method) || !mayHaveRun(failure));
      return again ? renewed.request(method, params, options) : outcome;
    }
    if (failure.kind === "unavailable" && REPEATABLE.test(method)) {
      await new Promise((resolve) => setTimeout(resolve, REPEAT_PAUSE_MS));
      if (options.signal?.aborted) return outcome;
      // A server that restarts breaks its connections first, and then doesn't know their sessions.
      const repeated = await session.request(method, params, options);
      return !repeated.ok && repeated.failure.kind === "session-lost" ? inNewSession(repeated) : repeated;
    }
    return outcome;
  }

  notify(method: string, params?: Record<string, unknown>): Promise<void> {
    return this.#session.notify(method, params);
  }

  noise(): Diagnostic | undefined {
    const lines = this.#session.process?.noise.lines ?? 0;
    const stray = this.#session.strayResponses;
    if (lines === 0 && stray === 0) return undefined;
    const samples = this.#clean(this.#session.process?.noise.samples.join("\n") ?? "").map((line) => `stdout: ${line}`);
    const said = [
      ...(lines > 0
        ? [`${lines} ${lines === 1 ? "line" : "lines"} on stdout that ${lines === 1 ? "is" : "are"} no message`]
        : []),
      ...(stray > 0 ? [`${stray} ${stray === 1 ? "answer" : "answers"} to nothing that was asked`] : []),
    ];
    const { location } = this.#context.config;
    const message = `server "${this.server}" sent ${said.join(" and ")}; skipped`;
    return diagnostic("stdout-noise", message, { server: this.server, ...location, notes: samples });
  }

  ending(): string | undefined {
    return this.#session.process?.ending;
  }

  redact<T>(value: T, of: "credentials" | "secrets" = "credentials"): { readonly value: T; readonly found: boolean } {
    return redactData(value, this.#context[of]);
  }

  stderrTail(): string[] {
    return this.#clean(this.#session.process?.stderrTail ?? "");
  }

  onClose(listener: () => void): () => void {
    if (this.#closed) listener();
    else this.#closeListeners.add(listener);
    return () => this.#closeListeners.delete(listener);
  }

  onToolsListChanged(listener: () => void): () => void {
    return hearToolChanges(this, listener);
  }

  listenFor(filter: NoticeFilter): () => void {
    return this.#subscriptions.want(filter);
  }

  onNotification(listener: (method: string, params: unknown) => void): () => void {
    this.#notificationListeners.add(listener);
    return () => this.#notificationListeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#subscriptions.close();
    await this.#replacing;
    await this.#session.close();
    this.#ended();
  }

  #adopt(session: Session): void {
    this.#session = session;
    session.onNotification((method, params) => this.#notified(method, params));
    this.#subscriptions.attach(session);
    session.onClose(() => {
      // A request that the end failed may be about to replace the session.
      setImmediate(() => {
        if (this.#session === session && this.#replacing === undefined) this.#ended();
      });
    });
  }

  #notified(method: string, params: unknown): void {
    for (const listener of this.#notificationListeners) listener(method, params);
  }

  /** Once for all requests that met the same end; nothing when there is no other session to be had. */
  #replace(session: Session, verdict: EraVerdict | undefined): Promise<Session | undefined> {
    if (this.#session !== session) return Promise.resolve(this.#session);
    this.#replacing ??= this.#reconnect(session, verdict).finally(() => {
      this.#replacing = undefined;
      if (this.#session.closed) this.#ended();
    });
    return this.#replacing;
  }

  async #reconnect(session: Session, verdict: EraVerdict | undefined): Promise<Session | undefined> {
    const outcome = await this.#context.reconnect(verdict, this.#closing.signal);
    if (!outcome.ok) return undefined;
    const before = session.verdict;
    this.#adopt(outcome.session);
    if (outcome.session.verdict.era !== before.era) this.#context.onVerdictChanged(before, outcome.session.verdict);
    await session.close();
    return outcome.session;
  }

  #ended(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const listener of this.#closeListeners) listener();
    this.#closeListeners.clear();
  }

  #clean(text: string): string[] {
    return printableTail(redact(text, this.#context.secrets));
  }
}
