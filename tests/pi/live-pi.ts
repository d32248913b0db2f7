/** A real Pi in RPC mode whose model does what it is told, for tests that see several sessions of one process. */
import { join } from "node:path";
import { expect } from "vitest";
import type { Workspace } from "../cli/pimcp.ts";
import { eventually } from "../servers/run.ts";
import { type PiOptions, type SeenRequest, textOf } from "./pi.ts";
import { RpcPi } from "./rpc.ts";

const OBEDIENT = join(import.meta.dirname, "obedient.mjs");
const PATIENCE_MS = 30_000;

export interface LiveOptions {
  readonly args?: readonly string[];
  readonly extensions?: readonly string[];
  readonly under?: PiOptions["under"];
}

export class LivePi extends RpcPi {
  constructor(workspace: Workspace, { args = ["--approve"], extensions = [], under }: LiveOptions = {}) {
    const all = [...args, "--provider", "obedient"];
    super(workspace, { answers: [], extensions: [OBEDIENT, ...extensions], args: all, ...(under && { under }) });
  }

  /** Has the model call a tool, and waits for nothing. */
  call(name: string, args: object = {}): void {
    this.prompt(JSON.stringify({ call: [name, args] }));
  }

  /** Has the model call a tool, and gives back what it got when the model is done. */
  async calling(name: string, args: object = {}): Promise<string> {
    const [ended, settled] = [this.ended().length, this.#settled()];
    this.call(name, args);
    const result = textOf(await this.tool(ended));
    await eventually(() => this.#settled() > settled, "the agent settling", PATIENCE_MS);
    return result;
  }

  /** What the model sees of a prompt in the session of the moment. */
  async request(): Promise<SeenRequest> {
    const [requests, settled] = [this.running.requests().length, this.#settled()];
    this.prompt("hello");
    await eventually(() => this.#settled() > settled, "the agent settling", PATIENCE_MS);
    return this.running.requests()[requests]!;
  }

  /** Runs a command of an extension to its end. */
  async command(text: string): Promise<void> {
    expect(await this.ask({ type: "prompt", message: text })).toMatchObject({ success: true });
  }

  /** The data of a command's answer. */
  async data(command: object): Promise<Readonly<Record<string, unknown>>> {
    const answer = await this.ask(command);
    expect(answer).toMatchObject({ success: true });
    return answer["data"] as Record<string, unknown>;
  }

  /** What Pi says of extensions that threw. */
  faults(): string[] {
    return this.lines().flatMap(({ type, error }) => (type === "extension_error" ? [String(error)] : []));
  }

  /** What the footer shows, by key. */
  statuses(): Readonly<Record<string, string>> {
    const shown = new Map<string, string>();
    for (const { method, statusKey, statusText } of this.lines()) {
      if (method !== "setStatus") continue;
      if (statusText === undefined) shown.delete(String(statusKey));
      else shown.set(String(statusKey), String(statusText));
    }
    return Object.fromEntries(shown);
  }

  #settled(): number {
    return this.lines().filter(({ type }) => type === "agent_settled").length;
  }
}
