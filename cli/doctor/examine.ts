/**
 * Examines one server: asks it anew, as a compile would, with its steps watched, and compares what it says with what is
 * compiled and cached. Writes nothing, and leaves no process.
 */
import type { SnapshotCache } from "../../compiler/acquire.ts";
import { type IntrospectOptions, introspect } from "../../compiler/introspect/introspect.ts";
import { type Previous, previousServer } from "../../compiler/previous.ts";
import { lifetimeOf, type ServerSnapshot } from "../../compiler/snapshot.ts";
import { opaqueSegments } from "../../runtime/connect/known-secrets.ts";
import { redact } from "../../runtime/connect/redact.ts";
import type { Step } from "../../runtime/connect/steps.ts";
import type { EraVerdict } from "../../runtime/connect/verdict.ts";
import { compareTools, driftText } from "../../runtime/drift.ts";
import { connectionDigest } from "../../schemas/config/digest.ts";
import { maskArgs, maskUrl } from "../../schemas/config/secrets.ts";
import { type DroppedServer, placeText, type ServerConfig } from "../../schemas/config/server-config.ts";
import type { Diagnostic } from "../../schemas/diagnostic.ts";
import { isRecord } from "../../schemas/record.ts";
import type { Examination, Freshness, Problem } from "./examination.ts";

