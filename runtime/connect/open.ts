/**
 * The door to `runtime/connect`: from a server's entry to a live connection, or to a finding that says why
 * not. Resolves the entry's values, starts the process or reaches the URL, negotiates or takes an earlier
 * verdict at its word, and puts a verdict that proves wrong right once. Never throws for what a server,
 * a network or a configuration does.
 */
import type * as Sdk from "@modelcontextprotocol/client";
import type { ServerConfig } from "../../schemas/config/server-config.ts";
import { type Diagnostic, diagnostic } from "../../schemas/diagnostic.ts";
import type { Environment } from "../../schemas/expand.ts";
import type { ConnectionAuth } from "./auth/create-auth.ts";
import { connectHttp } from "./connect-http.ts";
import { connectStdio } from "./connect-stdio.ts";
import { ConnectTask } from "./connect-task.ts";
import { type Connection, connectionOver } from "./connection.ts";
import { type Failure, failureDiagnostic } from "./failure.ts";
import type { Fetch } from "./http-fetch.ts";
import type { AnswerQuestion } from "./input-required.ts";
import { networkFetch } from "./network-fetch.ts";
import type { ClientIdentity } from "./probe.ts";
import { printableTail, redact } from "./redact.ts";
import { type ResolvedHttp, type ResolvedServer, resolveServer } from "./resolve.ts";
import type { SessionOutcome } from "./session.ts";
import type { StdioTransport } from "./stdio.ts";
import { type OnStep, takeStep } from "./steps.ts";
import type { TraceSink } from "./trace.ts";
import type { EraVerdict } from "./verdict.ts";
import { MAX_TIMER_MS } from "./waiting.ts";

export interface OpenOptions {
  readonly env: Environment;
  readonly homedir: string;
  /** The verdict of an earlier negotiation: no probe, one process. */
  readonly prior?: EraVerdict | undefined;
  /** Aborts the opening; a connection once open is closed with `close`. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Milliseconds for everything up to an open connection. Each step has its own limit (`probeTimeoutMs`,
   * `requestTimeoutMs` for a handshake), so the default is what a slow server may need for all of them.
   */
  readonly timeoutMs?: number | undefined;
  readonly clientInfo?: ClientIdentity["clientInfo"] | undefined;
  /** Client capabilities, default none. Servers may list other tools to other clients. */
  readonly capabilities?: ClientIdentity["capabilities"] | undefined;
  /** Registers handlers for what the server asks of us; called for each new session. */
  readonly configure?: ((client: Sdk.Client) => void) | undefined;
  /** Answers the server's questions, whichever way they come, of the kinds that `capabilities` advertises. */
  readonly answer?: AnswerQuestion | undefined;
  /** A question that failed and belongs to no request in particular. */
  readonly onUnanswered?: ((failure: Failure) => void) | undefined;
  /** Findings that don't stop the connection, such as a verdict that was wrong. */
  readonly onNotice?: ((notice: Diagnostic) => void) | undefined;
  /** Whether notices are wanted between requests (an extra stream over HTTP). Default false. */
  readonly listen?: boolean | undefined;
  /** Signs requests to this server; asked for once a connection, with the values resolved and the `fetch` that reaches it. */
  readonly auth?:
    | ((
        config: ServerConfig,
        resolved: ResolvedServer,
        fetch: Fetch,
      ) => Promise<ConnectionAuth | Sdk.AuthProvider | Sdk.OAuthClientProvider | undefined>)
    | undefined;
  readonly fetch?: Fetch | undefined;
  /** Bytes of the largest message taken, default 256 MiB. */
  readonly maxMessageBytes?: number | undefined;
  /** Takes an event for every message and HTTP answer, of probes too. Holds no payload and no secret. */
  readonly trace?: TraceSink | undefined;
  /** Told of each step as it ends. */
  readonly onStep?: OnStep | undefined;
}

export type OpenOutcome =
  | { readonly ok: true; readonly connection: Connection }
  | {
      readonly ok: false;
      readonly diagnostic: Diagnostic;
      /** The last lines that the server's process wrote to stderr, cleaned of secrets and control characters. */
      readonly stderr?: readonly string[] | undefined;
    };

/** Of a silent server: the probe, a handshake, and after a slow one a second probe and handshake. */
function enoughMs({ probeTimeoutMs, requestTimeoutMs }: ServerConfig): number {
  return probeTimeoutMs + 3 * requestTimeoutMs;
}

