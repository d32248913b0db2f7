/** (c) Connecting: each reported fault, from a server that behaves so to a compile, a call and a watch. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CompileJson } from "../../cli/compile-command.ts";
import type { ServerError } from "../../runtime/errors.ts";
import { Stub, statuses, tool, Workspace } from "../cli/pimcp.ts";
import { readTree } from "../golden.ts";
import { rejection } from "../runtime/runtime-project.ts";
import { countProcesses, eventually } from "../servers/run.ts";
import { call, catalogTools, compiledOk, compiledProduct, findingsOn, serve } from "./product.ts";

const methods = (stub: Stub) => stub.log().flatMap(({ method }) => method ?? []);
const count = (stub: Stub, method: string) => methods(stub).filter((one) => one === method).length;
const settle = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("SDK #2514, go-sdk #1177, snow-app #56: the probe neither kills nor hangs an old server", async () => {
  const exits = new Stub({ exitUnlessInitialized: true });
  const ignores = new Stub({ ignoreUnknown: true });
  const work = new Workspace();
  work.servers({ exits: exits.entry, ignores: { ...ignores.entry, probeTimeoutMs: 1000 } });
  const json = await compiledOk(work);
  const legacy = { status: "compiled", era: "legacy", protocolVersion: "2025-11-25", tools: 1 };
  expect(json.servers).toMatchObject([
    { name: "exits", ...legacy },
    { name: "ignores", ...legacy },
  ]);
  expect([countProcesses(exits.marker), countProcesses(ignores.marker)]).toEqual([0, 0]);
  // A call needs no probe: one process, and no method that the server doesn't know.
  for (const [name, stub] of [
    ["exits", exits],
    ["ignores", ignores],
  ] as const) {
    const [starts, before] = [stub.starts(), methods(stub).length];
    expect((await call(work, [name, "echo"], { text: "hi" })).code).toBe(0);
    expect(stub.starts()).toBe(starts + 1);
    expect(methods(stub).slice(before)).not.toContain("server/discover");
    expect(countProcesses(stub.marker)).toBe(0);
  }
});

test("azure-devops-mcp #147, mcp-jenkins #6: log lines on stdout are skipped and noted", async () => {
  const stub = new Stub({ noise: ["ready", "", '{"level":"info"}'], tools: [tool("a"), tool("b")] });
  const work = new Workspace();
  work.servers({ s: stub.entry });
  const json = await compiledOk(work);
  expect(json.servers).toMatchObject([{ status: "compiled", tools: 2 }]);
  expect(findingsOn(json, "s", "warning")).toMatchObject([{ code: "stdout-noise" }]);
  expect(JSON.stringify(json.diagnostics)).toContain("ready");
  const runtime = await (await compiledProduct({ s: stub.entry })).runtime();
  for (let n = 0; n < 3; n++) {
    expect((await runtime.call("s", "a", { text: `${n}` })).text).toBe(JSON.stringify({ text: `${n}` }));
  }
  expect(stub.starts()).toBe(new Set(stub.log().map(({ pid }) => pid)).size);
});

test("mastra #10517; SDK #2564, #1635; adapter #411: 401 and 503 say what they are, no GET is needed", async () => {
  const stubs = [401, 503, 404].map(() => new Stub({ http: {} }));
  const [locked, busy, postOnly] = stubs as [Stub, Stub, Stub];
  locked.set({ http: { status: { POST: 401 } } });
  postOnly.set({ http: { status: { GET: 404 } } });
  const urls = await Promise.all(stubs.map(serve));
  const work = await compiledProduct({ busy: urls[1], postOnly: urls[2] });
  const before = readTree(join(work.project, "generated"));

  work.servers({ busy: urls[1], locked: urls[0], postOnly: urls[2] });
  busy.set({ http: { status: { POST: 503 } } });
  const asked = busy.log().length;
  const { code, json } = await work.compile();
  expect(code).toBe(1);
  expect(statuses(json)).toEqual({ busy: "stale/none", locked: "failed/none", postOnly: "unchanged/live" });
  expect(findingsOn(json, "locked", "error")).toMatchObject([{ code: "sign-in-needed" }]);
  expect(locked.log().filter(({ event }) => event !== "POST")).toEqual([]);
  expect(methods(locked)).not.toContain("initialize");
  expect(findingsOn(json, "busy", "warning")).toMatchObject([{ code: "server-unavailable" }]);
  expect(
    busy
      .log()
      .slice(asked)
      .map(({ event }) => event),
  ).not.toContain("GET");
  expect(methods(busy).slice(asked)).not.toContain("initialize");
  expect(catalogTools(work)).toEqual({ busy: ["echo"], postOnly: ["echo"] });
  expect(readTree(join(work.project, "generated"))["servers/busy.ts"]).toBe(before["servers/busy.ts"]);

  const runtime = await work.runtime();
  const known = count(postOnly, "initialize");
  await runtime.call("postOnly", "echo");
  await settle(300);
  await runtime.call("postOnly", "echo");
  expect(count(postOnly, "initialize")).toBe(known + 1);
  const unavailable = await rejection<ServerError>(runtime.call("busy", "echo"));
  expect(unavailable.message).toMatch(/503/);
});

test("SDK #1635: a watch asks a server that only knows POST for its notices, and lets it be", async () => {
  const options = { http: { status: { GET: 404 } }, capabilities: { tools: { listChanged: true } } };
  const stub = new Stub(options);
  const work = await compiledProduct({ s: await serve(stub) });
  const before = stub.log().length;
  const watching = work.start(["watch", "--json"]);
  const events = () => stub.log().slice(before);
  const asked = () => events().some(({ event }) => event === "GET");
  await eventually(() => asked() && watching.stdout().endsWith("\n"), "a build, and notices asked for", 20_000);
  await settle(1000);
  expect(events().filter(({ event }) => event === "GET").length).toBeLessThanOrEqual(2);
  // One connection that compiles, and one that waits for notices: neither is opened again.
  expect(events().filter(({ method }) => method === "initialize").length).toBeLessThanOrEqual(2);
  expect(watching.child.exitCode).toBeNull();
  const builds = watching.stdout().trim().split("\n");
  expect(builds).toHaveLength(1);
  expect(statuses(JSON.parse(builds[0]!))).toEqual({ s: "unchanged/live" });
});

test("rust-sdk #733, adapter #194, SDK #1402: a lost session is renewed once, and not for ever", async () => {
  const stub = new Stub({ http: { sessions: true, callsPerSession: 1 } });
  const work = await compiledProduct({ s: await serve(stub) });
  const runtime = await work.runtime();
  expect((await runtime.call("s", "echo", { text: "1" })).text).toBe('{"text":"1"}');
  const before = stub.log().length;
  expect((await runtime.call("s", "echo", { text: "2" })).text).toBe('{"text":"2"}');
  const posts = stub
    .log()
    .slice(before)
    .filter(({ event }) => event === "POST");
  const calls = posts.filter(({ method }) => method === "tools/call");
  const handshakes = posts.filter(({ method }) => method === "initialize");
  expect(handshakes.map(({ session }) => session)).toEqual([undefined]);
  expect(calls).toHaveLength(2);
  expect(calls[0]!.session).not.toBe(calls[1]!.session);

  // Every session is lost at its first call.
  stub.set({ http: { sessions: true, callsPerSession: 0 } });
  const after = stub.log().length;
  const lost = await rejection<ServerError>(runtime.call("s", "echo", { text: "3" }));
  expect(lost.name).toBe("ServerError");
  expect(lost.message).toMatch(/404|session/i);
  await settle(300);
  const late = stub
    .log()
    .slice(after)
    .filter(({ event }) => event === "POST");
  expect(late.filter(({ method }) => method === "tools/call").length).toBeLessThanOrEqual(2);
  expect(late.filter(({ method }) => method === "initialize").length).toBeLessThanOrEqual(1);
});

/** A server of announcing-server.mjs with one tool `before`. */
function announcing(work: Workspace, manner: "burst" | "endless") {
  const [tools, log] = [join(work.root, `${manner}.tools`), join(work.root, `${manner}.log`)];
  writeFileSync(tools, JSON.stringify([tool("before")]));
  writeFileSync(log, "");
  return {
    entry: {
      command: process.execPath,
      args: [join(import.meta.dirname, "announcing-server.mjs"), manner, tools, log],
    },
    /** How often this happened: `ready` for a client, `list` for a list. */
    logged: (event: "ready" | "list") => readFileSync(log, "utf8").split(event).length - 1,
    rename: (name: string) => writeFileSync(tools, JSON.stringify([tool(name)])),
    processes: () => countProcesses(tools),
  };
}

