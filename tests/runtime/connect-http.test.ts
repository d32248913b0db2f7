// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the notation of mcp.json
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import type { Connection } from "../../runtime/connect/connection.ts";
import { boundedFetch } from "../../runtime/connect/http-fetch.ts";
import { type OpenOptions, openConnection } from "../../runtime/connect/open.ts";
import type { ServerConfig } from "../../schemas/config/server-config.ts";
import type { Diagnostic } from "../../schemas/diagnostic.ts";
import { eventually, type HttpServer, serverConfig, startHttp, startHttpStub, surroundings } from "../servers/run.ts";

const open: Connection[] = [];
const started: HttpServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((connection) => connection.close()));
  await Promise.all(started.splice(0).map((server) => server.stop()));
});

async function stubServer(options: Record<string, unknown>): Promise<HttpServer> {
  const server = await startHttpStub(options);
  started.push(server);
  return server;
}

async function connect(config: ServerConfig, options: Partial<OpenOptions> = {}): Promise<Connection> {
  const outcome = await openConnection(config, { ...surroundings, ...options });
  if (!outcome.ok) throw new Error(`${outcome.diagnostic.message} ${outcome.diagnostic.notes.join("; ")}`);
  open.push(outcome.connection);
  return outcome.connection;
}

async function refused(config: ServerConfig): Promise<Diagnostic> {
  const outcome = await openConnection(config, surroundings);
  if (!outcome.ok) return outcome.diagnostic;
  open.push(outcome.connection);
  throw new Error("connected");
}

const asked = (server: HttpServer) => server.log().map(({ event, method }) => (method ? `${event} ${method}` : event));
const echo = (connection: Connection, args = {}) => connection.request("tools/call", { name: "echo", arguments: args });

describe("refusals are no sign of age", () => {
  test.each([
    [401, "sign-in-needed", 1],
    [403, "access-denied", 1],
    [500, "server-unavailable", 3],
    [503, "server-unavailable", 3],
    [429, "server-unavailable", 3],
    [408, "server-unavailable", 3],
  ])("POST %i → %s after %i attempts, no initialize, no GET", async (status, code, attempts) => {
    const server = await stubServer({ http: { status: { POST: status } } });
    expect((await refused(server.config)).code).toBe(code);
    expect(asked(server)).toEqual(Array.from({ length: attempts }, () => "POST server/discover"));
  });

  test("a status that passes is got over", async () => {
    const server = await stubServer({ http: { failFirst: { "server/discover": [503] } } });
    expect((await connect(server.config)).verdict.era).toBe("legacy");
  });

  test("nobody there", async () => {
    const server = await stubServer({});
    await server.stop();
    expect(await refused(server.config)).toMatchObject({
      code: "server-unavailable",
      message: expect.stringContaining("ECONNREFUSED"),
    });
  });

  test("a server that never answers", async () => {
    const server = await stubServer({ silent: ["server/discover"] });
    expect((await refused({ ...server.config, probeTimeoutMs: 300 })).code).toBe("server-timeout");
  });

  test("an error body that echoes a secret, or is a whole page, is cleaned and bounded", async () => {
    const errorBody = `<p>\u0007bad token s3cret-token ${"x".repeat(100_000)}`;
    const server = await stubServer({ http: { status: { POST: 401 }, errorBody } });
    const transport = { kind: "http" as const, url: server.url, headers: { Authorization: "Bearer s3cret-token" } };
    const finding = await refused({ ...server.config, transport });
    expect(finding.code).toBe("sign-in-needed");
    expect(JSON.stringify(finding)).not.toContain("s3cret-token");
    expect(finding.message.length).toBeLessThan(500);
    expect(server.log()[0]!.authorization).toBe("Bearer s3cret-token");
  });

  test("a page instead of an answer", async () => {
    const server = await stubServer({ http: { contentType: "text/html" } });
    expect((await refused(server.config)).code).toBe("protocol-mismatch");
  });
});

