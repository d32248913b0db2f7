/** Prompts of servers, from `prompts/list` to the catalog. */
import { describe, expect, test } from "vitest";
import { buildCatalog } from "../../compiler/catalog.ts";
import { introspect } from "../../compiler/introspect/introspect.ts";
import type { DeclaredPrompt, ServerSnapshot } from "../../compiler/snapshot.ts";
import { promptsOf } from "../../schemas/artifacts/prompts.ts";
import { bareServer, type ServerConfig } from "../../schemas/config/server-config.ts";
import { Stub, tool, Workspace } from "../cli/pimcp.ts";
import { RuntimeProject } from "../runtime/runtime-project.ts";
import { stub, surroundings } from "../servers/run.ts";

const CAPABILITIES = { tools: {}, prompts: {} };

async function ask(options: object) {
  const { config, methods } = stub({ capabilities: CAPABILITIES, ...options });
  const { value, diagnostics } = await introspect(config, surroundings);
  return { snapshot: value, diagnostics, codes: diagnostics.map(({ code }) => code), methods };
}

/** How long a list is fresh, as far as it says so, and for whom. */
interface Meta {
  readonly ttlMs: number | null;
  readonly cacheScope: string;
}

const page = (prompts: readonly unknown[], more: object = {}) => ({ result: { prompts, ...more } });

describe("listing", () => {
  test("every page, entries as sent", async () => {
    const pages = [
      page([{ name: "b", odd: 1 }], { nextCursor: "x" }),
      page([], { nextCursor: "y" }),
      page([{ name: "a" }]),
    ];
    const { snapshot, codes } = await ask({ replies: { "prompts/list": pages } });
    expect(snapshot).toMatchObject({ prompts: true, promptList: [{ name: "b", odd: 1 }, { name: "a" }] });
    expect(codes).toEqual([]);
  });

  test("a server that doesn't advertise prompts isn't asked", async () => {
    const { snapshot, methods } = await ask({ capabilities: { tools: {} }, prompts: [{ name: "a" }] });
    expect(snapshot).toMatchObject({ prompts: false });
    expect(snapshot).not.toHaveProperty("promptList");
    expect(methods()).not.toContain("prompts/list");
  });

  test.each<[string, unknown, string]>([
    ["an error", { error: { code: -32603, message: "no database" } }, "no database"],
    ["no list", { result: { prompts: {} } }, "holds no list"],
    [
      "an error on the second page",
      [page([{ name: "a" }], { nextCursor: "x" }), { error: { code: -32603, message: "gone" } }],
      "gone",
    ],
  ])("%s: compiled without, and said", async (_, reply, said) => {
    const { snapshot, diagnostics } = await ask({ replies: { "prompts/list": reply } });
    expect(snapshot).toMatchObject({ prompts: false, tools: [{ name: "echo" }] });
    expect(snapshot).not.toHaveProperty("promptList");
    expect(diagnostics).toMatchObject([{ code: "capability-lie", message: expect.stringContaining(said) }]);
  });

  test("endless pages and endless prompts stop at the caps", async () => {
    const endless = Array.from({ length: 101 }, (_, index) =>
      page([{ name: `p${index}` }], { nextCursor: `${index}` }),
    );
    const many = Array.from({ length: 1000 }, (_, index) => ({ name: `p${index}` }));
    for (const [replies, length, why] of [
      [endless, 100, "it has more than 100 pages"],
      [[page(many, { nextCursor: "1" }), page(many, { nextCursor: "2" })], 1000, "it has more than 1000 prompts"],
    ] as const) {
      const { snapshot, diagnostics } = await ask({ replies: { "prompts/list": replies } });
      expect(snapshot?.promptList).toHaveLength(length);
      const message = `the prompt list ends after ${length} prompts: ${why}`;
      expect(diagnostics).toMatchObject([{ code: "list-truncated", message: expect.stringContaining(message) }]);
    }
  });

  test("entries without a name and second ones of a name are left out, whatever the order", async () => {
    const [one, two] = [
      { name: "a", title: "1" },
      { name: "a", title: "2" },
    ];
    for (const prompts of [
      [7, one, { name: "" }, two],
      [two, null, one, {}],
    ]) {
      const { snapshot, codes } = await ask({ prompts });
      expect(snapshot?.promptList).toEqual([one]);
      expect(codes).toEqual(["invalid-prompt", "invalid-prompt", "duplicate-prompt"]);
    }
  });

  test("a credential that the server repeats is in no prompt", async () => {
    const secret = "s3cret-token-1";
    const { config } = stub({
      capabilities: CAPABILITIES,
      prompts: [{ name: secret }, { name: "a", description: `x ${secret}` }],
    });
    if (config.transport.kind !== "stdio") throw new Error("stdio");
    const env = { ...config.transport.env, API_TOKEN: secret };
    const server: ServerConfig = { ...config, transport: { ...config.transport, env } };
    const { value, diagnostics } = await introspect(server, surroundings);
    expect(JSON.stringify([value, diagnostics])).not.toContain(secret);
    expect(value?.promptList?.map(({ name }) => name)).toEqual(["a"]);
    expect(diagnostics.map(({ code }) => code)).toEqual(["secret-echoed", "secret-echoed"]);
  });

  test.each<[string, Meta, Meta, { ttlMs?: number; partlyTimed?: true; cacheScope: string }]>([
    [
      "the shorter life, for who may see both",
      { ttlMs: 900, cacheScope: "public" },
      { ttlMs: 500, cacheScope: "private" },
      { ttlMs: 500, cacheScope: "private" },
    ],
    [
      "public where both are",
      { ttlMs: 100, cacheScope: "public" },
      { ttlMs: 500, cacheScope: "public" },
      { ttlMs: 100, cacheScope: "public" },
    ],
    [
      "for prompts without a life of their own the configuration's counts too",
      { ttlMs: 900, cacheScope: "public" },
      { ttlMs: null, cacheScope: "public" },
      { ttlMs: 900, partlyTimed: true, cacheScope: "public" },
    ],
    [
      "and for tools",
      { ttlMs: null, cacheScope: "public" },
      { ttlMs: 500, cacheScope: "public" },
      { ttlMs: 500, partlyTimed: true, cacheScope: "public" },
    ],
  ])("freshness is shared: %s", async (_, listMeta, promptsMeta, wanted) => {
    const { snapshot } = await ask({ era: "modern", listMeta, promptsMeta, prompts: [{ name: "a" }] });
    expect(snapshot).toMatchObject(wanted);
    // Without any prompt there is nothing that could outlive its time or be seen by others.
    const none = await ask({ era: "modern", listMeta, promptsMeta, prompts: true });
    expect(none.snapshot).toMatchObject({ cacheScope: listMeta.cacheScope });
    expect([none.snapshot?.ttlMs ?? null, none.snapshot?.partlyTimed]).toEqual([listMeta.ttlMs, undefined]);
  });
});