/** Fails with a resolution's codes, `server-unreachable`, `server-timeout`, `sign-in-needed`, `access-denied`, `server-unavailable` or `protocol-mismatch`. */
export async function openConnection(config: ServerConfig, options: OpenOptions): Promise<OpenOutcome> {
  const { env, homedir, signal } = options;
  const resolving = () => resolveServer(config, { env, homedir, signal });
  const resolution = await takeStep(options.onStep, "resolve", resolving, (found) =>
    found.ok ? { ok: true } : { ok: false, detail: found.diagnostic.message },
  );
  if (!resolution.ok) return resolution;
  const { resolved } = resolution;
  const attempt = (prior: EraVerdict | undefined, caller?: AbortSignal) =>
    connect(config, resolved, options, prior, caller);

  let result = await attempt(options.prior, signal);
  let prior = options.prior;
  if (!result.outcome.ok && prior !== undefined && contradicts(prior, result.outcome.failure) && !signal?.aborted) {
    const again = await attempt(undefined, signal);
    // The same failure without the prior: then the verdict wasn't the reason.
    if (again.outcome.ok) {
      options.onNotice?.(verdictChanged(config, prior, again.outcome.session.verdict));
      result = again;
      prior = undefined;
    }
  }
  if (!result.outcome.ok) return report(config, resolved, result.outcome.failure, result);
  const connection = connectionOver(result.outcome.session, {
    config,
    secrets: resolved.secrets,
    credentials: resolved.credentials,
    answer: options.answer,
    reconnect: async (verdict, closing) => {
      const { outcome } = await attempt(verdict, closing);
      return outcome;
    },
    onVerdictChanged: (before, after) => options.onNotice?.(verdictChanged(config, before, after)),
  });
  return { ok: true, connection };
}

interface Attempt {
  readonly outcome: SessionOutcome;
  readonly process?: StdioTransport | undefined;
  readonly doing: string;
}

async function connect(
  config: ServerConfig,
  resolved: ResolvedServer,
  options: OpenOptions,
  prior: EraVerdict | undefined,
  signal: AbortSignal | undefined,
): Promise<Attempt> {
  const timeoutMs = Math.min(options.timeoutMs ?? enoughMs(config), MAX_TIMER_MS);
  const task = new ConnectTask(config, resolved.secrets, prior, { ...options, timeoutMs, signal });
  try {
    if (task.signal.aborted) return { outcome: { ok: false, failure: task.stopped() }, doing: "connecting" };
    const found: Attempt =
      resolved.kind === "stdio" ? await connectStdio(resolved, task) : await overHttp(config, resolved, task, options);
    // Negotiated just now: its first error is no hint at the other era.
    if (found.outcome.ok && prior === undefined) found.outcome.session.proven = true;
    return withReason(found, task);
  } finally {
    task.end();
  }
}

async function overHttp(
  config: ServerConfig,
  resolved: ResolvedHttp,
  task: ConnectTask,
  options: OpenOptions,
): Promise<Attempt> {
  const fetch = options.fetch ?? networkFetch({ env: options.env, ca: resolved.ca });
  const auth = await options.auth?.(config, resolved, fetch);
  return connectHttp(resolved, task, { ...options, fetch, auth });
}

/** A step that failed because the time was up or the caller gave up says so. */
function withReason(attempt: Attempt, task: ConnectTask): Attempt {
  if (attempt.outcome.ok || !task.signal.aborted) return attempt;
  return { ...attempt, outcome: { ok: false, failure: task.stopped() } };
}

/** Failures of a handshake that a server of the era assumed would not have given. */
function contradicts(prior: EraVerdict, failure: Failure): boolean {
  if (prior.verdict === "configured") return false;
  return failure.kind === "rpc-error" || failure.kind === "unusable" || failure.kind === "http-status";
}

function verdictChanged(config: ServerConfig, before: EraVerdict, after: EraVerdict): Diagnostic {
  const message = `server "${config.name}" speaks ${spoken(after)}, not ${spoken(before)} as when it was compiled`;
  return diagnostic("verdict-changed", message, {
    server: config.name,
    ...config.location,
    notes: ["run `pimcp compile`"],
  });
}

function spoken(verdict: EraVerdict): string {
  return `${verdict.protocolVersion} (${verdict.transport})`;
}

function report(config: ServerConfig, resolved: ResolvedServer, failure: Failure, attempt: Attempt): OpenOutcome {
  const { process, doing } = attempt;
  const clean = (text: string) => printableTail(redact(text, resolved.secrets));
  const printed = process === undefined ? [] : clean(process.noise.samples.join("\n")).map((line) => `stdout: ${line}`);
  const found = failureDiagnostic(config, failure, { doing, ending: process?.ending });
  return {
    ok: false,
    diagnostic: { ...found, notes: [...found.notes, ...printed] },
    stderr: process === undefined ? [] : clean(process.stderrTail),
  };
}
