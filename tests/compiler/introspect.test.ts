import { describe, expect, test } from "vitest";
import { type AcquireOptions, acquireAll } from "../../compiler/acquire.ts";
import { type IntrospectOptions, introspect } from "../../compiler/introspect/introspect.ts";
import type { ServerConfig } from "../../schemas/config/server-config.ts";
import { noCache } from "../no-cache.ts";
import { countProcesses, serverConfig, startHttpStub, stub, surroundings } from "../servers/run.ts";

async function ask(config: ServerConfig, options: Partial<IntrospectOptions> = {}) {
  const { value, diagnostics } = await introspect(config, { ...surroundings, ...options });
  return { snapshot: value, codes: diagnostics.map(({ code }) => code), diagnostics };
}

const tool = (name: string, more = {}) => ({ name, inputSchema: { type: "object" }, ...more });
const names = (snapshot: { tools: readonly { name: string }[] } | undefined) => snapshot?.tools.map(({ name }) => name);

describe("pages", () => {
  test("all of them, in the server's order, entries as sent", async () => {
    const odd = tool("b", { httpMethod: "GET", _meta: { "anthropic/alwaysLoad": true } });
    const { config } = stub({ pages: [{ tools: [odd] }, { tools: [] }, { tools: [tool("a")] }] });
    const { snapshot, codes } = await ask(config);
    expect(snapshot?.tools).toEqual([odd, tool("a")]);
    expect(codes).toEqual([]);
  });

  test.each<[string, Record<string, unknown>[], { ttlMs?: number; partlyTimed?: true; cacheScope: string }]>([
    ["the least", [{ ttlMs: 500 }, { ttlMs: 300 }], { ttlMs: 300, cacheScope: "private" }],
    ["zero counts", [{ ttlMs: 500 }, { ttlMs: 0 }], { ttlMs: 0, cacheScope: "private" }],
    ["absent on one page", [{ ttlMs: 500 }, {}], { ttlMs: 500, partlyTimed: true, cacheScope: "private" }],
    ["no valid number", [{ ttlMs: "5" }, { ttlMs: 500 }], { ttlMs: 500, partlyTimed: true, cacheScope: "private" }],
    ["absent everywhere", [{}, {}], { cacheScope: "private" }],
    ["negative", [{ ttlMs: -1 }], { cacheScope: "private" }],
    ["public everywhere", [{ cacheScope: "public" }, { cacheScope: "public" }], { cacheScope: "public" }],
    ["public but once", [{ cacheScope: "public" }, {}], { cacheScope: "private" }],
  ])("freshness: %s", async (_, metas, wanted) => {
    for (const era of ["legacy", "modern"]) {
      const pages = metas.map((meta, index) => ({ ...meta, tools: [tool(`t${index}`)] }));
      const { snapshot } = await ask(stub({ era, pages }).config);
      expect(snapshot).toMatchObject(wanted);
      expect([snapshot?.ttlMs, snapshot?.partlyTimed]).toEqual([wanted.ttlMs, wanted.partlyTimed]);
    }
  });

  test.each<[string, Record<string, unknown>, string[], string, string]>([
    [
      "an empty cursor ends the list",
      { pages: [{ tools: [tool("a")], nextCursor: "" }] },
      ["a"],
      "info",
      "cursor is empty",
    ],
    [
      "a cursor used before",
      { pages: [{ tools: [tool("a")] }, { tools: [tool("b")], nextCursor: "1" }] },
      ["a", "b"],
      "warning",
      "used before",
    ],
    ["a number", { pages: [{ tools: [tool("a")], nextCursor: 5 }] }, ["a"], "warning", "not a string"],
  ])("%s", async (_, options, wanted, severity, message) => {
    const { snapshot, diagnostics } = await ask(stub(options).config);
    expect(names(snapshot)).toEqual(wanted);
    expect(diagnostics).toMatchObject([
      { code: "list-truncated", severity, message: expect.stringContaining(message) },
    ]);
  });

  test("endless pages stop at the cap, with what there was", async () => {
    const { snapshot, diagnostics } = await ask(stub({ endlessCursor: true }).config);
    expect(snapshot?.tools).toHaveLength(1000);
    expect(diagnostics).toMatchObject([
      { code: "list-truncated", message: expect.stringContaining("more than 1000 pages") },
    ]);
  });

  test("a page that fails makes no list", async () => {
    const page = { result: { tools: [tool("a")], nextCursor: "1" } };
    const failing = { error: { code: -32000, message: "no database" } };
    const { snapshot, diagnostics } = await ask(stub({ replies: { "tools/list": [page, failing] } }).config);
    expect(snapshot).toBeUndefined();
    expect(diagnostics).toMatchObject([
      { code: "tools-unlisted", severity: "error", message: expect.stringContaining("no database") },
    ]);
  });

  test("an answer without a list makes no list", async () => {
    const { snapshot, codes } = await ask(stub({ replies: { "tools/list": { result: { tools: {} } } } }).config);
    expect([snapshot, codes]).toEqual([undefined, ["tools-unlisted"]]);
  });
});

