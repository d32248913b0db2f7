/**
 * Connects to a server over HTTP: Streamable HTTP, and the older SSE transport only once a POST of `initialize`
 * was answered with 404, 405, 406 or 415. The version probe goes over the real connection. A refusal
 * (401, 403), a network error or a transient status (408, 429, 5xx) says nothing about a server's age and never leads to
 * another protocol: the former are reported at once, the latter after two more attempts.
 */
import type * as Sdk from "@modelcontextprotocol/client";
import { jsonIn } from "../../schemas/json.ts";
import type { ConnectionAuth } from "./auth/create-auth.ts";
import type { ConnectTask } from "./connect-task.ts";
import type { Wire } from "./exchange.ts";
import { type Failure, failureOf, offersOf, timeoutFailure } from "./failure.ts";
import { boundedFetch, type Fetch } from "./http-fetch.ts";
import { classifyMessage } from "./message.ts";
import { NoticeStream } from "./notice-stream.ts";
import { originFetch } from "./origin-fetch.ts";
import { ask, MODERN_VERSION, type ProbeReply, type ProbeVerdict, readAnswer } from "./probe.ts";
import type { Busy } from "./request-clock.ts";
import type { ResolvedHttp } from "./resolve.ts";
import { establish, type OpenWire, type SessionOutcome } from "./session.ts";
import { MAX_MESSAGE_BYTES } from "./stdio.ts";
import { openingStep, probeStep, takeStep } from "./steps.ts";
import { tracedFetch, tracedWire } from "./trace.ts";
import { type EraVerdict, type Opening, openingOf } from "./verdict.ts";
import { OverdueError, pause, within } from "./waiting.ts";
import { withdrawnFetch } from "./withdrawn-fetch.ts";

export interface HttpOptions {
  readonly fetch?: Fetch | undefined;
  readonly listen?: boolean | undefined;
  readonly auth?: ConnectionAuth | Sdk.AuthProvider | Sdk.OAuthClientProvider | undefined;
}

export interface HttpOutcome {
  readonly outcome: SessionOutcome;
  readonly doing: string;
}

const LEGACY: Opening = { era: "legacy" };
/** Pauses before the attempts after the first. */
const RETRY_PAUSES_MS = [250, 1000];
/** Statuses of a POST that say: no Streamable HTTP here. */
const NOT_STREAMABLE = new Set([404, 405, 406, 415]);
const FAREWELL_MS = 1000;
/** How long a connection waits for the stream on which its server may ask something. */
const LISTENING_MS = 500;

export async function connectHttp(server: ResolvedHttp, task: ConnectTask, options: HttpOptions): Promise<HttpOutcome> {
  const { sdk } = await task.settings();
  const attempt = async () => {
    const result = await connectOnce(server, task, sdk, options);
    const signing = overdue(result) ? signerOf(options)?.busy() : undefined;
    if (signing === undefined || task.signal.aborted) return result;
    // It was a person, or another process, that took the time and not the server.
    await task.holding(signing);
    return connectOnce(server, task, sdk, options);
  };
  let result = await attempt();
  for (const pauseMs of RETRY_PAUSES_MS) {
    if (result.outcome.ok || result.outcome.failure.kind !== "unavailable" || task.signal.aborted) break;
    await pause(pauseMs, task.signal);
    result = await attempt();
  }
  if (!result.outcome.ok && task.signal.aborted) return { ...result, outcome: { ok: false, failure: task.stopped() } };
  return result;
}

/** A refresh takes of a request's time, a person who signs in doesn't. */
function askingOf(options: HttpOptions): Busy | undefined {
  return signerOf(options)?.asking;
}

function signerOf({ auth }: HttpOptions): ConnectionAuth | undefined {
  return auth !== undefined && "wrapFetch" in auth ? auth : undefined;
}

function overdue({ outcome }: HttpOutcome): boolean {
  return !outcome.ok && outcome.failure.kind === "timeout";
}

async function connectOnce(
  server: ResolvedHttp,
  task: ConnectTask,
  sdk: typeof Sdk,
  options: HttpOptions,
): Promise<HttpOutcome> {
  const { prior } = task;
  if (prior?.transport === "sse") return overSse(server, task, sdk, options, prior.verdict);
  if (prior?.era === "modern") {
    const wire = await streamable(server, sdk, options, task);
    return handshake(wire, task, openingOf(prior), prior.verdict);
  }
  if (prior !== undefined) return initialize(server, task, sdk, options, prior.verdict);
  if (task.protocolVersion === "legacy") return initialize(server, task, sdk, options, "configured");
  return negotiate(server, task, sdk, options);
}

