/**
 * Starts a server's process and finds out which era it speaks. With a verdict from an earlier run there
 * is one process, no probe. Without one, `server/discover` is asked of a process first:
 *
 * - a modern answer: that process becomes the session;
 * - any other answer: `initialize` on the same process, and on a fresh one if the question broke it;
 * - it exits: a legacy server that insists on `initialize` first, so a fresh one is started;
 * - silence: weak evidence. A fresh process is started as legacy, and the time that takes is measured. If it was slow
 *   (or if `initialize` was refused), silence proves nothing yet: the probe is repeated once with a limit scaled to that time.
 *
 * A process that is not the session is ended with its group before this resolves.
 */
import type { ConnectTask } from "./connect-task.ts";
import { type Failure, offersOf, timeoutFailure } from "./failure.ts";
import { ask, MODERN_VERSION, type ProbeReply, type ProbeVerdict, readAnswer } from "./probe.ts";
import type { ResolvedStdio } from "./resolve.ts";
import { establish, type SessionOutcome } from "./session.ts";
import { StdioTransport } from "./stdio.ts";
import { openingStep, probeStep, takeStep } from "./steps.ts";
import { type EraVerdict, type Opening, openingOf } from "./verdict.ts";

const LEGACY: Opening = { era: "legacy" };
/** A server slower than this part of the probe's limit may have been about to answer. */
const SLOW_PART = 1 / 3;
const SCALE = 3;

export interface StdioOutcome {
  readonly outcome: SessionOutcome;
  /** The process that failed, for its exit status and stderr. */
  readonly process?: StdioTransport | undefined;
  readonly doing: string;
}

type Started =
  | { readonly ok: true; readonly process: StdioTransport }
  | { readonly ok: false; readonly failure: Failure };

export async function connectStdio(server: ResolvedStdio, task: ConnectTask): Promise<StdioOutcome> {
  if (task.prior !== undefined) return begin(server, task, openingOf(task.prior), task.prior.verdict);
  if (task.protocolVersion === "legacy") return begin(server, task, LEGACY, "configured");
  // A pinned version leaves nothing to fall back to, so its server may take its time.
  const limitMs = task.protocolVersion === "auto" ? task.probeTimeoutMs : task.handshakeMs();
  const probe = await probeProcess(server, task, limitMs);
  if ("outcome" in probe) return probe;
  const decided = await act(server, task, probe, limitMs);
  return decided ?? afterSilence(server, task);
}

/** A fresh process and its handshake. */
async function begin(
  server: ResolvedStdio,
  task: ConnectTask,
  opening: Opening,
  evidence: EraVerdict["verdict"],
): Promise<StdioOutcome> {
  const started = await start(server, task);
  if (!started.ok) return { outcome: started, doing: "starting it" };
  return handshake(started.process, task, opening, evidence);
}

async function handshake(
  process: StdioTransport,
  task: ConnectTask,
  opening: Opening,
  evidence: EraVerdict["verdict"],
  timeoutMs = task.handshakeMs(),
): Promise<StdioOutcome> {
  const settings = await task.settings();
  const open = { wire: process, transport: "stdio" as const, process };
  const limits = { timeoutMs, signal: task.signal };
  const work = () => establish(open, opening, evidence, settings, limits);
  const outcome = await takeStep(task.onStep, "handshake", work, openingStep);
  return { outcome, process, doing: "waiting for the answer to initialize" };
}

function start(server: ResolvedStdio, task: ConnectTask): Promise<Started> {
  return takeStep(task.onStep, "start", () => launch(server, task), openingStep);
}

async function launch(server: ResolvedStdio, task: ConnectTask): Promise<Started> {
  const process = new StdioTransport(server, { maxMessageBytes: task.maxMessageBytes, trace: task.newTrace() });
  try {
    await process.start();
    return { ok: true, process };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    return { ok: false, failure: { kind: "not-started", code, message: `could not be started (${code})` } };
  }
}

interface Probe {
  readonly process: StdioTransport;
  readonly reply: ProbeReply;
  readonly verdict: ProbeVerdict | undefined;
}

