/** `pimcp doctor` and `--trace`, as they are typed. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { widthOf } from "../../cli/columns.ts";
import type { Examination } from "../../cli/doctor/examination.ts";
import { pageLines } from "../../cli/doctor/page.ts";
import type { DoctorJson } from "../../cli/doctor-command.ts";
import type { TraceEvent } from "../../runtime/connect/trace.ts";
import { countProcesses, serversDir, startHttp, startHttpStub } from "../servers/run.ts";
import { FRESH, Stub, tool, variable, Workspace } from "./pimcp.ts";

async function doctor(
  work: Workspace,
  ...args: string[]
): Promise<{ code: number | string; json: DoctorJson; stderr: string }> {
  const { code, stdout, stderr } = await work.run("doctor", "--json", ...args);
  return { code, json: JSON.parse(stdout) as DoctorJson, stderr };
}

async function examined(entry: object, extra: object = {}): Promise<Examination> {
  const work = new Workspace();
  work.servers({ s: { ...entry, ...extra } });
  const { json } = await doctor(work);
  return json.servers[0]!;
}

const script = (name: string, env = {}) => ({ command: process.execPath, args: [join(serversDir, name)], env });
const inline = (code: string) => ({ command: process.execPath, args: ["-e", code] });

async function httpEntry(server: Promise<{ url: string; stop(): Promise<void> }>) {
  const { url, stop } = await server;
  onTestFinished(stop);
  return { url };
}

/** An HTTP server that answers everything so. */
async function answering(status: number, headers: Record<string, string>, body: string): Promise<{ url: string }> {
  const server = createServer((_, response) => response.writeHead(status, headers).end(body));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

describe("a server that works", () => {
  test("shows transport, era with its evidence, what it offers, and its steps", async () => {
    const work = new Workspace();
    const silent = new Stub({ silent: ["server/discover"] });
    const quiet = new Stub({});
    work.servers({
      exits: new Stub({ exitUnlessInitialized: true }).entry,
      legacy: script("legacy.mjs"),
      modern: script("modern.mjs"),
      pinned: { ...quiet.entry, protocolVersion: "legacy" },
      silent: { ...silent.entry, probeTimeoutMs: 500 },
      web: await httpEntry(startHttp("legacy.mjs", { HTTP: "streamable" })),
    });
    const { code, json } = await doctor(work);
    expect(code).toBe(0);
    expect(json.ok).toBe(true);
    const rows = json.servers.map(({ name, ok, transport, era, verdict, why, tools }) => [
      name,
      ok,
      transport,
      era,
      verdict,
      tools,
      why,
    ]);
    expect(rows).toEqual([
      ["exits", true, "stdio", "legacy", "answered", 1, "the server ended when it was asked server/discover"],
      ["legacy", true, "stdio", "legacy", "answered", 4, expect.stringContaining("refused with error -32601")],
      ["modern", true, "stdio", "modern", "answered", 3, expect.stringContaining("it offers 2026-07-28")],
      ["pinned", true, "stdio", "legacy", "configured", 1, expect.stringContaining("protocolVersion")],
      ["silent", true, "stdio", "legacy", "silence", 1, expect.stringMatching(/no answer within \d+ ms: weak/)],
      [
        "web",
        true,
        "streamable-http",
        "legacy",
        "answered",
        4,
        expect.stringMatching(/refused with (?:HTTP 400|error -)/),
      ],
    ]);
    const [exits, legacy, modern] = json.servers;
    const names = (one: Examination) => one.steps.map(({ name }) => name);
    expect(names(exits!)).toEqual(["resolve", "start", "probe", "start", "handshake", "tools"]);
    expect(names(legacy!)).toEqual(["resolve", "start", "probe", "handshake", "tools", "resources"]);
    expect(modern).toMatchObject({
      protocolVersion: "2026-07-28",
      supportedVersions: ["2026-07-28"],
      serverInfo: { name: "modern", version: "2.0.0" },
      capabilities: { tools: { listChanged: true } },
      extensions: [],
      place: expect.stringMatching(/^mcp\.json:\d+:\d+$/),
      freshness: { compiled: { status: "never" } },
    });
    for (const { steps, durationMs } of json.servers) {
      expect(steps.every(({ ok, name, durationMs: took }) => took >= 0 && (ok || name === "probe"))).toBe(true);
      expect(durationMs).toBeGreaterThan(0);
    }
    expect(countProcesses(silent.marker) + countProcesses(quiet.marker)).toBe(0);
  });

  test("is compared with what was compiled and cached", async () => {
    const work = new Workspace();
    const stub = new Stub({ ...FRESH, tools: [tool("a"), tool("b")] });
    work.servers({ s: stub.entry });
    await work.compile();
    const freshness = async () => (await doctor(work)).json.servers[0]!.freshness!;
    const same = await freshness();
    expect(same).toMatchObject({
      ttlMs: 3_600_000,
      cacheScope: "public",
      compiled: { status: "same" },
      cached: { fresh: true },
    });
    expect(same.cached!.ageMs).toBeGreaterThanOrEqual(0);
    stub.set({ ...FRESH, tools: [tool("a", "other"), tool("c")] });
    expect((await freshness()).compiled).toEqual({
      status: "drifted",
      changes: "tools: 1 changed (a), 1 removed (b), 1 added (c)",
    });
    stub.set({ ...FRESH, era: "modern", tools: [tool("a"), tool("b")] });
    expect((await freshness()).compiled).toMatchObject({
      status: "drifted",
      changes: "it was legacy 2025-11-25 over stdio",
    });
    stub.set({ ...FRESH, tools: [tool("a"), tool("b")] });
    work.servers({ s: { ...stub.entry, args: [...stub.entry.args, "more"] } });
    expect((await freshness()).compiled).toEqual({ status: "other-entry" });
    // It looked, and wrote nothing.
    expect(work.list("project")).toEqual(["generated", "mcp.json"]);
    expect((await work.compile("--check")).json.files.some(({ status }) => status === "updated")).toBe(true);
  });

  test("extensions, noise on stdout and a lie about resources are shown", async () => {
    const capabilities = { tools: {}, resources: {}, extensions: { "io.modelcontextprotocol/tasks": {} } };
    const stub = new Stub({ era: "modern", capabilities, noise: ["listening"] });
    const found = await examined(stub.entry);
    expect(found).toMatchObject({ ok: true, extensions: ["io.modelcontextprotocol/tasks"] });
    expect(found.steps.find(({ name }) => name === "resources")?.ok).toBe(false);
    expect(found.diagnostics.map(({ code }) => code).sort()).toEqual(["capability-lie", "stdout-noise"]);
    expect(found.diagnostics.flatMap(({ notes }) => notes).join()).toContain("log to stderr");
  });

  test("an old SSE server is told from a Streamable HTTP one", async () => {
    const started = await startHttp("legacy.mjs", { HTTP: "sse" }, "/sse");
    onTestFinished(() => started.stop());
    const found = await examined({ url: started.url });
    expect(found).toMatchObject({ ok: true, transport: "sse", era: "legacy" });
    expect(found.steps.map(({ name }) => name)).toContain("event stream");
    expect(pageLines(found, { colour: false, width: 100 }).join("\n")).toContain(
      "ask for the server's Streamable HTTP address",
    );
  });
});

describe("a server that fails says what helps", () => {
  test.each<[string, object, string, RegExp, RegExp]>([
    [
      "a missing command",
      { command: "no-such-program-here" },
      "server-unreachable",
      /"no-such-program-here" was not found/,
      /PATH/,
    ],
    ["a missing folder", { command: "node", cwd: "./gone" }, "missing-cwd", /\.\/gone/, /make the folder/],
    [
      "an unset variable",
      { command: "node", args: [variable("NO_SUCH_VARIABLE")] },
      "unset-variable",
      /NO_SUCH_VARIABLE/,
      /set it/,
    ],
    [
      "one that ends at once",
      inline("console.error('no DATABASE'); process.exit(3)"),
      "server-unreachable",
      /exited with status 3/,
      /stderr/,
    ],
    [
      "one that prints its usage",
      inline("console.log('Usage: x'); process.exit(1)"),
      "server-unreachable",
      /status 1/,
      /no MCP message/,
    ],
    [
      "one that only listens",
      { ...inline("setInterval(() => {}, 1e6)"), probeTimeoutMs: 300, requestTimeoutMs: 600 },
      "server-timeout",
      /no answer within 600 ms/,
      /requestTimeoutMs \(now 600\)/,
    ],
  ])("%s", async (_, entry, code, message, remedy) => {
    const found = await examined(entry);
    expect(found).toMatchObject({
      ok: false,
      status: "failed",
      problem: { code, message: expect.stringMatching(message) },
    });
    expect(found.problem!.remedy.join("\n")).toMatch(remedy);
    expect(found.steps.some(({ ok }) => !ok)).toBe(true);
  });

  test("nobody there", async () => {
    const started = await startHttpStub({});
    await started.stop();
    const found = await examined({ url: started.url });
    expect(found.problem).toMatchObject({
      code: "server-unavailable",
      message: expect.stringContaining("ECONNREFUSED"),
    });
    expect(found.problem!.remedy.join()).toContain("nothing listens there");
  });

  const html = { "content-type": "text/html" };
  test.each<[string, number, Record<string, string>, string, string, RegExp]>([
    ["a web page", 200, html, "<!doctype html><p>hi", "protocol-mismatch", /web page.*\/mcp/],
    ["a path that isn't there", 404, html, "<html>", "protocol-mismatch", /nothing at that path.*\/mcp/],
    ["no POST", 405, {}, "", "protocol-mismatch", /no POST/],
    ["sign-in", 401, {}, "", "sign-in-needed", /pimcp login s/],
    ["a refusal", 403, {}, "", "access-denied", /credentials/],
    ["a server that is down", 503, {}, "", "server-unavailable", /later/],
  ])("HTTP: %s", async (_, status, headers, body, code, remedy) => {
    const found = await examined(await answering(status, headers, body));
    expect(found).toMatchObject({ ok: false, problem: { code } });
    expect(found.problem!.remedy.join("\n")).toMatch(remedy);
  });

  test("its stderr is shown, without secrets and without control characters", async () => {
    const work = new Workspace();
    const code = "console.error('\\u001b[31mbad key ' + process.env.API_KEY); process.exit(1)";
    work.servers({ s: { ...inline(code), env: { API_KEY: "s3cret-key-value-1" } } });
    const { code: exit, stdout, stderr } = await work.run("doctor");
    expect(exit).toBe(1);
    expect(stdout).toContain("stderr: bad key [redacted]");
    expect(stdout + stderr).not.toMatch(/s3cret-key|\u001b/);
  });

  test("one that gives no list keeps what was negotiated", async () => {
    const stub = new Stub({ replies: { "tools/list": { error: { code: -32603, message: "no database" } } } });
    const found = await examined(stub.entry);
    expect(found).toMatchObject({
      ok: false,
      era: "legacy",
      protocolVersion: "2025-11-25",
      problem: { code: "tools-unlisted" },
    });
    expect(found.steps.at(-1)).toMatchObject({
      name: "tools",
      ok: false,
      detail: expect.stringContaining("no database"),
    });
  });
});

describe("which servers", () => {
  test("one by name; a disabled one is said to be; one with an error in its entry is named", async () => {
    const work = new Workspace();
    const stub = new Stub({});
    work.servers({ bad: 5, off: { ...stub.entry, enabled: false }, on: stub.entry });
    const all = await doctor(work);
    expect(all.code).toBe(1);
    expect(all.json.servers.map(({ name, status }) => [name, status])).toEqual([
      ["off", "disabled"],
      ["on", "ok"],
      ["bad", "failed"],
    ]);
    expect(all.json.servers[2]!.problem).toMatchObject({ code: "invalid-server" });
    expect(stub.starts()).toBe(1);
    const one = await doctor(work, "on");
    expect([one.code, one.json.servers.map(({ name }) => name)]).toEqual([0, ["on"]]);
    expect((await doctor(work, "off")).code).toBe(0);
    const none = await work.run("doctor", "om");
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('did you mean "on"')]);
  });

  test("wrong usage exits with 2 and starts nothing", async () => {
    const work = new Workspace();
    const stub = new Stub({});
    work.servers({ s: stub.entry });
    expect((await work.run("doctor", "--timeout", "soon")).code).toBe(2);
    expect(stub.starts()).toBe(0);
  });

  test("--timeout ends a server that takes longer, and its processes", async () => {
    const work = new Workspace();
    const stub = new Stub({ silent: ["server/discover", "initialize"] });
    work.servers({ s: stub.entry });
    const { code, json } = await doctor(work, "--timeout", "1");
    expect(code).toBe(1);
    expect(json.servers[0]!.problem).toMatchObject({
      code: "server-timeout",
      message: expect.stringContaining("1000 ms"),
    });
    expect(countProcesses(stub.marker)).toBe(0);
  });
});

