/**
 * `pimcp compile`. First looks whether this compile is the last one over again (compiler/cache/record.ts), and
 * only otherwise loads what compiling takes.
 */
import { join, resolve } from "node:path";
import { inheritedCredentials } from "../compiler/cache/credentials.ts";
import { digestConfiguration, findRecord, type RunIdentity, type RunKey } from "../compiler/cache/record.ts";
import type { ScopeReport, ServerReport } from "../compiler/reports.ts";
import type { WriteResult } from "../compiler/write.ts";
import {
  type ConfigurationFiles,
  type LocateOptions,
  locateConfiguration,
} from "../runtime/connect/configuration-files.ts";
import { keyedHash } from "../runtime/connect/keyed-hash.ts";
import type { Scope } from "../schemas/config/server-config.ts";
import type { Diagnostic } from "../schemas/diagnostic.ts";
import { cacheFolder } from "../schemas/user-folders.ts";
import type { Invocation } from "./commands.ts";
import { fail } from "./fail.ts";
import { EXIT, type Io, interruptedExit } from "./io.ts";
import { asText, diagnosticsText, shownFolder } from "./print.ts";
import { summaryLines } from "./summary.ts";
import { version } from "./version.ts";

/** What `--json` prints (DESIGN section 4). */
export interface CompileJson {
  readonly ok: boolean;
  readonly servers: readonly ServerReport[];
  readonly files: readonly WriteResult[];
  readonly diagnostics: readonly Diagnostic[];
}

/** The outcome of a compile as it is printed and recorded. */
export interface CompileResult {
  readonly reports: readonly ScopeReport[];
  readonly diagnostics: readonly Diagnostic[];
}

/** A compile's flags, understood. */
export interface CompileRequest {
  readonly scopes: readonly Scope[];
  readonly only?: readonly string[];
  readonly check: boolean;
  readonly refresh: boolean;
  readonly offline: boolean;
  /** Absolute folder of `--out`. */
  readonly out?: string;
  /** The configuration, read from stdin with `--config -`. */
  readonly text?: string;
}

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const request = understand(invocation, io);
  if (typeof request === "string") return fail("compile", invocation, io, request, EXIT.usage);
  const text = invocation.flags["config"] === "-" ? await readStdin() : undefined;
  const result = await compileOnce(invocation, { ...request, ...(text !== undefined && { text }) }, io);
  if (io.signal.aborted) return interruptedExit(io.signal);
  print(result, invocation, io);
  return result.diagnostics.some((found) => found.severity === "error") ? EXIT.reported : EXIT.ok;
}

async function readStdin(): Promise<string> {
  const { text } = await import("node:stream/consumers");
  return text(process.stdin);
}

/** Compiles once, by the shortest way there is. */
export async function compileOnce(invocation: Invocation, request: CompileRequest, io: Io): Promise<CompileResult> {
  const { text } = request;
  const from = compiledOptions(invocation, io);
  const files = await locateConfiguration(text === undefined ? from : { ...from, config: undefined, text });
  const folder = cacheFolder(io.env, io.homedir);
  const hash = await keyedHash(folder);
  const key = runKey(request, files, io);
  const cache: RunIdentity = { folder, hash, key, digests: digestConfiguration(key) };
  // What no file says can't be told apart from what it said the last time.
  if (!request.refresh && !request.offline && text === undefined) {
    const found = await findRecord(cache, io.env, Date.now());
    if (found !== undefined) return found as CompileResult;
  }
  const { compileAfresh } = await import("./compile-afresh.ts");
  return compileAfresh({ files, request, io, cache });
}

/** Where this invocation looks for its configuration. */
export function configurationOptions({ flags }: Invocation, io: Io): LocateOptions {
  const { config } = flags;
  return { cwd: io.cwd, env: io.env, homedir: io.homedir, ...(typeof config === "string" && { config }) };
}

/** The same for what is to be compiled: for the user's scope alone a project, which may not be trusted, isn't looked at. */
export function compiledOptions(invocation: Invocation, io: Io): LocateOptions {
  const options = configurationOptions(invocation, io);
  return invocation.flags["scope"] === "user" ? { ...options, project: false } : options;
}

function runKey(request: CompileRequest, files: ConfigurationFiles, io: Io): RunKey {
  return {
    version,
    scopes: request.scopes,
    only: request.only ?? [],
    cwd: files.sessionDir,
    homedir: io.homedir,
    credentials: inheritedCredentials(io.env),
    // Whose list a server shows depends on who is signed in.
    files: [...files.candidates.map((file) => file.path), join(files.agentDir, "mcp-auth.json")],
    folders: request.scopes.map((scope) => (scope === "project" && request.out) || files.defaultOut[scope]),
  };
}

/** The flags of `compile` and `watch`, or what is wrong with them. */
export function understand({ flags }: Invocation, io: Io): CompileRequest | string {
  const scope = flags["scope"] ?? "all";
  if (scope !== "all" && scope !== "project" && scope !== "user") {
    return `--scope is project, user or all, not "${String(scope)}"`;
  }
  if (flags["refresh"] && flags["offline"]) return "--refresh asks every server and --offline asks none; choose one";
  const scopes: Scope[] =
    scope !== "all" ? [scope] : flags["config"] || flags["out"] ? ["project"] : ["user", "project"];
  const only = flags["server"] as readonly string[] | undefined;
  return {
    scopes,
    ...(only && { only }),
    check: flags["check"] === true,
    refresh: flags["refresh"] === true,
    offline: flags["offline"] === true,
    ...(typeof flags["out"] === "string" && { out: resolve(io.cwd, flags["out"]) }),
  };
}

/** Prints a result: diagnostics on stderr, the summary or the JSON object on stdout, on one line where many follow. */
export function print(result: CompileResult, invocation: Invocation, io: Io, oneLine = false): void {
  const verbose = invocation.flags["verbose"] === true;
  if (invocation.flags["json"]) {
    const json: CompileJson = {
      ok: !result.diagnostics.some((found) => found.severity === "error"),
      servers: result.reports.flatMap((report) => report.servers),
      files: result.reports.flatMap((report) =>
        report.files.map(({ path, status }) => ({ path: `${shownFolder(report.folder, io.cwd)}/${path}`, status })),
      ),
      diagnostics: result.diagnostics,
    };
    io.out(`${JSON.stringify(json, undefined, oneLine ? 0 : 2)}\n`);
    return;
  }
  io.err(diagnosticsText(result.diagnostics, io.errLook, verbose));
  for (const report of result.reports) {
    io.out(asText(summaryLines(report, shownFolder(report.folder, io.cwd), io.outLook)));
  }
}