async function negotiate(
  server: ResolvedHttp,
  task: ConnectTask,
  sdk: typeof Sdk,
  options: HttpOptions,
): Promise<HttpOutcome> {
  const pinned = task.protocolVersion !== "auto";
  const doing = "probing its protocol version";
  const open = await streamable(server, sdk, options, task);
  const answer = await probe(open.wire, task, sdk, server.secrets);
  if (answer.kind === "modern") {
    const opening = { era: "modern" as const, discovery: answer.discovery };
    return handshake(open, task, opening, pinned ? "configured" : "answered");
  }
  await open.wire.close();
  if (answer.kind === "failed") return { outcome: { ok: false, failure: answer.failure }, doing };
  if (answer.kind === "legacy" && !pinned) return initialize(server, task, sdk, options, "answered");
  const message = `it does not offer protocol version ${MODERN_VERSION}${offersOf(answer, server.secrets)}`;
  return { outcome: { ok: false, failure: { kind: "unusable", reason: "version", message } }, doing };
}

type Probed = ProbeVerdict | { readonly kind: "failed"; readonly failure: Failure };

async function probe(wire: Wire, task: ConnectTask, sdk: typeof Sdk, secrets: readonly string[]): Promise<Probed> {
  const limitMs = Math.min(task.probeTimeoutMs, task.leftMs());
  const once = async (version?: string) => {
    const options = { limitMs, signal: task.signal, ...(version !== undefined && { version }) };
    const work = async () => {
      const reply = await ask(wire, task.identity, options);
      return { reply, probed: readReply(reply, limitMs, sdk, secrets) };
    };
    const { probed } = await takeStep(task.onStep, "probe", work, ({ reply, probed }) => {
      if (probed.kind === "failed") return { ok: false, detail: probed.failure.message };
      return reply.kind === "send-failed"
        ? { ok: true, detail: refusal(reply, sdk, secrets) }
        : probeStep(reply, limitMs, secrets);
    });
    return probed;
  };
  const first = await once();
  return first.kind === "ask-again" ? once(first.version) : first;
}

/** `HTTP 404: …`, as a clause. */
function refusal(
  reply: Extract<ProbeReply, { kind: "send-failed" }>,
  sdk: typeof Sdk,
  secrets: readonly string[],
): string {
  return `server/discover was refused with ${failureOf(reply.error, { sdk, secrets }).message}`;
}

function readReply(reply: ProbeReply, limitMs: number, sdk: typeof Sdk, secrets: readonly string[]): Probed {
  switch (reply.kind) {
    case "result":
    case "error":
      return readAnswer(reply);
    case "silence":
      return { kind: "failed", failure: timeoutFailure(limitMs) };
    case "closed":
      return { kind: "failed", failure: { kind: "closed", message: "the connection was closed" } };
    case "send-failed": {
      const failure = failureOf(reply.error, { sdk, secrets });
      if (failure.kind !== "http-status") return { kind: "failed", failure };
      if (failure.status < 400) return { kind: "failed", failure };
      return readErrorBody(failure.body) ?? { kind: "legacy" };
    }
  }
}

/** A JSON-RPC error that came with an HTTP error status. */
function readErrorBody(body: string): ProbeVerdict | undefined {
  const kind = classifyMessage(jsonIn(body));
  return kind?.kind === "error" ? readAnswer(kind) : undefined;
}

/** The 2025 handshake, and the transport before it where the server's answer rules this one out. */
async function initialize(
  server: ResolvedHttp,
  task: ConnectTask,
  sdk: typeof Sdk,
  options: HttpOptions,
  evidence: EraVerdict["verdict"],
): Promise<HttpOutcome> {
  const result = await handshake(await streamable(server, sdk, options, task), task, LEGACY, evidence);
  if (result.outcome.ok) return result;
  const { failure } = result.outcome;
  if (failure.kind !== "http-status" || !NOT_STREAMABLE.has(failure.status)) return result;
  const sse = await overSse(server, task, sdk, options, evidence);
  // Nothing there either: what the POST was answered with is the better explanation.
  return sse.outcome.ok ? sse : result;
}