describe("entries", () => {
  test("those without a name are left out, with their place", async () => {
    const tools = [5, null, tool("a"), { description: "x" }, { name: "" }, ["x"]];
    for (const era of ["legacy", "modern"]) {
      const { snapshot, diagnostics } = await ask(stub({ era, tools }).config);
      expect(names(snapshot)).toEqual(["a"]);
      expect(diagnostics.map(({ code, pointer }) => [code, pointer])).toEqual(
        [0, 1, 3, 4, 5].map((index) => ["invalid-tool", `/tools/${index}`]),
      );
    }
  });

  test("of two with one name the same is kept whichever comes first", async () => {
    const [one, two] = [tool("a", { description: "1" }), tool("a", { description: "2" })];
    const first = await ask(stub({ tools: [one, two, tool("b")] }).config);
    const second = await ask(stub({ tools: [two, tool("b"), one] }).config);
    expect(first.snapshot?.tools.find(({ name }) => name === "a")).toEqual(one);
    expect(second.snapshot?.tools.find(({ name }) => name === "a")).toEqual(one);
    expect(first.diagnostics).toMatchObject([{ code: "duplicate-tool", tool: "a", pointer: "/tools/1" }]);
  });

  test("hostile names and keys pass through", async () => {
    const tools = JSON.parse('[{"name":"__proto__"},{"name":"constructor","__proto__":{"x":1}},{"name":"a\\u202eb"}]');
    const { snapshot } = await ask(stub({ tools }).config);
    expect(names(snapshot)).toEqual(["__proto__", "constructor", "a\u202eb"]);
  });
});

describe("credentials that are repeated", () => {
  const secret = "s3cret-token-1";
  const withToken = (options: Record<string, unknown>, token = secret) => {
    const { config } = stub(options);
    if (config.transport.kind !== "stdio") throw new Error("stdio");
    const env = { ...config.transport.env, API_TOKEN: token };
    return { ...config, transport: { ...config.transport, env } };
  };

  test("stand in no part of a snapshot and in no finding; what has one for a name is left out", async () => {
    const tools = [
      tool(secret),
      tool("a", {
        description: `x ${secret}`,
        inputSchema: { type: "object", properties: { [secret]: { default: secret } } },
      }),
      tool("a", { description: secret }),
      tool("b"),
    ];
    const options = { tools, instructions: secret, serverInfo: { name: secret, version: "1", title: secret } };
    for (const era of ["legacy", "modern"]) {
      const { snapshot, diagnostics, codes } = await ask(
        withToken({ era, ...options, capabilities: { tools: {}, [secret]: {} } }),
      );
      expect(JSON.stringify([snapshot, diagnostics])).not.toContain(secret);
      expect(names(snapshot)).toEqual(["a", "b"]);
      expect(snapshot).toMatchObject({ instructions: "[redacted]", serverInfo: { name: "[redacted]" } });
      expect(codes).toEqual(["secret-echoed", "secret-echoed", "duplicate-tool", "secret-echoed"]);
    }
  });

  test("that are short or famous leave ordinary text alone", async () => {
    const tools = [tool("password", { description: "abc and the password" })];
    for (const token of ["abc", "password"]) {
      const { snapshot, codes } = await ask(withToken({ tools }, token));
      expect(snapshot?.tools).toEqual(tools);
      expect(codes).toEqual([]);
    }
  });
});

