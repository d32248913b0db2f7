/**
 * A compile that has something to do: loads the configuration, runs the pipeline with everything it takes
 * from the outside, and records the run when nothing speaks against serving it again.
 */

import type { Introspect } from "../compiler/acquire.ts";
import { type RunIdentity, storeRecord } from "../compiler/cache/record.ts";
import { openSnapshotCache } from "../compiler/cache/snapshot-cache.ts";
import { openTypeCache } from "../compiler/cache/type-cache.ts";
import { compile } from "../compiler/compile.ts";
import { outputLocks } from "../compiler/output-lock.ts";
import { checkFinding } from "../compiler/reports.ts";
import type { Auth } from "../runtime/connect/auth/create-auth.ts";
import { lazyAuth } from "../runtime/connect/auth/lazy-auth.ts";
import { loadConfiguration } from "../runtime/connect/configuration.ts";
import type { ConfigurationFiles } from "../runtime/connect/configuration-files.ts";
import { type Configuration, type ServerConfig, serversOfScope, textsOf } from "../schemas/config/server-config.ts";
import { type Diagnostic, diagnostic } from "../schemas/diagnostic.ts";
import { isCommandValue, variablesOf } from "../schemas/expand.ts";
import { nearest } from "../schemas/nearest.ts";
import type { CompileRequest, CompileResult } from "./compile-command.ts";
import { type Io, WITH_SIGN_IN_MS } from "./io.ts";
import { startProgress } from "./progress.ts";

/** Servers asked at the same time. Most of their time is their own start, so more than there are cores. */
const CONCURRENCY = 16;

export interface AfreshOptions {
  readonly files: ConfigurationFiles;
  readonly request: CompileRequest;
  readonly io: Io;
  readonly cache: RunIdentity;
}

export async function compileAfresh({ files, request, io, cache }: AfreshOptions): Promise<CompileResult> {
  const loaded = await loadConfiguration(files);
  const configuration = withOut(loaded.value, request);
  const findings = [...loaded.diagnostics, ...unknownServers(configuration, request)];
  const types = await openTypeCache(cache.folder, cache.hash(cache.key.folders));
  const { agentDir } = configuration;
  const surroundings = { env: io.env, homedir: io.homedir, signal: io.signal, trace: io.trace };
  const auth = lazyAuth({ agentDir, interactive: io.signIn });
  const progress = startProgress(io);
  try {
    const outcome = await compile(configuration, {
      ...request,
      cache: await openSnapshotCache({ ...surroundings, agentDir, folder: cache.folder, now: Date.now }),
      introspect: lazyIntrospect({ ...surroundings, auth, timeoutMs: io.signIn && WITH_SIGN_IN_MS }),
      types,
      exclusively: request.check ? undefined : outputLocks(cache.folder, io.signal),
      concurrency: CONCURRENCY,
      signal: io.signal,
      onProgress: progress.onProgress,
    });
    await types.save();
    const check = request.check ? checkFinding(outcome.value) : undefined;
    const diagnostics = [...findings, ...outcome.diagnostics, ...(check ? [check] : [])];
    const result: CompileResult = { reports: outcome.value, diagnostics };
    if (!io.signal.aborted && !request.check && request.text === undefined)
      await record(configuration, result, cache, io);
    return result;
  } finally {
    // A refresh that is cut short loses the sign-in.
    await auth.settled();
    progress.end();
  }
}

/** The MCP client is imported when the first server has to be asked, and not before. */
function lazyIntrospect(
  surroundings: Pick<Io, "env" | "homedir" | "trace"> & { readonly auth: Auth; readonly timeoutMs: number | undefined },
): Introspect {
  return async (server, signal) => {
    const { introspect } = await import("../compiler/introspect/introspect.ts");
    return introspect(server, { ...surroundings, signal });
  };
}

function withOut(configuration: Configuration, request: CompileRequest): Configuration {
  if (request.out === undefined) return configuration;
  const scope = request.scopes[0]!;
  return { ...configuration, [scope]: { ...configuration[scope], out: request.out } };
}

function unknownServers(configuration: Configuration, request: CompileRequest): Diagnostic[] {
  const names = configuration.servers.map((server) => server.name);
  return (request.only ?? []).flatMap((name) => {
    if (names.includes(name)) return [];
    const close = nearest(name, names);
    const remedy = close ? `did you mean "${close}"?` : `there are: ${names.join(", ") || "none"}`;
    return [diagnostic("unknown-server", `--server ${name}: no such server; ${remedy}`)];
  });
}

/** A run is worth recording when the next one would come to the same end without asking anybody. */
async function record(configuration: Configuration, result: CompileResult, cache: RunIdentity, io: Io): Promise<void> {
  const { scopes } = cache.key;
  const used = scopes.flatMap((scope) => serversOfScope(configuration, scope)).filter((server) => server.enabled);
  if (result.diagnostics.some((found) => found.severity === "error") || used.some(runsCommands)) return;
  const servers = result.reports.flatMap((report) => report.servers);
  const validUntil = Math.min(...result.reports.map((report) => report.freshUntil));
  if (servers.some((server) => server.status === "stale") || !(validUntil > Date.now())) return;
  const reports = result.reports.map((report) => ({
    ...report,
    servers: report.servers.map((server) =>
      server.status === "compiled" || server.status === "unchanged"
        ? { ...server, status: "unchanged" as const, source: "cache" as const, durationMs: 0 }
        : server,
    ),
    files: report.files.flatMap(({ path, status }) =>
      status === "removed" ? [] : [{ path, status: "unchanged" as const }],
    ),
  }));
  await storeRecord(cache, io.env, {
    variables: [...new Set(used.flatMap((server) => textsOf(server).flatMap(variablesOf)))].sort(),
    validUntil,
    folders: scopes.map((scope) => configuration[scope].out),
    result: { ...result, reports },
  });
}

const runsCommands = (server: ServerConfig): boolean => textsOf(server).some(isCommandValue);
