/**
 * A case of tests/cases: `mcp.json` (and `agent/mcp.json` for a user's), what each server would answer in
 * `servers/<name>.json`, artifacts of an earlier compile in `before/`, and what is wanted: `generated/`,
 * `user-generated/` and `stderr.txt`. Everything but the servers is the real pipeline.
 */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { diagnosticsText } from "../cli/print.ts";
import { compile } from "../compiler/compile.ts";
import type { ServerSnapshot } from "../compiler/snapshot.ts";
import { memoryCache } from "../compiler/stubs/type-source.ts";
import { loadConfiguration } from "../runtime/connect/configuration.ts";
import { locateConfiguration } from "../runtime/connect/configuration-files.ts";
import type { Configuration, ServerConfig } from "../schemas/config/server-config.ts";
import { diagnostic, type Outcome } from "../schemas/diagnostic.ts";
import { noCache } from "./no-cache.ts";

/** Files of a folder by their relative path. */
export type Tree = Readonly<Record<string, string>>;

export interface GoldenResult {
  readonly project: Tree;
  readonly user: Tree;
  readonly stderr: string;
}

/** Runs a case in `scratch`, an empty folder. */
export async function runCase(folder: string, scratch: string): Promise<GoldenResult> {
  cpSync(folder, scratch, { recursive: true });
  for (const wanted of ["generated", "user-generated"]) rmSync(join(scratch, wanted), { recursive: true, force: true });
  if (existsSync(join(folder, "before")))
    cpSync(join(folder, "before"), join(scratch, "generated"), { recursive: true });
  const env = { PI_CODING_AGENT_DIR: join(scratch, "agent") };
  const loaded = await loadConfiguration(
    await locateConfiguration({ cwd: scratch, env, homedir: join(scratch, "home") }),
  );
  const configuration: Configuration = {
    ...loaded.value,
    user: { ...loaded.value.user, out: join(scratch, "user-generated") },
  };
  const outcome = await compile(configuration, {
    scopes: ["user", "project"],
    check: false,
    refresh: true,
    offline: false,
    concurrency: 4,
    types: memoryCache(),
    signal: new AbortController().signal,
    onProgress: () => {},
    introspect: async (server) => recorded(folder, server),
    cache: noCache,
  });
  const findings = [...loaded.diagnostics, ...outcome.diagnostics];
  return {
    project: readTree(join(scratch, "generated")),
    user: readTree(join(scratch, "user-generated")),
    stderr: diagnosticsText(findings, { colour: false, width: 80 }, true),
  };
}

/** `{ tools, … }` is laid over a plain legacy server; without a file the server can't be reached. */
function recorded(folder: string, server: ServerConfig): Outcome<ServerSnapshot | undefined> {
  const path = join(folder, "servers", `${server.name}.json`);
  if (!existsSync(path)) {
    const finding = diagnostic("server-unreachable", `server "${server.name}" can't be reached`, {
      server: server.name,
      ...server.location,
    });
    return { value: undefined, diagnostics: [finding] };
  }
  const snapshot: ServerSnapshot = {
    server: server.name,
    transport: server.transport.kind === "stdio" ? "stdio" : "streamable-http",
    era: "legacy",
    verdict: "answered",
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    resources: false,
    prompts: false,
    cacheScope: "private",
    ...(JSON.parse(readFileSync(path, "utf8")) as { tools: ServerSnapshot["tools"] }),
  };
  return { value: snapshot, diagnostics: [] };
}

export function readTree(folder: string): Tree {
  if (!existsSync(folder)) return {};
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name)).sort();
  return Object.fromEntries(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path, "utf8")]));
}

/** What a case wants. */
export function wantedResult(folder: string): GoldenResult {
  const stderr = join(folder, "stderr.txt");
  return {
    project: readTree(join(folder, "generated")),
    user: readTree(join(folder, "user-generated")),
    stderr: existsSync(stderr) ? readFileSync(stderr, "utf8") : "",
  };
}

/** Makes a case want what it got: read the difference before committing it. */
export function acceptResult(folder: string, result: GoldenResult, scratch: string): void {
  for (const [name, tree] of [
    ["generated", result.project],
    ["user-generated", result.user],
  ] as const) {
    rmSync(join(folder, name), { recursive: true, force: true });
    if (Object.keys(tree).length > 0) cpSync(join(scratch, name), join(folder, name), { recursive: true });
  }
  writeFileSync(join(folder, "stderr.txt"), result.stderr);
}