describe("the catalog", () => {
  const snapshot = (server: string, promptList: readonly DeclaredPrompt[]): ServerSnapshot => ({
    server,
    transport: "stdio",
    era: "legacy",
    verdict: "answered",
    protocolVersion: "2025-11-25",
    capabilities: CAPABILITIES,
    resources: false,
    prompts: true,
    promptList,
    tools: [],
    cacheScope: "private",
  });
  const catalogOf = (...servers: readonly ServerSnapshot[]) =>
    buildCatalog(servers.map((one) => ({ config: bareServer(one.server, "project"), snapshot: one })));

  test("names don't depend on the order of prompts or servers, and are unique", () => {
    const [a, b] = [[{ name: "x-y" }, { name: "x_y" }], [{ name: "c" }]];
    const first = catalogOf(snapshot("a_", a), snapshot("a", b));
    const second = catalogOf(snapshot("a", b), snapshot("a_", [...a].reverse()));
    expect(first).toEqual(second);
    const names = first.value.flatMap(({ promptList }) => (promptList ?? []).map(({ name }) => name));
    expect(names[0]).toBe("mcp__a__c");
    expect(new Set(names).size).toBe(3);
    for (const name of names.slice(1)) expect(name).toMatch(/^mcp__a___x_y_[0-9a-f]{8}$/);
    expect(first.diagnostics.map(({ code }) => code)).toEqual(["prompt-name-collision"]);
  });

  test("of endless arguments a hundred are kept, and one finding says so", () => {
    const endless = Array.from({ length: 5000 }, (_, index) => (index < 100 ? { name: `a${index}` } : index));
    const { value, diagnostics } = catalogOf(snapshot("a", [{ name: "p", arguments: endless }]));
    expect(value[0]!.promptList![0]!.arguments).toHaveLength(100);
    expect(diagnostics.map(({ message }) => message)).toEqual([
      'arguments/100 of prompt "p" is not one of the first 100 and was left out',
    ]);
  });

  test("without prompts there is no such member", () => {
    expect(catalogOf(snapshot("a", [])).value[0]).not.toHaveProperty("promptList");
  });
});

