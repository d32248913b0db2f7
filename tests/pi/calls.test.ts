/** Calls of MCP tools in a real Pi: by the model, by scripts, through gates, cut, cancelled, failing. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Stub, tool } from "../cli/pimcp.ts";
import { countProcesses, eventually } from "../servers/run.ts";
import { type Answer, compiledWorkspace, type PiOptions, runPi, startPi, textOf } from "./pi.ts";

const DONE: Answer = { text: "done" };
const OTHER = join(import.meta.dirname, "other-extension.mjs");

/** One server `docs`, compiled. */
const docs = (stub: Stub, entry: object = {}) => compiledWorkspace({ docs: { ...stub.entry, ...entry } });

/** Answers the model's calls one after the other; `docs` is direct. */
async function calling(
  stub: Stub,
  calls: readonly [string, object][],
  options: Partial<PiOptions> & { entry?: object } = {},
) {
  const { entry, ...more } = options;
  const workspace = await docs(stub, { exposure: "direct", ...entry });
  // Direct tools alone activate no codemode.
  workspace.write("agent/settings.json", { extensions: ["-builtin:mcp"], defaultTools: ["+codemode"] });
  const answers: Answer[] = [...calls.map((call) => ({ call })), DONE];
  const env = { GATE_LOG: join(workspace.root, "gate.log"), ...more.env };
  const pi = await runPi(workspace, { args: ["--approve"], answers, ...more, env });
  return { workspace, pi, gate: () => readFileSync(env.GATE_LOG, "utf8") };
}

const script = (code: string): [string, object] => ["codemode", { code }];

test("a direct call gives the model the text and the session the whole result without _meta", async () => {
  const result = {
    content: [{ type: "text", text: "hello" }],
    structuredContent: { a: [1, null] },
    _meta: { secret: 1 },
  };
  const stub = new Stub({ tools: [tool("echo")], replies: { "tools/call": { result } } });
  const { pi } = await calling(stub, [["mcp__docs__echo", {}]]);
  const [ended] = pi.ended;
  expect(ended).toMatchObject({ toolName: "mcp__docs__echo", isError: false });
  expect(ended!.result).toEqual({
    content: [{ type: "text", text: "hello" }],
    details: { server: "docs", tool: "echo" },
    structuredContent: { content: [{ type: "text", text: "hello" }], structuredContent: { a: [1, null] } },
  });
});

test("a tool's own error is an error for the model and a value for scripts", async () => {
  const result = { content: [{ type: "text", text: "disk full" }], structuredContent: { code: 7 }, isError: true };
  const stub = new Stub({ tools: [tool("echo")], replies: { "tools/call": { result } } });
  const code = `const result = await tools.mcp__docs__echo({}); return [result.isError, result.structuredContent]`;
  const { pi } = await calling(stub, [["mcp__docs__echo", {}], script(code)]);
  expect(pi.ended[0]).toMatchObject({ isError: true });
  expect(textOf(pi.ended[0])).toBe("disk full");
  expect(textOf(pi.ended.at(-1))).toContain('[true,{"code":7}]');
});

test.each([true, false])(
  "an image stays an image, and a script can pass it on: Pi as a bundle, %s",
  async (bundled) => {
    const data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const result = { content: [{ type: "image", data, mimeType: "image/png" }] };
    const stub = new Stub({ tools: [tool("echo")], replies: { "tools/call": { result } } });
    const code = "image((await tools.mcp__docs__echo({})).content[0])";
    const { pi } = await calling(stub, [["mcp__docs__echo", {}], script(code)], { bundled });
    expect(pi.ended[0]!.result!.content).toEqual([{ type: "image", data, mimeType: "image/png" }]);
    expect(pi.ended.at(-1)!.result!.content).toContainEqual({ type: "image", data, mimeType: "image/png" });
  },
);

