/**
 * A real Pi in a real terminal: tmux keeps the screen, the test types and looks. Each has a tmux server of its own, which
 * ends with the test.
 */
import { execFile, spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import type { Workspace } from "../cli/pimcp.ts";
import { EXTENSION, NODE_22, PI, SCRIPTED } from "./pi.ts";

const NODE = join(NODE_22, "node");
const run = promisify(execFile);

/** Undefined where there is a tmux that can be used; else why not. */
export const withoutTmux: string | undefined =
  spawnSync("tmux", ["-V"]).status === 0 ? undefined : "tmux is not installed";

export interface TerminalSize {
  readonly columns: number;
  readonly lines: number;
}

/** Pi alone takes some seconds to start. */
const LONG_MS = 50_000;

let terminals = 0;

export class TerminalPi {
  readonly #socket: string;

  private constructor(socket: string) {
    this.#socket = socket;
  }

  static async start(workspace: Workspace, { columns, lines }: TerminalSize): Promise<TerminalPi> {
    const socket = join(workspace.root, `tmux-${++terminals}`);
    const answers = join(workspace.root, "answers.json");
    writeFileSync(answers, "[]");
    const settings = join(workspace.agent, "settings.json");
    if (!existsSync(settings)) writeFileSync(settings, JSON.stringify({ extensions: ["-builtin:mcp"] }));
    const env = {
      PATH: `${NODE_22}${delimiter}${process.env["PATH"] ?? ""}`,
      HOME: join(workspace.root, "home"),
      PI_CODING_AGENT_DIR: workspace.agent,
      PIMCP_CACHE_DIR: workspace.cache,
      PIMCP_STATE_DIR: join(workspace.root, "state"),
      PI_OFFLINE: "1",
      SCRIPTED_ANSWERS: answers,
      SCRIPTED_REQUESTS: join(workspace.root, "requests.jsonl"),
      LANG: "C.UTF-8",
      TERM: "xterm-256color",
    };
    const args = ["-e", SCRIPTED, "-e", EXTENSION, "--provider", "scripted", "--model", "one", "--approve"];
    const terminal = new TerminalPi(socket);
    onTestFinished(() => terminal.end());
    const size = ["-x", String(columns), "-y", String(lines)];
    // The server that this starts, and Pi in it, have its environment.
    await terminal.#tmux(["new-session", "-d", ...size, "-c", workspace.project, NODE, PI, ...args], env);
    return terminal;
  }

  /** The lines of the screen, without blanks at their ends. */
  async screen(): Promise<readonly string[]> {
    const { stdout } = await this.#tmux(["capture-pane", "-p"]);
    return stdout.split("\n").map((line) => line.trimEnd());
  }

  /** Waits until the screen has all of these, and gives it back. */
  async shows(...texts: readonly (string | RegExp)[]): Promise<string> {
    const has = (screen: string) =>
      texts.every((text) => (typeof text === "string" ? screen.includes(text) : text.test(screen)));
    const deadline = performance.now() + LONG_MS;
    for (;;) {
      const screen = (await this.screen()).join("\n");
      if (has(screen)) return screen;
      if (performance.now() > deadline) throw new Error(`never a screen with ${texts.join(", ")}, but\n${screen}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Types text as it is. */
  async type(text: string): Promise<void> {
    await this.#tmux(["send-keys", "-l", text]);
  }

  /** Presses keys by tmux's names: `Enter`, `Escape`, `Down`, …. */
  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#tmux(["send-keys", key]);
  }

  async resize({ columns, lines }: TerminalSize): Promise<void> {
    await this.#tmux(["resize-window", "-x", String(columns), "-y", String(lines)]);
  }

  async end(): Promise<void> {
    // It may have ended with Pi.
    await this.#tmux(["kill-server"]).catch(() => undefined);
  }

  #tmux(args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
    return run("tmux", ["-u", "-S", this.#socket, "-f", "/dev/null", ...args], { encoding: "utf8", env });
  }
}