export interface ExamineOptions extends Omit<IntrospectOptions, "onStep" | "onVerdict"> {
  /** The last compile of the server's scope. */
  readonly previous: Previous | undefined;
  readonly cache: SnapshotCache;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

type Known = Pick<Examination, "name" | "scope" | "place" | "target" | "transport">;

/** What the entry alone tells. */
function knownOf(config: ServerConfig): Known {
  const { name, scope, location, transport } = config;
  return { name, scope, place: placeText(location), target: targetOf(config), transport: transport.kind };
}

export function disabled(config: ServerConfig): Examination {
  return { ...knownOf(config), status: "disabled", ok: true, steps: [], durationMs: 0, diagnostics: [] };
}

/** An entry that could not be read; `found` is what was said of it. */
export function unreadable({ name, scope, location }: DroppedServer, found: readonly Diagnostic[]): Examination {
  const error = found.find(({ severity }) => severity === "error");
  const problem = error ? problemOf(error) : { code: "invalid-server", message: "the entry has an error", remedy: [] };
  return {
    name,
    scope,
    place: placeText(location),
    status: "failed",
    ok: false,
    steps: [],
    durationMs: 0,
    problem,
    diagnostics: found.filter((one) => one !== error),
  };
}

export async function examine(config: ServerConfig, options: ExamineOptions): Promise<Examination> {
  const started = performance.now();
  const steps: Step[] = [];
  let negotiated: EraVerdict | undefined;
  const outcome = await introspect(config, {
    ...options,
    onStep: (step) => steps.push(step),
    onVerdict: (verdict) => {
      negotiated = verdict;
    },
  });
  const durationMs = Math.round(performance.now() - started);
  const snapshot = outcome.value;
  const errors = outcome.diagnostics.filter(({ severity }) => severity === "error");
  const said = errors.flatMap(({ notes }) => notes).filter(isOutput);
  return {
    ...knownOf(config),
    status: snapshot === undefined ? "failed" : "ok",
    ok: snapshot !== undefined,
    ...(negotiated && describe(negotiated, steps)),
    ...(snapshot && { tools: snapshot.tools.length, freshness: await freshnessOf(config, snapshot, options) }),
    steps: steps.map(({ detail, ...step }) => ({ ...step, ...(detail !== undefined && { detail }) })),
    durationMs,
    ...(snapshot === undefined && { problem: withHints(problemOf(errors[0]), said) }),
    ...(said.length > 0 && { output: said }),
    diagnostics: outcome.diagnostics.filter((found) => found !== errors[0]).map(advised),
  };
}

/** Notes with what the server's process printed; the others are remedies. */
function isOutput(note: string): boolean {
  return note.startsWith("stderr: ") || note.startsWith("stdout: ");
}

function problemOf(found: Diagnostic | undefined): Problem {
  if (found === undefined) return { code: "server-unreachable", message: "it gave no tool list", remedy: [] };
  const { code, message, notes, server } = found;
  // The name stands above it.
  const prefix = `server "${server}": `;
  const plain = message.startsWith(prefix) ? message.slice(prefix.length) : message;
  return { code, message: plain, remedy: notes.filter((note) => !isOutput(note)) };
}

/** A compile only notes it; somebody who asks wants to know what to do. */
function advised(found: Diagnostic): Diagnostic {
  if (found.code !== "stdout-noise") return found;
  return { ...found, notes: [...found.notes, "stdout is for messages alone: have the server log to stderr"] };
}

/** What the output of a process adds to the advice. */
function withHints(problem: Problem, output: readonly string[]): Problem {
  if (problem.code !== "server-unreachable" && problem.code !== "server-timeout") return problem;
  const printed = output.some((line) => line.startsWith("stdout: "));
  const hint = printed
    ? ["what it printed on stdout is no MCP message: check command and args; logs belong on stderr"]
    : output.length > 0
      ? ["its own words on stderr, below, may say why"]
      : [];
  return { ...problem, remedy: [...problem.remedy, ...hint] };
}

function describe(found: EraVerdict, steps: readonly Step[]): Partial<Examination> {
  const { era, verdict, protocolVersion, transport, supportedVersions, serverInfo, capabilities = {} } = found;
  const extensions = isRecord(capabilities["extensions"]) ? Object.keys(capabilities["extensions"]) : [];
  return {
    transport,
    era,
    verdict,
    why: whyOf(found, steps),
    protocolVersion,
    ...(supportedVersions && { supportedVersions }),
    ...(serverInfo && { serverInfo }),
    capabilities,
    extensions,
  };
}

/** The evidence, in the words of the last probe that was one. */
function whyOf({ verdict }: EraVerdict, steps: readonly Step[]): string {
  if (verdict === "configured") return "protocolVersion in the configuration says so";
  const probes = steps.filter(({ name }) => name === "probe");
  const probe = verdict === "silence" ? probes.at(-1) : (probes.findLast(({ ok }) => ok) ?? probes.at(-1));
  const detail = probe?.detail ?? "it was negotiated";
  return verdict === "silence" ? `${detail}: weak evidence, asked again at the next compile` : detail;
}

async function freshnessOf(
  config: ServerConfig,
  snapshot: ServerSnapshot,
  { cache, previous, now }: ExamineOptions,
): Promise<Freshness> {
  const cached = await cache.find(config);
  return {
    ...(snapshot.ttlMs !== undefined && { ttlMs: lifetimeOf(snapshot, config.ttlMs) }),
    cacheScope: snapshot.cacheScope,
    ...(cached && {
      cached: { ageMs: Math.max(0, now() - cached.fetchedAt), fresh: cache.freshUntil(config, cached) > 0 },
    }),
    compiled: comparedWith(config, snapshot, previous),
  };
}

function comparedWith(
  config: ServerConfig,
  snapshot: ServerSnapshot,
  previous: Previous | undefined,
): Freshness["compiled"] {
  const catalog = previousServer(previous, config.name);
  const entry =
    previous && Object.hasOwn(previous.manifest.servers, config.name)
      ? previous.manifest.servers[config.name]
      : undefined;
  if (!catalog || !entry) return { status: "never" };
  if (entry.config !== connectionDigest(config)) return { status: "other-entry" };
  const drift = compareTools(config.name, catalog.tools, snapshot.tools);
  const era =
    entry.era === snapshot.era &&
    entry.protocolVersion === snapshot.protocolVersion &&
    entry.transport === snapshot.transport
      ? []
      : [`it was ${entry.era} ${entry.protocolVersion} over ${entry.transport}`];
  const changes = [...era, ...(drift.tools.length > 0 ? [`tools: ${driftText(drift)}`] : [])];
  return changes.length === 0 ? { status: "same" } : { status: "drifted", changes: changes.join("; ") };
}

/** As written, never as resolved: no value of a variable, no literal secret, no query. */
function targetOf({ transport }: ServerConfig): string {
  if (transport.kind === "stdio") return [transport.command, ...maskArgs(transport.args)].map(quoted).join(" ");
  const [place = ""] = maskUrl(transport.url).split(/[?#]/);
  return redact(place.replace(/^(https?:\/\/)[^/@]*@/i, "$1"), opaqueSegments(transport.url));
}

function quoted(word: string): string {
  return /^[^\s"'\\]+$/.test(word) ? word : JSON.stringify(word);
}
