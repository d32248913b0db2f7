/**
 * The built command line as a user runs it: real processes in folders of their own, with a home, an agent folder and a
 * cache that are the test's. PIMCP_DIST names another build than `dist`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { CompileJson } from "../../cli/compile-command.ts";
import { scratchFolder } from "../scratch.ts";
import { readLog, type StubLog, stubFile } from "../servers/run.ts";

export const DIST = process.env["PIMCP_DIST"] ?? join(import.meta.dirname, "..", "..", "dist");
const bundled = join(DIST, "cli", "bin.cjs");
/** The bundle that scripts/build.mjs makes; a build by tsc alone has its modules one by one. */
export const BIN = existsSync(bundled) ? bundled : join(DIST, "cli", "bin.js");

export interface Finished {
  /** Exit code; a signal's name where that ended it. */
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
  readonly milliseconds: number;
}

export interface Running {
  readonly child: ChildProcess;
  /** Output so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly finished: Promise<Finished>;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly uid?: number;
  /** What it reads on stdin, which is closed otherwise. */
  readonly input?: string;
  /** Its stdin stays open, for the test to write to. */
  readonly keepsInput?: boolean;
  /** A script that is run instead of the command line. */
  readonly program?: string;
  /** Options of node itself. */
  readonly node?: readonly string[];
}

/** A folder with a project in `project`, an agent folder in `agent`, and nothing in either. */
export class Workspace {
  readonly root = scratchFolder();
  readonly project = join(this.root, "project");
  readonly agent = join(this.root, "agent");
  readonly cache = join(this.root, "cache");

  constructor() {
    for (const folder of [this.project, this.agent, join(this.root, "home")]) mkdirSync(folder);
  }

  /** Writes a file below the root; anything but text as JSON. */
  write(path: string, content: unknown): void {
    const file = join(this.root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content, undefined, 2));
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), "utf8");
  }

  has(path: string): boolean {
    return existsSync(join(this.root, path));
  }

  list(path: string): string[] {
    return readdirSync(join(this.root, path)).sort();
  }

  /** Writes `project/mcp.json` with these servers. */
  servers(mcpServers: Readonly<Record<string, unknown>>, topLevel: object = {}): void {
    this.write("project/mcp.json", { ...topLevel, mcpServers });
  }

  start(args: readonly string[], options: RunOptions = {}): Running {
    const started = performance.now();
    const child = spawn(process.execPath, [...(options.node ?? []), options.program ?? BIN, ...args], {
      cwd: options.cwd ?? this.project,
      env: this.#env(options.env),
      stdio: [options.input === undefined && !options.keepsInput ? "ignore" : "pipe", "pipe", "pipe"],
      ...(options.uid !== undefined && { uid: options.uid, gid: options.uid }),
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    if (!options.keepsInput) child.stdin?.end(options.input);
    let [stdout, stderr] = ["", ""];
    child.stdout!.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    const finished = new Promise<Finished>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code, signal) =>
        resolve({ code: code ?? signal!, stdout, stderr, milliseconds: performance.now() - started }),
      );
    });
    return { child, stdout: () => stdout, stderr: () => stderr, finished };
  }

  run(...args: string[]): Promise<Finished> {
    return this.start(args).finished;
  }

  /** `pimcp compile --json` with more arguments. */
  async compile(...args: string[]): Promise<{ readonly code: number | string; readonly json: CompileJson }> {
    return this.compileWith({}, ...args);
  }

  async compileWith(env: RunOptions["env"], ...args: string[]) {
    const { code, stdout, stderr } = await this.start(["compile", "--json", ...args], { env: env ?? {} }).finished;
    if (stdout === "") throw new Error(`pimcp compile printed nothing on stdout and on stderr:\n${stderr}`);
    return { code, json: JSON.parse(stdout) as CompileJson };
  }

  #env(changes: RunOptions["env"] = {}): NodeJS.ProcessEnv {
    return {
      PATH: process.env["PATH"],
      HOME: join(this.root, "home"),
      PI_CODING_AGENT_DIR: this.agent,
      PIMCP_CACHE_DIR: this.cache,
      ...changes,
    };
  }
}

/** A stub server whose options can be changed while it runs; see tests/servers/README.md for them. */
export class Stub {
  /** An entry of `mcpServers`. */
  readonly entry: { readonly command: string; readonly args: readonly string[]; readonly env: Record<string, string> };
  /** In the command line of each of its processes. */
  readonly marker: string;
  /** Where its options and its log are. */
  readonly folder = scratchFolder();
  readonly #options = join(this.folder, "options.json");
  readonly #log = join(this.folder, "log");

  constructor(options: object = {}) {
    this.marker = `stub-${this.folder.slice(this.folder.lastIndexOf("-") + 1)}`;
    this.entry = { command: process.execPath, args: [stubFile, this.marker], env: { STUB_FILE: this.#options } };
    this.set(options);
  }

  set(options: object): void {
    writeFileSync(this.#options, JSON.stringify({ log: this.#log, marker: this.marker, ...options }));
  }

  log(): StubLog[] {
    return readLog(this.#log);
  }

  /** How often its list was asked for. */
  lists(): number {
    return this.log().filter((entry) => entry.method === "tools/list").length;
  }

  starts(): number {
    return this.log().filter((entry) => entry.event === "start").length;
  }
}

/** A tool with one text parameter. */
export function tool(name: string, description = `Does ${name}`): object {
  return { name, description, inputSchema: { type: "object", properties: { text: { type: "string" } } } };
}

/** Fresh for an hour, for anyone. */
export const FRESH = { listMeta: { ttlMs: 3_600_000, cacheScope: "public" } };

export function statuses(json: CompileJson): Record<string, string> {
  return Object.fromEntries(json.servers.map((server) => [server.name, `${server.status}/${server.source}`]));
}

export function codes(json: CompileJson): string[] {
  return json.diagnostics.map((found) => `${found.severity} ${found.code}`);
}

/** `${NAME}`, as a configuration has it. */
export const variable = (name: string): string => `\${${name}}`;
