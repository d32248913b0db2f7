/**
 * What tests need to use the servers of this folder: entries for them, HTTP ones started and stopped, the messages they
 * logged, and a count of processes that carry a marker in their command line.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ServerConfig } from "../../schemas/config/server-config.ts";
import { scratchFolder } from "../scratch.ts";

export const serversDir = fileURLToPath(new URL(".", import.meta.url));
export const stubFile = join(serversDir, "stub.mjs");
/** An entry of `mcpServers`: the protocol's own server with a bit of everything, over stdio. */
export const EVERYTHING = {
  command: process.execPath,
  args: [join(serversDir, "../../node_modules/@modelcontextprotocol/server-everything/dist/index.js"), "stdio"],
};

/** What every connection in tests runs in. */
export const surroundings = { env: process.env, homedir: homedir() };

export function serverConfig(transport: ServerConfig["transport"], changes: Partial<ServerConfig> = {}): ServerConfig {
  return {
    name: "s",
    scope: "project",
    file: join(serversDir, "mcp.json"),
    baseDir: serversDir,
    location: { file: "mcp.json", line: 3, column: 5 },
    transport,
    enabled: true,
    toolExposure: [],
    protocolVersion: "auto",
    tasks: true,
    ttlMs: 0,
    requestTimeoutMs: 20_000,
    probeTimeoutMs: 10_000,
    ...changes,
  };
}

export interface StubLog {
  readonly time: number;
  readonly pid: number;
  readonly event: string;
  readonly method?: string;
  readonly session?: string;
  readonly authorization?: string;
  readonly params?: Record<string, unknown>;
}

/** A stub over stdio, with the log of what it was asked and a marker that its processes carry. */
export function stub(options: Record<string, unknown>, changes: Partial<ServerConfig> = {}) {
  const folder = scratchFolder();
  const log = join(folder, "log");
  const marker = `stub-${folder.slice(folder.lastIndexOf("-") + 1)}`;
  const env = { STUB: JSON.stringify({ log, marker, ...options }) };
  const config = serverConfig({ kind: "stdio", command: process.execPath, args: [stubFile, marker], env }, changes);
  return { config, marker, log: () => readLog(log), methods: () => messages(readLog(log)) };
}

export function readLog(file: string): StubLog[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

function messages(log: readonly StubLog[]): string[] {
  return log.filter((entry) => entry.event === "message").map((entry) => entry.method!);
}

export interface HttpServer {
  readonly url: string;
  readonly config: ServerConfig;
  log(): StubLog[];
  stop(): Promise<void>;
}

/** Starts a script of this folder that serves HTTP; `stop` it when done. */
export async function startHttp(
  script: "stub.mjs" | "legacy.mjs" | "modern.mjs" | "tasks.mjs",
  env: Record<string, string>,
  path = "/mcp",
): Promise<HttpServer> {
  const log = join(scratchFolder(), "log");
  const child = spawn(process.execPath, [join(serversDir, script)], {
    env: { ...process.env, STUB_LOG: log, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (data: Buffer) => resolve(/listening (\d+)/.exec(data.toString())![1]!));
    child.once("exit", (code) => reject(new Error(`${script} exited with ${code}`)));
  });
  const url = `http://127.0.0.1:${port}${path}`;
  const config = serverConfig({ kind: "http", url, headers: {} });
  return { url, config, log: () => readLog(log), stop: () => stopChild(child) };
}

export function startHttpStub(options: Record<string, unknown>): Promise<HttpServer> {
  return startHttp("stub.mjs", { STUB: JSON.stringify({ http: {}, ...options }) });
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await exited;
}

/** Processes alive whose command line holds `marker` (Linux: /proc), zombies not counted. */
export function countProcesses(marker: string): number {
  return readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && commandLine(pid).includes(marker)).length;
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch (error) {
    // It ended while we looked.
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ESRCH") return "";
    throw error;
  }
}

/** Waits until `condition` holds; fails the test with `what` after `timeoutMs`. */
export async function eventually(condition: () => boolean, what: string, timeoutMs = 30_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
