/**
 * The built `pimcp` as a process of its own in a folder of its own, and what it leaves behind: the servers it started are
 * recognised by a variable that each was given, and looked for among all processes (Linux only).
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { ServerReport } from "../../compiler/reports.ts";
import type { WriteResult } from "../../compiler/write.ts";
import type { Diagnostic } from "../../schemas/diagnostic.ts";
import { entryOf, type LiveServer, SECRET_VARIABLES } from "./servers.ts";

const BIN = process.env["PIMCP_BIN"] ?? join(dirname(fileURLToPath(import.meta.url)), "../../dist/cli/bin.js");

export interface Project {
  readonly folder: string;
  readonly generated: string;
  readonly cache: string;
}

export interface CompileRun {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly json: {
    readonly ok: boolean;
    readonly servers: readonly ServerReport[];
    readonly files: readonly WriteResult[];
    readonly diagnostics: readonly Diagnostic[];
  };
  readonly durationMs: number;
  /** Most server processes seen at once while it ran, and those that were left when it had ended. */
  readonly processes: { readonly most: number; readonly left: readonly number[] };
}

const MARKER = "PIMCP_LIVE_MARKER";

/** A folder with a `mcp.json` of these servers, and a cache and home that nobody else uses. */
export function createProject(servers: readonly LiveServer[]): Project {
  const base = mkdtempSync(join(tmpdir(), "pimcp-live-"));
  const folder = join(base, "project");
  for (const path of [folder, join(base, "home")]) mkdirSync(path);
  const entries = servers.map((server) => [server.name, entryOf(server, { [MARKER]: `\${${MARKER}}` })]);
  writeFileSync(join(folder, "mcp.json"), JSON.stringify({ mcpServers: Object.fromEntries(entries) }, null, 2));
  return { folder, generated: join(folder, "generated"), cache: join(base, "cache") };
}

export function removeProject({ folder }: Project): void {
  rmSync(dirname(folder), { recursive: true, force: true });
}

/** Runs `pimcp compile --json …` in the project. */
export async function compile(project: Project, ...flags: string[]): Promise<CompileRun> {
  const started = performance.now();
  let most = 0;
  const run = start(project, flags, (servers) => {
    most = Math.max(most, servers.length);
  });
  const { exit, stdout, stderr, left } = await run.ended;
  const durationMs = Math.round(performance.now() - started);
  if (stdout === "") throw new Error(`pimcp compile printed nothing and exited with ${exit}: ${stderr}`);
  return { exit, stdout, stderr, json: JSON.parse(stdout), durationMs, processes: { most, left } };
}

/** Runs it and sends the signal as soon as a server of it runs. */
export function interruptedCompile(project: Project, signal: NodeJS.Signals): Promise<Ended> {
  let sent = false;
  const run = start(project, [], (servers) => {
    if (sent || servers.length === 0) return;
    sent = run.child.kill(signal);
  });
  return run.ended;
}

interface Ended {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Server processes that were left. */
  readonly left: readonly number[];
}

function start({ folder, cache }: Project, flags: readonly string[], onServers: (pids: readonly number[]) => void) {
  const home = join(dirname(folder), "home");
  const marker = randomUUID();
  const env = {
    ...process.env,
    ...SECRET_VARIABLES,
    HOME: home,
    PI_CODING_AGENT_DIR: join(home, "agent"),
    PIMCP_CACHE_DIR: cache,
    [MARKER]: marker,
  };
  const child = spawn(process.execPath, [BIN, "compile", "--json", ...flags], { cwd: folder, env });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => (stdout += chunk));
  child.stderr.on("data", (chunk) => (stderr += chunk));
  const watching = setInterval(() => onServers(marked(marker).filter((pid) => pid !== child.pid)), 100);
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (exit) => {
      clearInterval(watching);
      survivors(marker).then((left) => resolve({ exit, stdout, stderr, left }));
    });
  });
  return { child, ended };
}

/** Whether processes can be looked through here. */
export const seesProcesses: boolean = existsSync("/proc/self/environ");

/** Processes that are still there some time later; a killed one takes a moment to go. */
async function survivors(marker: string): Promise<number[]> {
  for (let tries = 20; tries > 0 && marked(marker).length > 0; tries--) await setTimeout(100);
  return marked(marker);
}

/** Processes whose environment holds the marker. Zombies have none, and those of other users can't be read. */
function marked(marker: string): number[] {
  if (!seesProcesses) return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => environOf(pid).includes(`${MARKER}=${marker}`));
}

function environOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch {
    return ""; // ended meanwhile, or not ours to read
  }
}
