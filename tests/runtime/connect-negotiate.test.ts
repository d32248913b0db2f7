import { afterEach, describe, expect, test } from "vitest";
import type { Connection } from "../../runtime/connect/connection.ts";
import { type OpenOptions, openConnection } from "../../runtime/connect/open.ts";
import { type ProbeReply, readAnswer } from "../../runtime/connect/probe.ts";
import type { EraVerdict } from "../../runtime/connect/verdict.ts";
import type { ServerConfig } from "../../schemas/config/server-config.ts";
import type { Diagnostic } from "../../schemas/diagnostic.ts";
import { countProcesses, serverConfig, serversDir, stub, surroundings } from "../servers/run.ts";

const open: Connection[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((connection) => connection.close()));
});

async function connect(config: ServerConfig, options: Partial<OpenOptions> = {}): Promise<Connection> {
  const outcome = await openConnection(config, { ...surroundings, ...options });
  if (!outcome.ok) throw new Error(`${outcome.diagnostic.message} ${outcome.diagnostic.notes.join("; ")}`);
  open.push(outcome.connection);
  return outcome.connection;
}

async function refused(config: ServerConfig, options: Partial<OpenOptions> = {}): Promise<Diagnostic> {
  const outcome = await openConnection(config, { ...surroundings, ...options });
  if (!outcome.ok) return outcome.diagnostic;
  open.push(outcome.connection);
  throw new Error("connected");
}

const MODERN = "2026-07-28";
const modern: EraVerdict = {
  era: "modern",
  verdict: "answered",
  protocolVersion: MODERN,
  transport: "stdio",
  supportedVersions: [MODERN],
  capabilities: { tools: {} },
};
const legacy: EraVerdict = { era: "legacy", verdict: "answered", protocolVersion: "2025-11-25", transport: "stdio" };

describe("what an answer to the probe says", () => {
  const result = (members: Record<string, unknown>): ProbeReply => ({ kind: "result", result: members });
  const error = (code: number, data?: unknown): ProbeReply => ({ kind: "error", error: { code, message: "", data } });
  test.each<[string, ProbeReply, Record<string, unknown>]>([
    [
      "the version we speak",
      result({ supportedVersions: ["2027-01-01", MODERN], capabilities: {} }),
      { kind: "modern", version: MODERN },
    ],
    ["capabilities of a wrong kind", result({ supportedVersions: [MODERN], capabilities: 5 }), { kind: "modern" }],
    ["old versions only", result({ supportedVersions: ["2025-06-18"] }), { kind: "legacy", offered: ["2025-06-18"] }],
    ["newer versions only", result({ supportedVersions: ["2027-01-01"] }), { kind: "no-common-version" }],
    ["some other result", result({ ok: true }), { kind: "legacy" }],
    ["an empty list", result({ supportedVersions: [] }), { kind: "legacy" }],
    ["method not found", error(-32601), { kind: "legacy" }],
    ["session not found", error(-32001), { kind: "legacy" }],
    ["a list with ours", error(-32022, { supported: ["2025-11-25", MODERN] }), { kind: "ask-again", version: MODERN }],
    ["a list of newer ones", error(-32022, { supported: ["2027-01-01"] }), { kind: "no-common-version" }],
    ["a list of older ones", error(-32022, { supported: ["2025-11-25"] }), { kind: "legacy" }],
    ["no list", error(-32022, "x"), { kind: "legacy" }],
  ])("%s", (_, reply, verdict) => {
    if (reply.kind !== "result" && reply.kind !== "error") throw new Error("not an answer");
    expect(readAnswer(reply)).toMatchObject(verdict);
  });
});