test("output over the limit is cut for the model, whole for scripts, and all of it is in the file it names", async () => {
  const stub = new Stub({ tools: [tool("big")] });
  const code = `return (await tools.mcp__docs__big({ bytes: 50000 })).content[0].text.length`;
  const { pi } = await calling(stub, [["mcp__docs__big", { bytes: 50_000 }], script(code)], {
    entry: { maxOutputBytes: 1000 },
  });
  const text = textOf(pi.ended[0]);
  expect(text).toMatch(/…\d+ chars truncated…/);
  expect(text.length).toBeLessThan(2000);
  const { fullOutputPath } = pi.ended[0]!.result!.details as { fullOutputPath: string };
  expect(text).toContain(fullOutputPath);
  expect(statSync(fullOutputPath)).toMatchObject({ size: 50_000 });
  expect(statSync(fullOutputPath).mode & 0o077).toBe(0);
  expect(textOf(pi.ended.at(-1))).toContain("50000");
});

test("progress reaches the tool's row", async () => {
  const stub = new Stub({ tools: [tool("progress")] });
  const { pi } = await calling(stub, [["mcp__docs__progress", { steps: 3, ms: 20 }]]);
  const updates = pi.events.filter(({ type }) => type === "tool_execution_update");
  // In short succession not each of them, but always the last.
  expect(updates.map((event) => event.partialResult?.content[0]?.text).join(" ")).toMatch(/1.*3/);
});

test("gates see every call, a script's with its parent, and what they block is never sent", async () => {
  const stub = new Stub({ tools: [tool("echo")] });
  const code = `await tools.mcp__docs__echo({ text: "fine" }); await tools.mcp__docs__echo({ text: "forbidden" })`;
  const calls: [string, object][] = [["mcp__docs__echo", { text: "forbidden" }], script(code)];
  const { pi, gate } = await calling(stub, calls, { extensions: [OTHER] });
  const seen = gate()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { tool: string; parent?: string });
  expect(seen.map((call) => [call.tool, call.parent !== undefined])).toEqual([
    ["mcp__docs__echo", false],
    ["codemode", false],
    ["mcp__docs__echo", true],
    ["mcp__docs__echo", true],
  ]);
  expect(textOf(pi.ended[0])).toContain("the gate said no");
  expect(textOf(pi.ended.at(-1))).toContain("the gate said no");
  const sent = stub.log().filter(({ method }) => method === "tools/call");
  expect(sent.map(({ params }) => (params as { arguments: unknown }).arguments)).toEqual([{ text: "fine" }]);
});

test("tool-meta answers at once, undeclared tools included; a name of another extension is left to it", async () => {
  const stub = new Stub({ tools: [{ ...tool("echo"), _meta: { "a/b": { deep: 1 } } }, tool("plain"), tool("owned")] });
  const calls: [string, object][] = [
    ["ask_meta", {}],
    ["mcp__docs__owned", {}],
  ];
  const { pi } = await calling(stub, calls, { extensions: [OTHER], entry: { exposure: "codemode" } });
  expect(JSON.parse(textOf(pi.ended[0]))).toEqual({ mcp__docs__echo: { "a/b": { deep: 1 } } });
  expect(textOf(pi.ended[1])).toBe("not MCP");
  expect(pi.stderr).toContain("mcp__docs__owned belongs to another extension");
});

test("a server that is gone is an error of the call that says why; the session goes on", async () => {
  const stub = new Stub({ tools: [tool("echo")] });
  const workspace = await docs(stub, { exposure: "direct" });
  stub.set({ tools: [tool("echo")], exitAtStart: 9, stderr: "no license\n" });
  const answers: Answer[] = [{ call: ["mcp__docs__echo", {}] }, DONE];
  const pi = await runPi(workspace, { args: ["--approve"], answers });
  expect(pi.ended[0]).toMatchObject({ isError: true });
  expect(textOf(pi.ended[0])).toContain('"docs"');
  expect(textOf(pi.ended[0])).toContain("no license");
  expect(pi.requests).toHaveLength(2);
});

test("a server whose tools differ from the compiled ones is said once", async () => {
  const stub = new Stub({ tools: [tool("echo")] });
  const workspace = await docs(stub, { exposure: "direct" });
  stub.set({ tools: [tool("echo", "Does something else now")] });
  const call = { call: ["mcp__docs__echo", { text: "hi" }] } as const;
  const pi = await runPi(workspace, { args: ["--approve"], answers: [call, call, DONE] });
  expect(pi.stderr.match(/differ from those compiled/g)).toHaveLength(1);
  expect(textOf(pi.ended[1])).toContain("hi");
});

