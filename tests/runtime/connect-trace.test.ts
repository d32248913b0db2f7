/** What a trace shows of a connection, and what it must never show. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { Connection } from "../../runtime/connect/connection.ts";
import { type OpenOptions, openConnection } from "../../runtime/connect/open.ts";
import { openTransport } from "../../runtime/connect/open-transport.ts";
import { type TraceEvent, WireTrace } from "../../runtime/connect/trace.ts";
import { openTraceFile } from "../../runtime/connect/trace-file.ts";
import type { ServerConfig } from "../../schemas/config/server-config.ts";
import { Stub } from "../cli/pimcp.ts";
import { scratchFolder } from "../scratch.ts";
import { eventually, startHttpStub, stub, surroundings } from "../servers/run.ts";
import { compiled, rejection } from "./runtime-project.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function traced(config: ServerConfig, options: Partial<OpenOptions> = {}) {
  const events: TraceEvent[] = [];
  const outcome = await openConnection(config, { ...surroundings, ...options, trace: (event) => events.push(event) });
  if (!outcome.ok) throw new Error(outcome.diagnostic.message);
  closing.push(() => outcome.connection.close());
  return { connection: outcome.connection, events };
}

/** `1> request server/discover`: the wire, who spoke, what kind and which. */
function told(events: readonly TraceEvent[]): string[] {
  return events
    .filter(({ kind }) => kind !== "http")
    .map(({ wire, direction, kind, method, outcome }) =>
      [`${wire}${direction === "sent" ? ">" : "<"}`, kind, method, outcome]
        .filter((part) => part !== undefined)
        .join(" "),
    );
}

const call = (connection: Connection, name: string, args: object, options = {}) =>
  connection.request("tools/call", { name, arguments: args }, options);

describe("stdio", () => {
  test("probe, handshake, call and end, each with its size and time", async () => {
    const { connection, events } = await traced(stub({}).config);
    await call(connection, "echo", { text: "a payload" });
    await connection.close();
    expect(told(events)).toEqual([
      "1> request server/discover",
      "1< error server/discover -32601",
      "1> request initialize",
      "1< result initialize ok",
      "1> notification notifications/initialized",
      "1> request tools/call",
      "1< result tools/call ok",
      "1< closed",
    ]);
    const answers = events.filter(({ kind }) => kind === "result" || kind === "error");
    for (const event of answers) expect(event.durationMs).toBeGreaterThan(0);
    for (const event of events.slice(0, -1)) expect(event.bytes).toBeGreaterThan(30);
    for (const { time, server } of events) {
      expect(new Date(time).toISOString()).toBe(time);
      expect(server).toBe("s");
    }
    const [request, result] = events.slice(5);
    expect(result!.id).toBe(request!.id);
    expect(JSON.stringify(events)).not.toMatch(/payload|echo/);
  });

  test("a sibling that is only probed has a number of its own, and what it left unanswered is counted", async () => {
    const { connection, events } = await traced(stub({ exitUnlessInitialized: true }).config);
    await connection.close();
    expect(told(events)).toEqual([
      "1> request server/discover",
      "1< closed",
      "2> request initialize",
      "2< result initialize ok",
      "2> notification notifications/initialized",
      "2< closed",
    ]);
    expect(events.filter(({ kind }) => kind === "closed").map(({ unanswered }) => unanswered)).toEqual([1, 0]);
  });

  test("junk, stray answers, progress, cancelling, tool errors and messages too long", async () => {
    const config = stub({
      noise: ["log line", "{}"],
      replies: { "prompts/list": { result: { isError: true } } },
    }).config;
    const { connection, events } = await traced(config, { maxMessageBytes: 2000 });
    const before = events.length;
    await call(connection, "progress", { steps: 1, ms: 1 }, { onProgress: () => {} });
    await connection.request("prompts/list");
    await call(connection, "big", { bytes: 5000 });
    const cancel = new AbortController();
    const hanging = call(connection, "hang", {}, { signal: cancel.signal });
    await new Promise((resolve) => setTimeout(resolve, 50));
    cancel.abort();
    await hanging;
    const seen = events.slice(before);
    expect(told(seen.filter(({ kind }) => kind !== "junk"))).toEqual([
      "1> request tools/call",
      "1< notification notifications/progress",
      "1< result tools/call ok",
      "1> request prompts/list",
      "1< result prompts/list tool-error",
      "1> request tools/call",
      "1< oversize",
      "1> request tools/call",
      "1> notification notifications/cancelled",
    ]);
    expect(seen.filter(({ kind }) => kind === "junk").map(({ bytes }) => bytes)).toContain("log line".length);
    expect(seen.find(({ kind }) => kind === "oversize")?.bytes).toBeGreaterThan(5000);
    const [asked, cancelled] = seen.filter(({ direction }) => direction === "sent").slice(-2);
    expect(cancelled!.id).toBe(asked!.id);
  });
});