describe("auto, without an earlier verdict", () => {
  const wrong = { error: { code: -32022, message: "ask in mine", data: { supported: [MODERN], requested: MODERN } } };
  const answer = { result: { resultType: "complete", supportedVersions: [MODERN], capabilities: { tools: {} } } };
  const brief = { probeTimeoutMs: 700 };
  const rows: [string, Record<string, unknown>, Partial<ServerConfig>, Partial<EraVerdict>, number][] = [
    ["a modern server", { era: "modern" }, {}, { era: "modern", verdict: "answered" }, 1],
    ["a legacy server that answers with an error", {}, {}, { era: "legacy", verdict: "answered" }, 1],
    [
      "one that exits unless initialize comes first",
      { exitUnlessInitialized: true },
      {},
      { era: "legacy", verdict: "answered" },
      2,
    ],
    [
      "one that never answers unknown methods",
      { ignoreUnknown: true },
      brief,
      { era: "legacy", verdict: "silence" },
      2,
    ],
    [
      "one that answers the probe without an id",
      { wrongId: "null", wrongIdOn: ["server/discover"] },
      {},
      { era: "legacy", verdict: "answered" },
      1,
    ],
    [
      "a modern one that answers the probe with a wrong id",
      { era: "modern", wrongId: 5, wrongIdOn: ["server/discover"] },
      {},
      { era: "modern" },
      1,
    ],
    [
      "one that wants to be asked again",
      { era: "modern", replies: { "server/discover": [wrong, answer] } },
      {},
      { era: "modern" },
      1,
    ],
    [
      "one that a first question breaks for initialize",
      { breakAfterProbe: true },
      brief,
      { era: "legacy", verdict: "answered" },
      2,
    ],
    [
      "a modern one slower than the probe waits",
      { era: "modern", startMs: 1000 },
      brief,
      { era: "modern", verdict: "answered" },
      3,
    ],
    ["a legacy one slower than the probe waits", { startMs: 1000 }, brief, { era: "legacy", verdict: "answered" }, 3],
    [
      "a silent one slower than the probe waits",
      { startMs: 400, ignoreUnknown: true },
      brief,
      { era: "legacy", verdict: "silence" },
      3,
    ],
    ["one that speaks both", { era: "both" }, {}, { era: "modern" }, 1],
    [
      "careless about serverInfo and capabilities",
      { serverInfo: { name: 5 }, capabilities: { tools: true } },
      {},
      { era: "legacy" },
      1,
    ],
  ];
  test.each(rows)("%s", async (_, options, changes, verdict, processes) => {
    const { config, marker, log } = stub(options, changes);
    const connection = await connect(config);
    expect(connection.verdict).toMatchObject(verdict);
    expect(await connection.request("tools/list")).toMatchObject({ ok: true, result: { tools: [{ name: "echo" }] } });
    expect(countProcesses(marker)).toBe(1);
    const started = log().filter(({ event }) => event === "start").length;
    // On a busy machine any start may look slow, and then silence is doubted once more.
    if (verdict.verdict === "silence") expect([2, 3]).toContain(started);
    else expect(started).toBe(processes);
  });

  test("what the server says of itself is kept, whichever era", async () => {
    const about = {
      capabilities: { tools: {}, resources: { subscribe: true } },
      serverInfo: { name: "n", version: "3", title: "T" },
      instructions: "Use it well.",
    };
    for (const era of ["legacy", "modern"]) {
      expect((await connect(stub({ era, ...about }).config)).verdict).toMatchObject(about);
    }
  });
});

