/**
 * When a script's servers are connected: the process of one that it names while it is still written, whatever becomes of the
 * script; one over HTTP only for a script that runs; none for a script that names none of their tools.
 */
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { startServersAhead } from "../../runtime/pi/scripts/servers-ahead.ts";
import { DIST, Stub, tool } from "../cli/pimcp.ts";
import { startHttpStub } from "../servers/run.ts";
import { type Answer, compiledWorkspace, runPi, textOf } from "./pi.ts";

vi.setConfig({ testTimeout: 180_000 });

/** Behind pimcp's own hook, so that a script has passed that one by then. */
const EXTENSIONS = [join(DIST, "runtime", "pi", "extension.ts"), join(import.meta.dirname, "blocking-extension.mjs")];

const script = (code: string): Answer => ({ call: ["codemode", { code }] });
/** What was begun wrongly gets the time to show. */
const wait = script(`await tools.bash({ command: "sleep 2" })`);
const both = `typeof tools.mcp__far__echo + typeof tools.mcp__near__echo`;

test.each(["pi", "pimcp"])("with the engine of %s", async (engine) => {
  const near = new Stub({ tools: [tool("echo")] });
  const far = await startHttpStub({ tools: [tool("echo")] });
  onTestFinished(() => far.stop());
  const servers = { near: near.entry, far: { type: "http", url: far.url } };
  const workspace = await compiledWorkspace(servers, { codemode: { engine } });
  const since = Date.now();
  const scripts = [
    script(`return Object.keys(tools).length > 1`),
    wait,
    script(`await tools.mcp__near__echo({ text: 5 }); return ${both}`),
    script(`return ${both} // BLOCKED`),
    wait,
    script(`await tools.mcp__far__echo({}); return ${both}`),
  ];
  const pi = await runPi(workspace, {
    args: ["--approve"],
    answers: [...scripts, { text: "done" }],
    extensions: EXTENSIONS,
    bare: true,
  });
  const own = pi.ended.filter(({ toolName, parentToolCallId }) => toolName === "codemode" && !parentToolCallId);
  const said = ["Script completed", "", "Script not run", "the gate is shut", "", "functionfunction"];
  expect(own.map(textOf)).toEqual(said.map((text) => expect.stringContaining(text)));
  const asked = pi.requests.map(({ at }) => at);
  const starts = near.log().filter(({ event, time }) => event === "start" && time > since);
  expect(starts).toHaveLength(1);
  expect(starts[0]!.time).toBeGreaterThan(asked[2]!);
  expect(starts[0]!.time).toBeLessThan(asked[5]!);
  const requests = far.log().filter(({ time }) => time > since);
  expect(requests).not.toEqual([]);
  expect(requests[0]!.time).toBeGreaterThan(asked[5]!);
});

describe("a call that is being written", () => {
  type Listener = (event: object) => void;
  /** The tools for which something was made ready while `messages` were written, each a list of calls in pieces. */
  function madeReady(messages: readonly (readonly { readonly name: string; readonly pieces: readonly string[] }[])[]) {
    const listeners = new Map<string, Listener>();
    const on = (event: string, listener: Listener) => void listeners.set(event, listener);
    const transports = { docs: "stdio", more: "stdio", far: "http" };
    const entries = ["docs__echo", "docs__echo_twice", "more__echo", "far__echo"].map((tail) => ({
      name: `mcp__${tail}`,
      server: tail.split("__")[0] as keyof typeof transports,
    }));
    const found: string[] = [];
    const session = {
      table: {
        byName: (name: string) => entries.find((entry) => entry.name === name),
        server: (name: keyof typeof transports) => ({ compiled: { transport: transports[name] } }),
      },
      runtime: {
        prepare: async ({ name }: { name: string }) => {
          found.push(name);
          throw new Error("it can't be started, which the call will say");
        },
      },
    };
    startServersAhead({ on } as never, () => session as never);
    const tell = (event: string, more: object = {}) => listeners.get(event)!(more);
    for (const calls of messages) {
      tell("message_start");
      const content = calls.map(({ name }) => ({ type: "toolCall", name }));
      calls.forEach(({ pieces }, contentIndex) => {
        const update = (type: string, more: object = {}) =>
          tell("message_update", { assistantMessageEvent: { type, contentIndex, partial: { content }, ...more } });
        update("toolcall_start");
        for (const delta of pieces) update("toolcall_delta", { delta });
        update("toolcall_end");
      });
    }
    return found;
  }
  const codemode = (...pieces: string[]) => ({ name: "codemode", pieces });

  const rows: [what: string, calls: Parameters<typeof madeReady>[0][number], ready: string[]][] = [
    ["a script", [codemode(`{"code":"await tools.mcp__docs__echo({})"}`)], ["mcp__docs__echo"]],
    ["two servers", [codemode(`mcp__docs__echo(); mcp__more__echo()`)], ["mcp__docs__echo", "mcp__more__echo"]],
    ["two tools of one server", [codemode(`mcp__docs__echo(); mcp__docs__echo_twice()`)], ["mcp__docs__echo"]],
    ["a name of which more may come", [codemode("mcp__docs__echo")], []],
    ["a server over HTTP", [codemode("mcp__far__echo()")], []],
    ["no name of ours", [codemode("mcp__docs__other() mcp__nobody__x() docs__echo()")], []],
    ["a tool by itself", [{ name: "mcp__docs__echo", pieces: [`{"text":"mcp__more__echo "}`] }], ["mcp__docs__echo"]],
    ["another tool", [{ name: "bash", pieces: ["mcp__docs__echo "] }], []],
    ["two at once", [codemode("x"), codemode("mcp__more__echo(")], ["mcp__more__echo"]],
  ];
  test.each(rows)("%s", (_, calls, ready) => expect(madeReady([calls])).toEqual(ready));

  test("each message anew: a connection may have ended since", () => {
    const call = [codemode("mcp__docs__echo()")];
    expect(madeReady([call, call])).toEqual(["mcp__docs__echo", "mcp__docs__echo"]);
  });

  // Gone through once for each of its letters it would take half a minute.
  test("with a word that is long, all in one piece", { timeout: 5000 }, () => {
    const text = `"${"x".repeat(300_000)}"; mcp__docs__echo()`;
    expect(madeReady([[codemode(text)]])).toEqual(["mcp__docs__echo"]);
  });

  test("in whatever pieces it comes", () => {
    const text = `const a = tools.mcp__docs__echo_twice; await tools.mcp__more__echo({ text: "${"x".repeat(200)}" })`;
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 40, maxLength: 40 }), (sizes) => {
        const ends = sizes.map((_, index) => sizes.slice(0, index + 1).reduce((sum, size) => sum + size));
        const pieces = [0, ...ends].map((from, index) => text.slice(from, ends[index]));
        expect(madeReady([[codemode(...pieces)]])).toEqual(["mcp__docs__echo_twice", "mcp__more__echo"]);
      }),
    );
  });
});