async function probeProcess(server: ResolvedStdio, task: ConnectTask, limitMs: number): Promise<Probe | StdioOutcome> {
  const started = await start(server, task);
  if (!started.ok) return { outcome: started, doing: "starting it" };
  const { process } = started;
  // The client is imported while the server starts.
  void task.settings();
  const askFor = (version?: string) => askOnce(process, server, task, limitMs, version);
  let reply = await askFor();
  let verdict = read(reply);
  if (verdict?.kind === "ask-again") {
    reply = await askFor(verdict.version);
    verdict = read(reply);
  }
  if (!task.signal.aborted) return { process, reply, verdict };
  await process.close();
  return { outcome: { ok: false, failure: task.stopped() }, process, doing: "probing its protocol version" };
}

function askOnce(
  process: StdioTransport,
  server: ResolvedStdio,
  task: ConnectTask,
  limitMs: number,
  version?: string,
): Promise<ProbeReply> {
  const options = {
    limitMs: Math.min(limitMs, task.leftMs()),
    signal: task.signal,
    ...(version !== undefined && { version }),
  };
  const work = () => ask(process, task.identity, options);
  return takeStep(task.onStep, "probe", work, (reply) => probeStep(reply, options.limitMs, server.secrets));
}

function read(reply: ProbeReply): ProbeVerdict | undefined {
  return reply.kind === "result" || reply.kind === "error" ? readAnswer(reply) : undefined;
}

/** What follows from a probe; nothing where it was met with silence. */
async function act(
  server: ResolvedStdio,
  task: ConnectTask,
  { process, reply, verdict }: Probe,
  limitMs: number,
): Promise<StdioOutcome | undefined> {
  const pinned = task.protocolVersion !== "auto";
  if (verdict?.kind === "modern") {
    const opening = { era: "modern" as const, discovery: verdict.discovery };
    return handshake(process, task, opening, pinned ? "configured" : "answered");
  }
  if (pinned && verdict === undefined) {
    await process.close();
    return {
      outcome: { ok: false, failure: unanswered(reply, limitMs) },
      process,
      doing: "waiting for the answer to server/discover",
    };
  }
  if (pinned || verdict?.kind === "no-common-version" || verdict?.kind === "ask-again") {
    await process.close();
    return refused(process, pinned, offersOf(verdict, server.secrets));
  }
  if (verdict === undefined) {
    const ended = reply.kind !== "silence";
    await process.close();
    return ended ? begin(server, task, LEGACY, "answered") : undefined;
  }
  const patienceMs = Math.min(Math.max(limitMs, 1000), task.handshakeMs());
  const same = await handshake(process, task, LEGACY, "answered", patienceMs);
  return same.outcome.ok || task.signal.aborted ? same : begin(server, task, LEGACY, "answered");
}

function unanswered(reply: ProbeReply, limitMs: number): Failure {
  if (reply.kind === "silence") return timeoutFailure(limitMs);
  return { kind: "closed", message: "the connection was closed" };
}

function refused(process: StdioTransport, pinned: boolean, offers: string): StdioOutcome {
  const message = pinned
    ? `it does not offer protocol version ${MODERN_VERSION}, which the configuration asks for${offers}`
    : `no protocol version in common${offers}`;
  return {
    outcome: { ok: false, failure: { kind: "unusable", reason: "version", message } },
    process,
    doing: "negotiating",
  };
}

async function afterSilence(server: ResolvedStdio, task: ConnectTask): Promise<StdioOutcome> {
  const startedAt = performance.now();
  const legacy = await begin(server, task, LEGACY, "silence");
  const tookMs = performance.now() - startedAt;
  const slow = tookMs > task.probeTimeoutMs * SLOW_PART;
  const refusedInitialize = !legacy.outcome.ok && legacy.outcome.failure.kind === "rpc-error";
  if (task.signal.aborted || !(refusedInitialize || (legacy.outcome.ok && slow))) return legacy;
  const limitMs = Math.max(task.probeTimeoutMs, SCALE * tookMs);
  const again = await probeProcess(server, task, limitMs);
  // A legacy answer confirms the session there is; only a modern one replaces it.
  if ("outcome" in again || again.verdict?.kind !== "modern") {
    const answered = !("outcome" in again) && again.reply.kind !== "silence";
    if (!("outcome" in again)) await again.process.close();
    return answered && legacy.outcome.ok ? { ...legacy, outcome: legacy.outcome.session.confirmed() } : legacy;
  }
  if (legacy.outcome.ok) await legacy.outcome.session.close();
  return (await act(server, task, again, limitMs)) ?? legacy;
}