describe("auto, failing", () => {
  test("newer versions only", async () => {
    const { config, marker } = stub({ era: "modern", supportedVersions: ["2027-01-01"] });
    expect(await refused(config)).toMatchObject({
      code: "protocol-mismatch",
      message: expect.stringContaining("it offers 2027-01-01"),
    });
    expect(countProcesses(marker)).toBe(0);
  });

  test("initialize that is never answered ends at the time limit, with stderr", async () => {
    const { config, marker } = stub(
      { silent: ["initialize", "server/discover"], stderr: "loading\n" },
      { probeTimeoutMs: 200 },
    );
    const outcome = await openConnection(config, { ...surroundings, timeoutMs: 800 });
    expect(outcome).toMatchObject({ ok: false, diagnostic: { code: "server-timeout" }, stderr: ["loading"] });
    expect(countProcesses(marker)).toBe(0);
  });

  test.each<[string, Record<string, unknown>, Partial<OpenOptions>, string]>([
    ["auto", { protocolVersion: "auto" }, {}, "waiting for the answer to initialize"],
    ["legacy", { protocolVersion: "legacy" }, {}, "waiting for the answer to initialize"],
    ["pinned", { protocolVersion: MODERN }, {}, "waiting for the answer to server/discover"],
    ["known", {}, { prior: legacy }, "waiting for the answer to initialize"],
  ])("%s: a handshake takes no longer than a request may", async (_, changes, options, doing) => {
    const limits = { requestTimeoutMs: 500, probeTimeoutMs: 200 };
    const { config, marker } = stub({ silent: ["initialize", "server/discover"] }, { ...limits, ...changes });
    const finding = await refused(config, options);
    expect(finding).toMatchObject({
      code: "server-timeout",
      message: `server "s": no answer within 500 ms while ${doing}`,
    });
    expect(countProcesses(marker)).toBe(0);
  });

  test("what a server claims to offer is a line without secrets", async () => {
    const env = { TOKEN: "s3cret-token-1" };
    const { config } = stub({ era: "modern", supportedVersions: ["2027-01-01\u0007", "s3cret-token-1"] });
    const { transport } = config;
    if (transport.kind !== "stdio") throw new Error("stdio");
    const finding = await refused({ ...config, transport: { ...transport, env: { ...transport.env, ...env } } });
    expect(finding.message).toMatch(/it offers 2027-01-01, \[redacted\]/);
  });

  test("an abort ends the attempt and its processes", async () => {
    const { config, marker } = stub({ silent: ["initialize", "server/discover"], grandchild: true });
    const cancel = new AbortController();
    const outcome = refused(config, { signal: cancel.signal });
    setTimeout(() => cancel.abort(), 300);
    expect(await outcome).toMatchObject({ code: "server-unreachable", message: expect.stringContaining("cancelled") });
    expect(countProcesses(marker)).toBe(0);
  });

  test("a protocol version nobody knows", async () => {
    const finding = await refused(stub({ protocolVersion: "1999-01-01" }).config);
    expect(finding).toMatchObject({ code: "protocol-mismatch", message: expect.stringContaining("1999-01-01") });
  });

  test("what it printed instead of messages is shown", async () => {
    const printer = serverConfig({ kind: "stdio", command: "sh", args: ["-c", "echo 'Usage: x'; exit 2"], env: {} });
    expect(await refused(printer)).toMatchObject({
      code: "server-unreachable",
      message: expect.stringContaining("exited with status 2"),
      notes: ["stdout: Usage: x"],
    });
  });
});

describe("configured", () => {
  test("legacy: no probe", async () => {
    const { config, methods } = stub({ era: "both" }, { protocolVersion: "legacy" });
    expect((await connect(config)).verdict).toMatchObject({ era: "legacy", verdict: "configured" });
    expect(methods()).not.toContain("server/discover");
  });

  test("pinned: however long the server takes", async () => {
    const { config } = stub({ era: "modern", startMs: 600 }, { protocolVersion: MODERN, probeTimeoutMs: 100 });
    expect((await connect(config)).verdict).toMatchObject({ era: "modern", verdict: "configured" });
  });

  test.each([
    ["does not offer it", {}, "does not offer protocol version 2026-07-28"],
    ["offers others", { era: "modern", supportedVersions: ["2025-11-25"] }, "it offers 2025-11-25"],
    ["exits", { exitUnlessInitialized: true }, "exited with status 3"],
  ])("pinned: a server that %s is refused", async (_, options, message) => {
    const { config, marker } = stub(options, { protocolVersion: MODERN });
    expect((await refused(config)).message).toContain(message);
    expect(countProcesses(marker)).toBe(0);
  });
});