test("with onDrift block a tool that changed is refused, and its server never hears of the call", async () => {
  const stub = new Stub({ tools: [tool("echo"), tool("same")] });
  const workspace = await docs(stub, { exposure: "direct" });
  workspace.write("agent/mcp.json", { onDrift: "block" });
  stub.set({ tools: [tool("echo", "Does something else now"), tool("same")] });
  const answers: Answer[] = [{ call: ["mcp__docs__echo", {}] }, { call: ["mcp__docs__same", { text: "hi" }] }, DONE];
  const pi = await runPi(workspace, { args: ["--approve"], answers });
  expect(pi.ended[0]).toMatchObject({ isError: true });
  expect(textOf(pi.ended[0])).toMatch(/not known to be what was compiled: other description.*pimcp compile/);
  expect(textOf(pi.ended[1])).toContain("hi");
  const called = stub.log().flatMap(({ method, params }) => (method === "tools/call" ? [params!["name"]] : []));
  expect(called).toEqual(["same"]);
});

test("aborting cancels the call at the server, and ending Pi leaves no process", async () => {
  const stub = new Stub({ tools: [tool("hang")] });
  const workspace = await docs(stub, { exposure: "direct" });
  const answers: Answer[] = [{ call: ["mcp__docs__hang", {}] }, DONE];
  const pi = startPi(workspace, { mode: "rpc", args: ["--approve"], answers });
  const methods = () => stub.log().map((entry) => entry.method);
  pi.child.stdin!.write(`${JSON.stringify({ type: "prompt", message: "go" })}\n`);
  await eventually(() => methods().includes("tools/call"), "the call");
  pi.child.stdin!.write(`${JSON.stringify({ type: "abort" })}\n`);
  await eventually(() => methods().includes("notifications/cancelled"), "its cancellation");
  expect(countProcesses(stub.marker)).toBeGreaterThan(0);
  pi.child.stdin!.end();
  await pi.finished;
  await eventually(() => countProcesses(stub.marker) === 0, "the server's end");
});

test("resources are listed and read; what only MCP Apps can show is left out", async () => {
  const resource = { uri: "file:///a.txt", name: "a", icons: [], _meta: { x: 1 } };
  const stub = new Stub({
    tools: [tool("echo")],
    capabilities: { tools: {}, resources: {} },
    resources: true,
    replies: {
      "resources/list": { result: { resources: [resource, { uri: "ui://x", name: "app" }] } },
      "resources/read": { result: { contents: [{ uri: "file:///a.txt", text: "the text" }] } },
    },
  });
  const calls: [string, object][] = [
    ["list_mcp_resources", {}],
    ["read_mcp_resource", { server: "docs", uri: "file:///a.txt" }],
    ["read_mcp_resource", { server: "nope", uri: "file:///a.txt" }],
  ];
  const { pi } = await calling(stub, calls);
  const listed = { resources: [{ server: "docs", uri: "file:///a.txt", name: "a" }] };
  expect(JSON.parse(textOf(pi.ended[0]))).toEqual(listed);
  expect(pi.ended[0]!.result!.structuredContent).toEqual(listed);
  expect(textOf(pi.ended[1])).toContain("the text");
  expect(pi.ended[1]!.result!.structuredContent).toEqual({
    server: "docs",
    uri: "file:///a.txt",
    contents: [{ uri: "file:///a.txt", text: "the text" }],
  });
  expect(textOf(pi.ended[2])).toContain("those that have: docs");
});

test("two Pi processes at once each have a server of their own", async () => {
  const stub = new Stub({ tools: [tool("echo")] });
  const workspace = await docs(stub, { exposure: "direct" });
  const before = stub.starts();
  const answers: Answer[] = [{ call: ["mcp__docs__echo", { text: "hi" }] }, DONE];
  const both = [1, 2].map(() => runPi(workspace, { args: ["--approve"], answers }));
  for (const pi of await Promise.all(both)) expect(textOf(pi.ended[0])).toContain("hi");
  expect(stub.starts()).toBe(before + 2);
});
