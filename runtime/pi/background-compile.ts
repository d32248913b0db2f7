/**
 * Compiles servers that are configured and were never compiled, while the session goes on: starts the command line as a
 * process of its own, so that nothing of the compiler is ever loaded here. Which servers those are is found without reading the
 * configuration wherever the artifacts leave no doubt.
 */
import { spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { ToolTable } from "../../schemas/artifacts/tool-table.ts";
import type { Scope, ServerConfig } from "../../schemas/config/server-config.ts";
import { DIAGNOSTIC_CODES, type Diagnostic, type DiagnosticCode } from "../../schemas/diagnostic.ts";
import { type ConfigurationFiles, isThere } from "../connect/configuration-files.ts";
import { trackChild } from "../connect/process-group.ts";

/** Bytes of the process's output that are kept; its report is far shorter. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

/** Lines that a finding may add to itself; the command line shows them all. */
const MAX_NOTES = 3;

/**
 * True where some server may be configured and not compiled: only then is the configuration worth reading. Artifacts that are
 * torn or of another version are the user's to look at: what is there is never written over unasked.
 */
export function mayLackServers(files: ConfigurationFiles, table: ToolTable, found: readonly Diagnostic[]): boolean {
  const codes = new Set(found.map(({ code }) => code));
  if (codes.has("artifacts-torn") || codes.has("artifacts-format")) return false;
  if (codes.has("config-newer") || codes.has("artifacts-missing")) return true;
  return files.candidates.some(({ path, scope }) => table.folder(scope) === undefined && isThere(path));
}

/** Enabled servers of the configuration that the table doesn't have, sorted by name. */
export async function uncompiledServers(
  files: ConfigurationFiles,
  table: ToolTable,
): Promise<readonly MissingServer[]> {
  const { loadConfiguration } = await import("../connect/configuration.ts");
  const { value } = await loadConfiguration(files);
  return value.servers.filter((server) => server.enabled && table.server(server.name) === undefined);
}

export type MissingServer = Pick<ServerConfig, "name" | "scope">;

interface Surroundings {
  /** Folder that the process runs in. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Ends the process. */
  readonly signal: AbortSignal;
}

export interface BackgroundCompile extends Surroundings {
  readonly servers: readonly string[];
  /** `user` compiles the user's own servers and reads nothing of a project. */
  readonly scope: "all" | Scope;
  /** Asks no server: what is cached or compiled is enough for what changed. */
  readonly offline?: boolean;
}

export interface CompileReport {
  /** Servers whose tools are there now. */
  readonly compiled: readonly string[];
  /** What went wrong and what helps, a text for each finding. */
  readonly problems: readonly string[];
  /** The same as data, where the process could say so. */
  readonly errors: readonly Diagnostic[];
}

/** Never rejects: that the process could not be started, or was ended, is a problem like another. */
export function compileInBackground(request: BackgroundCompile): Promise<CompileReport> {
  const { servers, scope, offline = false } = request;
  const how = ["--scope", scope, ...(offline ? ["--offline"] : [])];
  return compile([...how, ...servers.flatMap((name) => ["--server", name])], servers, request);
}

export interface TextCompile extends Surroundings {
  /** A configuration with one server. Reaches the process through a pipe, and no disk. */
  readonly text: string;
  readonly server: string;
  /** Absolute folder for the artifacts. */
  readonly out: string;
  /** Asks the server even where its list is remembered. */
  readonly refresh?: boolean;
}

/** The same for a configuration that is in no file. */
export async function compileText({
  text,
  server,
  out,
  refresh = false,
  ...around
}: TextCompile): Promise<CompileReport> {
  // Only its owner may look into it. Where it can't be made, the process says so.
  await mkdir(out, { recursive: true, mode: 0o700 }).catch(() => undefined);
  const how = ["--scope", "user", "--config", "-", "--out", out, ...(refresh ? ["--refresh"] : [])];
  return compile(how, [server], { ...around, input: text });
}

async function compile(
  args: readonly string[],
  servers: readonly string[],
  around: Surroundings & { readonly input?: string },
): Promise<CompileReport> {
  const finished = await run([commandLine(), "compile", "--json", ...args], around);
  if (!finished.ok) return { compiled: [], problems: [finished.problem], errors: [] };
  try {
    return reportOf(JSON.parse(finished.stdout), new Set(servers));
  } catch {
    // It ended before it could report: what it wrote to stderr says more than a syntax error would.
    const problem = finished.stderr.trim() || "pimcp compile ended without a report";
    return { compiled: [], problems: [problem], errors: [] };
  }
}

interface CompileJson {
  readonly servers: readonly { readonly name: string; readonly status: string }[];
  readonly diagnostics: readonly Diagnostic[];
}

/** What is wrong with servers that nobody asked for is left to the next whole compile. */
function reportOf(json: CompileJson, asked: ReadonlySet<string>): CompileReport {
  const there = (status: string) => status === "compiled" || status === "unchanged";
  const isAsked = ({ server }: Diagnostic) => server === undefined || asked.has(server);
  const errors = json.diagnostics.filter((one) => one.severity === "error" && isAsked(one));
  // What is an error of a server is a warning where its tools of the last compile are kept: whoever asked for new ones has none.
  const isStale = (name: string | undefined) =>
    json.servers.some((server) => server.name === name && server.status === "stale");
  const kept = json.diagnostics.filter(
    (one) =>
      one.severity === "warning" &&
      DIAGNOSTIC_CODES[one.code as DiagnosticCode] === "error" &&
      isAsked(one) &&
      isStale(one.server),
  );
  return {
    compiled: json.servers.filter(({ status }) => there(status)).map(({ name }) => name),
    problems: [...errors, ...kept].map(({ message, notes }) => [message, ...notes.slice(0, MAX_NOTES)].join("\n    ")),
    errors,
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

function run(
  args: readonly string[],
  { cwd, env, signal, input }: Surroundings & { readonly input?: string },
): Promise<Finished> {
  return new Promise((resolve) => {
    const child = spawn(node(), args, { cwd, env, signal, stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
    // Pi may end without ending its sessions first.
    const forget = trackChild(child);
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (stdout.length < MAX_OUTPUT_BYTES) stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      if (stderr.length < MAX_OUTPUT_BYTES) stderr += text;
    });
    child.once("error", (error) => resolve({ ok: false, problem: `pimcp compile: ${error.message}` }));
    child.once("close", () => {
      forget();
      resolve({ ok: true, stdout, stderr });
    });
    // A process that ended without reading has said why.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}