describe("through the artifacts", () => {
  const prompts = [{ name: "greet", arguments: [{ name: "who", required: true }] }];

  test("a server that is away keeps its prompts, and --check finds that they changed", async () => {
    const workspace = new Workspace();
    const server = new Stub({ capabilities: CAPABILITIES, prompts });
    workspace.servers({ s: server.entry });
    await workspace.compile();
    const before = workspace.read("project/generated/catalog.json");
    expect(JSON.parse(before).servers[0].promptList).toEqual([
      { name: "mcp__s__greet", prompt: "greet", arguments: [{ name: "who", required: true }] },
    ]);
    server.set({ exitAtStart: 1 });
    expect((await workspace.compile()).json.servers[0]).toMatchObject({ status: "stale" });
    expect(workspace.read("project/generated/catalog.json")).toBe(before);
    server.set({ capabilities: CAPABILITIES, prompts: [{ name: "greet" }] });
    expect((await workspace.compile("--check")).json).toMatchObject({ ok: false });
    expect((await workspace.compile()).json.servers[0]).toMatchObject({ status: "compiled" });
    expect((await workspace.compile()).json.servers[0]).toMatchObject({ status: "unchanged" });
  });

  test("a remembered list brings its prompts along", async () => {
    const workspace = new Workspace();
    const fresh = { ttlMs: 3_600_000, cacheScope: "public" };
    const server = new Stub({ capabilities: CAPABILITIES, prompts, promptsMeta: fresh, listMeta: fresh });
    workspace.servers({ s: server.entry });
    await workspace.compile("--out", "one");
    const { json } = await workspace.compile("--out", "two");
    expect(json.servers[0]).toMatchObject({ source: "cache" });
    expect(workspace.read("project/two/catalog.json")).toBe(workspace.read("project/one/catalog.json"));
  });

  test("`pimcp describe` shows them, a hidden server's not", async () => {
    const workspace = new Workspace();
    const server = new Stub({ tools: [tool("t")], capabilities: CAPABILITIES, prompts });
    workspace.servers({
      s: server.entry,
      closed: { ...server.entry, exposure: "hidden", toolExposure: { t: "direct" } },
    });
    await workspace.compile();
    expect((await workspace.run("describe", "s")).stdout).toContain("1 prompt\n  greet <who>\n");
    expect(JSON.parse((await workspace.run("describe", "s", "--json")).stdout).promptList).toHaveLength(1);
    const closed = await workspace.run("describe", "closed", "--json");
    expect([closed.code, closed.stdout]).toEqual([0, expect.not.stringContaining("greet")]);
  });

  test("a table offers nothing of a hidden server, and of two of a name the project's", async () => {
    const [one, two] = [1, 2].map(() => new Stub({ tools: [tool("t")], capabilities: CAPABILITIES, prompts }));
    const project = new RuntimeProject();
    project.servers({
      open: one!.entry,
      closed: { ...two!.entry, exposure: "hidden", toolExposure: { t: "direct" } },
      a: new Stub({ capabilities: CAPABILITIES, prompts: [{ name: "b__c", title: "project" }] }).entry,
    });
    const mine = new Stub({ capabilities: CAPABILITIES, prompts: [{ name: "c", title: "user" }, { name: "d" }] });
    project.write("agent/mcp.json", { mcpServers: { a__b: mine.entry } });
    await project.compileInProcess();
    const { table } = await project.runtime();
    expect(promptsOf(table)).toEqual([
      { name: "mcp__a__b__c", prompt: "b__c", title: "project", server: "a", completes: false },
      { name: "mcp__a__b__d", prompt: "d", server: "a__b", completes: false },
      {
        name: "mcp__open__greet",
        prompt: "greet",
        arguments: [{ name: "who", required: true }],
        server: "open",
        completes: false,
      },
    ]);
  });
});
