/** Which scripts start a server: those that run, and none that was refused or blocked, whatever it names. */
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { DIST, Stub, tool } from "../cli/pimcp.ts";
import { type Answer, compiledWorkspace, runPi, textOf } from "./pi.ts";

vi.setConfig({ testTimeout: 180_000 });

/** Behind pimcp's own hook, so that a script has passed that one by then. */
const EXTENSIONS = [join(DIST, "runtime", "pi", "extension.ts"), join(import.meta.dirname, "blocking-extension.mjs")];

async function startsOf(code: string, toplevel: object = {}) {
  const stub = new Stub({ tools: [tool("echo"), tool("locked")] });
  const workspace = await compiledWorkspace({ docs: stub.entry }, toplevel);
  const before = stub.starts();
  // What was started wrongly gets the time to say so.
  const wait: Answer = { call: ["codemode", { code: `await tools.bash({ command: "sleep 2" })` }] };
  const answers: Answer[] = [{ call: ["codemode", { code }] }, wait, { text: "done" }];
  const pi = await runPi(workspace, { args: ["--approve"], answers, extensions: EXTENSIONS, bare: true });
  const own = pi.ended.find(({ toolName, parentToolCallId }) => toolName === "codemode" && !parentToolCallId);
  return { starts: stub.starts() - before, said: textOf(own!) };
}

test.each([
  ["refused for its types", `await tools.mcp__docs__echo({ text: 5 })`, "Script not run", 0],
  ["blocked by another extension", `await tools.mcp__docs__echo({}) // BLOCKED`, "the gate is shut", 0],
  ["run", `return typeof tools.mcp__docs__echo`, "function", 1],
  ["run, without a name of its tools", `return Object.keys(tools).length > 1`, "Script completed", 0],
])("a script that is %s", async (_what, code, said, starts) => {
  const found = await startsOf(code);
  expect(found.said).toContain(said);
  expect(found.starts).toBe(starts);
});

test("pimcp's own engine starts them when a script runs, too", async () => {
  const engine = { codemode: { engine: "pimcp" } };
  expect((await startsOf(`return typeof tools.mcp__docs__echo`, engine)).starts).toBe(1);
  expect((await startsOf(`await tools.mcp__docs__echo({}) // BLOCKED`, engine)).starts).toBe(0);
});
