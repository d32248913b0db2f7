/** Sessions of a Pi process that come and go while pimcp is at work: replaced, reloaded, forked, resumed, ended, several at a time. */
import { describe, expect, test } from "vitest";
import { Stub, tool } from "../cli/pimcp.ts";
import { countProcesses, eventually } from "../servers/run.ts";
import { LivePi } from "./live-pi.ts";
import { compiledWorkspace } from "./pi.ts";

const PATIENCE_MS = 30_000;
const TEST_MS = 120_000;
const TOOLS = { tools: [tool("echo"), tool("hang")] };
const HI = '{"text":"hi"}';

const asked = (stub: Stub, method: string) => stub.log().filter((entry) => entry.method === method).length;
const hangs = (stub: Stub) => stub.log().filter(({ params }) => params?.["name"] === "hang").length;
const until = (condition: () => boolean, what: string) => eventually(condition, what, PATIENCE_MS);
const gone = (stub: Stub) => until(() => countProcesses(stub.marker) === 0, "the server being gone");

test("a session that is replaced in mid-call ends the call, and the next one's tools work", {
  timeout: TEST_MS,
}, async () => {
  const stub = new Stub(TOOLS);
  const workspace = await compiledWorkspace({
    docs: { ...stub.entry, exposure: "direct" },
    side: { ...stub.entry, description: "The same for scripts" },
  });
  const pi = new LivePi(workspace);
  const script = { code: "return await tools.mcp__side__hang({})" };
  const sessionFile = async () => (await pi.data({ type: "get_state" }))["sessionFile"] as string;
  const lastPrompt = async () => {
    const { messages } = await pi.data({ type: "get_fork_messages" });
    return (messages as { entryId: string }[]).at(-1)!.entryId;
  };
  const first = await sessionFile();
  const replacements: [what: string, call: [string, object], replace: () => Promise<object>][] = [
    ["new", ["mcp__docs__hang", {}], async () => ({ type: "new_session" })],
    ["fork", ["mcp__docs__hang", {}], async () => ({ type: "fork", entryId: await lastPrompt() })],
    ["clone, with a script", ["codemode", script], async () => ({ type: "clone" })],
    ["resume", ["mcp__docs__hang", {}], async () => ({ type: "switch_session", sessionPath: first })],
  ];
  for (const [what, [name, args], replace] of replacements) {
    const before = [hangs(stub), asked(stub, "notifications/cancelled")] as const;
    const ended = pi.ended().length;
    pi.call(name, args);
    await until(() => hangs(stub) > before[0], `${what}: the call`);
    expect(await pi.data(await replace()), what).toMatchObject({ cancelled: false });
    expect((await pi.tool(ended)).isError, what).toBe(true);
    expect(asked(stub, "notifications/cancelled"), what).toBe(before[1] + 1);
    await gone(stub);
    expect(await pi.calling("mcp__docs__echo", { text: "hi" }), what).toBe(HI);
  }
  expect(pi.faults()).toEqual([]);
  expect(pi.running.stderr()).toBe("");
  // A reload and a step in the tree: Pi refuses them in mid-call, and the call goes on.
  const before = [hangs(stub), asked(stub, "notifications/cancelled")] as const;
  const entry = await lastPrompt();
  pi.call("mcp__docs__hang");
  await until(() => hangs(stub) > before[0], "the call");
  await pi.command("/again");
  await pi.command(`/go-to ${entry}`);
  expect(pi.faults()).toHaveLength(2);
  expect(asked(stub, "notifications/cancelled")).toBe(before[1]);
  await pi.ask({ type: "abort" });
  expect(asked(stub, "notifications/cancelled")).toBe(before[1] + 1);
  await pi.command(`/go-to ${entry}`);
  expect(await pi.calling("mcp__docs__echo", { text: "hi" })).toBe(HI);
  await pi.command("/again");
  await gone(stub);
  expect(await pi.calling("mcp__docs__echo", { text: "hi" })).toBe(HI);
  expect(pi.faults()).toHaveLength(2);
  expect((await pi.end()).stderr).toBe("");
});

