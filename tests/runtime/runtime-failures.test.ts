import { describe, expect, test } from "vitest";
import { openConnection } from "../../runtime/connect/open.ts";
import { diagnostic } from "../../schemas/diagnostic.ts";
import { Stub, variable } from "../cli/pimcp.ts";
import { countProcesses, eventually, stub, surroundings } from "../servers/run.ts";
import {
  compiled,
  count,
  declared,
  failure,
  happened,
  httpStub,
  RuntimeProject,
  rejection,
  TOOLS,
} from "./runtime-project.ts";

describe("a server that dies in mid-call", () => {
  test.each([["legacy"], ["modern"]])("%s: fails once, with status and stderr; the next call works", async (era) => {
    const stub = new Stub({ era, tools: TOOLS });
    const runtime = await (await compiled({ s: stub.entry })).runtime();
    const starts = stub.starts();
    await runtime.call("s", "stderr", { text: "disk on fire" });
    const error = await failure(runtime.call("s", "crash", { status: 9 }));
    expect(error).toMatchObject({ name: "ServerError", server: "s", stderrTail: "disk on fire" });
    expect(error.message).toMatch(/exited with status 9 during tools\/call/);
    expect(error.cause).toMatchObject({ kind: "closed" });
    expect((await runtime.call("s", "echo", { n: 1 })).text).toBe('{"n":1}');
    expect(count(stub, "tools/call")).toBe(3);
    expect(stub.starts() - starts).toBe(2);
    expect(countProcesses(stub.marker)).toBe(1);
  });

  test.each([["legacy"], ["modern"]])("%s: in the very first call too", async (era) => {
    const stub = new Stub({ era, tools: TOOLS });
    const runtime = await (await compiled({ s: stub.entry })).runtime();
    expect(await failure(runtime.call("s", "crash"))).toMatchObject({ name: "ServerError", cause: { kind: "closed" } });
    expect(count(stub, "tools/call")).toBe(1);
    expect((await runtime.call("s", "echo")).text).toBe("{}");
  });

  test("every call under way fails, none is repeated", async () => {
    const stub = new Stub({ tools: TOOLS });
    const runtime = await (await compiled({ s: stub.entry })).runtime();
    await runtime.call("s", "echo");
    const outcomes = await Promise.allSettled([
      ...Array.from({ length: 5 }, () => runtime.call("s", "hang")),
      runtime.call("s", "crash"),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(Array(6).fill("rejected"));
    expect(count(stub, "tools/call")).toBe(7);
  });
});
describe("time limits and cancelling", () => {
  test("progress extends the limit, its absence doesn't", async () => {
    const runtime = await (await compiled({ s: new Stub({ tools: TOOLS }).entry })).runtime();
    const seen: unknown[] = [];
    const options = { timeoutMs: 1500, onProgress: (progress: unknown) => void seen.push(progress) };
    // Each step within the limit, all together twice beyond it.
    expect((await runtime.call("s", "progress", { steps: 6, ms: 500 }, options)).text).toBe("done");
    expect(seen).toMatchObject([1, 2, 3, 4, 5, 6].map((progress) => ({ progress, total: 6 })));
    const error = await failure(runtime.call("s", "hang", {}, { timeoutMs: 300 }));
    expect(error.message).toContain("no answer within 300 ms");
    expect(error.cause).toMatchObject({ kind: "timeout", timeoutMs: 300 });
    expect((await runtime.call("s", "echo")).text).toBe("{}");
  });

  test("requestTimeoutMs of the configuration is the default", async () => {
    const stub = new Stub({ tools: TOOLS });
    const runtime = await (await compiled({ s: { ...stub.entry, requestTimeoutMs: 400 } })).runtime();
    expect((await failure(runtime.call("s", "hang"))).cause).toMatchObject({ kind: "timeout", timeoutMs: 400 });
  });

  test("an abort cancels: the server is told, the connection goes on, nothing is sent that was aborted before", async () => {
    const stub = new Stub({ tools: TOOLS });
    const runtime = await (await compiled({ s: stub.entry })).runtime();
    const abort = new AbortController();
    const call = failure(runtime.call("s", "hang", {}, { signal: abort.signal }));
    await eventually(() => count(stub, "tools/call") === 1, "the call arrives");
    abort.abort();
    expect((await call).cause).toMatchObject({ kind: "cancelled" });
    await eventually(() => count(stub, "notifications/cancelled") === 1, "the server is told");
    expect(await failure(runtime.call("s", "echo", {}, { signal: abort.signal }))).toMatchObject({ server: "s" });
    expect((await runtime.call("s", "echo", { n: 2 })).text).toBe('{"n":2}');
    expect(count(stub, "tools/call")).toBe(2);
  });

  test("an abort before the call starts nothing", async () => {
    const stub = new Stub({ tools: TOOLS });
    const runtime = await (await compiled({ s: stub.entry })).runtime();
    const starts = stub.starts();
    const error = await failure(runtime.call("s", "echo", {}, { signal: AbortSignal.abort() }));
    expect(error).toMatchObject({ name: "ServerError", cause: { kind: "cancelled" } });
    expect(await runtime.drift()).toEqual([]);
    expect(stub.starts()).toBe(starts);
  });

  test("an abort while connecting gives up waiting at once; the others get their connection", async () => {
    const stub = new Stub({ tools: TOOLS });
    const project = await compiled({ s: stub.entry });
    stub.set({ tools: TOOLS, startMs: 1000 });
    const runtime = await project.runtime();
    const abort = new AbortController();
    const [impatient, patient] = [
      failure(runtime.call("s", "echo", {}, { signal: abort.signal })),
      runtime.call("s", "echo"),
    ];
    setTimeout(() => abort.abort(), 100);
    expect((await impatient).message).toContain("cancelled");
    expect((await patient).text).toBe("{}");
    expect(count(stub, "tools/call")).toBe(1);
  });

  test("an abort right before the close still tells the server", async () => {
    const stub = new Stub({ tools: TOOLS });
    const runtime = await (await compiled({ s: stub.entry })).runtime();
    const abort = new AbortController();
    const call = failure(runtime.call("s", "hang", {}, { signal: abort.signal }));
    await eventually(() => count(stub, "tools/call") === 1, "the call arrives");
    abort.abort();
    await runtime.close();
    expect((await call).cause).toMatchObject({ kind: "cancelled" });
    expect(happened(stub, 0).slice(-2)).toEqual(["notifications/cancelled", "stdin closed"]);
  });

  test("closing the runtime in mid-call fails the call and leaves no process", async () => {
    const stub = new Stub({ tools: TOOLS, grandchild: true });
    const runtime = await (await compiled({ s: stub.entry })).runtime();
    const call = failure(runtime.call("s", "hang"));
    await eventually(() => count(stub, "tools/call") === 1, "the call arrives");
    await runtime.close();
    expect(await call).toMatchObject({ name: "ServerError", server: "s" });
    expect(countProcesses(stub.marker)).toBe(0);
  });

  test("closing while connecting leaves no process either", async () => {
    const stub = new Stub({ tools: TOOLS });
    const project = await compiled({ s: stub.entry });
    stub.set({ tools: TOOLS, startMs: 60_000 });
    const runtime = await project.runtime();
    const starts = stub.starts();
    const call = rejection(runtime.call("s", "echo"));
    await eventually(() => stub.starts() > starts, "the server starts");
    await runtime.close();
    await call;
    expect(countProcesses(stub.marker)).toBe(0);
  });
});

describe("one connection", () => {
  test("20 first calls at once share one process", async () => {
    const stub = new Stub({ tools: TOOLS, startMs: 100 });
    const runtime = await (await compiled({ s: stub.entry })).runtime();
    const starts = stub.starts();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => runtime.call("s", "echo", { n })));
    expect(answers.map(({ text }) => text)).toEqual(answers.map((_, n) => `{"n":${n}}`));
    expect(stub.starts() - starts).toBe(1);
  });

  test("an idle one is closed, the next call opens another", async () => {
    const stub = new Stub({ tools: TOOLS });
    const runtime = await (await compiled({ s: stub.entry })).runtime({ idleMs: 200 });
    await runtime.call("s", "echo");
    await eventually(() => countProcesses(stub.marker) === 0, "the idle server is ended");
    expect((await runtime.call("s", "echo")).text).toBe("{}");
  });

  test("a session that the server forgot is renewed once; a second 404 is an error", async () => {
    const { entry, server } = await httpStub({ tools: TOOLS, http: { sessions: true, callsPerSession: 1 } });
    const runtime = await (await compiled({ s: entry })).runtime();
    for (const n of [1, 2, 3]) expect((await runtime.call("s", "echo", { n })).text).toBe(`{"n":${n}}`);
    const messages = server.log();
    expect(messages.filter(({ method, session }) => method === "initialize" && session !== undefined)).toEqual([]);
    // Every session of this one is forgotten at once.
    const project = await compiled({ s: new Stub({ tools: TOOLS }).entry });
    const hopeless = await httpStub({ http: { sessions: true, callsPerSession: 0 } });
    project.servers({ s: hopeless.entry });
    const lost = await project.runtime();
    expect((await failure(lost.call("s", "echo"))).cause).toMatchObject({ kind: "session-lost" });
    const after = hopeless.server.log();
    // One for the connection, one for its renewal, which the tool list and the call share.
    expect(after.filter(({ method }) => method === "initialize").length).toBeLessThanOrEqual(3);
    expect(after.filter(({ method }) => method === "tools/call").length).toBeLessThanOrEqual(2);
  });
});

