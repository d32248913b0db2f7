/**
 * The pipeline, on one screen: configuration → snapshots → catalog → plan → files → disk. Each stage takes
 * plain data and gives back a value with diagnostics; no stage stops another, and what a failed server or
 * a bad entry was compiled to before stays. The user's and the project's servers are compiled apart, into
 * folders of their own.
 */
import { canonicalJson } from "../schemas/canonical.ts";
import { settingsDigest } from "../schemas/config/digest.ts";
import {
  type Configuration,
  type Exposure,
  type Scope,
  type ServerConfig,
  serversOfScope,
} from "../schemas/config/server-config.ts";
import { type Diagnostic, diagnostic, type Outcome } from "../schemas/diagnostic.ts";
import { type Acquired, type AcquireOptions, acquireAll } from "./acquire.ts";
import { shareBudget } from "./budget.ts";
import { buildCatalog, type CompiledServer } from "./catalog.ts";
import { type GeneratedFile, jsonArtifacts, manifestFile, manifestServer } from "./emit/artifacts.ts";
import { plainJson } from "./emit/json.ts";
import { buildSearchIndex } from "./emit/search-index.ts";
import { emitStubs, type TypeCache } from "./emit/stub-files.ts";
import { planScope, type ScopePlan } from "./plan.ts";
import { type Previous, previousConfig, previousServer, previousSnapshot, readPrevious } from "./previous.ts";
import type { ServerSnapshot } from "./snapshot.ts";
import { type WriteResult, writeFiles } from "./write.ts";

export interface CompileOptions extends Omit<AcquireOptions, "previous"> {
  readonly scopes: readonly Scope[];
  /** Compile only these servers; the others keep what they were compiled to. */
  readonly only?: readonly string[];
  readonly check: boolean;
  readonly types: TypeCache;
}

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

/** Compiles every wanted scope of a configuration. */
export async function compile(
  configuration: Configuration,
  options: CompileOptions,
): Promise<Outcome<readonly ScopeReport[]>> {
  const previous = await Promise.all(options.scopes.map((scope) => readPrevious(configuration[scope].out)));
  const previousOf = (server: ServerConfig) => previous[options.scopes.indexOf(server.scope)];
  // A file that can't be used may have hidden a tool or disabled a server: its scope stays as it was compiled.
  const isKept = (scope: Scope, index: number) => configuration[scope].incomplete && previous[index] !== undefined;
  const asked = options.scopes
    .flatMap((scope, index) => (isKept(scope, index) ? [] : serversOfScope(configuration, scope)))
    .filter(isWanted(options));
  const acquired = await acquireAll(asked, {
    ...options,
    previous: (server) => previousSnapshot(previousOf(server), server.name),
  });
  const reports: ScopeReport[] = [];
  const diagnostics: Diagnostic[] = [...acquired.diagnostics];
  // Half the servers' answers are not what was asked for: an interrupted compile writes nothing.
  if (options.signal.aborted) return { value: reports, diagnostics };
  for (const [index, scope] of options.scopes.entries()) {
    if (isKept(scope, index)) {
      reports.push(keptReport(scope, configuration[scope].out, previous[index]!));
      continue;
    }
    const own = acquired.value.filter(({ config }) => config.scope === scope);
    const outcome = await compileScope({ scope, configuration, own, previous: previous[index], options });
    if (outcome.value) reports.push(outcome.value);
    diagnostics.push(...outcome.diagnostics);
  }
  return { value: reports, diagnostics };
}

function isWanted({ only }: CompileOptions): (server: ServerConfig) => boolean {
  return (server) => server.enabled && (only === undefined || only.includes(server.name));
}

interface ScopeInput {
  readonly scope: Scope;
  readonly configuration: Configuration;
  readonly own: readonly Acquired[];
  readonly previous: Previous | undefined;
  readonly options: CompileOptions;
}

/** Writes nothing where the scope has nothing compiled and never had: a folder appears only when it has a purpose. */
async function compileScope(input: ScopeInput): Promise<Outcome<ScopeReport | undefined>> {
  const { scope, configuration, own, previous, options } = input;
  const settings = configuration[scope];
  const servers = [...own.flatMap(compiled), ...keptServers(input)];
  const disabled = serversOfScope(configuration, scope).filter((server) => !server.enabled);
  if (servers.length === 0 && !previous && Object.keys(configuration.overrides).length === 0) {
    const reports = [...own.map(failedReport), ...disabled.map(disabledReport)];
    return { value: reports.length > 0 ? emptyReport(input, reports) : undefined, diagnostics: [] };
  }
  const overrides = overridesOf(input, servers);
  const catalog = buildCatalog(servers);
  const plan = planScope(
    catalog.value,
    servers.map((server) => server.config),
    settings,
    scope,
  );
  const stubs = await emitStubs(plan.value, options.types);
  const budgeted = shareBudget(plan.value, settings.inlineBudget);
  // Read by machines alone, so nothing is spent on making it pleasant.
  const search = { path: "search.json", content: `${plainJson(buildSearchIndex(plan.value.servers))}\n` };
  const content = [...jsonArtifacts(plan.value, budgeted, overrides), search, ...stubs.value];
  const entries = manifestEntries(plan.value, servers, previous);
  const manifest = manifestFile(scope, settingsDigest(configuration, scope), entries, content);
  const files: readonly GeneratedFile[] = [...content, manifest];
  const written = await writeFiles(settings.out, files, previous?.manifest, { check: options.check });
  const isLost = written.diagnostics.some((found) => found.severity === "error");
  return {
    value: {
      scope,
      folder: settings.out,
      servers: [
        ...own.map((one) => (isLost ? lostReport(one, previous) : report(one, plan.value, entries, previous))),
        ...disabled.map(disabledReport),
      ],
      files: written.value,
      freshUntil: isLost ? 0 : Math.min(Number.MAX_SAFE_INTEGER, ...own.map((one) => one.freshUntil)),
      exposures: countExposures(plan.value),
      tokens: {
        declared: budgeted.budget.declaredTokens,
        budget: settings.inlineBudget,
        total: budgeted.budget.totalTokens,
      },
    },
    diagnostics: [catalog, plan, stubs, written].flatMap((outcome) => outcome.diagnostics),
  };
}

