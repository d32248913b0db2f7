/**
 * Asks a server what it offers: connects, negotiates, lists its tools and prompts, and checks that the resources it
 * advertises can be listed. The connection and its processes are gone when this resolves,
 * also after an abort. Whatever the server does is a finding; only the lack of a tool list makes the whole fail.
 *
 * Imports the MCP client (when a connection opens): load this module only when a server has to be asked.
 */
import type { Connection } from "../../runtime/connect/connection.ts";
import { failureDiagnostic, withStderr } from "../../runtime/connect/failure.ts";
import type { Listing, NamedList } from "../../runtime/connect/list-named.ts";
import { sharedFreshness } from "../../runtime/connect/list-pages.ts";
import { listPrompts } from "../../runtime/connect/list-prompts.ts";
import { listTools } from "../../runtime/connect/list-tools.ts";
import { type OpenOptions, openConnection } from "../../runtime/connect/open.ts";
import { type OnStep, takeStep } from "../../runtime/connect/steps.ts";
import type { EraVerdict } from "../../runtime/connect/verdict.ts";
import { MAX_TIMER_MS } from "../../runtime/connect/waiting.ts";
import type { ServerConfig } from "../../schemas/config/server-config.ts";
import { type Diagnostic, diagnostic, type Outcome } from "../../schemas/diagnostic.ts";
import { isRecord } from "../../schemas/record.ts";
import type { ServerSnapshot } from "../snapshot.ts";

export interface IntrospectOptions
  extends Pick<
    OpenOptions,
    "env" | "homedir" | "signal" | "clientInfo" | "capabilities" | "auth" | "fetch" | "trace" | "onStep"
  > {
  /** Milliseconds for everything. Default 120,000, and never so little that one request could not take its time. */
  readonly timeoutMs?: number | undefined;
  /** What was negotiated, known even where the list then fails. */
  readonly onVerdict?: ((verdict: EraVerdict) => void) | undefined;
}

const DEFAULT_TIMEOUT_MS = 120_000;
/** Requests that may each take all of `requestTimeoutMs`: two handshakes and a page of the list. */
const SLOW_REQUESTS = 3;
/** For questions whose answer is worth little. */
const CHECK_TIMEOUT_MS = 5000;
const NO_LIST = "the answer holds no list";
/** Lists that a server may cause with its change notices. */
const MAX_LISTS = 3;

/**
 * Servers keep tools that ask something from clients that can't be asked, and those of the command line and of Pi can.
 * Nobody is asked while a list is taken.
 */
const ASKABLE: Pick<OpenOptions, "capabilities" | "answer"> = {
  capabilities: { elicitation: { form: {}, url: {} } },
  answer: async () => ({ action: "cancel" }),
};

/** The value is absent when there is no list of tools to be had; a finding says why. */
export async function introspect(
  server: ServerConfig,
  options: IntrospectOptions,
): Promise<Outcome<ServerSnapshot | undefined>> {
  const enoughMs = server.probeTimeoutMs + SLOW_REQUESTS * server.requestTimeoutMs;
  const timeoutMs = Math.min(options.timeoutMs ?? Math.max(DEFAULT_TIMEOUT_MS, enoughMs), MAX_TIMER_MS);
  const overall = new AbortController();
  const timer = setTimeout(() => overall.abort(), timeoutMs);
  const onAbort = () => overall.abort();
  options.signal?.addEventListener("abort", onAbort, { once: true });
  if (options.signal?.aborted) onAbort();
  try {
    // Its time limit is its own matter, so that it can tell it from a caller who gives up.
    const opened = await openConnection(server, { ...ASKABLE, ...options, timeoutMs });
    if (!opened.ok) return { value: undefined, diagnostics: [withStderr(opened.diagnostic, opened.stderr)] };
    const { connection } = opened;
    options.onVerdict?.(connection.redact(connection.verdict).value);
    try {
      return await ask(connection, server, overall.signal, options.onStep, () => {
        const cancelled = options.signal?.aborted === true;
        return cancelled ? undefined : timeoutMs;
      });
    } finally {
      await connection.close();
    }
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", onAbort);
  }
}

async function ask(
  connection: Connection,
  server: ServerConfig,
  signal: AbortSignal,
  onStep: OnStep | undefined,
  exceededMs: () => number | undefined,
): Promise<Outcome<ServerSnapshot | undefined>> {
  let changes = 0;
  connection.onNotification((method) => {
    if (method === "notifications/tools/list_changed") changes++;
  });
  let seen = changes;
  let listing = await takeStep(
    onStep,
    "tools",
    () => askForTools(connection, server, signal),
    (found) => (found.ok ? { ok: true } : { ok: false, detail: found.failure.message }),
  );
  const [resources, prompts] = await Promise.all([
    offered(connection, "resources", onStep, () => canListResources(connection, server, signal)),
    offered(connection, "prompts", onStep, () => askForPrompts(connection, server, signal)),
  ]);
  for (let lists = 1; listing.ok && changes !== seen && lists < MAX_LISTS && !signal.aborted; lists++) {
    seen = changes;
    listing = await askForTools(connection, server, signal);
  }
  const noise = connection.noise();
  const findings = [...(resources?.diagnostics ?? []), ...(prompts?.diagnostics ?? []), ...(noise ? [noise] : [])];
  if (!listing.ok) {
    const finding = unlisted(connection, server, listing.failure, exceededMs());
    return { value: undefined, diagnostics: [finding, ...findings] };
  }
  const about = connection.redact(selfDescription(connection));
  const echoed = about.found ? [echo(server)] : [];
  const snapshot = snapshotOf(connection, about.value, {
    tools: listing.list,
    resources: resources?.value === true,
    prompts: prompts?.value,
  });
  return { value: snapshot, diagnostics: [...listing.diagnostics, ...echoed, ...findings] };
}