describe("eras and transports", () => {
  test("a server that only POSTs stays connected: its 404 for GET means nothing", async () => {
    const server = await stubServer({ http: { status: { GET: 404 } } });
    for (const listen of [false, true]) {
      const connection = await connect(server.config, { listen });
      expect(await echo(connection, { a: 1 })).toMatchObject({ ok: true });
      expect(await echo(connection, { a: 2 })).toMatchObject({ ok: true });
    }
    expect(asked(server).filter((one) => one === "GET")).toHaveLength(1);
  });

  test.each([
    ["one that answers the probe with 400", { http: { failFirst: { "server/discover": [400] } } }, "legacy"],
    ["one that answers the probe with 404", { http: { failFirst: { "server/discover": [404] } } }, "legacy"],
    [
      "one that refuses the probe in a 400 body",
      {
        http: {
          failFirst: { "server/discover": [400] },
          errorBody: '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"x"}}',
        },
      },
      "legacy",
    ],
    ["a modern one", { era: "modern" }, "modern"],
    ["a modern one that streams", { era: "modern", http: { stream: true } }, "modern"],
    ["a legacy one with sessions that streams", { http: { stream: true, sessions: true } }, "legacy"],
  ])("%s", async (_, options, era) => {
    const server = await stubServer(options);
    const connection = await connect(server.config);
    expect(connection.verdict).toMatchObject({ era, verdict: "answered", transport: "streamable-http" });
    expect(await echo(connection)).toMatchObject({ ok: true });
    const before = server.log().length;
    const again = await connect(server.config, { prior: connection.verdict });
    expect(await echo(again)).toMatchObject({ ok: true });
    expect(asked(server).slice(before)).not.toContain("POST server/discover");
  });

  test("SSE only after the POST of initialize was turned away for good", async () => {
    const server = await startHttp("legacy.mjs", { HTTP: "sse" }, "/sse");
    started.push(server);
    const connection = await connect(server.config);
    expect(connection.verdict).toMatchObject({ era: "legacy", transport: "sse" });
    const outcome = await connection.request("tools/call", { name: "add", arguments: { a: 1, b: 2 } });
    expect(outcome).toMatchObject({ ok: true, result: { structuredContent: { sum: 3 } } });
    const again = await connect(server.config, { prior: connection.verdict });
    expect(again.verdict.transport).toBe("sse");
  });

  test("neither transport: the answer to the POST is what is told", async () => {
    const server = await stubServer({ http: { status: { POST: 405, GET: 404 } } });
    expect(await refused(server.config)).toMatchObject({
      code: "protocol-mismatch",
      message: expect.stringContaining("HTTP 405"),
    });
    expect(asked(server)).toEqual(["POST server/discover", "POST initialize", "GET"]);
  });

  test.each([
    ["legacy.mjs", { HTTP: "streamable" }, "legacy"],
    ["modern.mjs", { HTTP: "1" }, "modern"],
    ["modern.mjs", { HTTP: "1", LEGACY: "reject" }, "modern"],
  ] as const)("the SDK's own %s %j", async (script, env, era) => {
    const server = await startHttp(script, env);
    started.push(server);
    const connection = await connect(server.config);
    expect(connection.verdict.era).toBe(era);
    const outcome = await connection.request("tools/call", { name: "add", arguments: { a: 1, b: 2 } });
    expect(outcome).toMatchObject({ ok: true, result: { structuredContent: { sum: 3 } } });
  });
});

describe("sessions", () => {
  test("one that the server forgot is renewed once, for all calls that met its end", async () => {
    const server = await stubServer({ http: { sessions: true, callsPerSession: 1 } });
    const connection = await connect(server.config);
    expect(await echo(connection, { n: 1 })).toMatchObject({ ok: true });
    expect(await echo(connection, { n: 2 })).toMatchObject({ ok: true });
    const log = server.log().filter(({ method }) => method === "initialize" || method === "tools/call");
    expect(log.map(({ method, session }) => [method, session])).toEqual([
      ["initialize", undefined],
      ["tools/call", "session-1"],
      ["tools/call", "session-1"],
      ["initialize", undefined],
      ["tools/call", "session-2"],
    ]);
  });

  test("parallel calls share the renewal", async () => {
    const server = await stubServer({ http: { sessions: true, callsPerSession: 4 } });
    const connection = await connect(server.config);
    for (let n = 0; n < 4; n++) await echo(connection);
    const outcomes = await Promise.all([1, 2, 3].map((n) => echo(connection, { n })));
    expect(outcomes.every(({ ok }) => ok)).toBe(true);
    expect(server.log().filter(({ method }) => method === "initialize")).toHaveLength(2);
  });

  test("a second 404 is an error, not a loop", async () => {
    const server = await stubServer({ http: { sessions: true, callsPerSession: 0 } });
    const connection = await connect(server.config);
    expect(await echo(connection)).toMatchObject({ ok: false, failure: { kind: "session-lost" } });
    expect(server.log().filter(({ method }) => method === "initialize")).toHaveLength(2);
    expect(server.log().filter(({ method }) => method === "tools/call")).toHaveLength(2);
  });

  test("closing ends the session on the server", async () => {
    const server = await stubServer({ http: { sessions: true } });
    const connection = await connect(server.config);
    await connection.close();
    await eventually(() => asked(server).includes("DELETE"), "the session is deleted");
  });
});