describe("with an earlier verdict", () => {
  test.each([
    ["modern", modern, { era: "modern" }, ["tools/list", "tools/call"]],
    [
      "legacy",
      legacy,
      { exitUnlessInitialized: true },
      ["initialize", "notifications/initialized", "tools/list", "tools/call"],
    ],
  ])("%s: one process, no server/discover", async (_, prior, options, expected) => {
    const { config, methods, log } = stub(options);
    const connection = await connect(config, { prior });
    await connection.request("tools/list");
    await connection.request("tools/call", { name: "echo", arguments: {} });
    expect(methods()).toEqual(expected);
    expect(log().filter(({ event }) => event === "start")).toHaveLength(1);
  });

  test("modern requests carry the envelope", async () => {
    const { config, log } = stub({ era: "modern" });
    const connection = await connect(config, { prior: modern, capabilities: { roots: {} } });
    await connection.request("tools/list", { cursor: "1" });
    const sent = log().find(({ method }) => method === "tools/list")!.params!;
    expect(sent).toEqual({
      cursor: "1",
      _meta: {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": { name: "pimcp", version: "0.1.0" },
        "io.modelcontextprotocol/clientCapabilities": { roots: {} },
      },
    });
  });

  test.each<[string, EraVerdict, Record<string, unknown>, string]>([
    ["modern, but it is legacy and says so", modern, { requireInitialize: true }, "legacy"],
    ["modern, but it is legacy and exits", modern, { exitUnlessInitialized: true }, "legacy"],
    ["legacy, but it is modern", legacy, { era: "modern" }, "modern"],
  ])("%s: probed once, reported once, and the requests are served", async (_, prior, options, era) => {
    const notices: Diagnostic[] = [];
    const { config, marker, methods } = stub(options);
    const connection = await connect(config, { prior, onNotice: (notice) => notices.push(notice) });
    // The list goes first, and calls wait for what it proves: they could not be sent again after an exit.
    const [, ...answers] = await Promise.all([
      connection.request("tools/list"),
      ...[1, 2].map((n) => connection.request("tools/call", { name: "echo", arguments: { n } })),
    ]);
    expect(answers).toMatchObject([1, 2].map((n) => ({ ok: true, result: { content: [{ text: `{"n":${n}}` }] } })));
    expect(connection.verdict.era).toBe(era);
    expect(notices).toMatchObject([{ code: "verdict-changed", severity: "warning" }]);
    expect(methods().filter((method) => method === "server/discover")).toHaveLength(1);
    expect(countProcesses(marker)).toBe(1);
  });

  test("a call that may have run before the server went away is not sent again", async () => {
    const { config, methods } = stub({ exitUnlessInitialized: true });
    const connection = await connect(config, { prior: modern });
    const call = () => connection.request("tools/call", { name: "echo", arguments: {} });
    expect(await call()).toMatchObject({ ok: false, failure: { kind: "closed" } });
    expect(methods().filter((method) => method === "tools/call")).toHaveLength(1);
    expect(await call()).toMatchObject({ ok: true });
  });

  test("an error of a server that is modern after all is just that error", async () => {
    const error = { code: -32602, message: "Tool nope not found" };
    const notices: Diagnostic[] = [];
    const { config } = stub({ era: "modern", replies: { "tools/call": { error } } });
    const connection = await connect(config, { prior: modern, onNotice: (notice) => notices.push(notice) });
    expect(await connection.request("tools/call", { name: "nope" })).toMatchObject({
      ok: false,
      failure: { kind: "rpc-error", error },
    });
    expect(notices).toEqual([]);
    expect(await connection.request("tools/list")).toMatchObject({ ok: true });
  });
});

describe("real servers of both SDK lines", () => {
  const script = (name: string, env = {}) =>
    serverConfig({ kind: "stdio", command: process.execPath, args: [`${serversDir}${name}`], env });
  test.each([
    ["legacy.mjs", {}, "legacy", "2025-11-25"],
    ["modern.mjs", {}, "modern", MODERN],
    ["modern.mjs", { LEGACY: "reject" }, "modern", MODERN],
  ])("%s %j", async (name, env, era, protocolVersion) => {
    const first = await connect(script(name, env));
    expect(first.verdict).toMatchObject({ era, protocolVersion, verdict: "answered" });
    const again = await connect(script(name, env), { prior: first.verdict });
    const outcome = await again.request("tools/call", { name: "add", arguments: { a: 1, b: 2 } });
    expect(outcome).toMatchObject({ ok: true, result: { structuredContent: { sum: 3 } } });
    expect(again.verdict).toEqual(first.verdict);
  });
});
