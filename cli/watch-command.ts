/**
 * `pimcp watch`: compiles now, and again whenever a configuration file changes or a server announces other
 * tools. A build that fails leaves the last good files. Ends, with everything it started, at SIGINT and SIGTERM.
 */

import { previousSnapshot, readPrevious } from "../compiler/previous.ts";
import { BuildLoop } from "../compiler/watch/build-loop.ts";
import { watchConfiguration } from "../compiler/watch/config-watcher.ts";
import { announces, ServerWatcher, type WatchedServer } from "../compiler/watch/server-watcher.ts";
import { lazyAuth } from "../runtime/connect/auth/lazy-auth.ts";
import { loadConfiguration } from "../runtime/connect/configuration.ts";
import { locateConfiguration } from "../runtime/connect/configuration-files.ts";
import { openConnection } from "../runtime/connect/open.ts";
import { connectionDigest } from "../schemas/config/digest.ts";
import { serversOfScope } from "../schemas/config/server-config.ts";
import type { Invocation } from "./commands.ts";
import {
  type CompileRequest,
  type CompileResult,
  compiledOptions,
  compileOnce,
  print,
  understand,
} from "./compile-command.ts";
import { fail } from "./fail.ts";
import { EXIT, type Io } from "./io.ts";

const QUIET_MS = 100;
/** What asked for a build: the configuration, or a server by its name behind this prefix. */
const SERVER_REASON = "server:";
const CONFIG_REASON = "configuration";

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const request = understand(invocation, io);
  if (typeof request === "string") return fail("watch", invocation, io, request, EXIT.usage);
  const { agentDir } = await locateConfiguration(compiledOptions(invocation, io));
  const auth = lazyAuth({ agentDir });
  const servers = new ServerWatcher({
    open: async ({ config, verdict }) => {
      const outcome = await openConnection(config, {
        env: io.env,
        homedir: io.homedir,
        prior: verdict,
        listen: true,
        signal: io.signal,
        auth,
        trace: io.trace,
      });
      return outcome.ok ? outcome.connection : undefined;
    },
    onChange: (server) => loop.request(SERVER_REASON + server),
  });
  const located = async () => locateConfiguration(compiledOptions(invocation, io));
  const watcher = await watchConfiguration(await filesOf(located), (file) => {
    io.err(`${file} changed\n`);
    loop.request(CONFIG_REASON);
  });
  const loop = new BuildLoop({
    quietMs: QUIET_MS,
    onError: (error) => io.err(`pimcp watch: ${error instanceof Error ? error.message : String(error)}\n`),
    async build(reasons) {
      await build(reasons, invocation, request, io, servers);
      await watcher.setFiles(await filesOf(located));
      if (!io.signal.aborted)
        await servers.setServers(await announcing(invocation, request, io), ({ config }) => connectionDigest(config));
    },
  });
  loop.request(CONFIG_REASON);
  await new Promise<void>((resolve) => {
    if (io.signal.aborted) resolve();
    else io.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  watcher.close();
  await loop.stop();
  await servers.close();
  await auth.settled();
  return EXIT.ok;
}

async function filesOf(located: () => ReturnType<typeof locateConfiguration>): Promise<string[]> {
  return (await located()).candidates.map((file) => file.path);
}

/** A change of the configuration compiles everything; an announcement asks that server alone. */
async function build(
  reasons: ReadonlySet<string>,
  invocation: Invocation,
  request: CompileRequest,
  io: Io,
  servers: ServerWatcher,
): Promise<void> {
  if (reasons.has(CONFIG_REASON)) printBuild(await compileOnce(invocation, request, io), invocation, io);
  const announced = [...reasons].flatMap((reason) =>
    reason.startsWith(SERVER_REASON) ? [reason.slice(SERVER_REASON.length)] : [],
  );
  if (announced.length === 0 || io.signal.aborted) return;
  const result = await compileOnce(invocation, { ...request, only: announced, refresh: true }, io);
  const reports = result.reports.flatMap((report) => report.servers);
  for (const name of announced) {
    servers.settled(
      name,
      reports.some((server) => server.name === name && server.status === "compiled"),
    );
  }
  if (reports.some((server) => server.status !== "unchanged")) printBuild(result, invocation, io);
}

/** With `--json` one object a line (NDJSON). A build that a signal cut short has nothing to say. */
function printBuild(result: CompileResult, invocation: Invocation, io: Io): void {
  if (!io.signal.aborted) print(result, invocation, io, true);
}

/** The compiled servers that say they announce changes of their tools or prompts. */
async function announcing(invocation: Invocation, request: CompileRequest, io: Io): Promise<WatchedServer[]> {
  const files = await locateConfiguration(compiledOptions(invocation, io));
  const { value: configuration } = await loadConfiguration(files);
  const perScope = await Promise.all(
    request.scopes.map(async (scope) => {
      const previous = await readPrevious(request.out ?? configuration[scope].out);
      return serversOfScope(configuration, scope).flatMap((config): WatchedServer[] => {
        const snapshot = config.enabled ? previousSnapshot(previous, config.name) : undefined;
        const isHeard = announces(snapshot?.capabilities, "tools") || announces(snapshot?.capabilities, "prompts");
        return snapshot && isHeard ? [{ config, verdict: snapshot }] : [];
      });
    }),
  );
  return perScope.flat();
}