describe("requests", () => {
  test("a call met by 503 is not repeated, a list is, once", async () => {
    const failFirst = { "tools/call": [503], "tools/list": [503] };
    const server = await stubServer({ http: { failFirst } });
    const connection = await connect(server.config);
    expect(await echo(connection)).toMatchObject({ ok: false, failure: { kind: "unavailable", status: 503 } });
    expect(await connection.request("tools/list")).toMatchObject({ ok: true });
    const log = asked(server);
    expect(log.filter((one) => one === "POST tools/call")).toHaveLength(1);
    expect(log.filter((one) => one === "POST tools/list")).toHaveLength(2);
  });

  test.each([[true], [false]])("an answer beyond the limit fails its call alone (stream: %s)", async (stream) => {
    const server = await stubServer({ http: { stream } });
    const connection = await connect(server.config, { maxMessageBytes: 100_000 });
    const big = await connection.request(
      "tools/call",
      { name: "big", arguments: { bytes: 3_000_000 } },
      { timeoutMs: 5000 },
    );
    expect(big).toMatchObject({ ok: false, failure: { kind: "oversize", limitBytes: 100_000 } });
    expect(await echo(connection)).toMatchObject({ ok: true });
  });

  test.each([
    ["ends", { stream: true, breakOff: ["tools/call"] }],
    ["is reset", { stream: true, reset: ["tools/call"] }],
  ])("a call whose stream %s without the answer fails at once, and isn't repeated", async (_, http) => {
    const server = await stubServer({ http });
    const connection = await connect(server.config);
    expect(await echo(connection)).toMatchObject({ ok: false, failure: { kind: "closed" } });
    expect(asked(server).filter((one) => one === "POST tools/call")).toHaveLength(1);
    expect(await connection.request("tools/list")).toMatchObject({ ok: true });
  });

  test.each([["legacy"], ["modern"]])("a time limit and a cancel end the exchange: %s", async (era) => {
    const server = await stubServer({ era });
    const connection = await connect(server.config);
    const hang = (options: object) => connection.request("tools/call", { name: "hang" }, options);
    expect(await hang({ timeoutMs: 200 })).toMatchObject({ ok: false, failure: { kind: "timeout", timeoutMs: 200 } });
    const cancel = new AbortController();
    setTimeout(() => cancel.abort(), 100);
    expect(await hang({ signal: cancel.signal })).toMatchObject({ ok: false, failure: { kind: "cancelled" } });
    expect(await echo(connection)).toMatchObject({ ok: true });
    await eventually(() => asked(server).filter((one) => one === "gone").length === 2, "both exchanges are given up");
  });

  test("headers reach every request, expanded", async () => {
    const server = await stubServer({});
    const transport = { kind: "http" as const, url: server.url, headers: { Authorization: "Bearer ${P_T}" } };
    const connection = await connect(serverConfig(transport), { env: { P_T: "token-of-the-env" } });
    await echo(connection);
    expect(new Set(server.log().map(({ authorization }) => authorization))).toEqual(
      new Set(["Bearer token-of-the-env"]),
    );
  });
});

describe("SSE, refusing", () => {
  /** An event stream whose messages are all answered with this status. */
  async function refusing(status: number): Promise<ServerConfig> {
    const server = createServer((request, response) => {
      if (request.method === "POST") response.writeHead(status).end("not with s3cret-token-1");
      else
        response.writeHead(200, { "content-type": "text/event-stream" }).write("event: endpoint\ndata: /messages\n\n");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`;
    return serverConfig({ kind: "http", url, headers: { "X-Api-Key": "s3cret-token-1" } });
  }

  test.each<[number, string]>([
    [403, "access-denied"],
    [503, "server-unavailable"],
    [418, "protocol-mismatch"],
  ])("a POST answered with %i is told as that", async (status, code) => {
    const sse = { era: "legacy", verdict: "configured", protocolVersion: "2025-11-25", transport: "sse" } as const;
    const outcome = await openConnection(await refusing(status), { ...surroundings, prior: sse });
    expect(outcome).toMatchObject({ ok: false, diagnostic: { code } });
    expect(JSON.stringify(outcome)).toContain(`HTTP ${status}: not with [redacted]`);
  });

  test("a stream that never names its endpoint ends at the limit of a request", async () => {
    const server = createServer((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`;
    const sse = { era: "legacy", verdict: "answered", protocolVersion: "2025-11-25", transport: "sse" } as const;
    const config = serverConfig({ kind: "http", url, headers: {} }, { requestTimeoutMs: 300 });
    const outcome = await openConnection(config, { ...surroundings, prior: sse });
    server.closeAllConnections();
    server.close();
    expect(outcome).toMatchObject({
      ok: false,
      diagnostic: { code: "server-timeout", message: expect.stringContaining("no answer within 300 ms") },
    });
  });
});

describe("boundedFetch", () => {
  const respond = (body: string, init: ResponseInit) =>
    boundedFetch({
      secrets: ["s3cret-token"],
      maxMessageBytes: 10,
      listen: true,
      fetch: async () => new Response(body, init),
    });

  test.each([
    ["one event of a stream", "data: 12\n\n".repeat(5), "text/event-stream", true],
    ["events with CRLF", "data:1\r\n\r\n".repeat(5), "text/event-stream", true],
    ["an event that is too long", `data: ${"1".repeat(20)}\n\n`, "text/event-stream", false],
    ["a body that is too long", "1".repeat(11), "application/json", false],
    ["a body that just fits", "1".repeat(10), "application/json", true],
  ])("%s", async (_, body, type, fits) => {
    const response = await respond(body, { headers: { "content-type": type } })("http://x");
    if (fits) expect(await response.text()).toBe(body);
    else await expect(response.text()).rejects.toThrow("longer than 10 bytes");
  });
});
