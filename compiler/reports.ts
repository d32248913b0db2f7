/**
 * What a compile says of each server and scope, for the summary that a person reads and for `--json`. Made from what the
 * pipeline has already decided; nothing is compiled or written here.
 */
import { canonicalJson } from "../schemas/canonical.ts";
import type { Exposure, Scope, ServerConfig } from "../schemas/config/server-config.ts";
import { type Diagnostic, diagnostic } from "../schemas/diagnostic.ts";
import type { Manifest } from "../schemas/manifest.schema.ts";
import type { Acquired } from "./acquire.ts";
import type { ScopePlan } from "./plan.ts";
import { type Previous, previousServer } from "./previous.ts";
import { lifetimeOf } from "./snapshot.ts";
import type { WriteResult } from "./write.ts";

export interface ServerReport {
  readonly name: string;
  readonly scope: Scope;
  readonly status: "compiled" | "unchanged" | "stale" | "failed" | "disabled";
  readonly source: "live" | "cache" | "none";
  /** Tools that are not hidden. */
  readonly tools: number;
  readonly era?: "legacy" | "modern";
  readonly protocolVersion?: string;
  readonly ttlMs?: number;
  readonly cacheScope?: "public" | "private";
  readonly durationMs: number;
}

/** One scope's share of a run, for the summary a person reads. */
export interface ScopeReport {
  readonly scope: Scope;
  readonly folder: string;
  readonly servers: readonly ServerReport[];
  readonly files: readonly WriteResult[];
  /** Milliseconds since the epoch until which every server's list is fresh; 0 when the next compile has to ask one. */
  readonly freshUntil: number;
  /** Tools by exposure, in all servers. */
  readonly exposures: Readonly<Partial<Record<Exposure, number>>>;
  readonly tokens?: { readonly declared: number; readonly budget: number; readonly total: number };
}

/** `entries` are those of the manifest that was written. */
export function serverReport(
  { config, snapshot, source, failed, durationMs }: Acquired,
  plan: ScopePlan,
  entries: Manifest["servers"],
  previous: Previous | undefined,
): ServerReport {
  if (!snapshot) return failedReport({ config, source, durationMs });
  const { name, scope } = config;
  const planned = plan.servers.find((server) => server.config.name === name)!;
  const same =
    canonicalJson(entries[name]) === canonicalJson(previous?.manifest.servers[name]) &&
    canonicalJson(planned.catalog) === canonicalJson(previousServer(previous, name));
  return {
    name,
    scope,
    status: failed ? "stale" : same ? "unchanged" : "compiled",
    source,
    tools: planned.tools.filter((tool) => tool.exposure !== "hidden").length,
    era: snapshot.era,
    protocolVersion: snapshot.protocolVersion,
    ttlMs: lifetimeOf(snapshot, config.ttlMs),
    cacheScope: snapshot.cacheScope,
    durationMs,
  };
}

export function countExposures(plan: ScopePlan): ScopeReport["exposures"] {
  const counts: Partial<Record<Exposure, number>> = {};
  for (const { exposure } of plan.servers.flatMap((server) => server.tools)) {
    counts[exposure] = (counts[exposure] ?? 0) + 1;
  }
  return counts;
}

/** What could not be written is not compiled, whatever the server answered. */
export function lostReport(one: Acquired, previous: Previous | undefined): ServerReport {
  const before = previousServer(previous, one.config.name);
  return { ...failedReport(one), ...(before && { status: "stale" as const, tools: before.tools.length }) };
}

export function failedReport({
  config,
  source,
  durationMs,
}: Pick<Acquired, "config" | "source" | "durationMs">): ServerReport {
  return { name: config.name, scope: config.scope, status: "failed", source, tools: 0, durationMs };
}

export function disabledReport({ name, scope }: ServerConfig): ServerReport {
  return { name, scope, status: "disabled", source: "none", tools: 0, durationMs: 0 };
}

/** Every server as it was compiled, nothing written. */
export function keptReport(scope: Scope, folder: string, { manifest, exposure }: Previous): ScopeReport {
  const reachable = Object.values(exposure?.tools ?? {}).filter((tool) => tool.exposure !== "hidden");
  const servers = Object.entries(manifest.servers).map(([name, { era, protocolVersion }]): ServerReport => {
    const tools = reachable.filter((tool) => tool.server === name).length;
    return { name, scope, status: "stale", source: "none", tools, era, protocolVersion, durationMs: 0 };
  });
  return { scope, folder, servers, files: [], freshUntil: 0, exposures: {} };
}

/** `isAsked`: there are servers, of which none has anything compiled. */
export function emptyReport(
  scope: Scope,
  folder: string,
  servers: readonly ServerReport[],
  isAsked: boolean,
): ScopeReport {
  return { scope, folder, servers, files: [], freshUntil: isAsked ? 0 : Number.MAX_SAFE_INTEGER, exposures: {} };
}

/** With `--check`, the finding that something would change; undefined when nothing would. */
export function checkFinding(reports: readonly ScopeReport[]): Diagnostic | undefined {
  const changed = reports.flatMap((one) => one.files.filter((file) => file.status !== "unchanged"));
  if (changed.length === 0) return undefined;
  return diagnostic("check-failed", `${changed.length} generated file${changed.length === 1 ? "" : "s"} would change`, {
    notes: [
      ...changed.map(({ path, status }) => `${path} would be ${status}`),
      "run `pimcp compile` and commit the result",
    ],
  });
}
