/**
 * (h) Names and exposure: each reported fault, from names that a server chose to the tool that a call reaches.
 * That an approval covers one call alone (pi-mcp-adapter #367) is for the tests of the extension, which asks for them.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ListData } from "../../cli/list.ts";
import { Stub, tool, Workspace } from "../cli/pimcp.ts";
import { readTree } from "../golden.ts";
import { call, callsOf, compiledOk, compiledProduct, findingsOn } from "./product.ts";

async function listed(work: Workspace, ...args: string[]): Promise<ListData["servers"]> {
  return (JSON.parse((await work.run("list", "--json", ...args)).stdout) as ListData).servers;
}

/** Folded name by own name, of all tools of the only server. */
async function namesIn(work: Workspace): Promise<Record<string, string>> {
  const [server] = await listed(work);
  return Object.fromEntries(server!.tools.map((one) => [one.tool, one.name]));
}

test("pi #10239, claude-code #80065: tools that differ only in - and _ keep two names, each its own tool's", async () => {
  const tools = [tool("read-file"), tool("read_file"), tool("other")];
  const stub = new Stub({ tools });
  const work = new Workspace();
  work.servers({ docs: stub.entry });
  const json = await compiledOk(work);
  expect(findingsOn(json, "docs", "warning")).toMatchObject([{ code: "tool-name-collision" }]);
  for (const name of ["read-file", "read_file"]) expect(json.diagnostics[0]!.message).toContain(`"${name}"`);
  const names = await namesIn(work);
  expect(names["other"]).toBe("mcp__docs__other");
  expect(new Set(Object.values(names)).size).toBe(3);
  for (const own of ["read-file", "read_file"]) {
    expect(names[own]).toMatch(/^mcp__docs__read_file_\w+$/);
    // By its folded name, by its own, and through the runtime.
    expect((await work.run("call", names[own]!)).code).toBe(0);
    expect((await call(work, ["docs", own])).code).toBe(0);
    expect(
      callsOf(stub)
        .slice(-2)
        .map(({ name }) => name),
    ).toEqual([own, own]);
  }
  expect((await work.run("call", "mcp__docs__read_file")).code).toBe(1);
  expect(callsOf(stub)).toHaveLength(4);
  const files = readTree(join(work.project, "generated"));
  stub.set({ tools: [...tools].reverse() });
  await compiledOk(work);
  expect(readTree(join(work.project, "generated"))).toEqual(files);
  stub.set({ tools: [tool("a"), ...tools, tool("z")] });
  await compiledOk(work);
  expect(await namesIn(work)).toMatchObject(names);
});

test("pi #10239: servers that differ only in - and _ are an error that names both, and no other's", async () => {
  const stubs = { "a-b": new Stub(), a_b: new Stub(), good: new Stub() };
  const work = new Workspace();
  work.servers(Object.fromEntries(Object.entries(stubs).map(([name, stub]) => [name, stub.entry])));
  const { code, json } = await work.compile();
  expect(code).toBe(1);
  const errors = json.diagnostics.filter(({ severity }) => severity === "error");
  expect(errors).toMatchObject([{ code: "server-name-collision", file: "mcp.json" }]);
  const said = [errors[0]!.message, ...errors[0]!.notes].join("\n");
  expect(said).toContain('"a-b"');
  expect(said).toContain('"a_b"');
  expect((await call(work, ["good", "echo"])).code).toBe(0);
});

// Open: `pimcp call` takes `a_b` for another spelling of `a-b`. Once it refuses, this is an ordinary test.
test("pi #10239: a server that was left out for its name is not answered for by the other", async () => {
  const [kept, lost] = [new Stub(), new Stub()];
  const work = new Workspace();
  work.servers({ "a-b": kept.entry, a_b: lost.entry });
  const { json } = await work.compile();
  expect(json.servers.find(({ name }) => name === "a-b")).toMatchObject({ status: "compiled" });
  expect((await call(work, ["a-b", "echo"])).code).toBe(0);
  expect(callsOf(kept)).toHaveLength(1);
  const refused = await call(work, ["a_b", "echo"]);
  expect(callsOf(kept)).toHaveLength(1);
  expect(refused.code).toBe(1);
  expect(refused.json.error.message).toContain('"a_b"');
});

