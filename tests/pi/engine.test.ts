/** `"codemode": { "engine": "pimcp" }`: Pi's codemode tool with pimcp's sandbox under it. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { Stub, tool } from "../cli/pimcp.ts";
import { eventually } from "../servers/run.ts";
import {
  type Answer,
  compiledWorkspace,
  type FinishedPi,
  type PiEvent,
  type PiOptions,
  runPi,
  startPi,
  textOf,
} from "./pi.ts";

// Each test starts Pi several times, and a compile before.
vi.setConfig({ testTimeout: 180_000 });

const OTHER_TOOLS = join(import.meta.dirname, "script-extension.mjs");
const GATE = join(import.meta.dirname, "other-extension.mjs");
const ENGINE = { codemode: { engine: "pimcp" } };
const DONE: Answer = { text: "done" };
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const CONTEXT = `{ state: {}, questions: { q: { type: "bool", instructions: "", criteria: { true: "a", false: "b" } } } }`;

const script = (code: string): Answer => ({ call: ["codemode", { code }] });

const compiled = (stub: Stub, topLevel: object = ENGINE) => compiledWorkspace({ docs: stub.entry }, topLevel);

function codemodeEnds(pi: FinishedPi): readonly PiEvent[] {
  return pi.ended.filter(({ toolName, parentToolCallId }) => toolName === "codemode" && !parentToolCallId);
}

/** Runs scripts one after the other in one session. */
async function running(
  scripts: readonly string[],
  options: Partial<PiOptions> & { stub?: Stub; topLevel?: object } = {},
) {
  const { stub = new Stub({ tools: [tool("echo")] }), topLevel = ENGINE, ...more } = options;
  const workspace = await compiled(stub, topLevel);
  const env = { GATE_LOG: join(workspace.root, "gate.log"), ...more.env };
  const answers = [...scripts.map(script), DONE];
  const pi = await runPi(workspace, { args: ["--approve"], extensions: [OTHER_TOOLS], answers, ...more, env });
  return { workspace, stub, pi, ends: codemodeEnds(pi), results: codemodeEnds(pi).map(textOf) };
}

/** What the model is told of the tool. */
function declaredTool(pi: FinishedPi, name = "codemode") {
  const systems = pi.requests[0]!.context.messages.filter(({ role }) => role === "system");
  const declared = systems.flatMap(
    (message) => (message as { toolsAdded?: readonly { name: string }[] }).toolsAdded ?? [],
  );
  return declared.find((one) => one.name === name) as
    | { name: string; description: string; parameters: unknown }
    | undefined;
}

test("a script reaches every tool of the session, and prints as Pi's own would", async () => {
  const rows: readonly (readonly [script: string, result: string])[] = [
    [`const r = await tools.mcp__docs__echo({ text: "hi" }); return [r.content[0].text, r.structured]`, "hi"],
    [`return (await tools.bash({ command: "echo $((6*7)); exit 3" })).exit_code`, "\n3"],
    [`await tools.write({ path: "a.txt", content: "one" }); return await tools.read({ path: "a.txt" })`, "one"],
    [`return [await tools.plain_tool({ word: "w" }), (await tools.typed_tool({ a: 1, b: 2 })).sum]`, '["plain w",3]'],
    [`return [await tools.my_tool({}), await tools["my-tool"]({})]`, '["dashed","dashed"]'],
    [
      `return ["hidden_tool" in tools ? tools.hidden_tool : 0, "asking_tool" in tools, "codemode" in tools]`,
      "[0,false,false]",
    ],
    [`try { await tools.image_tool({}) } catch (error) { return error.message }`, "no image"],
    [
      `const names = ALL_TOOLS.map((tool) => tool.name); return names.includes("bash") && names.includes("mcp__docs__echo")`,
      "true",
    ],
    [`return (await searchTools("echo"))[0]`, "mcp__docs__echo(args"],
    [`return (await searchTools("plain word"))[0]`, "Does plain_tool"],
    [`return (await searchTools("echo", { namespace: "docs" })).map((tool) => tool.name)`, '["mcp__docs__echo"]'],
    [`return await describeNamespace("docs")`, '"tools":["mcp__docs__echo"]'],
    [`return await describeTool("typed_tool")`, "typed_tool(args: {a: number; b: number}): Promise<{sum: number}>"],
    [`return String(await describeTool("hidden_tool"))`, "undefined"],
    [`text("one"); text({ two: 2 }); console.log("said", 3); return null`, '==> text 2/3 <==\n{"two":2}'],
    [`console.log("said", 3)`, "<console_output>\nsaid 3\n</console_output>"],
    [`text("kept"); throw new Error("mine")`, "Script error:\nError: mine"],
    [`const n: number = 5; exit(); text(n)`, "Script completed"],
    [`// @options: {"max_output_tokens": 20}\nreturn "x".repeat(5000)`, "truncated"],
    [`return (await models.getModelsOfType("chat", "scripted")).map((model) => model.id)`, '["one"]'],
    [`return String(await models.getModelOfType("image", "a", "b"))`, "undefined"],
    [
      `try { await models.classify({ provider: "a", id: "b" }, ${CONTEXT}) } catch (error) { return error.message }`,
      "there is no classifier model a/b",
    ],
    [
      `try { await models.classify({ provider: "scripted", id: "one" }, ${CONTEXT}) } catch (error) { return error.message }`,
      "scripted/one is of type chat",
    ],
  ];
  const { results, pi } = await running(rows.map(([code]) => code));
  const wrong = rows.flatMap(([code, want], index) =>
    results[index]!.includes(want) ? [] : [[code, want, results[index]]],
  );
  expect(wrong).toEqual([]);
  expect(results[0]).toMatch(/^Script completed\nWall time \d+\.\d seconds\nOutput:\n/);
  const path = (codemodeEnds(pi)[18]!.result!.details as { fullOutputPath: string }).fullOutputPath;
  expect(results[18]).toContain(path);
  expect(statSync(path)).toMatchObject({ size: 5000 });
});