test("maka #2981, hermes-agent #115502: announcements without end or in bursts cost a handful of lists", async () => {
  const work = new Workspace();
  const [burst, endless] = [announcing(work, "burst"), announcing(work, "endless")];
  work.servers({ burst: burst.entry, endless: endless.entry });
  const watching = work.start(["watch", "--json"]);
  const builds = () =>
    watching
      .stdout()
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as CompileJson);
  // Once for the compile, and once for the watch.
  const connected = () => burst.logged("ready") >= 2 && endless.logged("ready") >= 2;
  await eventually(() => builds().length > 0 && connected(), "both are watched", 20_000);

  // A list now is announced, which causes the next one.
  const started = performance.now();
  const [builds0, lists0, changes] = [endless.logged("ready"), endless.logged("list"), burst.logged("list")];
  await work.compile("--server", "endless", "--refresh");
  await eventually(() => endless.logged("ready") > builds0 + 1, "the watch asks again", 20_000);
  await settle(4000);
  const asked = endless.logged("ready") - builds0;
  // A pause of 250 ms that doubles: however slow the machine, this many fit into the time that has passed.
  expect(asked).toBeLessThanOrEqual(3 + Math.log2((performance.now() - started) / 250));
  // A list that is announced while it is being read is read once or twice more.
  expect(endless.logged("list") - lists0).toBeLessThanOrEqual(3 * asked);
  expect(burst.logged("list")).toBe(changes);

  burst.rename("after");
  await eventually(() => catalogTools(work)["burst"]?.[0] === "after", "the last change is compiled", 20_000);
  await settle(1000);
  expect(burst.logged("list") - changes).toBeLessThanOrEqual(2);
  expect(catalogTools(work)).toEqual({ burst: ["after"], endless: ["before"] });

  work.servers({ burst: burst.entry });
  await eventually(() => statuses(builds().at(-1)!)["endless"] === undefined, "the server is removed", 20_000);
  await eventually(() => endless.processes() === 0, "its process has ended", 20_000);
  // Its connection may be dropped by a build of `burst` alone, before the one that removes its files.
  await eventually(() => !work.has("project/generated/servers/endless.ts"), "its files are removed", 20_000);
});

test("maka #2981 in a session: an announcement after each list makes no loop, and closing ends it", async () => {
  const stub = new Stub({ capabilities: { tools: { listChanged: true } }, listChangedAfterList: 5 });
  const work = await compiledProduct({ s: stub.entry });
  const before = stub.lists();
  const runtime = await work.runtime();
  await runtime.call("s", "echo");
  await settle(3000);
  expect(stub.lists() - before).toBeLessThan(10);
  await runtime.close();
  expect(countProcesses(stub.marker)).toBe(0);
});