test("activepieces #11544, opencode #24871, leviath #880: long names stay apart within 64 characters in any order", async () => {
  const long = (last: string) => `${"n".repeat(64)}${last}`;
  const tools = [tool(long("a")), tool(long("b"))];
  const stub = new Stub({ tools });
  const work = await compiledProduct({ s: stub.entry });
  const files = readTree(join(work.project, "generated"));
  const names = await namesIn(work);
  expect(Object.keys(names)).toEqual([long("a"), long("b")]);
  expect(new Set(Object.values(names)).size).toBe(2);
  for (const name of Object.values(names)) {
    expect(name.length).toBeLessThanOrEqual(64);
    expect(name).toMatch(/^mcp__s__n+_\w+$/);
  }
  stub.set({ tools: [...tools].reverse() });
  await compiledOk(work);
  expect(readTree(join(work.project, "generated"))).toEqual(files);
  for (const last of ["a", "b"]) {
    expect((await work.run("call", names[long(last)]!)).code).toBe(0);
    expect(callsOf(stub).at(-1)!.name).toBe(long(last));
  }
});

test("leviath #880: tools whose names look like somebody's suffix still get names, and keep them", async () => {
  const long = "n".repeat(65);
  const first = new Stub({ tools: [tool(`${long}a`), tool(`${long}b`)] });
  const taken = Object.values(await namesIn(await compiledProduct({ s: first.entry })));
  // Tools that are called what the others were cut to.
  const squatters = taken.map((name) => tool(name.slice("mcp__s__".length)));
  const second = new Stub({ tools: [...squatters, tool(`${long}a`), tool(`${long}b`)] });
  const work = await compiledProduct({ s: second.entry });
  const names = await namesIn(work);
  expect(Object.keys(names)).toHaveLength(4);
  expect(new Set(Object.values(names)).size).toBe(4);
  for (const [own, name] of Object.entries(names)) {
    expect(name.length).toBeLessThanOrEqual(64);
    expect((await work.run("call", name)).code).toBe(0);
    expect(callsOf(second).at(-1)!.name).toBe(own);
  }
});

test("oh-my-pi #9830; claude-code #3107, #65797: a denying pattern denies its server's tools and no other's", async () => {
  const tools = ["status", "push", "delete_branch"].map((name) => tool(name));
  const [git, hub, mixed] = [new Stub({ tools }), new Stub({ tools }), new Stub({ tools })];
  const work = new Workspace();
  work.servers({
    git: { ...git.entry, exposure: "direct", toolExposure: { "*": "hidden", "delte_*": "hidden" } },
    git_hub: hub.entry,
    mixed: { ...mixed.entry, toolExposure: { "delete_*": "hidden", "*": "direct" } },
  });
  const json = await compiledOk(work);
  expect(json.diagnostics).toMatchObject([
    { severity: "warning", code: "unmatched-tool-exposure", server: "git", file: "mcp.json" },
  ]);
  expect(json.diagnostics[0]!.message).toContain('"delte_*"');
  expect(json.diagnostics[0]!.line).toBeGreaterThan(0);
  const shown = (await listed(work)).map(({ name, tools }) => [name, tools.map((one) => one.tool)]);
  expect(shown).toEqual([
    ["git", []],
    ["git_hub", ["delete_branch", "push", "status"]],
    ["mixed", ["push", "status"]],
  ]);
  expect((await listed(work, "--all")).map(({ tools }) => tools.length)).toEqual([3, 3, 3]);
  for (const [server, own, code] of [
    ["git", "status", 1],
    ["git_hub", "status", 0],
    ["mixed", "delete_branch", 1],
    ["mixed", "push", 0],
  ] as const) {
    expect((await call(work, [server, own])).code, `${server}/${own}`).toBe(code);
    expect((await work.run("call", `mcp__${server}__${own}`)).code, `mcp__${server}__${own}`).toBe(code);
  }
  expect(callsOf(git)).toEqual([]);
  expect(callsOf(mixed).map(({ name }) => name)).toEqual(["push", "push"]);
  expect(work.read("project/generated/codemode.d.ts")).not.toMatch(/mcp__git__|delete_branch.*mixed/);
  const found = JSON.parse((await work.run("search", "status", "--json")).stdout).results;
  expect(found.map(({ server }: { server: string }) => server).sort()).toEqual(["git_hub", "mixed"]);
});
