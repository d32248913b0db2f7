/**
 * Where each server's snapshot comes from: a fresh cached list, else the server itself, else what was compiled
 * before. Several servers are asked at once; what one does has no effect on another. A server that
 * can't be asked is stale while there is something older to keep, and failed otherwise.
 */
import type { ServerConfig } from "../schemas/config/server-config.ts";
import { type Diagnostic, diagnostic, type Outcome } from "../schemas/diagnostic.ts";
import type { CachedSnapshot } from "./cache/snapshots.ts";
import type { ServerSnapshot } from "./snapshot.ts";

/** Asks one server. Injected, so that nothing that speaks MCP is imported until a server has to be asked. */
export type Introspect = (server: ServerConfig, signal: AbortSignal) => Promise<Outcome<ServerSnapshot | undefined>>;

/** The remembered lists, with credentials and folders already taken care of. */
export interface SnapshotCache {
  find(server: ServerConfig): Promise<CachedSnapshot | undefined>;
  /** Until when the list may be served, in milliseconds since the epoch; 0 when it may not be served now. */
  freshUntil(server: ServerConfig, entry: CachedSnapshot): number;
  /** Remembers a list got just now. Undefined where the cache folder can't be written. */
  store(server: ServerConfig, snapshot: ServerSnapshot): Promise<CachedSnapshot | undefined>;
}

export interface Acquired {
  readonly config: ServerConfig;
  /** Absent when there is nothing to compile the server from. */
  readonly snapshot?: ServerSnapshot;
  readonly source: "live" | "cache" | "none";
  /** Could not be asked. */
  readonly failed: boolean;
  /** Milliseconds since the epoch until which the next compile need not ask the server; 0 when it must. */
  readonly freshUntil: number;
  readonly durationMs: number;
}

export interface AcquireOptions {
  readonly cache: SnapshotCache;
  readonly introspect: Introspect;
  /** What the last compile knew of a server. */
  readonly previous: (server: ServerConfig) => ServerSnapshot | undefined;
  readonly refresh: boolean;
  readonly offline: boolean;
  /** Servers asked at the same time at most. */
  readonly concurrency: number;
  readonly signal: AbortSignal;
  readonly onProgress: (event: ProgressEvent) => void;
}

/** `asking` before a server is contacted, `done` when its outcome is known. */
export interface ProgressEvent {
  readonly kind: "asking" | "done";
  readonly server: string;
}

/** Outcomes in the order of `servers`. */
export async function acquireAll(
  servers: readonly ServerConfig[],
  options: AcquireOptions,
): Promise<Outcome<Acquired[]>> {
  const outcomes: Outcome<Acquired>[] = [];
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < servers.length; index = next++) {
      outcomes[index] = await acquire(servers[index]!, options);
      options.onProgress({ kind: "done", server: servers[index]!.name });
    }
  };
  await Promise.all(Array.from({ length: Math.min(options.concurrency, servers.length) }, worker));
  return {
    value: outcomes.map((outcome) => outcome.value),
    diagnostics: outcomes.flatMap((outcome) => outcome.diagnostics).filter(isFirstOfCache),
  };
}

/** A cache that can't be written is one finding, however many servers' lists it would have held. */
function isFirstOfCache({ code }: Diagnostic, index: number, all: readonly Diagnostic[]): boolean {
  return code !== "cache-unwritable" || all.findIndex((other) => other.code === code) === index;
}

async function acquire(config: ServerConfig, options: AcquireOptions): Promise<Outcome<Acquired>> {
  const started = performance.now();
  const durationMs = () => Math.round(performance.now() - started);
  const cached = options.refresh ? undefined : await options.cache.find(config);
  const freshUntil = cached ? options.cache.freshUntil(config, cached) : 0;
  if (cached && freshUntil > 0) {
    const snapshot = { ...cached.snapshot, server: config.name };
    const value: Acquired = { config, snapshot, source: "cache", failed: false, freshUntil, durationMs: durationMs() };
    return { value, diagnostics: [] };
  }
  if (options.offline) return withoutServer(config, cached, options, durationMs());
  options.onProgress({ kind: "asking", server: config.name });
  const live = await options.introspect(config, options.signal);
  if (live.value) {
    const stored = await options.cache.store(config, live.value);
    const value: Acquired = {
      config,
      snapshot: live.value,
      source: "live",
      failed: false,
      freshUntil: stored ? options.cache.freshUntil(config, stored) : 0,
      durationMs: durationMs(),
    };
    return { value, diagnostics: [...live.diagnostics, ...(stored ? [] : [unwritableCache()])] };
  }
  return kept(config, cached, live.diagnostics, options, durationMs());
}

/** What was compiled stays the truth while its server is away; a list that has outlived its `ttlMs` comes second. */
function older(config: ServerConfig, cached: CachedSnapshot | undefined, options: AcquireOptions) {
  const compiled = options.previous(config);
  if (compiled) return { snapshot: compiled, source: "none" as const };
  return cached ? { snapshot: { ...cached.snapshot, server: config.name }, source: "cache" as const } : undefined;
}

function withoutServer(
  config: ServerConfig,
  cached: CachedSnapshot | undefined,
  options: AcquireOptions,
  durationMs: number,
): Outcome<Acquired> {
  const found = older(config, cached, options);
  if (found) return { value: { config, ...found, failed: true, freshUntil: 0, durationMs }, diagnostics: [] };
  const message = `server "${config.name}" was never compiled or cached, and --offline connects to nothing`;
  return {
    value: { config, source: "none", failed: true, freshUntil: 0, durationMs },
    diagnostics: [diagnostic("not-cached", message, { server: config.name, ...config.location })],
  };
}

/** A failure is an error only when nothing older can stand in; otherwise the server is stale, a warning. */
function kept(
  config: ServerConfig,
  cached: CachedSnapshot | undefined,
  findings: readonly Diagnostic[],
  options: AcquireOptions,
  durationMs: number,
): Outcome<Acquired> {
  const found = older(config, cached, options);
  if (!found)
    return { value: { config, source: "none", failed: true, freshUntil: 0, durationMs }, diagnostics: findings };
  const softened = findings.map((finding): Diagnostic => {
    if (finding.severity !== "error") return finding;
    return { ...finding, severity: "warning", notes: [...finding.notes, "its tools of the last compile are kept"] };
  });
  return { value: { config, ...found, failed: true, freshUntil: 0, durationMs }, diagnostics: softened };
}

function unwritableCache(): Diagnostic {
  return diagnostic("cache-unwritable", "the cache folder can't be written, so every compile asks every server", {
    notes: ["set PIMCP_CACHE_DIR to a folder that can"],
  });
}