describe("capabilities", () => {
  test("resources and prompts count when they can be listed", async () => {
    const options = { capabilities: { tools: {}, resources: {}, prompts: {} }, resources: true };
    const { snapshot, diagnostics } = await ask(stub(options).config);
    expect(snapshot).toMatchObject({ resources: true, prompts: false, capabilities: options.capabilities });
    expect(diagnostics).toMatchObject([
      { code: "capability-lie", severity: "info", message: expect.stringContaining("prompts") },
    ]);
  });

  test("what isn't advertised isn't asked for, except tools", async () => {
    const { config, methods } = stub({ capabilities: {}, resources: true, prompts: true });
    const { snapshot, codes } = await ask(config);
    expect(snapshot).toMatchObject({ resources: false, prompts: false, tools: [{ name: "echo" }] });
    expect(codes).toEqual(["capability-lie"]);
    expect(methods()).not.toContain("resources/list");
  });

  test("a server without tools is no failure", async () => {
    const error = { code: -32601, message: "Method not found" };
    const { snapshot, codes } = await ask(stub({ capabilities: {}, replies: { "tools/list": { error } } }).config);
    expect([snapshot?.tools, codes]).toEqual([[], []]);
  });
});

describe("change notices", () => {
  const lists = (methods: string[]) => methods.filter((method) => method === "tools/list").length;

  test("many before the list is answered cost a second list, and the last change is seen", async () => {
    const { config, methods } = stub({ listChangedBurst: 50, toolsByCount: [[tool("old")], [tool("new")]] });
    expect(names((await ask(config)).snapshot)).toEqual(["new"]);
    expect(lists(methods())).toBe(2);
  });

  test("one after each list ends after a handful of lists", async () => {
    const { config, methods } = stub({
      listChangedAfterList: 5,
      delayMs: { "resources/list": 100 },
      capabilities: { tools: {}, resources: {} },
      resources: true,
    });
    const { snapshot } = await ask(config);
    expect(names(snapshot)).toEqual(["echo"]);
    expect(lists(methods())).toBeLessThanOrEqual(3);
  });
});

