/**
 * The pipeline, on one screen: configuration → snapshots → catalog → plan → files → disk. Each stage takes
 * plain data and gives back a value with diagnostics; no stage stops another, and what a failed server or
 * a bad entry was compiled to before stays. The user's and the project's servers are compiled apart, into
 * folders of their own.
 */
import { settingsDigest } from "../schemas/config/digest.ts";
import { type Configuration, type Scope, type ServerConfig, serversOfScope } from "../schemas/config/server-config.ts";
import type { Diagnostic, Outcome } from "../schemas/diagnostic.ts";
import { type Acquired, type AcquireOptions, acquireAll } from "./acquire.ts";
import { shareBudget } from "./budget.ts";
import { buildCatalog, type CompiledServer } from "./catalog.ts";
import { type GeneratedFile, jsonArtifacts, manifestFile, manifestServer } from "./emit/artifacts.ts";
import { plainJson } from "./emit/json.ts";
import { buildSearchIndex } from "./emit/search-index.ts";
import { emitStubs, type TypeCache } from "./emit/stub-files.ts";
import type { Exclusively } from "./output-lock.ts";
import { planScope, type ScopePlan } from "./plan.ts";
import { type Previous, previousConfig, previousSnapshot, readPrevious } from "./previous.ts";
import {
  countExposures,
  disabledReport,
  emptyReport,
  failedReport,
  keptReport,
  lostReport,
  type ScopeReport,
  serverReport,
} from "./reports.ts";
import type { ServerSnapshot } from "./snapshot.ts";
import { writeFiles } from "./write.ts";

export interface CompileOptions extends Omit<AcquireOptions, "previous"> {
  readonly scopes: readonly Scope[];
  /** Compile only these servers; the others keep what they were compiled to. */
  readonly only?: readonly string[];
  readonly check: boolean;
  readonly types: TypeCache;
  /** Keeps other processes from writing an output folder meanwhile; absent where there are none. */
  readonly exclusively?: Exclusively | undefined;
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
    const { exclusively = (_, work) => work() } = options;
    const { out } = configuration[scope];
    const outcome = await exclusively(out, async () => {
      // Whoever was interrupted while waiting holds no lock.
      if (options.signal.aborted) return { value: undefined, diagnostics: [] };
      // Another process may have written since: what it compiled is not to be lost.
      return compileScope({ scope, configuration, own, previous: await readPrevious(out), options });
    });
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
    return {
      value: reports.length > 0 ? emptyReport(scope, settings.out, reports, own.length > 0) : undefined,
      diagnostics: [],
    };
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
        ...own.map((one) => (isLost ? lostReport(one, previous) : serverReport(one, plan.value, entries, previous))),
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
