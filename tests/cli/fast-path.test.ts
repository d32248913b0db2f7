/** What a compile that has nothing to do loads, and what one with one changed tool does. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { DIST, FRESH, Stub, statuses, tool, Workspace } from "./pimcp.ts";

const preload = join(import.meta.dirname, "loaded-modules.mjs");

/** Modules that a run loads, as paths in the build or as package names. */
async function modulesOf(work: Workspace, ...args: string[]): Promise<string[]> {
  const list = join(work.root, "modules");
  const { code } = await work.start(args, {
    node: ["--import", preload],
    env: { LOADED_MODULES: list },
  }).finished;
  expect(code).toBe(0);
  const own = pathToFileURL(`${DIST}/`).href;
  const urls = readFileSync(list, "utf8").trim().split("\n");
  return [...new Set(urls)]
    .filter((url) => url.startsWith("file:") && url !== pathToFileURL(preload).href)
    .map((url) => (url.startsWith(own) ? url.slice(own.length) : url.replace(/^.*node_modules\//, "package:")));
}

const packagesIn = (modules: readonly string[]) => [
  ...new Set(
    modules.flatMap((path) => /^package:((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []).filter((name) => name !== ".bin"),
  ),
];

test("an unchanged compile loads a handful of our own modules, none that compiles, and no package", async () => {
  const work = new Workspace();
  const stub = new Stub(FRESH);
  work.servers({ a: stub.entry });
  await work.compile();
  const modules = await modulesOf(work, "compile");
  expect(packagesIn(modules)).toEqual([]);
  expect(modules.length).toBeGreaterThan(0);
  expect(modules.length).toBeLessThan(20);
  expect(modules.filter((path) => /introspect|stubs|render|emit|write|layers|jsonc/.test(path))).toEqual([]);
  expect(stub.starts()).toBe(1);
});

test("the hook would see a package: a compile that asks a server loads the MCP client", async () => {
  const work = new Workspace();
  work.servers({ a: new Stub().entry });
  const packages = packagesIn(await modulesOf(work, "compile"));
  expect(packages).toEqual(
    expect.arrayContaining(["@modelcontextprotocol/client", "json-schema-to-typescript", "ts-morph"]),
  );
});

test("a compile of cached lists whose artifacts are gone loads neither client, converter nor TypeScript", async () => {
  const work = new Workspace();
  work.servers({ a: new Stub(FRESH).entry });
  await work.compile();
  work.write("project/generated/index.ts", "");
  const modules = await modulesOf(work, "compile");
  expect(packagesIn(modules)).toEqual([]);
  expect(modules).toContain("schemas/config/jsonc.js");
});

test("list, search and describe load no client, converter, or TypeScript", async () => {
  const work = new Workspace();
  work.servers({ a: new Stub(FRESH).entry });
  await work.compile();
  for (const args of [["list"], ["search", "echo"], ["describe", "echo"]]) {
    const packages = packagesIn(await modulesOf(work, ...args));
    expect(packages.filter((name) => /client|ts-morph|json-schema-to|chokidar/.test(name))).toEqual([]);
  }
});

test("one changed tool converts one schema and writes one server's stub", async () => {
  const work = new Workspace();
  const servers = ["a", "b", "c"].map((name) => {
    const tools = Array.from({ length: 10 }, (_, n) => typed(`${name}_${n}`, `${name}${n}`));
    return { name, tools, stub: new Stub({ tools }) };
  });
  work.servers(Object.fromEntries(servers.map(({ name, stub }) => [name, stub.entry])));
  await work.compile();
  const before = conversions(work);
  expect(before.size).toBe(30);
  const { stub, tools } = servers[1]!;
  stub.set({ tools: [typed("b_0", "other"), ...tools.slice(1)] });
  const { json } = await work.compile();
  expect(statuses(json)).toEqual({ a: "unchanged/live", b: "compiled/live", c: "unchanged/live" });
  const after = conversions(work);
  expect([...after].filter((digest) => !before.has(digest))).toHaveLength(1);
  const stubs = json.files.filter((file) => file.path.endsWith(".ts") && !file.path.endsWith(".d.ts"));
  expect(stubs.filter((file) => file.status !== "unchanged").map((file) => file.path)).toEqual([
    "generated/servers/b.ts",
  ]);
});

/** A tool whose input schema is its own. */
function typed(name: string, parameter: string): object {
  return { ...tool(name), inputSchema: { type: "object", properties: { [parameter]: { type: "string" } } } };
}

/** Digests of the schemas whose types are remembered. */
function conversions(work: Workspace): Set<string> {
  const folder = join(work.cache, "types");
  expect(existsSync(folder)).toBe(true);
  const [file] = work.list("cache/types");
  return new Set(Object.keys((JSON.parse(work.read(`cache/types/${file}`)) as { types: object }).types));
}