describe("failures", () => {
  test("noise is reported with the list", async () => {
    const { snapshot, diagnostics } = await ask(stub({ noise: ["ready"] }).config);
    expect(names(snapshot)).toEqual(["echo"]);
    expect(diagnostics).toMatchObject([{ code: "stdout-noise", notes: ["stdout: ready"] }]);
  });

  test.each<[string, Record<string, unknown>, string, string]>([
    [
      "crashes",
      { exitOn: "tools/list", stderr: "out of luck\n" },
      "server-unreachable",
      "exited with status 7 while listing its tools",
    ],
    ["hangs", { silent: ["tools/list"] }, "server-timeout", "no answer within"],
  ])("a server that %s on tools/list", async (_, options, code, message) => {
    const { config, marker } = stub(options);
    const { snapshot, diagnostics } = await ask(config, { timeoutMs: 3000 });
    expect(snapshot).toBeUndefined();
    expect(diagnostics).toMatchObject([{ code, message: expect.stringContaining(message) }]);
    expect(countProcesses(marker)).toBe(0);
  });

  test.each<[string, Record<string, unknown>]>([
    ["auto", { protocolVersion: "auto" }],
    ["legacy", { protocolVersion: "legacy" }],
  ])("a server that never answers is overdue, not cancelled: %s", async (_, changes) => {
    const silent = { silent: ["initialize", "server/discover"], stderr: "loading\n" };
    const { config } = stub(silent, { requestTimeoutMs: 600, probeTimeoutMs: 200, ...changes });
    const { diagnostics } = await ask(config);
    expect(diagnostics).toMatchObject([
      {
        code: "server-timeout",
        message: expect.stringContaining("no answer within 600 ms"),
        notes: ["if it only needs longer, raise requestTimeoutMs (now 600)", "stderr: loading"],
      },
    ]);
    // The limit for everything, too, is no cancellation.
    const all = await ask({ ...config, requestTimeoutMs: 20_000 }, { timeoutMs: 700 });
    expect(all.diagnostics).toMatchObject([{ code: "server-timeout" }]);
    const cancelled = await ask(config, { signal: AbortSignal.abort() });
    expect(cancelled.diagnostics).toMatchObject([{ message: expect.stringContaining("cancelled") }]);
  });

  test("an unavailable server over HTTP", async () => {
    const server = await startHttpStub({ http: { status: { POST: 503 } } });
    const { snapshot, codes } = await ask(server.config);
    await server.stop();
    expect([snapshot, codes]).toEqual([undefined, ["server-unavailable"]]);
  });
});

describe("several servers", () => {
  /** Asks them all, with nothing cached and nothing compiled before. */
  const askAll = async (servers: readonly ServerConfig[], options: Partial<AcquireOptions> = {}) => {
    const { value } = await acquireAll(servers, {
      introspect: (server, signal) => introspect(server, { ...surroundings, signal }),
      cache: noCache,
      previous: () => undefined,
      refresh: false,
      offline: false,
      concurrency: 8,
      signal: new AbortController().signal,
      onProgress: () => {},
      ...options,
    });
    return value;
  };

  test("outcomes in the order given, one that fails harms none, none is left running", async () => {
    const slow = stub({ startMs: 500 });
    const quick = stub({ era: "modern" });
    const missing = serverConfig({ kind: "stdio", command: "no-such-command-here", args: [], env: {} }, { name: "m" });
    const events: string[] = [];
    const outcomes = await askAll([slow.config, missing, quick.config], {
      onProgress: ({ kind, server }) => events.push(`${kind} ${server}`),
    });
    expect(outcomes.map(({ snapshot }) => snapshot?.era)).toEqual(["legacy", undefined, "modern"]);
    expect(events.filter((event) => event.startsWith("done"))).toHaveLength(3);
    expect([slow, quick].map(({ marker }) => countProcesses(marker))).toEqual([0, 0]);
  });

  test("as many at a time as allowed", async () => {
    let running = 0;
    let most = 0;
    const servers = Array.from({ length: 5 }, () => stub({}).config);
    await askAll(servers, {
      concurrency: 2,
      onProgress: ({ kind }) => {
        running += kind === "asking" ? 1 : -1;
        most = Math.max(most, running);
      },
    });
    expect(most).toBe(2);
  });

  test("after an abort no process is left and every server has an outcome", async () => {
    const servers = Array.from({ length: 4 }, () =>
      stub({ silent: ["initialize", "server/discover"], grandchild: true }),
    );
    const cancel = new AbortController();
    setTimeout(() => cancel.abort(), 500);
    const configs = servers.map(({ config }) => config);
    const outcomes = await askAll(configs, { signal: cancel.signal, concurrency: 2 });
    expect(outcomes.map(({ snapshot }) => snapshot)).toEqual([undefined, undefined, undefined, undefined]);
    expect(servers.map(({ marker }) => countProcesses(marker))).toEqual([0, 0, 0, 0]);
  });
});
