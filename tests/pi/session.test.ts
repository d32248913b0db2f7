/** What a Pi session with pimcp has before any server runs: its first request, its trust, and what is wrong with the artifacts. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Stub, tool, Workspace } from "../cli/pimcp.ts";
import { eventually } from "../servers/run.ts";
import { type Answer, compiledWorkspace, type FinishedPi, runPi, type SeenRequest, startPi, textOf } from "./pi.ts";

const DONE = [{ text: "done" }];
const TRUSTED = ["--approve"];

/** The request as bytes, without the moments at which its messages were written. */
function bytesOf(request: SeenRequest | undefined): string {
  return JSON.stringify(request?.context, (key, value: unknown) => (key === "timestamp" ? undefined : value));
}

/** What the model was told in the first request, as one text. */
function promptOf(pi: FinishedPi): string {
  return bytesOf(pi.requests[0]);
}

test("the first requests of two sessions are the same bytes, and no server has been started for either", async () => {
  const stubs = [1, 2, 3].map(() => new Stub({ tools: [tool("echo"), tool("other")] }));
  const workspace = await compiledWorkspace({
    docs: { ...stubs[0]!.entry, description: "Reads documents" },
    wide: { ...stubs[1]!.entry, exposure: "direct" },
    late: { ...stubs[2]!.entry, exposure: "deferred" },
  });
  const before = stubs.map((stub) => stub.starts());
  const pis = [];
  for (let i = 0; i < 2; i++) pis.push(await runPi(workspace, { args: TRUSTED, answers: DONE }));
  expect(pis.map((pi) => pi.requests.length)).toEqual([1, 1]);
  expect(promptOf(pis[0]!)).toBe(promptOf(pis[1]!));
  expect(stubs.map((stub) => stub.starts())).toEqual(before);
  const prompt = promptOf(pis[0]!);
  expect(prompt).toContain("- mcp__docs (codemode): Reads documents");
  expect(prompt).toContain("- mcp__late (tool_search)");
  expect(prompt).toContain("mcp__docs__echo(args: { text?: string; })");
  expect(prompt).not.toContain("mcp__late__echo");
  const declared = /"toolsAdded":(\[.*\])/.exec(prompt)?.[0] ?? "";
  for (const name of ["mcp__wide__echo", "mcp__wide__other", "codemode", "tool_search"])
    expect(declared).toContain(`"name":"${name}"`);
  expect(declared).not.toContain('"name":"mcp__docs__echo"');
});

test("a session keeps its prefix while servers connect and the tools that have to be searched for come; one that was found stays", async () => {
  const stub = new Stub({ tools: [tool("echo"), tool("other")], startMs: 300 });
  const workspace = await compiledWorkspace({
    docs: { ...stub.entry, toolExposure: { other: "codemode-deferred" } },
    late: { ...stub.entry, exposure: "deferred" },
  });
  const code = `return (await tools.mcp__docs__other({ text: "hi" })).content`;
  const answers: Answer[] = [
    { call: ["codemode", { code }] },
    { call: ["tool_search", { query: "mcp__late__echo" }] },
    { call: ["mcp__late__echo", { text: "found" }] },
    ...DONE,
  ];
  const pi = await runPi(workspace, { args: TRUSTED, answers });
  const [, script, search, call] = pi.ended.map(textOf);
  expect(script).toContain("hi");
  expect(search).toContain("mcp__late__echo");
  expect(call).toBe('{"text":"found"}');
  const [first, ...others] = pi.requests;
  const opening = first!.context.messages.length;
  const head = (request: SeenRequest) =>
    bytesOf({ at: 0, context: { ...request.context, messages: request.context.messages.slice(0, opening) } });
  expect(others).toHaveLength(3);
  for (const request of others) {
    expect(request.context.messages.length).toBeGreaterThan(opening);
    expect(head(request)).toBe(head(first!));
  }
  const resumed = await runPi(workspace, { args: [...TRUSTED, "--continue"], answers: answers.slice(2) });
  expect(resumed.ended.map(textOf)).toEqual([call]);
});

test("tools beyond the declaration budget are not listed and can be searched and called", async () => {
  const stub = new Stub({ tools: [tool("echo"), tool("find_invoices", "Finds invoices by customer")] });
  const workspace = await compiledWorkspace({ docs: stub.entry }, { codemode: { inlineBudget: 0 } });
  const code = `const [found] = await searchTools("invoices");
    return [found.name, (await tools.mcp__docs__find_invoices({ text: "hi" })).content]`;
  const pi = await runPi(workspace, { args: TRUSTED, answers: [{ call: ["codemode", { code }] }, ...DONE] });
  expect(promptOf(pi)).not.toContain("find_invoices");
  expect(textOf(pi.ended.at(-1))).toContain("mcp__docs__find_invoices");
  expect(textOf(pi.ended.at(-1))).toContain("hi");
});

test("a hidden tool is in no request and can't be called", async () => {
  const stub = new Stub({ tools: [tool("echo"), tool("wipe")] });
  const workspace = await compiledWorkspace({ docs: { ...stub.entry, toolExposure: { wipe: "hidden" } } });
  const code = `return [ALL_TOOLS.filter((one) => one.name.includes("wipe")).length, typeof tools.mcp__docs__echo, await tools.mcp__docs__wipe({}).catch((error) => "refused")]`;
  const pi = await runPi(workspace, { args: TRUSTED, answers: [{ call: ["codemode", { code }] }, ...DONE] });
  expect(promptOf(pi)).not.toContain("wipe");
  expect(stub.log().filter(({ method }) => method === "tools/call")).toEqual([]);
  expect(textOf(pi.ended.at(-1))).not.toContain('"hi"');
});