describe("HTTP", () => {
  test("statuses and places of requests, without query, header or credential", async () => {
    const server = await startHttpStub({ era: "modern", http: { stream: true } });
    closing.push(() => server.stop());
    const transport = {
      kind: "http" as const,
      url: `${server.url}?key=s3cret-in-query`,
      headers: { Authorization: "Bearer s3cret-token-9" },
    };
    const { connection, events } = await traced({ ...server.config, transport });
    await call(connection, "echo", { text: "s3cret-payload" });
    await connection.close();
    expect(told(events)).toEqual([
      "1> request server/discover",
      "1< result server/discover ok",
      "1> request tools/call",
      "1< result tools/call ok",
      "1< closed",
    ]);
    const answers = events.filter(({ kind }) => kind === "http");
    expect(answers.map(({ method, outcome, url }) => [method, outcome, url])).toEqual([
      ["POST", 200, server.url],
      ["POST", 200, server.url],
    ]);
    expect(JSON.stringify(events)).not.toMatch(/s3cret|Bearer|authorization/i);
  });

  test("refusals, and a network error by its code", async () => {
    const server = await startHttpStub({ http: { status: { POST: 401 } } });
    const events: TraceEvent[] = [];
    const options = { ...surroundings, trace: (event: TraceEvent) => void events.push(event) };
    expect((await openConnection(server.config, options)).ok).toBe(false);
    await server.stop();
    expect((await openConnection(server.config, options)).ok).toBe(false);
    const outcomes = events.filter(({ kind }) => kind === "http").map(({ outcome }) => outcome);
    expect(outcomes).toEqual([401, "ECONNREFUSED", "ECONNREFUSED", "ECONNREFUSED"]);
    expect(told(events)).toContain("1> error server/discover unsent");
  });
});

test("what a server names is cut, printable, and holds no secret of its own entry", () => {
  const events: TraceEvent[] = [];
  const trace = new WireTrace((event) => events.push(event), "s", ["s3cret-token"]);
  trace.received({ jsonrpc: "2.0", method: `\u001b[31m${"x".repeat(100_000)}` }, 1);
  trace.received({ jsonrpc: "2.0", method: "a", id: "b s3cret-token\u202e\n{" }, 1);
  trace.received({ jsonrpc: "2.0", id: { deep: 1 }, result: {} }, 1);
  trace.received({ jsonrpc: "2.0", id: "__proto__", result: {} }, 1);
  const [long, secret, odd, proto] = events;
  expect(long!.method).toMatch(/^x{119}…$/);
  expect(secret!.id).toBe("b [redacted] {");
  expect(odd).toMatchObject({ kind: "result", outcome: "stray" });
  expect(odd).not.toHaveProperty("id");
  expect(proto).toMatchObject({ id: "__proto__", outcome: "stray" });
});

test.each<[string, object, string]>([
  ["a task of 2026", { resultType: "task", taskId: "t", status: "working" }, "task"],
  ["a task of 2025", { task: { taskId: "t", status: "working" } }, "task"],
  ["content beside which there is something called task", { content: [], task: {} }, "ok"],
  ["a question", { resultType: "input_required" }, "input_required"],
  ["a tool's own error", { content: [], isError: true }, "tool-error"],
])("how it ended: %s", (_, result, outcome) => {
  const events: TraceEvent[] = [];
  const trace = new WireTrace((event) => events.push(event), "s", []);
  trace.sent({ jsonrpc: "2.0", id: 1, method: "tools/call" }, 1);
  trace.received({ jsonrpc: "2.0", id: 1, result }, 1);
  expect(events[1]).toMatchObject({ method: "tools/call", outcome });
});

