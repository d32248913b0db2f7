/** (d) Caching of tools/list: each reported fault, by compiling more than once. */
import { linkSync, readdirSync, readFileSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FRESH, Stub, statuses, tool, variable, Workspace } from "../cli/pimcp.ts";
import { startTokenServer } from "../cli/token-server.ts";
import { readTree } from "../golden.ts";
import { call, catalogTools, compiledOk } from "./product.ts";

const HOUR = 3_600_000;

test.each<[string, object, { a: number; b: number }]>([
  ["by the documented default", {}, { a: 2, b: 2 }],
  ["by a default of the user's own", { ttlMs: HOUR }, { a: 1, b: 2 }],
])("adapter #569, #561, #641: no ttlMs and one of 0, %s", async (_, topLevel, lists) => {
  const a = new Stub({ tools: [tool("of_a")] });
  const b = new Stub({ tools: [tool("of_b")], listMeta: { ttlMs: 0 } });
  const work = new Workspace();
  work.servers({ a: a.entry, b: b.entry }, topLevel);
  const first = await compiledOk(work);
  expect(statuses(first)).toEqual({ a: "compiled/live", b: "compiled/live" });
  const generated = readTree(join(work.project, "generated"));
  const second = await compiledOk(work);
  expect({ a: a.lists(), b: b.lists() }).toEqual(lists);
  expect(second.servers).toMatchObject([
    { name: "a", tools: 1, source: lists.a === 1 ? "cache" : "live" },
    { name: "b", tools: 1, source: "live", ttlMs: 0 },
  ]);
  expect(catalogTools(work)).toEqual({ a: ["of_a"], b: ["of_b"] });
  expect(readTree(join(work.project, "generated"))).toEqual(generated);
  expect((await call(work, ["b", "of_b"], { text: "hi" })).code).toBe(0);
});

test("adapter #569: the documented default is the one that is used", () => {
  const readme = readFileSync(join(import.meta.dirname, "..", "..", "README.md"), "utf8");
  expect(readme).toMatch(/`ttlMs`.*default 0\b/);
});

test("mcp2cli #101, mcp-compress-router #2, slack-mcp-server #254: cut cache files are a miss, replaced by renaming", async () => {
  const work = new Workspace();
  const stub = new Stub(FRESH);
  work.servers({ a: stub.entry });
  await compiledOk(work);
  expect(statuses(await compiledOk(work))).toEqual({ a: "unchanged/cache" });
  const generated = readTree(join(work.project, "generated"));
  let [lists, round] = [1, 0];
  for (const length of [10, 0]) {
    const files = jsonFiles(work.cache);
    expect(files.length).toBeGreaterThan(0);
    const torn = files.map((file) => ({ file, link: join(work.root, `torn-${round++}`) }));
    for (const { file, link } of torn) {
      truncateSync(file, length);
      linkSync(file, link);
    }
    expect(statuses(await compiledOk(work))).toEqual({ a: "unchanged/live" });
    expect(stub.lists()).toBe(++lists);
    for (const { file, link } of torn) {
      expect(JSON.parse(readFileSync(file, "utf8"))).toBeTypeOf("object");
      // Written in place, the old name would show the new text.
      expect(statSync(link).size).toBe(length);
    }
    expect(statuses(await compiledOk(work))).toEqual({ a: "unchanged/cache" });
  }
  expect(readTree(join(work.project, "generated"))).toEqual(generated);
});

test("slack-mcp-server #254: four compiles at once leave whole files, and the next one uses them", async () => {
  const work = new Workspace();
  const stub = new Stub({ ...FRESH, tools: [tool("x"), tool("y")] });
  work.servers({ a: stub.entry });
  const runs = await Promise.all([1, 2, 3, 4].map(() => work.compile()));
  expect(runs.map(({ code, json }) => [code, json.diagnostics])).toEqual(runs.map(() => [0, []]));
  const names = readdirSync(work.cache, { recursive: true }).map(String);
  expect(names.filter((name) => /tmp/i.test(name))).toEqual([]);
  for (const file of jsonFiles(work.cache)) expect(JSON.parse(readFileSync(file, "utf8"))).toBeTypeOf("object");
  const lists = stub.lists();
  expect(statuses(await compiledOk(work))).toEqual({ a: "unchanged/cache" });
  expect(stub.lists()).toBe(lists);
  expect((await work.compile("--check")).code).toBe(0);
});

test("modelcontextprotocol #3228: a private list is never another identity's with the same URL", async () => {
  const work = new Workspace();
  const server = await startTokenServer(HOUR);
  const entry = (name: string) => ({ url: server.url, headers: { Authorization: `Bearer ${variable(name)}` } });
  work.servers({ one: entry("ONE"), two: entry("TWO") });
  const toolsWith = async (ONE: string, TWO: string) => {
    await compiledOk(work, { ONE, TWO });
    return catalogTools(work);
  };
  const [red, blue, green] = ["red-5rT9", "blue-8kQ2", "green-3mX7"];
  expect(await toolsWith(red, blue)).toEqual({ one: ["for_red"], two: ["for_blue"] });
  expect(await toolsWith(blue, red)).toEqual({ one: ["for_blue"], two: ["for_red"] });
  expect(await toolsWith(green, red)).toEqual({ one: ["for_green"], two: ["for_red"] });
  expect(server.lists).toContain(green);
  for (const [path, text] of Object.entries(readTree(work.cache))) {
    expect(path).not.toMatch(/red-|blue-|green-/);
    expect(text, path).not.toMatch(/red-|blue-|green-|Bearer/);
  }
});

function jsonFiles(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true }).map(String);
  return names.filter((name) => name.endsWith(".json")).map((name) => join(folder, name));
}