describe("open", () => {
  test("connects in a way of the caller's own, or leaves a server to the configuration", async () => {
    const [configured, own] = [new Stub({ tools: TOOLS }), stub({ tools: TOOLS })];
    const project = await compiled({ mine: configured.entry, other: configured.entry });
    const starts = configured.starts();
    const open = (name: string) => (name === "mine" ? openConnection(own.config, surroundings) : undefined);
    const runtime = await project.runtime({ open });
    expect((await runtime.call("mine", "echo")).text).toBe("{}");
    expect(configured.starts()).toBe(starts);
    await runtime.call("other", "echo");
    expect(configured.starts()).toBe(starts + 1);
    await runtime.close();
    expect(countProcesses(own.marker)).toBe(0);
  });

  test("what it can't open is an error like any other", async () => {
    const project = await compiled({ s: new Stub({ tools: TOOLS }).entry });
    const found = diagnostic("server-unreachable", "nobody there", { notes: ["ask again"] });
    const runtime = await project.runtime({ open: async () => ({ ok: false, diagnostic: found }) });
    expect(await failure(runtime.call("s", "echo"))).toMatchObject({
      name: "ServerError",
      message: "nobody there; ask again",
    });
    const broken = await project.runtime({ open: () => Promise.reject(new Error("a bug of the caller's")) });
    const { signal } = new AbortController();
    for (const options of [{}, { signal }]) {
      expect((await rejection(broken.call("s", "echo", {}, options))).message).toBe("a bug of the caller's");
    }
    await broken.close();
  });
});

