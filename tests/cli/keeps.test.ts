/** What stays when a server or an entry goes wrong: errors delete nothing. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readTree } from "../golden.ts";
import { codes, Stub, statuses, tool, variable, Workspace } from "./pimcp.ts";

const artifacts = (work: Workspace) => readTree(join(work.project, "generated"));

test("a server that can't be reached keeps its artifacts: stale, a warning, exit 0", async () => {
  const work = new Workspace();
  const stub = new Stub({ tools: [tool("x")] });
  work.servers({ a: stub.entry });
  await work.compile();
  const before = artifacts(work);
  stub.set({ exitAtStart: 1, stderr: "no such database\n" });
  const { code, json } = await work.compile();
  expect(code).toBe(0);
  expect(json.ok).toBe(true);
  expect(statuses(json)).toEqual({ a: "stale/none" });
  expect(json.diagnostics.map((found) => [found.severity, found.server])).toEqual([["warning", "a"]]);
  expect(json.diagnostics[0]!.notes.join("\n")).toContain("no such database");
  expect(artifacts(work)).toEqual(before);
});

test("a server that never worked is an error, and the others compile", async () => {
  const work = new Workspace();
  work.servers({
    bad: { command: "no-such-command-anywhere" },
    good: new Stub().entry,
    lost: { command: process.execPath, cwd: "no/such/folder" },
    unset: { command: process.execPath, env: { TOKEN: variable("NOT_SET_ANYWHERE") } },
  });
  const { code, json } = await work.compile();
  expect(code).toBe(1);
  expect(statuses(json)).toEqual({
    bad: "failed/none",
    good: "compiled/live",
    lost: "failed/none",
    unset: "failed/none",
  });
  expect(codes(json)).toEqual(["error server-unreachable", "error missing-cwd", "error unset-variable"]);
  expect(json.diagnostics[2]!.message).toContain("NOT_SET_ANYWHERE");
  expect(readdirSync(join(work.project, "generated", "servers"))).toEqual(["good.ts"]);
});

test("a disabled server is in no artifact, and starts nothing", async () => {
  const work = new Workspace();
  const [on, off] = [new Stub(), new Stub()];
  work.servers({ off: off.entry, on: on.entry });
  await work.compile();
  work.servers({ off: { ...off.entry, enabled: false }, on: on.entry });
  const { code, json } = await work.compile();
  expect(code).toBe(0);
  expect(statuses(json)).toEqual({ off: "disabled/none", on: "unchanged/live" });
  expect(json.files).toContainEqual({ path: "generated/servers/off.ts", status: "removed" });
  expect(work.has("project/generated/servers/off.ts")).toBe(false);
  expect(work.read("project/generated/catalog.json")).not.toContain('"off"');
  expect(off.starts()).toBe(1);
});

test("a removed server's stub is removed, files of others stay", async () => {
  const work = new Workspace();
  const entry = new Stub().entry;
  work.servers({ a: entry, b: entry });
  await work.compile();
  work.write("project/generated/servers/notes.md", "mine");
  work.servers({ a: entry });
  const { code, json } = await work.compile();
  expect(code).toBe(0);
  expect(json.files.filter((file) => file.status === "removed")).toEqual([
    { path: "generated/servers/b.ts", status: "removed" },
  ]);
  expect(readdirSync(join(work.project, "generated", "servers")).sort()).toEqual(["a.ts", "notes.md"]);
});

test("a file that pimcp did not write is not overwritten", async () => {
  const work = new Workspace();
  work.write("project/generated/index.ts", "export const mine = 1;\n");
  work.servers({ a: new Stub().entry });
  const { code, json } = await work.compile();
  expect(code).toBe(1);
  expect(codes(json)).toEqual(["error output-foreign"]);
  expect(work.read("project/generated/index.ts")).toBe("export const mine = 1;\n");
});

test("a file with a syntax error leaves its scope as it was, also what other files of the scope say", async () => {
  const work = new Workspace();
  const [a, b] = [new Stub({ tools: [tool("x"), tool("secret")] }), new Stub()];
  const mine = new Stub({ tools: [tool("x")] });
  work.write("agent/mcp.json", { mcpServers: { mine: mine.entry } });
  work.write("project/.mcp.json", { mcpServers: { a: a.entry } });
  // Everything that a lost file could have said: an exposure, an override, the budget, the default limit.
  work.servers(
    { a: { toolExposure: { secret: "hidden" } }, b: b.entry, mine: { exposure: "direct" } },
    { codemode: { inlineBudget: 200 }, maxOutputBytes: 999 },
  );
  await work.compile();
  const before = artifacts(work);
  expect(before["servers/a.ts"]).not.toContain("secret");
  work.write("project/mcp.json", work.read("project/mcp.json").slice(0, -3));
  mine.set({ tools: [tool("new")] });
  const { code, json } = await work.compile();
  expect(code).toBe(1);
  expect(codes(json)).toEqual(["error config-syntax"]);
  expect(statuses(json)).toEqual({ a: "stale/none", b: "stale/none", mine: "compiled/live" });
  expect(artifacts(work)).toEqual(before);
  expect(work.read("agent/pimcp/generated/servers/mine.ts")).toContain('"new"');
});

test.each([
  ["an entry that has become wrong", { command: 5 }],
  ["an entry that is no object", "npx server"],
  ["a contradictory entry", { type: "stdio", url: "http://localhost/" }],
])("%s keeps what it was compiled to, and the others go on", async (_, wrong) => {
  const work = new Workspace();
  const [a, b] = [new Stub({ tools: [tool("x")] }), new Stub({ tools: [tool("x")] })];
  work.servers({ a: a.entry, b: b.entry });
  await work.compile();
  const kept = work.read("project/generated/servers/a.ts");
  b.set({ tools: [tool("new")] });
  work.servers({ a: wrong, b: b.entry });
  const { code, json } = await work.compile();
  expect(code).toBe(1);
  expect(json.diagnostics[0]).toMatchObject({ severity: "error", file: "mcp.json", line: expect.any(Number) });
  expect(work.read("project/generated/servers/a.ts")).toBe(kept);
  expect(work.read("project/generated/servers/b.ts")).toContain('"new"');
  const manifest = JSON.parse(work.read("project/generated/manifest.json")) as { servers: object };
  expect(Object.keys(manifest.servers)).toEqual(["a", "b"]);
});

test("every mistake is found in one run", async () => {
  const work = new Workspace();
  work.servers({
    bad: { args: ["x"] },
    good: new Stub().entry,
    nil: null,
    typo: { ...new Stub().entry, exposre: "hidden" },
    worse: 5,
  });
  const { code, json } = await work.compile();
  expect(code).toBe(1);
  expect(json.diagnostics.map((found) => found.server).filter(Boolean)).toEqual(
    expect.arrayContaining(["bad", "nil", "worse"]),
  );
  expect(json.diagnostics.find((found) => found.code === "unknown-key")?.notes.join()).toContain("exposure");
  expect(statuses(json)).toEqual({ good: "compiled/live", typo: "compiled/live" });
});

test("no servers at all is a warning, and no folder appears", async () => {
  const work = new Workspace();
  const { code, stderr } = await work.run("compile");
  expect(code).toBe(0);
  expect(stderr).toContain("[no-servers]");
  expect(stderr).toContain("pimcp init");
  expect(work.has("project/generated")).toBe(false);
});

test("files that did not change are not touched", async () => {
  const work = new Workspace();
  const [a, b] = [new Stub({ tools: [tool("x"), tool("y")] }), new Stub({ tools: [tool("z")] })];
  work.servers({ a: a.entry, b: b.entry });
  await work.compile();
  const inodes = () =>
    Object.fromEntries(
      readdirSync(join(work.project, "generated"), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .map((path) => [path.slice(work.project.length + 11), statSync(path).ino]),
    );
  const before = inodes();
  await work.compile();
  expect(inodes()).toEqual(before);
  a.set({ tools: [tool("x"), tool("y", "Another text")] });
  const { json } = await work.compile();
  const changed = json.files.filter((file) => file.status !== "unchanged").map((file) => file.path);
  expect(changed).toContain("generated/servers/a.ts");
  expect(changed).not.toContain("generated/servers/b.ts");
  expect(changed).not.toContain("generated/index.ts");
  const after = inodes();
  const replaced = Object.keys(after).filter((path) => after[path] !== before[path]);
  expect(replaced.map((path) => `generated/${path}`).sort()).toEqual(changed.sort());
});
