/** A real Pi in RPC mode, and the program at its other end: sends prompts, and shows and answers the dialogs of extensions. */
import type { Workspace } from "../cli/pimcp.ts";
import { eventually } from "../servers/run.ts";
import { type FinishedPi, jsonLines, type PiEvent, type PiOptions, type RunningPi, startPi } from "./pi.ts";

/** A dialog that Pi wants shown. */
export interface Dialog {
  readonly id: string;
  readonly method: "select" | "input" | "confirm" | "editor";
  readonly title: string;
  readonly options?: readonly string[];
  readonly placeholder?: string;
  readonly timeout?: number;
}

type Line = Readonly<Record<string, unknown>> & { readonly type: string };

/** Pi alone takes some seconds to start. */
const LONG_MS = 30_000;
const DIALOGS: ReadonlySet<unknown> = new Set(["select", "input", "confirm", "editor"]);

export class RpcPi {
  readonly running: RunningPi;
  #taken = 0;
  #asked = 0;

  constructor(workspace: Workspace, options: Omit<PiOptions, "mode">) {
    this.running = startPi(workspace, { args: ["--approve"], ...options, mode: "rpc" });
  }

  lines(): Line[] {
    return jsonLines<Line>(this.running.stdout());
  }

  send(command: object): void {
    this.running.child.stdin!.write(`${JSON.stringify(command)}\n`);
  }

  /** The answer to a command; to that of a prompt that is one of ours, once it has run. */
  async ask(command: object): Promise<Line> {
    const id = `ask-${++this.#asked}`;
    const answer = () => this.lines().find((line) => line.type === "response" && line["id"] === id);
    this.send({ id, ...command });
    await eventually(() => answer() !== undefined, `the answer to ${JSON.stringify(command)}`, 60_000);
    return answer()!;
  }

  prompt(message = "go"): void {
    this.send({ type: "prompt", message });
  }

  dialogs(): Dialog[] {
    return this.lines().filter(({ type, method }) => type === "extension_ui_request" && DIALOGS.has(method)) as never;
  }

  /** The next dialog that this hasn't given out yet. */
  async dialog(): Promise<Dialog> {
    await eventually(() => this.dialogs().length > this.#taken, `a dialog\n${this.running.stderr()}`, LONG_MS);
    return this.dialogs()[this.#taken++]!;
  }

  /** Waits for the next dialog and answers it: with an option that begins so, or with a text. */
  async answer(text: string): Promise<Dialog> {
    const dialog = await this.dialog();
    this.reply(dialog, text);
    return dialog;
  }

  reply({ id, method, options = [], title }: Dialog, text: string): void {
    const value = method === "select" ? options.find((option) => option.startsWith(text)) : text;
    if (value === undefined) throw new Error(`"${title}" has no choice "${text}", only ${JSON.stringify(options)}`);
    this.send({ type: "extension_ui_response", id, value });
  }

  /** As with Escape. */
  dismiss({ id }: Dialog): void {
    this.send({ type: "extension_ui_response", id, cancelled: true });
  }

  notices(): string[] {
    return this.lines().flatMap(({ method, message }) => (method === "notify" ? [String(message)] : []));
  }

  ended(): PiEvent[] {
    return this.lines().filter(({ type }) => type === "tool_execution_end") as never;
  }

  /** The result of the `nth` tool, once it has ended. */
  async tool(nth = 0): Promise<PiEvent> {
    await eventually(() => this.ended().length > nth, `tool ${nth} ending\n${this.running.stderr()}`, LONG_MS);
    return this.ended()[nth]!;
  }

  async settled(): Promise<void> {
    await eventually(() => this.lines().some(({ type }) => type === "agent_settled"), "the agent settling", LONG_MS);
  }

  /** Closes its input, as a program that goes away does. */
  end(): Promise<FinishedPi> {
    this.running.child.stdin!.end();
    return this.running.finished;
  }
}
