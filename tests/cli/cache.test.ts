/** What is remembered between compiles, for how long, and for whom. */
import { mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { readTree } from "../golden.ts";
import { filesBelow } from "../scratch.ts";
import { eventually } from "../servers/run.ts";
import { codes, FRESH, Stub, statuses, tool, variable, Workspace } from "./pimcp.ts";
import { startTokenServer } from "./token-server.ts";

const HOUR = 3_600_000;

describe("ttlMs", () => {
  const page = (name: string, meta: object) => ({ tools: [tool(name)], ...meta });
  const rows: [what: string, stub: object, entry: object, lists: number, ttlMs: number][] = [
    ["of one page", { listMeta: { ttlMs: HOUR } }, {}, 1, HOUR],
    ["absent, none configured", {}, {}, 2, 0],
    ["absent, configured for the server", {}, { ttlMs: HOUR }, 1, HOUR],
    ["0, whatever is configured", { listMeta: { ttlMs: 0 } }, { ttlMs: HOUR }, 2, 0],
    ["of all pages", { pages: [page("a", { ttlMs: HOUR }), page("b", { ttlMs: 2 * HOUR })] }, {}, 2, HOUR],
    ["0 on the last page", { pages: [page("a", { ttlMs: HOUR }), page("b", { ttlMs: 0 })] }, {}, 4, 0],
    ["absent on the last page", { pages: [page("a", { ttlMs: HOUR }), page("b", {})] }, {}, 4, 0],
    ["of the wrong type", { listMeta: { ttlMs: "3600000" } }, {}, 2, 0],
    ["negative", { listMeta: { ttlMs: -1 } }, {}, 2, 0],
  ];
  test("says when a list is asked for again, each server's by itself", async () => {
    const work = new Workspace();
    const stubs = rows.map(([, options]) => new Stub(options));
    const name = (index: number) => `s${index}`;
    work.servers(
      Object.fromEntries(rows.map(([, , entry], index) => [name(index), { ...stubs[index]!.entry, ...entry }])),
    );
    const [first, second] = [(await work.compile()).json.servers, (await work.compile()).json.servers];
    for (const [index, [what, , , lists, ttlMs]] of rows.entries()) {
      const [before, after] = [first, second].map((servers) => servers.find((one) => one.name === name(index))!);
      expect(before, what).toMatchObject({ status: "compiled", source: "live", ttlMs });
      expect(before!.tools, what).toBeGreaterThan(0);
      expect(stubs[index]!.lists(), what).toBe(lists);
      expect(after, what).toMatchObject({
        status: "unchanged",
        source: ttlMs > 0 ? "cache" : "live",
        tools: before!.tools,
      });
    }
  });

  test("configured at the top level", async () => {
    const work = new Workspace();
    const stub = new Stub();
    work.servers({ a: stub.entry }, { ttlMs: HOUR });
    await work.compile();
    await work.compile();
    expect(stub.lists()).toBe(1);
  });

  test("ends: the list is asked for again", async () => {
    const work = new Workspace();
    const stub = new Stub({ listMeta: { ttlMs: 1 } });
    work.servers({ a: stub.entry });
    await work.compile();
    await work.compile();
    expect(stub.lists()).toBe(2);
  });
});

describe("an unchanged compile is served from the cache, and a change is noticed in", () => {
  const fresh = () => {
    const work = new Workspace();
    const stub = new Stub({ ...FRESH, tools: [tool("x"), tool("y")] });
    work.servers({ a: stub.entry }, { out: "made" });
    return { work, stub };
  };

  test("nothing: nothing is started, everything is reported unchanged", async () => {
    const { work, stub } = fresh();
    const first = await work.compile();
    const second = await work.compile();
    expect(stub.starts()).toBe(1);
    expect(statuses(second.json)).toEqual({ a: "unchanged/cache" });
    expect(second.json.files.map((file) => file.path).sort()).toEqual(first.json.files.map((file) => file.path).sort());
    expect(new Set(second.json.files.map((file) => file.status))).toEqual(new Set(["unchanged"]));
  });

  test("an artifact, wherever the configuration puts it", async () => {
    const { work } = fresh();
    await work.compile();
    await work.compile();
    const before = readTree(join(work.project, "made"));
    work.write("project/made/index.ts", "");
    const { json } = await work.compile();
    expect(json.files).toContainEqual({ path: "made/index.ts", status: "updated" });
    expect(readTree(join(work.project, "made"))).toEqual(before);
  });

  test("the configuration", async () => {
    const { work, stub } = fresh();
    await work.compile();
    work.servers({ a: { ...stub.entry, toolExposure: { x: "hidden" } } }, { out: "made" });
    const { json } = await work.compile();
    expect(stub.starts()).toBe(1);
    expect(json.servers[0]).toMatchObject({ source: "cache", tools: 1 });
    expect(work.read("project/made/servers/a.ts")).not.toContain('"x"');
  });

  test("the configuration, while the last compile was running", async () => {
    const { work, stub } = fresh();
    stub.set({ ...FRESH, delayMs: { "tools/list": 1500 }, tools: [tool("x"), tool("y")] });
    const first = work.start(["compile"]);
    await eventually(() => stub.lists() === 1, "the server is asked");
    work.servers({ a: { ...stub.entry, toolExposure: { x: "hidden" } } }, { out: "made" });
    expect((await first.finished).code).toBe(0);
    expect((await work.compile()).json.servers[0]!.tools).toBe(1);
    expect(work.read("project/made/servers/a.ts")).not.toContain('"x"');
  });

  test("a configuration file that did not exist", async () => {
    const { work } = fresh();
    await work.compile();
    work.write("project/.pi/mcp.json", { mcpServers: { b: new Stub().entry } });
    const { json } = await work.compile();
    expect(statuses(json)).toEqual({ a: "unchanged/cache", b: "compiled/live" });
  });

  test("a variable that a server is started with, also one the project replaced", async () => {
    const work = new Workspace();
    const [ours, mine] = [new Stub(FRESH), new Stub(FRESH)];
    const withVariable = (stub: Stub, name: string) => ({
      ...stub.entry,
      env: { ...stub.entry.env, WHO: variable(name) },
    });
    work.servers({ a: withVariable(ours, "OURS") });
    work.write("agent/mcp.json", { mcpServers: { a: withVariable(mine, "MINE") } });
    const lists = async (OURS: string, MINE: string) => {
      const { code } = await work.compileWith({ OURS, MINE });
      return [code, ours.lists(), mine.lists()];
    };
    expect(await lists("1", "1")).toEqual([0, 1, 1]);
    expect(await lists("1", "1")).toEqual([0, 1, 1]);
    expect(await lists("2", "1")).toEqual([0, 2, 1]);
    expect(await lists("2", "2")).toEqual([0, 2, 2]);
  });

  test("a `!command` is never remembered", async () => {
    const work = new Workspace();
    const stub = new Stub(FRESH);
    work.write("secret", "one");
    work.servers({ a: { ...stub.entry, env: { ...stub.entry.env, WHO: `!cat ${join(work.root, "secret")}` } } });
    await work.compile();
    await work.compile();
    expect(stub.lists()).toBe(1);
    work.write("secret", "two");
    await work.compile();
    expect(stub.lists()).toBe(2);
  });
});

describe("cacheScope", () => {
  test("private lists never cross tokens, and no token is on the disk", async () => {
    const work = new Workspace();
    const server = await startTokenServer(HOUR);
    const entry = (name: string) => ({ url: server.url, headers: { Authorization: `Bearer ${variable(name)}` } });
    work.servers({ one: entry("T_ONE"), two: entry("T_TWO") });
    const [red, blue] = ["red-5rT9", "blue-8kQ2"];
    const toolsWith = async (env: Record<string, string>) => {
      const { code } = await work.compileWith(env);
      expect(code).toBe(0);
      const { servers } = JSON.parse(work.read("project/generated/catalog.json")) as {
        servers: { name: string; tools: { tool: string }[] }[];
      };
      return servers.map(({ tools }) => tools.map((one) => one.tool).join());
    };
    expect(await toolsWith({ T_ONE: red, T_TWO: blue })).toEqual(["for_red", "for_blue"]);
    expect(await toolsWith({ T_ONE: red, T_TWO: blue })).toEqual(["for_red", "for_blue"]);
    expect([...server.lists].sort()).toEqual([blue, red]);
    // Swapped: both lists are remembered, each for who may see it.
    expect(await toolsWith({ T_ONE: blue, T_TWO: red })).toEqual(["for_blue", "for_red"]);
    expect(await toolsWith({ T_ONE: "green", T_TWO: red })).toEqual(["for_green", "for_red"]);
    expect(server.lists).toContain("green");
    for (const file of filesBelow(work.cache)) {
      const text = readFileSync(file, "utf8").replaceAll("for_", "");
      expect(text.includes("Bearer"), file).toBe(false);
      expect(file).not.toMatch(/red|blue|green/);
    }
  });

  test("a public list is shared by entries with other values of the same server", async () => {
    const work = new Workspace();
    const stub = new Stub(FRESH);
    work.servers({ a: stub.entry, b: stub.entry });
    await work.compile();
    await work.compile();
    expect(stub.lists()).toBeLessThanOrEqual(2);
  });
});

describe("cache files", () => {
  test("that are cut short or hold anything else are a miss, and are written anew", async () => {
    const work = new Workspace();
    const stub = new Stub(FRESH);
    work.servers({ a: stub.entry });
    await work.compile();
    const generated = readTree(join(work.project, "generated"));
    const cut = (length: number) => (file: string) => truncateSync(file, length);
    const holding = (text: string) => (file: string) => file.endsWith(".json") && writeFileSync(file, text);
    const texts = ["null", "[]", '{"format":1}', '{"format":99,"types":null}'];
    for (const damage of [cut(0), cut(10), ...texts.map(holding)]) {
      for (const file of filesBelow(work.cache)) damage(file);
      const lists = stub.lists();
      const { code, json } = await work.compile();
      expect(code).toBe(0);
      expect(statuses(json)).toEqual({ a: "unchanged/live" });
      expect(readTree(join(work.project, "generated"))).toEqual(generated);
      expect(statuses((await work.compile()).json)).toEqual({ a: "unchanged/cache" });
      expect(stub.lists()).toBe(lists + 1);
    }
  });

  test("are for their owner alone", async () => {
    const work = new Workspace();
    work.servers({ a: new Stub(FRESH).entry });
    await work.compile();
    const files = filesBelow(work.cache);
    expect(files.length).toBeGreaterThan(2);
    for (const file of files) expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
  });

  test("survive four compiles at once", async () => {
    const work = new Workspace();
    const stubs = ["a", "b", "c"].map((name) => [name, new Stub({ ...FRESH, tools: [tool(name)] })] as const);
    work.servers(Object.fromEntries(stubs.map(([name, stub]) => [name, stub.entry])));
    const runs = await Promise.all([1, 2, 3, 4].map(() => work.compile()));
    expect(runs.map((run) => run.code)).toEqual([0, 0, 0, 0]);
    for (const file of filesBelow(work.cache)) {
      expect(basename(file)).not.toMatch(/tmp/);
      if (file.endsWith(".json")) JSON.parse(readFileSync(file, "utf8"));
    }
    expect((await work.compile("--check")).code).toBe(0);
    const starts = stubs.map(([, stub]) => stub.starts());
    expect(statuses((await work.compile()).json)).toEqual({
      a: "unchanged/cache",
      b: "unchanged/cache",
      c: "unchanged/cache",
    });
    expect(stubs.map(([, stub]) => stub.starts())).toEqual(starts);
  });

  test("that can't be written cost a warning and nothing else", async () => {
    const work = new Workspace();
    work.write("cache", "a file where the folder should be");
    const stub = new Stub(FRESH);
    work.servers({ a: stub.entry, b: new Stub(FRESH).entry });
    const { code, json } = await work.compile();
    expect(code).toBe(0);
    expect(codes(json)).toEqual(["warning cache-unwritable"]);
    expect(work.has("project/generated/manifest.json")).toBe(true);
    await work.compile();
    expect(stub.lists()).toBe(2);
  });

  test("an empty PIMCP_CACHE_DIR is as good as none", async () => {
    const work = new Workspace();
    work.servers({ a: new Stub(FRESH).entry });
    mkdirSync(join(work.root, "xdg"));
    await work.compileWith({ PIMCP_CACHE_DIR: "", XDG_CACHE_HOME: join(work.root, "xdg") });
    expect(filesBelow(join(work.root, "xdg", "pimcp")).length).toBeGreaterThan(2);
  });
});
