/**
 * Compiles servers that are configured and were never compiled, while the session goes on: starts the command line as a
 * process of its own, so that nothing of the compiler is ever loaded here. Which servers those are is found without reading the
 * configuration wherever the artifacts leave no doubt.
 */
import { spawn } from "node:child_process";
import { lstatSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { ToolTable } from "../../schemas/artifacts/tool-table.ts";
import type { Diagnostic } from "../../schemas/diagnostic.ts";
import type { ConfigurationFiles } from "../connect/configuration-files.ts";

/** Bytes of the process's output that are kept; its report is far shorter. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

/**
 * True where some server may be configured and not compiled: only then is the configuration worth reading. Artifacts that are
 * torn or of another version are the user's to look at: what is there is never written over unasked.
 */
export function mayLackServers(files: ConfigurationFiles, table: ToolTable, found: readonly Diagnostic[]): boolean {
  const codes = new Set(found.map(({ code }) => code));
  if (codes.has("artifacts-torn") || codes.has("artifacts-format")) return false;
  if (codes.has("config-newer") || codes.has("artifacts-missing")) return true;
  return files.candidates.some(
    ({ path, scope }) => table.folder(scope) === undefined && lstatSync(path, { throwIfNoEntry: false }) !== undefined,
  );
}

/** Enabled servers of the configuration that the table doesn't have, sorted by name. */
export async function uncompiledServers(files: ConfigurationFiles, table: ToolTable): Promise<readonly string[]> {
  const { loadConfiguration } = await import("../connect/configuration.ts");
  const { value } = await loadConfiguration(files);
  return value.servers
    .filter((server) => server.enabled !== false && table.server(server.name) === undefined)
    .map((server) => server.name);
}

export interface BackgroundCompile {
  readonly servers: readonly string[];
  /** Folder whose configuration is compiled. */
  readonly cwd: string;
  /** `user` compiles the user's own servers and reads nothing of a project. */
  readonly scope: "all" | "user";
  readonly env: NodeJS.ProcessEnv;
  /** Ends the process. */
  readonly signal: AbortSignal;
}

export interface CompileReport {
  /** Servers whose tools are there now. */
  readonly compiled: readonly string[];
  /** What went wrong, a line for each finding. */
  readonly problems: readonly string[];
}

/** Never rejects: that the process could not be started, or was ended, is a problem like another. */
export async function compileInBackground(request: BackgroundCompile): Promise<CompileReport> {
  const { servers, scope } = request;
  const args = ["compile", "--json", "--scope", scope, ...servers.flatMap((name) => ["--server", name])];
  const finished = await run([commandLine(), ...args], request);
  if (!finished.ok) return { compiled: [], problems: [finished.problem] };
  try {
    return reportOf(JSON.parse(finished.stdout));
  } catch {
    // It ended before it could report: what it wrote to stderr says more than a syntax error would.
    return { compiled: [], problems: [finished.stderr.trim() || "pimcp compile ended without a report"] };
  }
}

function reportOf(json: {
  readonly servers: readonly { readonly name: string; readonly status: string }[];
  readonly diagnostics: readonly Diagnostic[];
}): CompileReport {
  const there = (status: string) => status === "compiled" || status === "unchanged";
  return {
    compiled: json.servers.filter(({ status }) => there(status)).map(({ name }) => name),
    problems: json.diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message),
  };
}

/** The built command line; this module is in `runtime/pi` of the same build. */
function commandLine(): string {
  return fileURLToPath(new URL("../../cli/bin.cjs", import.meta.url));
}

/** Pi may be one executable with no node beside it in it: then the one on PATH is used. */
function node(): string {
  return /^node(?:js)?\d*(?:\.exe)?$/i.test(basename(process.execPath)) ? process.execPath : "node";
}

type Finished =
  | { readonly ok: true; readonly stdout: string; readonly stderr: string }
  | { readonly ok: false; readonly problem: string };

function run(args: readonly string[], { cwd, env, signal }: BackgroundCompile): Promise<Finished> {
  return new Promise((resolve) => {
    const child = spawn(node(), args, { cwd, env, signal, stdio: ["ignore", "pipe", "pipe"], windowsHide: true });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (stdout.length < MAX_OUTPUT_BYTES) stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      if (stderr.length < MAX_OUTPUT_BYTES) stderr += text;
    });
    child.once("error", (error) => resolve({ ok: false, problem: `pimcp compile: ${error.message}` }));
    child.once("close", () => resolve({ ok: true, stdout, stderr }));
  });
}