test("the page fits 60 and 120 columns, colours only when asked, and shows nothing raw", async () => {
  const instructions = "\u001b]0;title\u0007";
  const serverInfo = { name: "\u001b[31mred\u202e", version: "x".repeat(500), title: "日本語 ".repeat(80) };
  const stub = new Stub({ instructions, serverInfo, noise: ["\u001b[2Jcleared"] });
  const found = await examined(stub.entry);
  expect(found.ok).toBe(true);
  for (const width of [60, 120]) {
    const lines = pageLines(found, { colour: false, width });
    expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(width);
    expect(lines.join("")).not.toMatch(/[\u0000-\u001f\u202e]/);
    const coloured = pageLines(found, { colour: true, width });
    expect(coloured.join("")).toContain("\u001b[32m");
    expect(coloured.map(stripVTControlCharacters)).toEqual(lines);
  }
});

describe("--trace", () => {
  const read = (work: Workspace, path: string): TraceEvent[] =>
    work
      .read(path)
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  const sent = (events: TraceEvent[]) =>
    events.filter(({ direction }) => direction === "sent").map(({ method }) => method);

  test("of compile, call and doctor goes into one file, appended", async () => {
    const work = new Workspace();
    const stub = new Stub({});
    work.servers({ s: stub.entry });
    expect((await work.run("compile", "--trace", "t.jsonl")).code).toBe(0);
    const compiled = read(work, "project/t.jsonl");
    expect(sent(compiled)).toEqual(["server/discover", "initialize", "notifications/initialized", "tools/list"]);
    expect((await work.run("call", "s", "echo", "text=s3cret-argument", "--trace", "t.jsonl")).code).toBe(0);
    const called = read(work, "project/t.jsonl").slice(compiled.length);
    expect(sent(called)).toEqual(expect.arrayContaining(["initialize", "tools/call"]));
    expect(sent(called)).not.toContain("server/discover");
    expect((await work.run("doctor", "--trace", "t.jsonl")).code).toBe(0);
    expect(read(work, "project/t.jsonl").length).toBeGreaterThan(compiled.length + called.length);
    expect(work.read("project/t.jsonl")).not.toContain("s3cret-argument");
  });

  test.each([["compile"], ["doctor"], ["call", "s", "echo"], ["read", "s"], ["prompt", "s"], ["watch"]])(
    "into a file that can't be written is an error before anything starts: %s",
    async (...command) => {
      const work = new Workspace();
      const stub = new Stub({});
      work.servers({ s: stub.entry });
      const { code, stdout, stderr } = await work.run(...command, "--json", "--trace", "no/such/folder/t");
      expect([code, stub.starts()]).toEqual([2, 0]);
      expect(stderr).toContain("--trace no/such/folder/t can't be written (ENOENT)");
      expect(JSON.parse(stdout)).toMatchObject({ error: { message: expect.stringContaining("ENOENT") } });
    },
  );

  test("HTTP statuses are in it, and no credential is", async () => {
    const work = new Workspace();
    const server = await startHttpStub({ era: "modern" });
    onTestFinished(() => server.stop());
    work.servers({
      s: { url: `${server.url}?key=s3cret-in-query`, headers: { Authorization: "Bearer s3cret-token-1" } },
    });
    expect((await work.run("compile", "--trace", "t.jsonl")).code).toBe(0);
    const events = read(work, "project/t.jsonl");
    expect(events.filter(({ kind }) => kind === "http").map(({ outcome, url }) => [outcome, url])).toEqual([
      [200, server.url],
      [200, server.url],
    ]);
    expect(work.read("project/t.jsonl")).not.toContain("s3cret");
  });
});