test("a script is checked first, with what the other tools resolve to", async () => {
  const { results, stub } = await running([
    `await tools.mcp__docs__echo({ text: "x" });\nawait tools.mcp__docs__ehco({});`,
    `const r = await tools.bash({ command: "exit 3" }); return r.exit_cod`,
    `const { total } = await tools.typed_tool({ a: 1, b: 2 }); return total`,
    `return (await tools.mcp__docs__echo({ text: "x" })).structured`,
  ]);
  expect(results[0]).toContain('2:13: error: there is no tool mcp__docs__ehco; did you mean "mcp__docs__echo"?');
  // Pi's schema leaves room for more, so this may be right.
  expect(results[1]).toMatch(
    /^Script completed.*1:61: warning: exit_cod is not declared here; did you mean "exit_code"\?/s,
  );
  expect(results[2]).toContain("has no total; it has sum");
  expect(results[3]).toContain("Script completed");
  expect(stub.log().filter(({ method }) => method === "tools/call")).toHaveLength(1);
});

test("the model is told the same of it in each session, with Pi's parameters and the compiled declarations", async () => {
  const stub = new Stub({ tools: [tool("echo"), tool("other")] });
  const workspace = await compiled(stub);
  const run = () => runPi(workspace, { args: ["--approve"], extensions: [OTHER_TOOLS], answers: [DONE] });
  const [first, second] = [declaredTool(await run()), declaredTool(await run())];
  workspace.write("project/mcp.json", { mcpServers: { docs: stub.entry } });
  expect((await workspace.compile()).code).toBe(0);
  const ofPi = declaredTool(await run());
  expect(JSON.stringify(first)).toBe(JSON.stringify(second));
  expect(first!.parameters).toEqual(ofPi!.parameters);
  const { description } = first!;
  expect(description).toContain(workspace.read("project/generated/codemode.d.ts").trimEnd());
  // Another extension's tool, under Pi's heading; the compiled ones are not listed twice.
  expect(description).toContain("### `plain_tool`");
  expect(description.match(/mcp__docs__other\(/g)).toHaveLength(1);
  expect(description).toContain("- `models`:");
  expect(ofPi!.description).not.toContain(workspace.read("project/generated/codemode.d.ts").trimEnd());
  expect(declaredTool(await run(), "bash")!.description).toContain("Codemode: `tools.bash(args)`");
});

test('with "codemode.mode": "only" in Pi\'s settings the model is told of every tool in the script tool', async () => {
  const workspace = await compiled(new Stub({ tools: [tool("echo")] }));
  workspace.write("agent/settings.json", { extensions: ["-builtin:mcp"], codemode: { mode: "only" } });
  const pi = await runPi(workspace, { args: ["--approve"], answers: [DONE] });
  expect(declaredTool(pi, "bash")).toBeUndefined();
  const { description } = declaredTool(pi)!;
  expect(description).toContain("### `bash`");
  expect(description).toContain(workspace.read("project/generated/codemode.d.ts").trimEnd());
});

test("calls pass Pi's gates, carry their parent, and are shown as they run", async () => {
  const code = `const all = await Promise.allSettled(["fine", "forbidden"].map((text) => tools.mcp__docs__echo({ text })));
    return all.map((one) => one.status + (one.reason?.message ?? ""))`;
  // Longer than a row that changes waits before it is shown.
  const slow = new Stub({ tools: [tool("echo")], delayMs: { "tools/call": 300 } });
  const { pi, ends, stub, workspace, results } = await running([code], { extensions: [GATE], stub: slow });
  expect(results[0]).toContain('["fulfilled","rejectedthe gate said no"]');
  const nested = pi.ended.filter(({ parentToolCallId }) => parentToolCallId === ends[0]!.toolCallId);
  expect(nested.map(({ toolName, isError }) => [toolName, isError]).sort()).toEqual([
    ["mcp__docs__echo", false],
    ["mcp__docs__echo", true],
  ]);
  const { calls } = ends[0]!.result!.details as {
    calls: { id: string; name: string; status: string; error?: string }[];
  };
  expect(calls).toMatchObject([
    { name: "mcp__docs__echo", args: '{"text":"fine"}', status: "ok" },
    { name: "mcp__docs__echo", args: '{"text":"forbidden"}', status: "error", error: "the gate said no" },
  ]);
  expect(calls.map(({ id }) => id).sort()).toEqual(nested.map(({ toolCallId }) => toolCallId).sort());
  const updates = pi.events.filter(
    ({ type, toolCallId }) => type === "tool_execution_update" && toolCallId === ends[0]!.toolCallId,
  );
  expect(JSON.stringify(updates)).toContain('"status":"running"');
  expect(stub.log().filter(({ method }) => method === "tools/call")).toHaveLength(1);
  expect(workspace.read("gate.log")).toContain('"parent"');
});

test("an image is shown and saved", async () => {
  const result = { content: [{ type: "image", data: PNG, mimeType: "image/png" }] };
  const stub = new Stub({ tools: [tool("echo")], replies: { "tools/call": { result } } });
  const { ends, results } = await running(["image((await tools.mcp__docs__echo({})).content[0])"], { stub });
  expect(ends[0]!.result!.content).toContainEqual({ type: "image", data: PNG, mimeType: "image/png" });
  expect(results[0]).toMatch(/\[Image saved to .+ \(image\/png, /);
});

test("aborting ends a script that never would, and its calls; the next one runs", async () => {
  const stub = new Stub({ tools: [tool("hang")] });
  const workspace = await compiled(stub);
  const code = "const call = tools.mcp__docs__hang({}); await call";
  const answers: Answer[] = [script(code), script("for (;;);"), script("return 7"), DONE];
  const pi = startPi(workspace, { mode: "rpc", args: ["--approve"], answers });
  const send = (command: object) => pi.child.stdin!.write(`${JSON.stringify(command)}\n`);
  const methods = () => stub.log().map(({ method }) => method);
  const count = (type: string) => pi.stdout().split(`"type":"${type}"`).length - 1;
  send({ type: "prompt", message: "go" });
  await eventually(() => methods().includes("tools/call"), "the call", 60_000);
  send({ type: "abort" });
  await eventually(() => methods().includes("notifications/cancelled"), "its cancellation", 60_000);
  await eventually(() => count("agent_settled") === 1, "the end of the first prompt", 60_000);
  send({ type: "prompt", message: "again" });
  await eventually(
    () => /"type":"tool_execution_update"[^\n]*for \(;;\);/.test(pi.stdout()),
    "the second script",
    60_000,
  );
  send({ type: "abort" });
  await eventually(() => count("agent_settled") === 2, "the end of the second prompt", 60_000);
  send({ type: "prompt", message: "once more" });
  await eventually(() => count("agent_settled") === 3, "the end of the third prompt", 60_000);
  pi.child.stdin!.end();
  const { ended } = await pi.finished;
  const own = ended.filter(({ toolName }) => toolName === "codemode");
  expect(own.map(({ isError }) => isError)).toEqual([true, true, false]);
  expect(textOf(own[0])).toContain("Script aborted");
  expect(textOf(own[2])).toMatch(/^Script completed.*7$/s);
});

test("two scripts of one message run side by side, each with its own calls", async () => {
  const workspace = await compiled(new Stub({ tools: [tool("echo")] }));
  const calls = ["a", "b"].map(
    (text) =>
      ["codemode", { code: `return (await tools.mcp__docs__echo({ text: "${text}" })).content[0].text` }] as const,
  );
  const pi = await runPi(workspace, { args: ["--approve"], answers: [{ calls }, DONE] });
  const own = codemodeEnds(pi).map((event) => [textOf(event), JSON.stringify(event.result!.details)]);
  for (const text of ["a", "b"]) {
    const [result, details] = own.find(([, shown]) => shown!.includes(`\\"text\\":\\"${text}\\"`))!;
    expect(result).toContain(`"text":"${text}"`);
    expect(JSON.parse(details!).calls).toHaveLength(1);
  }
});

test("what was stored is there in the same session and when it is resumed, not after a failure and not on another branch", async () => {
  const workspace = await compiled(new Stub({ tools: [tool("echo")] }));
  const sessions = join(workspace.root, "sessions");
  const run = (codes: readonly string[], ...args: string[]) =>
    runPi(workspace, {
      args: ["--approve", "--session-dir", sessions, ...args],
      answers: [...codes.map(script), DONE],
    });
  const first = await run([
    `store("n", { a: 1 }); store("gone", 1)`,
    `store("gone", undefined); store("n", { ...load("n"), b: 2 }); return load("n")`,
    `store("n", "lost"); throw new Error("no")`,
  ]);
  expect(codemodeEnds(first).map(textOf)[1]).toContain('{"a":1,"b":2}');
  const look = `return [load("n"), String(load("gone"))]`;
  const resumed = await run([look], "--continue");
  expect(codemodeEnds(resumed).map(textOf)[0]).toContain('[{"a":1,"b":2},"undefined"]');
  const [file] = readdirSync(sessions, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".jsonl"));
  const text = workspace.read(`sessions/${file}`);
  expect(text.match(/"customType":"codemode-store"/g)).toHaveLength(2);
  // Pi's own engine reads what this one wrote.
  workspace.write("project/mcp.json", { ...JSON.parse(workspace.read("project/mcp.json")), codemode: {} });
  const ofPi = await run([look], "--continue");
  expect(codemodeEnds(ofPi).map(textOf)[0]).toContain('[{"a":1,"b":2},"undefined"]');
  const fresh = await run([`return String(load("n"))`]);
  expect(codemodeEnds(fresh).map(textOf)[0]).toContain("undefined");
});

test("after a step back in the tree and after a fork a script finds what its own path stored", async () => {
  const workspace = await compiled(new Stub({ tools: [tool("echo")] }));
  const count = script(`const n = load("n") ?? 0; store("n", n + 1); return "there were " + n`);
  const answers = [count, DONE, count, DONE, count, DONE];
  const args = ["--approve", "--session-dir", join(workspace.root, "sessions")];
  const pi = startPi(workspace, { mode: "rpc", args, answers, extensions: [OTHER_TOOLS] });
  let sent = 0;
  /** Sends a command and waits for its answer. */
  const ask = async (command: object): Promise<{ success: boolean; data?: unknown }> => {
    const id = `ask-${++sent}`;
    pi.child.stdin!.write(`${JSON.stringify({ id, ...command })}\n`);
    const answer = () =>
      pi
        .stdout()
        .split("\n")
        .find((line) => line.includes(`"id":"${id}"`) && line.endsWith("}"));
    await eventually(() => answer() !== undefined, JSON.stringify(command), 60_000);
    return JSON.parse(answer()!);
  };
  const settled = () => pi.stdout().split('"type":"agent_settled"').length - 1;
  const prompt = async (message: string) => {
    const before = settled();
    await ask({ type: "prompt", message });
    await eventually(() => settled() > before, `the end of ${message}`, 60_000);
  };
  await prompt("first");
  await prompt("second");
  expect(await ask({ type: "prompt", message: "/back" })).toMatchObject({ success: true });
  await prompt("third");
  const { data } = await ask({ type: "get_fork_messages" });
  const { messages } = data as { messages: readonly { entryId: string; text: string }[] };
  expect(await ask({ type: "fork", entryId: messages.find(({ text }) => text === "third")!.entryId })).toMatchObject({
    success: true,
  });
  await prompt("fourth");
  pi.child.stdin!.end();
  const said = codemodeEnds(await pi.finished).map((event) => /there were \d/.exec(textOf(event))?.[0]);
  expect(said).toEqual(["there were 0", "there were 1", "there were 1", "there were 1"]);
});

test("an untrusted project doesn't choose the engine", async () => {
  const { pi } = await running([], { args: ["--no-approve"] });
  expect(declaredTool(pi)?.description ?? "").not.toContain("Run JavaScript or TypeScript");
});
