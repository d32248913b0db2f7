/**
 * A real Pi in a real terminal: tmux keeps the screen, the test types and looks. Each has a tmux server of its own, which
 * ends with the test.
 */
import { execFile, spawnSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import type { Workspace } from "../cli/pimcp.ts";
import { BUNDLED_PI, EXTENSION, MODEL, NODE, prepareRun, SCRIPTED } from "./pi.ts";

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
    const env = { ...prepareRun(workspace, []).env, LANG: "C.UTF-8", TERM: "xterm-256color" };
    const args = ["-e", SCRIPTED, "-e", EXTENSION, ...MODEL, "--approve"];
    const terminal = new TerminalPi(socket);
    onTestFinished(() => terminal.end());
    const size = ["-x", String(columns), "-y", String(lines)];
    // The server that this starts, and Pi in it, have its environment.
    await terminal.#tmux(["new-session", "-d", ...size, "-c", workspace.project, NODE, BUNDLED_PI, ...args], env);
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