async function overSse(
  server: ResolvedHttp,
  task: ConnectTask,
  sdk: typeof Sdk,
  options: HttpOptions,
  evidence: EraVerdict["verdict"],
): Promise<HttpOutcome> {
  // Answers come over the GET stream here, so it is no mere stream of notices.
  const special = { listen: true, throwRefusals: true, isSse: true };
  const { settings, asWire } = transportSettings(sdk, server, { ...options, ...special }, task);
  const wire = new sdk.SSEClientTransport(server.url, settings);
  const limitMs = task.handshakeMs();
  try {
    const opening = async () => {
      await within(wire.start(), limitMs, task.signal);
      return { ok: true } as const;
    };
    await takeStep(task.onStep, "event stream", opening, (opened) => opened);
  } catch (error) {
    await wire.close();
    const context = { sdk, secrets: server.secrets, aborted: task.signal.aborted };
    // The event source keeps only the text of what its fetch threw.
    const cause = signerOf(options)?.refusal() ?? error;
    const failure = error instanceof OverdueError ? timeoutFailure(limitMs) : failureOf(cause, context);
    return { outcome: { ok: false, failure }, doing: "opening its event stream" };
  }
  return handshake({ wire: asWire(wire), transport: "sse", busy: askingOf(options) }, task, LEGACY, evidence);
}

async function handshake(
  open: OpenWire,
  task: ConnectTask,
  opening: Opening,
  evidence: EraVerdict["verdict"],
): Promise<HttpOutcome> {
  const limits = { timeoutMs: task.handshakeMs(), signal: task.signal };
  const settings = await task.settings();
  const work = () => establish(open, opening, evidence, settings, limits);
  const outcome = await takeStep(task.onStep, "handshake", work, openingStep);
  // What a server of 2025 asks before its stream is open is lost.
  if (outcome.ok && opening.era === "legacy") await Promise.race([open.listening, pause(LISTENING_MS, task.signal)]);
  return { outcome, doing: "waiting for the answer to initialize" };
}

async function streamable(
  server: ResolvedHttp,
  sdk: typeof Sdk,
  options: HttpOptions,
  task: ConnectTask,
): Promise<OpenWire> {
  const { settings, asWire, listening, notices } = transportSettings(sdk, server, options, task);
  const wire = new sdk.StreamableHTTPClientTransport(server.url, settings);
  await wire.start();
  const farewell = async () => {
    if (wire.sessionId === undefined) return;
    // A courtesy: a server that can't be told will find out.
    const told = wire.terminateSession().catch(() => undefined);
    await Promise.race([told, pause(FAREWELL_MS)]);
  };
  return { wire: asWire(wire), transport: "streamable-http", farewell, listening, notices, busy: askingOf(options) };
}

/** Options of either transport, and the wire that its fetch reports to once the transport exists. */
function transportSettings(
  sdk: typeof Sdk,
  server: ResolvedHttp,
  options: HttpOptions & { throwRefusals?: boolean; isSse?: boolean },
  task: ConnectTask,
) {
  const maxMessageBytes = task.maxMessageBytes ?? MAX_MESSAGE_BYTES;
  const { listen = false, auth, throwRefusals = false, isSse = false } = options;
  const trace = task.newTrace();
  const plain: Fetch = options.fetch ?? ((url, init) => fetch(url, init));
  const traced = trace === undefined ? plain : tracedFetch(plain, trace);
  const confined = originFetch(traced, server.url, server.headers);
  const signer = signerOf(options);
  const sign = (next: Fetch) => signer?.wrapFetch(next, sdk) ?? next;
  const own = isSse && signer !== undefined ? withdrawnFetch(confined, sign) : sign(confined);
  const reporting: { wire?: Wire } = {};
  const onTooLong = (id: unknown) => reporting.wire?.onoversize?.({ id });
  const notices = new NoticeStream(listen);
  let onNoticeStream = (_isOpen: boolean) => {};
  const opened = new Promise<void>((resolve) => {
    onNoticeStream = (isOpen) => {
      resolve();
      notices.answered(isOpen);
    };
  });
  const settings = {
    fetch: boundedFetch({
      secrets: server.secrets,
      maxMessageBytes,
      listen,
      throwRefusals,
      onTooLong,
      onNoticeStream,
      fetch: own,
    }),
    requestInit: { headers: { ...server.headers } },
    ...notices.settings,
    ...(auth && !("wrapFetch" in auth) && { authProvider: auth }),
  };
  const asWire = (transport: object): Wire => {
    reporting.wire = Object.assign(transport, { maxMessageBytes }) as unknown as Wire;
    return trace === undefined ? reporting.wire : tracedWire(reporting.wire, trace);
  };
  return { settings, asWire, listening: listen ? opened : Promise.resolve(), notices };
}