test("a transport of the caller's own is traced too, and what the server asks of us", async () => {
  const events: TraceEvent[] = [];
  const transport = {
    onmessage: undefined as ((message: unknown) => void) | undefined,
    start: async () => {},
    close: async () => {},
    async send(message: { id?: number; method?: string }) {
      if (message.method !== "initialize") return;
      const result = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "x", version: "1" } };
      this.onmessage?.({ jsonrpc: "2.0", id: message.id, result });
      this.onmessage?.({ jsonrpc: "2.0", id: "theirs", method: "ping" });
    },
  };
  const opened = await openTransport("own", transport as never, { trace: (event) => events.push(event) });
  expect(opened.ok).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(told(events)).toEqual(expect.arrayContaining(["1< request ping", "1> result ping ok"]));
  expect(events.every(({ server }) => server === "own")).toBe(true);
});

describe("of a runtime", () => {
  test("goes to a sink or a file, written whole when the runtime is closed", async () => {
    const server = new Stub({});
    const project = await compiled({ s: server.entry });
    const events: TraceEvent[] = [];
    const toSink = await project.runtime({ trace: (event) => events.push(event) });
    await toSink.call("s", "echo", { text: "hi" });
    expect(events.map(({ method }) => method)).toContain("tools/call");
    const toFile = await project.runtime({ trace: "trace.jsonl" });
    await toFile.call("s", "echo", { text: "hi" });
    await toFile.close();
    const lines = project.read("project/trace.jsonl").trim().split("\n");
    expect(lines.map((line) => JSON.parse(line).kind).at(-1)).toBe("closed");
  });

  test("into a file that can't be written rejects before anything starts", async () => {
    const server = new Stub({});
    const project = await compiled({ s: server.entry });
    const starts = server.starts();
    const error = await rejection(project.runtime({ trace: "no/such/folder/t" }));
    expect(error.message).toContain("no/such/folder/t can't be written (ENOENT)");
    expect(server.starts()).toBe(starts);
  });
});

describe("as a file", () => {
  const event = (n: number): TraceEvent => ({
    time: "2026-01-01T00:00:00.000Z",
    server: "s",
    wire: 1,
    direction: "sent",
    kind: "request",
    id: n,
  });
  const path = () => join(scratchFolder(), "trace.jsonl");
  const lines = (file: string) => readFileSync(file, "utf8").split("\n").slice(0, -1);

  test("is appended to, whole lines of JSON, for its owner alone", async () => {
    const file = path();
    writeFileSync(file, '{"earlier":true}\n', { mode: 0o644 });
    const opened = openTraceFile(file);
    if (!opened.ok) throw new Error(opened.code);
    for (let n = 0; n < 1000; n++) opened.sink(event(n));
    // Not in the middle of what is being traced.
    expect(lines(file)).toHaveLength(1);
    await eventually(() => lines(file).length > 1, "it is written");
    expect(lines(file)).toHaveLength(1001);
    opened.sink(event(1000));
    opened.close();
    opened.sink(event(1001));
    expect(lines(file).map((line) => JSON.parse(line).id)).toEqual([
      undefined,
      ...Array.from({ length: 1001 }, (_, n) => n),
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("that can't be opened is a code", () => {
    expect(openTraceFile(join(scratchFolder(), "no", "such", "folder"))).toEqual({ ok: false, code: "ENOENT" });
    expect(openTraceFile(scratchFolder())).toEqual({ ok: false, code: "EISDIR" });
  });

  test("that can't be written any more says so once and hurts nobody", async () => {
    const codes: string[] = [];
    const opened = openTraceFile("/dev/full", (code) => codes.push(code));
    if (!opened.ok) throw new Error(opened.code);
    for (let n = 0; n < 3; n++) {
      opened.sink(event(n));
      if (n === 0) await eventually(() => codes.length > 0, "it is said");
    }
    opened.close();
    expect(codes).toEqual(["ENOSPC"]);
  });
});
