/** A project with the server of tests/servers/asking.mjs, compiled, and Pis whose model makes its tools ask. */
import { join } from "node:path";
import { expect } from "vitest";
import { Workspace } from "../cli/pimcp.ts";
import { advertised, readAskingLog } from "../servers/asking-log.ts";
import { serversDir } from "../servers/run.ts";
import { type Answer, type PiOptions, textOf } from "./pi.ts";
import { RpcPi } from "./rpc.ts";

const DONE: Answer = { text: "done" };
/** A compile, and a Pi that asks one thing after the other. */
export const TEST_MS = 90_000;

export type Call = readonly [tool: string, args?: object];

export class Asking {
  readonly workspace = new Workspace();
  readonly log = join(this.workspace.root, "asking.log");

  static async compiled(env: Readonly<Record<string, string>> = {}): Promise<Asking> {
    const asking = new Asking();
    const entry = {
      command: process.execPath,
      args: [join(serversDir, "asking.mjs")],
      env: { LOG: asking.log, ...env },
      exposure: "direct",
    };
    asking.workspace.servers({ asking: entry });
    expect((await asking.workspace.compile()).code).toBe(0);
    return asking;
  }

  answers(calls: readonly Call[]): Answer[] {
    return [...calls.map(([tool, args = {}]): Answer => ({ call: [`mcp__asking__${tool}`, args] })), DONE];
  }

  /** Prompts a Pi whose model makes these calls one after the other. */
  pi(calls: readonly Call[], options: Partial<PiOptions> = {}): RpcPi {
    const pi = new RpcPi(this.workspace, { answers: this.answers(calls), ...options });
    pi.prompt();
    return pi;
  }

  /** Client capabilities that the server was told of by sessions, not by the compile. */
  advertised(): unknown[] {
    return advertised(readAskingLog(this.log)).slice(1);
  }
}

/** What the server was answered. */
export const resultOf = async (pi: RpcPi, nth = 0) => JSON.parse(textOf(await pi.tool(nth))) as unknown;
export const schema = (properties: object, required: readonly string[] = []) => ({
  type: "object",
  properties,
  required,
});