/** Servers that forget to advertise tools are asked all the same; that they answer is what counts. */
async function askForTools(connection: Connection, server: ServerConfig, signal: AbortSignal): Promise<Listing> {
  const advertised = connection.verdict.capabilities?.["tools"] !== undefined;
  const timeoutMs = advertised ? server.requestTimeoutMs : CHECK_TIMEOUT_MS;
  const listing = await listTools(connection, server, { signal, timeoutMs });
  if (advertised || signal.aborted) return listing;
  if (!listing.ok) {
    const gone = listing.failure.kind === "closed";
    return gone ? listing : { ok: true, list: { entries: [], cacheScope: "private" }, diagnostics: [] };
  }
  if (listing.list.entries.length === 0) return listing;
  return { ...listing, diagnostics: [...listing.diagnostics, lie(server, "has tools without advertising them")] };
}

/** Nothing where the server doesn't say that it has such things. */
async function offered<T>(
  connection: Connection,
  what: "resources" | "prompts",
  onStep: OnStep | undefined,
  work: () => Promise<Outcome<T | undefined>>,
): Promise<Outcome<T | undefined> | undefined> {
  if (connection.verdict.capabilities?.[what] === undefined) return undefined;
  return takeStep(onStep, what, work, ({ value }) => ({ ok: value !== undefined }));
}

async function canListResources(
  connection: Connection,
  server: ServerConfig,
  signal: AbortSignal,
): Promise<Outcome<true | undefined>> {
  if (signal.aborted) return { value: undefined, diagnostics: [] };
  const outcome = await connection.request("resources/list", undefined, { signal, timeoutMs: CHECK_TIMEOUT_MS });
  if (outcome.ok && Array.isArray(outcome.result["resources"])) return { value: true, diagnostics: [] };
  const why = outcome.ok ? NO_LIST : outcome.failure.message;
  return { value: undefined, diagnostics: [unlistable(server, "resources", why)] };
}

/** Prompts are a convenience: a server that can't list them is compiled without. */
async function askForPrompts(
  connection: Connection,
  server: ServerConfig,
  signal: AbortSignal,
): Promise<Outcome<NamedList | undefined>> {
  if (signal.aborted) return { value: undefined, diagnostics: [] };
  const listing = await listPrompts(connection, server, { signal, timeoutMs: CHECK_TIMEOUT_MS });
  if (listing.ok) return { value: listing.list, diagnostics: listing.diagnostics };
  const why = listing.failure.kind === "malformed" ? NO_LIST : listing.failure.message;
  return { value: undefined, diagnostics: [unlistable(server, "prompts", why)] };
}

function unlistable(server: ServerConfig, what: "resources" | "prompts", why: string): Diagnostic {
  return lie(server, `advertises ${what} that can't be listed (${why})`);
}

function lie(server: ServerConfig, what: string): Diagnostic {
  return diagnostic("capability-lie", `server "${server.name}" ${what}`, { server: server.name, ...server.location });
}

function echo(server: ServerConfig): Diagnostic {
  const message = `server "${server.name}": repeats a secret that it was given in what it says of itself; it is left out`;
  return diagnostic("secret-echoed", message, { server: server.name, ...server.location });
}

function unlisted(
  connection: Connection,
  server: ServerConfig,
  failure: Extract<Listing, { ok: false }>["failure"],
  exceededMs: number | undefined,
): Diagnostic {
  if (failure.kind === "rpc-error" || failure.kind === "malformed" || failure.kind === "unusable") {
    const message = failure.kind === "malformed" ? failure.message : `tools/list failed: ${failure.message}`;
    const found = diagnostic("tools-unlisted", `server "${server.name}": ${message}`, {
      severity: "error",
      server: server.name,
      ...server.location,
    });
    return withStderr(found, connection.stderrTail());
  }
  const overdue = failure.kind === "cancelled" && exceededMs !== undefined;
  const reason = overdue
    ? { kind: "timeout" as const, timeoutMs: exceededMs, message: `no answer within ${exceededMs} ms` }
    : failure;
  const found = failureDiagnostic(server, reason, { doing: "listing its tools", ending: connection.ending() });
  return withStderr(found, connection.stderrTail());
}

type SelfDescription = Pick<ServerSnapshot, "supportedVersions" | "serverInfo" | "instructions" | "capabilities">;

function selfDescription({ verdict }: Connection): SelfDescription {
  const { supportedVersions, serverInfo, instructions, capabilities } = verdict;
  return {
    ...(supportedVersions && { supportedVersions }),
    ...(serverInfo && { serverInfo }),
    ...(instructions !== undefined && { instructions }),
    capabilities: isRecord(capabilities) ? capabilities : {},
  };
}

interface Offer {
  readonly tools: NamedList;
  readonly resources: boolean;
  /** Undefined where prompts can't be listed. */
  readonly prompts: NamedList | undefined;
}

function snapshotOf(
  { server, verdict: found }: Connection,
  about: SelfDescription,
  { tools, resources, prompts }: Offer,
): ServerSnapshot {
  const { era, verdict, protocolVersion, transport } = found;
  const promptList = prompts?.entries ?? [];
  return {
    server,
    transport,
    era,
    verdict,
    protocolVersion,
    ...about,
    resources,
    prompts: prompts !== undefined,
    ...(promptList.length > 0 && { promptList }),
    tools: tools.entries,
    // Without any prompt there is nothing that could outlive its time or be seen by others.
    ...sharedFreshness(prompts && promptList.length > 0 ? [tools, prompts] : [tools]),
  };
}