/**
 * What the project changes about the user's servers. One of its own that has nothing compiled (disabled, or never
 * reached) still stands in the place of a user's server of that name, which must not shine through.
 */
function overridesOf(
  { scope, configuration }: ScopeInput,
  servers: readonly CompiledServer[],
): Configuration["overrides"] {
  if (scope === "user") return {};
  const compiledNames = new Set(servers.map((server) => server.config.name));
  const masks = serversOfScope(configuration, "project")
    .filter((server) => !compiledNames.has(server.name))
    .map((server) => [server.name, { enabled: false, location: server.location }] as const);
  return { ...configuration.overrides, ...Object.fromEntries(masks) };
}

const compiled = ({ config, snapshot }: Acquired): CompiledServer[] => (snapshot ? [{ config, snapshot }] : []);

/**
 * Servers of the last compile that this run neither asks nor may drop: those `--server` leaves out, and those
 * whose entry is missing only because the configuration has an error.
 */
function keptServers({ scope, configuration, previous, options }: ScopeInput): CompiledServer[] {
  if (!previous) return [];
  const configured = new Map(serversOfScope(configuration, scope).map((server) => [server.name, server]));
  const dropped = configuration.dropped?.filter((server) => server.scope === scope).map((server) => server.name) ?? [];
  return Object.keys(previous.manifest.servers).flatMap((name) => {
    const snapshot = previousSnapshot(previous, name);
    const config = configured.get(name);
    if (!snapshot) return [];
    if (config) return config.enabled && !isWanted(options)(config) ? [{ config, snapshot }] : [];
    const earlier = dropped.includes(name) ? previousConfig(previous, name, scope) : undefined;
    return earlier ? [{ config: earlier, snapshot }] : [];
  });
}

type ManifestServers = ReturnType<typeof manifestEntries>;

/** A kept server keeps its manifest entry too: what it was compiled from has not changed, though its entry may have. */
function manifestEntries(plan: ScopePlan, servers: readonly CompiledServer[], previous: Previous | undefined) {
  const snapshots = new Map(servers.map(({ config, snapshot }) => [config.name, snapshot]));
  return Object.fromEntries(
    plan.servers.map((server) => {
      const snapshot = snapshots.get(server.config.name) as ServerSnapshot;
      const entry = manifestServer(server, snapshot);
      const old = previous?.manifest.servers[server.config.name];
      const isKept = old !== undefined && server.config.file === "";
      return [server.config.name, isKept ? { ...entry, config: old.config } : entry];
    }),
  );
}

function report(
  { config, snapshot, source, failed, durationMs }: Acquired,
  plan: ScopePlan,
  entries: ManifestServers,
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
    ttlMs: snapshot.ttlMs ?? config.ttlMs,
    cacheScope: snapshot.cacheScope,
    durationMs,
  };
}

function countExposures(plan: ScopePlan): ScopeReport["exposures"] {
  const counts: Partial<Record<Exposure, number>> = {};
  for (const { exposure } of plan.servers.flatMap((server) => server.tools)) {
    counts[exposure] = (counts[exposure] ?? 0) + 1;
  }
  return counts;
}

/** What could not be written is not compiled, whatever the server answered. */
function lostReport(one: Acquired, previous: Previous | undefined): ServerReport {
  const before = previousServer(previous, one.config.name);
  return { ...failedReport(one), ...(before && { status: "stale" as const, tools: before.tools.length }) };
}

function failedReport({
  config,
  source,
  durationMs,
}: Pick<Acquired, "config" | "source" | "durationMs">): ServerReport {
  return { name: config.name, scope: config.scope, status: "failed", source, tools: 0, durationMs };
}

function disabledReport({ name, scope }: ServerConfig): ServerReport {
  return { name, scope, status: "disabled", source: "none", tools: 0, durationMs: 0 };
}

/** Every server as it was compiled, nothing written. */
function keptReport(scope: Scope, folder: string, { manifest, exposure }: Previous): ScopeReport {
  const reachable = Object.values(exposure?.tools ?? {}).filter((tool) => tool.exposure !== "hidden");
  const servers = Object.entries(manifest.servers).map(([name, { era, protocolVersion }]): ServerReport => {
    const tools = reachable.filter((tool) => tool.server === name).length;
    return { name, scope, status: "stale", source: "none", tools, era, protocolVersion, durationMs: 0 };
  });
  return { scope, folder, servers, files: [], freshUntil: 0, exposures: {} };
}

function emptyReport({ scope, configuration, own }: ScopeInput, servers: readonly ServerReport[]): ScopeReport {
  return {
    scope,
    folder: configuration[scope].out,
    servers,
    files: [],
    freshUntil: own.length > 0 ? 0 : Number.MAX_SAFE_INTEGER,
    exposures: {},
  };
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