test("autoEnableCodemode: false leaves codemode alone and says that tools can't be reached", async () => {
  const stub = new Stub({ tools: [tool("echo")] });
  const workspace = await compiledWorkspace({ docs: stub.entry }, { autoEnableCodemode: false });
  const pi = await runPi(workspace, { args: TRUSTED, answers: DONE });
  expect(promptOf(pi)).not.toContain('"name":"codemode"');
  expect(pi.stderr).toContain("autoEnableCodemode is false");
});

test.each([
  ["nobody has decided", [], "nobody has trusted this folder"],
  ["--no-approve", ["--no-approve"], ""],
])("nothing of a project is used: %s", async (_, args, told) => {
  const [mine, theirs] = [new Stub({ tools: [tool("echo")] }), new Stub({ tools: [tool("steal")] })];
  const workspace = new Workspace();
  workspace.write("agent/mcp.json", { mcpServers: { mine: mine.entry } });
  // Both compiled and not: neither may be looked at.
  workspace.servers({ theirs: theirs.entry });
  await workspace.compile();
  workspace.servers({ theirs: theirs.entry, fresh: theirs.entry });
  const starts = theirs.starts();
  const code = `return ALL_TOOLS.map((one) => one.name).filter((name) => name.startsWith("mcp__"))`;
  const pi = await runPi(workspace, { args, answers: [{ call: ["codemode", { code }] }, ...DONE] });
  expect(textOf(pi.ended.at(-1))).toContain("mcp__mine__echo");
  expect(textOf(pi.ended.at(-1))).not.toContain("theirs");
  expect(promptOf(pi)).not.toContain("theirs");
  expect(pi.stderr).toContain(told);
  expect(theirs.starts()).toBe(starts);
});

test("artifacts that are torn are one notice that names the remedy, and Pi goes on", async () => {
  const workspace = await compiledWorkspace({ docs: new Stub({ tools: [tool("echo")] }).entry });
  writeFileSync(join(workspace.project, "generated", "exposure.json"), "{}");
  const pi = await runPi(workspace, { args: TRUSTED, answers: DONE });
  expect(pi.code).toBe(0);
  expect(pi.stderr.match(/run `pimcp compile`/g)).toHaveLength(1);
  expect(promptOf(pi)).not.toContain("mcp__docs");
});

test("a configuration newer than its artifacts is said once; the compiled tools work", async () => {
  const stub = new Stub({ tools: [tool("echo")] });
  const workspace = await compiledWorkspace({ docs: stub.entry });
  workspace.servers({ docs: { ...stub.entry, exposure: "direct" } });
  const pi = await runPi(workspace, { args: TRUSTED, answers: DONE });
  expect(pi.stderr.match(/run `pimcp compile`/g)).toHaveLength(1);
  expect(promptOf(pi)).toContain("mcp__docs__echo");
});

test("a server that was never compiled is compiled in the background, and its tools appear", async () => {
  const stub = new Stub({ tools: [tool("echo")] });
  const workspace = new Workspace();
  workspace.servers({ docs: stub.entry });
  const pi = startPi(workspace, { mode: "rpc", args: TRUSTED, answers: [...DONE, ...DONE] });
  const says = (text: string) => eventually(() => pi.stdout().includes(text), `Pi says ${text}`, 45_000);
  pi.child.stdin!.write(`${JSON.stringify({ type: "prompt", message: "one" })}\n`);
  await says("Compiling MCP servers for the first time: docs");
  await says("MCP servers are ready: docs");
  await eventually(() => pi.requests().length === 1, "the first request");
  pi.child.stdin!.write(`${JSON.stringify({ type: "prompt", message: "two", streamingBehavior: "followUp" })}\n`);
  await eventually(() => pi.requests().length === 2, "the second request");
  expect(bytesOf(pi.requests()[1])).toContain("mcp__docs__echo");
  expect(workspace.has("project/generated/manifest.json")).toBe(true);
  pi.child.stdin!.end();
  expect((await pi.finished).code).toBe(0);
});

test("without any configuration there is nothing to say", async () => {
  const workspace = new Workspace();
  const pi = await runPi(workspace, { answers: DONE });
  const bare = await runPi(workspace, { answers: DONE, bare: true });
  expect(pi.stderr).toBe(bare.stderr);
  expect(promptOf(pi)).toBe(promptOf(bare));
});

test("artifacts that are gone in mid-session keep working: a session has what it started with", async () => {
  const stub = new Stub({ tools: [tool("echo")] });
  const workspace = await compiledWorkspace({ docs: stub.entry });
  const pi = startPi(workspace, {
    mode: "rpc",
    args: TRUSTED,
    answers: [
      ...DONE,
      { call: ["codemode", { code: `return (await tools.mcp__docs__echo({ text: "hi" })).content` }] },
      ...DONE,
    ],
  });
  pi.child.stdin!.write(`${JSON.stringify({ type: "prompt", message: "one" })}\n`);
  await eventually(() => pi.requests().length === 1, "the first request");
  rmSync(join(workspace.project, "generated"), { recursive: true });
  pi.child.stdin!.write(`${JSON.stringify({ type: "prompt", message: "two", streamingBehavior: "followUp" })}\n`);
  await eventually(() => pi.requests().length === 3, "the last request");
  expect(JSON.stringify(pi.requests()[2])).toContain("hi");
  pi.child.stdin!.end();
  await pi.finished;
});