describe("a server that refuses", () => {
  test.each<[number, RegExp]>([
    [401, /sign-in is needed.*; sign in with `pimcp login s`, or give the server an Authorization header$/],
    [403, /access was denied/],
    [503, /unavailable.*503/],
  ])("HTTP %i is said as what it is", async (status, wanted) => {
    const { entry, server } = await httpStub({ tools: TOOLS });
    const project = await compiled({ s: entry });
    const { entry: refusing, server: refusingServer } = await httpStub({
      http: { status: { POST: status, GET: status } },
    });
    project.servers({ s: refusing });
    const error = await failure((await project.runtime()).call("s", "echo"));
    expect(error).toMatchObject({ name: "ServerError", server: "s" });
    expect(error.message).toMatch(wanted);
    expect(refusingServer.log().some(({ event }) => event === "GET")).toBe(false);
    expect(server.log().filter(({ method }) => method === "tools/call")).toEqual([]);
  });

  test("an answer under another id is no answer, and that it came is said", async () => {
    const stub = new Stub({ tools: TOOLS, wrongId: 999, wrongIdOn: ["tools/call"] });
    const runtime = await (await compiled({ s: stub.entry })).runtime();
    const { message } = await failure(runtime.call("s", "echo", {}, { timeoutMs: 300 }));
    expect(message).toContain("no answer within 300 ms");
    expect(message).toContain("sent 1 answer to nothing that was asked");
  });

  test("an answer that only comes late is no answer to nothing", async () => {
    const stub = new Stub({ tools: TOOLS, delayMs: { "tools/call": 400 } });
    const runtime = await (await compiled({ s: stub.entry })).runtime();
    await failure(runtime.call("s", "echo", {}, { timeoutMs: 200 }));
    await runtime.call("s", "echo");
    expect((await failure(runtime.call("s", "hang", {}, { timeoutMs: 700 }))).message).not.toContain("was asked");
  });

  test("a protocol error carries its code", async () => {
    const error = { code: -32050, message: "quota \u001b[31mexceeded", data: { left: 0 } };
    const stub = new Stub({ tools: TOOLS, replies: { "tools/call": { error } } });
    const failed = await failure((await (await compiled({ s: stub.entry })).runtime()).call("s", "echo"));
    expect(failed.message).toContain("exceeded");
    expect(failed.message).not.toContain("\u001b");
    expect(failed.cause).toMatchObject({ kind: "rpc-error", error: { code: -32050, data: { left: 0 } } });
  });

  test.each<[string, RegExp]>([
    ["http://127.0.0.1:1/mcp", /unavailable \(network error \(ERR_REFUSED_PORT\)\); HTTP clients refuse that port/],
    ["http://127.0.0.1:9/mcp", /unavailable \(network error \((?:ECONNREFUSED|ERR_REFUSED_PORT)\)\)/],
  ])("an address that can't be reached says why: %s", async (url, wanted) => {
    const project = await compiled({ s: new Stub({ tools: TOOLS }).entry });
    project.servers({ s: { type: "http", url } });
    const error = await failure((await project.runtime()).call("s", "echo"));
    expect(error.message).toMatch(wanted);
    expect(error.cause).toMatchObject({ code: "server-unavailable" });
  });

  test("a command that isn't there, and an exit at the start with its stderr", async () => {
    const stub = new Stub({ tools: TOOLS });
    const project = await compiled({ s: stub.entry });
    project.servers({ s: { command: "no-such-command-here" } });
    expect((await failure((await project.runtime()).call("s", "echo"))).message).toContain("was not found");
    const dying = new Stub({ exitAtStart: 4, stderr: "missing licence\n" });
    project.servers({ s: dying.entry });
    const error = await failure((await project.runtime()).call("s", "echo"));
    expect(error.message).toContain("exited with status 4");
    expect(error.stderrTail).toBe("missing licence");
  });
});

