/**
 * A real Pi process with pimcp as its extension, a scripted provider in place of a model, and an agent folder of its own
 * in which Pi's own MCP support is off. Runs from the build (`PIMCP_DIST` names another one than `dist`).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { onTestFinished } from "vitest";
import { DIST, type Workspace } from "../cli/pimcp.ts";

export { compiled as compiledWorkspace } from "../runtime/runtime-project.ts";

const root = join(import.meta.dirname, "..", "..");
/** Pi needs a newer Node than the rest. */
const NODE_22 = join(root, "node_modules", "node", "bin");
export const NODE = join(NODE_22, process.platform === "win32" ? "node.exe" : "node");
const PI_DIST = join(root, "node_modules", "@earendil-works", "pi-coding-agent", "dist");
/** Pi as its package's `pi` is: one bundle, which starts in half the time. */
export const BUNDLED_PI = join(PI_DIST, "bundle", "cli.js");
export const SCRIPTED = join(import.meta.dirname, "scripted.mjs");
/** The model of the scripted provider. */
export const MODEL = ["--provider", "scripted", "--model", "one"];
const entry = join(DIST, "runtime", "pi", "extension.ts");
/** As it is written: Pi evaluates TypeScript itself. A build by tsc alone has none. */
export const EXTENSION = existsSync(entry) ? entry : join(DIST, "runtime", "pi", "extension.js");

/** What the model answers to one request. */
export type Answer =
  | { readonly text: string }
  | { readonly call: readonly [name: string, args: object] }
  | { readonly calls: readonly (readonly [name: string, args: object])[] };

/** A request as the provider saw it. */
export interface SeenRequest {
  readonly at: number;
  readonly context: {
    readonly messages: readonly { readonly role: string; readonly content: unknown }[];
    readonly tools?: readonly { readonly name: string; readonly description: string; readonly parameters: unknown }[];
    readonly systemPrompt?: unknown;
  };
}

/** A line of `--mode json`. */
export interface PiEvent {
  readonly type: string;
  readonly toolName?: string;
  readonly toolCallId?: string;
  readonly parentToolCallId?: string;
  readonly result?: {
    readonly content: readonly { readonly type: string; readonly text?: string; readonly mimeType?: string }[];
    readonly details?: unknown;
    readonly structuredContent?: unknown;
  };
  readonly partialResult?: { readonly content: readonly { readonly type: string; readonly text?: string }[] };
  readonly isError?: boolean;
}

export interface PiOptions {
  readonly answers: readonly Answer[];
  readonly prompts?: readonly string[];
  /** More arguments; `--approve` trusts the project. */
  readonly args?: readonly string[];
  /** Files of extensions that are loaded before ours. */
  readonly extensions?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly mode?: "json" | "rpc" | "print";
  /** Without pimcp, unless the settings name it. */
  readonly bare?: boolean;
  /** False: Pi's modules one by one, as its SDK is loaded. */
  readonly bundled?: boolean;
  /** A program that starts it and watches it, with its own arguments. */
  readonly under?: readonly [program: string, ...args: string[]];
}

export interface FinishedPi {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly events: readonly PiEvent[];
  readonly requests: readonly SeenRequest[];
  /** The tools that ran, in the order in which they ended. */
  readonly ended: readonly PiEvent[];
}

export interface RunningPi {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly requests: () => SeenRequest[];
  readonly finished: Promise<FinishedPi>;
}

let runs = 0;

/** A folder of a run's own with the model's answers, Pi's settings where there are none, and the environment Pi runs in. */
export function prepareRun(workspace: Workspace, answers: readonly Answer[]) {
  const folder = join(workspace.root, `pi-${++runs}`);
  mkdirSync(folder);
  const [file, seen] = [join(folder, "answers.json"), join(folder, "requests.jsonl")];
  writeFileSync(file, JSON.stringify(answers));
  const settings = join(workspace.agent, "settings.json");
  if (!existsSync(settings)) writeFileSync(settings, JSON.stringify({ extensions: ["-builtin:mcp"] }));
  const env = {
    PATH: `${NODE_22}${delimiter}${process.env["PATH"] ?? ""}`,
    HOME: join(workspace.root, "home"),
    PI_CODING_AGENT_DIR: workspace.agent,
    PIMCP_CACHE_DIR: workspace.cache,
    PIMCP_STATE_DIR: join(workspace.root, "state"),
    PI_OFFLINE: "1",
    SCRIPTED_ANSWERS: file,
    SCRIPTED_REQUESTS: seen,
  };
  return { env, seen };
}

/** Starts Pi in the workspace's project. */
export function startPi(workspace: Workspace, options: PiOptions): RunningPi {
  const { mode = "json", prompts = ["go"], args = [], extensions = [], bare = false, bundled = true } = options;
  const { env, seen } = prepareRun(workspace, options.answers);
  const loaded = [SCRIPTED, ...extensions, ...(bare ? [] : [EXTENSION])].flatMap((file) => ["-e", file]);
  const how =
    mode === "print" ? ["-p", ...prompts] : mode === "json" ? ["--mode", "json", "-p", ...prompts] : ["--mode", "rpc"];
  const line = [bundled ? BUNDLED_PI : join(PI_DIST, "cli.js"), ...loaded, ...MODEL, ...args, ...how];
  const [program, ...before] = [...(options.under ?? []), NODE];
  const child = spawn(program!, [...before, ...line], {
    cwd: workspace.project,
    env: { ...env, ...options.env },
    stdio: [mode === "rpc" ? "pipe" : "ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let [stdout, stderr] = ["", ""];
  child.stdout!.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr!.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const requests = () => (existsSync(seen) ? jsonLines<SeenRequest>(readFileSync(seen, "utf8")) : []);
  const finished = new Promise<FinishedPi>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      const events = mode === "print" ? [] : jsonLines<PiEvent>(stdout);
      const ended = events.filter((event) => event.type === "tool_execution_end");
      resolve({ code, stdout, stderr, events, ended, requests: requests() });
    });
  });
  return { child, stdout: () => stdout, stderr: () => stderr, requests, finished };
}

export function runPi(workspace: Workspace, options: PiOptions): Promise<FinishedPi> {
  return startPi(workspace, options).finished;
}

/** What a tool gave the model, as text. */
export function textOf(event: PiEvent | undefined): string {
  return (event?.result?.content ?? []).map((block) => block.text ?? `[${block.mimeType}]`).join("\n");
}

/** Lines that are JSON; a last line that is still being written is left out. */
export function jsonLines<T>(text: string): T[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("{") && line.endsWith("}"))
    .map((line) => JSON.parse(line) as T);
}
