/** What a runtime knows of its connections, how one is ended on purpose, and how a runtime makes way for another. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { RefusedError, ServerError } from "../../runtime/errors.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { Stub, tool } from "../cli/pimcp.ts";
import { scratchFolder } from "../scratch.ts";
import { countProcesses, eventually, serversDir, startHttpStub } from "../servers/run.ts";
import { compiled, RuntimeProject } from "./runtime-project.ts";

const TOOLS = [tool("echo"), tool("sleep"), tool("hang"), tool("crash")];

async function started(options: object = {}) {
  const stub = new Stub({ tools: TOOLS, ...options });
  const project = new RuntimeProject();
  project.servers({ docs: stub.entry });
  await project.compileInProcess();
  const runtime = await project.runtime();
  const heard: string[] = [];
  runtime.onStatus((server) => heard.push(`${server} ${runtime.status(server).state.kind}`));
  return { stub, runtime, heard, project };
}

test("a server is idle, connecting, connected, and idle again when it dies, with how", async () => {
  const { runtime, heard } = await started();
  expect(runtime.status("docs")).toEqual({ state: { kind: "idle" }, drift: undefined });
  expect(runtime.status("unknown").state).toEqual({ kind: "idle" });
  await runtime.call("docs", "echo", {});
  expect(runtime.status("docs").state).toEqual({
    kind: "connected",
    protocolVersion: "2025-11-25",
    transport: "stdio",
  });
  await expect(runtime.call("docs", "crash", { status: 3 })).rejects.toThrow(ServerError);
  await eventually(() => runtime.status("docs").state.kind === "idle", "the end of the connection");
  expect(runtime.status("docs").state).toEqual({ kind: "idle", ended: "exited with status 3" });
  expect(heard.filter((state, index) => state !== heard[index - 1])).toEqual([
    "docs connecting",
    "docs connected",
    "docs idle",
  ]);
});

test("a server that doesn't start has failed, with what it said", async () => {
  const { runtime, stub } = await started();
  stub.set({ exitAtStart: 7, stderr: "no licence\n" });
  await expect(runtime.call("docs", "echo", {})).rejects.toThrow(ServerError);
  const { state } = runtime.status("docs");
  expect(state).toMatchObject({ kind: "failed", finding: { code: "server-unreachable", server: "docs" } });
  stub.set({ tools: [tool("echo")] });
  await runtime.call("docs", "echo", {});
  expect(runtime.status("docs").state.kind).toBe("connected");
});

test("drift is part of the status once it has been looked for", async () => {
  const { runtime, stub } = await started();
  stub.set({ tools: [tool("echo", "Does it otherwise")] });
  await runtime.compareWithServer("docs");
  expect(runtime.status("docs").drift?.tools).toContainEqual({
    tool: "echo",
    change: "changed",
    members: ["description"],
  });
});

test("a connection that is ended on purpose takes its process and its calls, which hear why", async () => {
  const { runtime, stub } = await started();
  await runtime.disconnect("docs");
  const call = runtime.call("docs", "hang", {});
  const refused = expect(call).rejects.toThrow(
    'server "docs": the connection was ended on purpose during tools/call; the call may have run',
  );
  await eventually(() => stub.log().some(({ method }) => method === "tools/call"), "the call");
  await runtime.disconnect("docs");
  await refused;
  expect(runtime.status("docs").state).toEqual({ kind: "idle" });
  expect(countProcesses(stub.marker)).toBe(0);
  await runtime.call("docs", "echo", {});
  expect(runtime.status("docs").state.kind).toBe("connected");
});

test("a runtime that retires finishes what is under way and keeps nothing open after that", async () => {
  const { runtime, stub } = await started();
  const starts = stub.starts();
  const slow = runtime.call("docs", "sleep", { ms: 800 });
  await eventually(() => stub.log().some(({ method }) => method === "tools/call"), "the call");
  await runtime.retire();
  expect((await slow).text).toBe("slept");
  await eventually(() => runtime.status("docs").state.kind === "idle", "the end of the connection");
  expect(stub.starts()).toBe(starts + 1);
  // Whoever still has it can call; nothing stays behind.
  await runtime.call("docs", "echo", {});
  await eventually(() => runtime.status("docs").state.kind === "idle", "the end of the next connection");
  expect(runtime.status("docs").state).toEqual({ kind: "idle" });
});

test("one that retires before its first call keeps nothing open either, and can still be asked", async () => {
  const { runtime } = await started();
  await runtime.retire();
  expect(await runtime.compareWithServer("docs")).toMatchObject({ server: "docs", tools: [] });
  await eventually(() => runtime.status("docs").state.kind === "idle", "the end of the connection");
  expect(runtime.status("docs").state).toEqual({ kind: "idle" });
});

describe("a runtime that makes way for another", () => {
  test("hands over its connections: no process is started again, and calls under way end as they began", async () => {
    const { runtime, stub, project } = await started({ tools: [...TOOLS, tool("log")] });
    const heard: string[] = [];
    const onServerLog = (server: string) => heard.push(server);
    const before = await project.runtime({ onServerLog });
    const slow = before.call("docs", "sleep", { ms: 1500 });
    await eventually(() => before.status("docs").state.kind === "connected", "the connection");
    const starts = stub.starts();
    const after = await project.runtime({ onServerLog });
    await before.retire(after);
    expect(after.status("docs").state.kind).toBe("connected");
    await after.call("docs", "log", { level: "info", data: "once" });
    expect((await slow).text).toBe("slept");
    // Whoever still has the first one asks the same process.
    await before.call("docs", "echo", {});
    await before.disconnect("docs");
    expect(after.status("docs").state.kind).toBe("connected");
    expect(heard).toEqual(["docs"]);
    expect(stub.starts()).toBe(starts);
    // It ends with the second one, and what is said of the end is said once.
    await expect(after.call("docs", "crash", { status: 3 })).rejects.toThrow(ServerError);
    await eventually(() => after.status("docs").state.kind === "idle", "the end of the connection");
    expect(after.status("docs").state).toEqual({ kind: "idle", ended: "exited with status 3" });
    await before.call("docs", "echo", {});
    await after.call("docs", "echo", {});
    expect(stub.starts()).toBe(starts + 1);
    expect(runtime.status("docs").state).toEqual({ kind: "idle" });
    await before.close();
    await after.call("docs", "echo", {});
    expect(stub.starts()).toBe(starts + 1);
  });

  test("hands over one that is being opened, and why one can't be", async () => {
    const { stub, project, runtime } = await started({ startMs: 700 });
    const other = new Stub({ tools: [tool("echo")] });
    project.servers({ docs: stub.entry, other: other.entry });
    await project.compileInProcess();
    other.set({ exitAtStart: 7 });
    const before = await project.runtime();
    await expect(before.call("other", "echo", {})).rejects.toThrow(ServerError);
    const starts = stub.starts();
    const call = before.call("docs", "echo", {});
    await eventually(() => stub.starts() > starts, "the start of the server");
    const after = await project.runtime();
    await before.retire(after);
    expect(after.status("docs").state.kind).toBe("connecting");
    expect(after.status("other").state.kind).toBe("failed");
    await Promise.all([call, after.call("docs", "echo", {})]);
    expect(after.status("docs").state.kind).toBe("connected");
    expect(stub.starts()).toBe(starts + 1);
    await runtime.close();
  });

  test("compares the server with its own artifacts, and the first no longer does", async () => {
    const { stub, project } = await started();
    const before = await project.runtime();
    await before.compareWithServer("docs");
    stub.set({ tools: [tool("list_changed", "Is new")] });
    await project.compileInProcess();
    const after = await project.runtime();
    await before.retire(after);
    await eventually(() => after.status("docs").drift !== undefined, "the comparison");
    expect(after.status("docs").drift?.tools).toEqual([]);
    const lists = stub.lists();
    await after.call("docs", "list_changed", {});
    await eventually(() => stub.lists() > lists, "another comparison");
    await before.call("docs", "echo", {}).catch(() => undefined);
    expect(stub.lists()).toBe(lists + 1);
    expect(project.codes()).not.toContain("tools-drifted");
  });

  test("goes on refusing what changed, and only that, over connections that the other has", async () => {
    const { stub, project } = await started({ startMs: 700 });
    const before = await project.runtime({ onDrift: "block" });
    const starts = stub.starts();
    const call = before.call("docs", "echo", {});
    await eventually(() => stub.starts() > starts, "the start of the server");
    const after = await project.runtime();
    await before.retire(after);
    await call;
    expect(await before.compareWithServer("docs")).toMatchObject({ tools: [] });
    stub.set({ tools: [tool("echo", "Is new"), tool("sleep"), tool("hang"), tool("crash")] });
    await after.disconnect("docs");
    await before.call("docs", "sleep", { ms: 1 });
    await expect(before.call("docs", "echo", {})).rejects.toThrow(RefusedError);
  });

  test("asks without what the server was given, also where it handed over what it was opening", async () => {
    const url = pathToFileURL(join(serversDir, "asking.mjs")).href;
    const begun = join(scratchFolder(), "begun");
    const slowly = `fs.writeFileSync(${JSON.stringify(begun)}, ""); setTimeout(() => import(${JSON.stringify(url)}), 1500)`;
    const project = await compiled({
      s: { command: process.execPath, args: ["-e", slowly], env: { PASSWORD: "Who is there?" } },
    });
    const asked: unknown[] = [];
    const elicitation = async ({ message }: Readonly<Record<string, unknown>>) => {
      asked.push(message);
      return { action: "accept", content: { name: "Ada" } };
    };
    const before = await project.runtime({ handlers: { elicitation } });
    const after = await project.runtime({ handlers: { elicitation } });
    rmSync(begun);
    const call = before.call("s", "greet");
    await eventually(() => existsSync(begun), "the start of the server");
    await before.retire(after);
    expect(after.status("s").state.kind).toBe("connecting");
    expect((await call).text).toBe("hello Ada");
    expect(asked).toEqual(["[redacted]"]);
  });

  test("keeps to itself what a variable of its own may have made, as a credential", async () => {
    const { stub, project } = await started();
    const env = (TOKEN: string) => ({ env: { ...project.surroundings.env, TOKEN } });
    const before = await project.runtime(env("mine"));
    await before.call("docs", "echo", {});
    const starts = stub.starts();
    const after = await project.runtime(env("yours"));
    await before.retire(after);
    expect(after.status("docs").state).toEqual({ kind: "idle" });
    await after.call("docs", "echo", {});
    expect(stub.starts()).toBe(starts + 1);
  });

  test("keeps a connection that would be another one now until its calls are done", async () => {
    const { stub, project } = await started();
    const before = await project.runtime();
    const slow = before.call("docs", "sleep", { ms: 800 });
    await eventually(() => stub.log().some(({ method }) => method === "tools/call"), "the call");
    const starts = stub.starts();
    project.servers({ docs: { ...stub.entry, args: [...stub.entry.args, "--other"], exposure: "direct" } });
    const after = await project.runtime();
    await before.retire(after);
    expect(after.status("docs").state).toEqual({ kind: "idle" });
    await after.call("docs", "echo", {});
    expect(stub.starts()).toBe(starts + 1);
    expect((await slow).text).toBe("slept");
    await eventually(() => countProcesses(stub.marker) === 1, "the end of the first process");
    expect(after.status("docs").state.kind).toBe("connected");
  });
});

describe("what is made ready for a call", () => {
  const entryOf = (runtime: Runtime) => runtime.table.byTool("docs", "echo")!;

  test("is the server's process, which the call finds, and nothing of one that has ended", async () => {
    const { runtime, stub } = await started({ startMs: 300 });
    const starts = stub.starts();
    const ready = runtime.prepare(entryOf(runtime));
    await eventually(() => stub.starts() > starts, "the start of the server");
    await Promise.all([ready, runtime.call("docs", "echo", {})]);
    expect(stub.starts()).toBe(starts + 1);
    await runtime.disconnect("docs");
    const late = expect(runtime.prepare(entryOf(runtime))).rejects.toThrow(ServerError);
    await eventually(() => stub.starts() > starts + 1, "another start");
    await runtime.close();
    await late;
    expect(countProcesses(stub.marker)).toBe(0);
  });

  test("is nothing over HTTP, though it was compiled as a process", async () => {
    const { runtime, project } = await started();
    const far = await startHttpStub({ tools: TOOLS });
    onTestFinished(() => far.stop());
    project.servers({ docs: { type: "http", url: far.url, headers: { authorization: "Bearer mine" } } });
    await runtime.prepare(entryOf(runtime));
    expect(far.log()).toEqual([]);
    await runtime.call("docs", "echo", {});
    expect(far.log()).not.toEqual([]);
  });
});

test("a server's log notices are handed on without what the server was given", async () => {
  const stub = new Stub({ tools: [tool("log")] });
  const project = new RuntimeProject();
  project.servers({ docs: { ...stub.entry, env: { ...stub.entry.env, REGION: "somewhere far away in words" } } });
  await project.compileInProcess();
  const heard: unknown[] = [];
  const runtime = await project.runtime({ onServerLog: (server, params) => heard.push([server, params]) });
  await runtime.call("docs", "log", { level: "info", data: { at: "somewhere far away in words" } });
  await eventually(() => heard.length > 0, "the notice");
  expect(heard).toEqual([["docs", { level: "info", data: { at: "[redacted]" } }]]);
});