describe("the configuration", () => {
  test("a variable that is unset names itself and its field, and shows no value of others", async () => {
    const stub = new Stub({ tools: TOOLS });
    const project = new RuntimeProject();
    const env = { ...stub.entry.env, TOKEN: variable("P_TOKEN"), KEY: variable("P_KEY") };
    project.servers({ s: { ...stub.entry, env } });
    const set = { P_TOKEN: "t0ken-value", P_KEY: "k3y-value" };
    await project.compileInProcess(set);
    const surroundings = { ...project.surroundings.env, P_KEY: set.P_KEY };
    const error = await failure((await project.runtime({ env: surroundings })).call("s", "echo"));
    expect(error.message).toMatch(/P_TOKEN/);
    expect(error.message).toMatch(/env\.TOKEN|env\/TOKEN|"TOKEN"/);
    expect(JSON.stringify([error.message, error.cause])).not.toContain("k3y-value");
    const runtime = await project.runtime({ env: { ...surroundings, ...set } });
    expect((await runtime.call("s", "echo")).text).toBe("{}");
  });

  test("one that changed between the start and the first call is said, once", async () => {
    const stub = new Stub({ tools: TOOLS });
    const project = await compiled({ s: stub.entry });
    const runtime = await project.runtime();
    project.servers({ s: { ...stub.entry, maxOutputBytes: 99 } });
    for (const _ of [1, 2]) await runtime.call("s", "echo");
    expect(project.notices).toMatchObject([{ code: "config-newer", severity: "warning" }]);
    expect(project.notices[0]!.message).toContain("pimcp compile");
  });

  test("a connection that is opened anew is opened with the settings of then", async () => {
    const stub = new Stub({ tools: [...TOOLS, declared("env", { type: "object" })] });
    const project = await compiled({ s: stub.entry });
    const runtime = await project.runtime();
    const mode = () => runtime.call("s", "env", { names: ["MODE"] }).then(({ text }) => text);
    const configure = (MODE: string) => project.servers({ s: { ...stub.entry, env: { ...stub.entry.env, MODE } } });
    configure("one");
    expect(await mode()).toBe('["one"]');
    configure("second");
    expect(await mode()).toBe('["one"]');
    await failure(runtime.call("s", "crash"));
    expect(await mode()).toBe('["second"]');
    // Torn in the middle of an edit: what held before goes on.
    project.write("project/mcp.json", '{"mcpServers": {');
    await failure(runtime.call("s", "crash"));
    expect(await mode()).toBe('["second"]');
    expect(project.codes()).toContain("config-syntax");
    project.servers({});
    await failure(runtime.call("s", "crash"));
    expect((await failure(runtime.call("s", "echo"))).message).toContain("is in no mcp.json");
  });

  test.each<[what: string, text: string, said: RegExp]>([
    [
      "cut off",
      '{\n  "mcpServers": {',
      /^server "s" can't be used: mcp\.json:2:18: expected "}" or "," here; put that right/,
    ],
    ["a list", "[]", /mcp\.json:1:1: the configuration must be an object; write \{ "mcpServers"/],
    ["a mistake in the entry", '{"mcpServers":{"s":{}}}', /mcp\.json:1:16: server "s" needs either "command"/],
  ])("a mcp.json that is %s is named with its place and the remedy", async (_, text, said) => {
    const stub = new Stub({ tools: TOOLS });
    const project = await compiled({ s: stub.entry });
    project.write("project/mcp.json", text);
    const runtime = await project.runtime();
    expect((await failure(runtime.call("s", "echo"))).message).toMatch(said);
    project.servers({ s: stub.entry });
    expect((await runtime.call("s", "echo")).text).toBe("{}");
  });

  test("a file of the user's that can't be read is not blamed for what the project left out", async () => {
    const project = await compiled({ s: new Stub({ tools: TOOLS }).entry });
    project.servers({});
    project.write("agent/mcp.json", "{");
    expect((await failure((await project.runtime()).call("s", "echo"))).message).toContain("is in no mcp.json");
  });

  test("what is no longer in mcp.json can't be called, and it is said why", async () => {
    const project = await compiled({ s: new Stub({ tools: TOOLS }).entry });
    project.servers({});
    expect((await failure((await project.runtime()).call("s", "echo"))).message).toContain("mcp.json");
  });
});