test("what the user started ends with the session it was started in, and leaves nothing behind", {
  timeout: TEST_MS,
}, async () => {
  const prompts = { capabilities: { tools: {}, prompts: {} }, prompts: [{ name: "ask" }] };
  const docs = new Stub({ ...TOOLS, ...prompts, silent: ["prompts/get"] });
  const late = new Stub({ tools: [tool("echo")], silent: ["tools/list"] });
  const workspace = await compiledWorkspace({ docs: { ...docs.entry, exposure: "direct" } });
  const pi = new LivePi(workspace);
  for (const replace of [() => pi.command("/again"), () => pi.data({ type: "new_session" })]) {
    const before = asked(docs, "prompts/get");
    pi.prompt("/mcp__docs__ask");
    await until(() => asked(docs, "prompts/get") > before, "the prompt being asked for");
    await replace();
    await gone(docs);
  }
  // Connecting, and compiling on demand.
  docs.set({ ...TOOLS, ...prompts, startMs: 20_000 });
  for (const command of ["/mcp reconnect docs", "/mcp compile docs"]) {
    const starts = docs.starts();
    pi.prompt(command);
    await until(() => docs.starts() > starts, command);
    await pi.command("/again");
    await gone(docs);
  }
  docs.set({ ...TOOLS, ...prompts });
  expect(pi.statuses()).toEqual({});
  // Compiling in the background: the next session does it again, and the one after that has the tools.
  workspace.servers({ docs: { ...docs.entry, exposure: "direct" }, late: { ...late.entry, exposure: "direct" } });
  await pi.command("/again");
  await until(() => asked(late, "tools/list") === 1, "the compile");
  late.set({ tools: [tool("echo")], startMs: 500 });
  await pi.data({ type: "new_session" });
  await until(() => pi.notices().includes("MCP servers are ready: late"), "the tools being ready");
  expect(pi.notices().filter((text) => text.startsWith("Compiling MCP servers"))).toHaveLength(2);
  expect(await pi.calling("mcp__late__echo", { text: "hi" })).toBe(HI);
  expect(await pi.calling("mcp__docs__echo", { text: "hi" })).toBe(HI);
  expect(pi.faults()).toEqual([]);
  expect((await pi.end()).stderr).toBe("");
  await Promise.all([gone(docs), gone(late)]);
});

describe.skipIf(process.platform === "win32")("a signal", () => {
  test("ends Pi, its servers in mid-call, what these started, and a compile in the background; other processes go on", {
    timeout: TEST_MS,
  }, async () => {
    const docs = new Stub({ ...TOOLS, grandchild: true, ignoreStdinClose: true });
    const slow = new Stub({ silent: ["tools/list"] });
    const entry = { ...docs.entry, exposure: "direct" };
    const workspace = await compiledWorkspace({ docs: entry });
    await gone(docs);
    workspace.servers({ docs: entry, slow: slow.entry });
    const signals = ["SIGTERM", "SIGHUP", "SIGINT"] as const;
    const pis = signals.map((signal) => ({ signal, pi: new LivePi(workspace) }));
    for (const { pi } of pis) pi.call("mcp__docs__hang");
    await until(() => hangs(docs) === 3 && asked(slow, "tools/list") === 3, "everything being under way");
    for (const [index, { signal, pi }] of pis.entries()) {
      pi.running.child.kill(signal);
      await pi.running.finished;
      const left = 2 - index;
      await until(() => countProcesses(docs.marker) === 2 * left, `${signal}: the servers of one process being gone`);
      await until(() => countProcesses(slow.marker) === left, `${signal}: the compile of one process being gone`);
    }
  });
});

test("a session that was killed in mid-call is resumed by another process", async () => {
  const stub = new Stub(TOOLS);
  const workspace = await compiledWorkspace({ docs: { ...stub.entry, exposure: "direct" } });
  const killed = new LivePi(workspace);
  expect(await killed.calling("mcp__docs__echo", { text: "hi" })).toBe(HI);
  killed.call("mcp__docs__hang");
  await until(() => hangs(stub) === 1, "the call");
  killed.running.child.kill("SIGKILL");
  await gone(stub);
  const pi = new LivePi(workspace, { args: ["--approve", "--continue"] });
  expect(await pi.calling("mcp__docs__echo", { text: "hi" })).toBe(HI);
  expect(JSON.stringify((await pi.request()).context.messages)).toContain("mcp__docs__hang");
  expect(pi.faults()).toEqual([]);
  expect((await pi.end()).stderr).toBe("");
});
