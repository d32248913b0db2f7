import { expect, test } from "vitest";
import { Stub, statuses, tool, Workspace } from "./pimcp.ts";

test("the user's and the project's servers are compiled into two folders", async () => {
  const work = new Workspace();
  work.servers({ ours: new Stub({ tools: [tool("team")] }).entry });
  work.write("agent/mcp.json", { mcpServers: { mine: new Stub({ tools: [tool("private")] }).entry } });
  const { code, json } = await work.compile();
  expect(code).toBe(0);
  expect(json.servers.map(({ name, scope }) => [name, scope])).toEqual([
    ["mine", "user"],
    ["ours", "project"],
  ]);
  expect(work.has("project/generated/servers/ours.ts")).toBe(true);
  expect(work.has("project/generated/servers/mine.ts")).toBe(false);
  expect(work.has("agent/pimcp/generated/servers/mine.ts")).toBe(true);
  expect(work.read("project/generated/catalog.json")).not.toContain("private");
  const { stdout } = await work.run("list", "--json");
  expect((JSON.parse(stdout) as { servers: { name: string }[] }).servers.map((server) => server.name)).toEqual([
    "mine",
    "ours",
  ]);
});

test.each([
  ["project", ["ours"], [true, false]],
  ["user", ["mine"], [false, true]],
])("--scope %s compiles these alone", async (scope, names, [project, user]) => {
  const work = new Workspace();
  const [ours, mine] = [new Stub(), new Stub()];
  work.servers({ ours: ours.entry });
  work.write("agent/mcp.json", { mcpServers: { mine: mine.entry } });
  const { json } = await work.compile("--scope", scope);
  expect(json.servers.map((server) => server.name)).toEqual(names);
  expect(work.has("project/generated")).toBe(project);
  expect(work.has("agent/pimcp/generated")).toBe(user);
});

test("--scope user with --out writes the user's servers there", async () => {
  const work = new Workspace();
  work.write("agent/mcp.json", { mcpServers: { mine: new Stub().entry } });
  await work.compile("--scope", "user", "--out", "mine");
  expect(work.has("project/mine/servers/mine.ts")).toBe(true);
  expect(work.has("agent/pimcp/generated")).toBe(false);
});

test("a project's override hides a user's server from its list, and not from the user's artifacts", async () => {
  const work = new Workspace();
  work.write("agent/mcp.json", { mcpServers: { mine: new Stub({ tools: [tool("one"), tool("two")] }).entry } });
  work.servers({ mine: { toolExposure: { one: "hidden" } } });
  const { code, json } = await work.compile();
  expect(code).toBe(0);
  expect(statuses(json)).toEqual({ mine: "compiled/live" });
  expect(work.read("agent/pimcp/generated/servers/mine.ts")).toContain('"one"');
  const tools = async () => {
    const { servers } = JSON.parse((await work.run("list", "--json")).stdout) as {
      servers: { tools: { tool: string }[] }[];
    };
    return servers.map((server) => server.tools.map((one) => one.tool));
  };
  expect(await tools()).toEqual([["two"]]);
  work.servers({ mine: { enabled: false } });
  expect((await work.compile()).code).toBe(0);
  expect(await tools()).toEqual([]);
  expect(work.has("agent/pimcp/generated/servers/mine.ts")).toBe(true);
});

test("a project's definition replaces the user's server of the same name, in the list only", async () => {
  const work = new Workspace();
  work.write("agent/mcp.json", { mcpServers: { same: new Stub({ tools: [tool("theirs")] }).entry } });
  work.servers({ same: new Stub({ tools: [tool("ours")] }).entry });
  const { code } = await work.compile();
  expect(code).toBe(0);
  expect(work.read("agent/pimcp/generated/servers/same.ts")).toContain('"theirs"');
  expect(work.read("project/generated/servers/same.ts")).toContain('"ours"');
  const { stdout } = await work.run("list", "--json");
  expect(stdout).toContain('"ours"');
  expect(stdout).not.toContain('"theirs"');
});

test("later project files go before earlier ones", async () => {
  const work = new Workspace();
  const entry = (name: string) => ({ mcpServers: { s: new Stub({ tools: [tool(name)] }).entry } });
  work.write("project/.mcp.json", entry("first"));
  work.write("project/mcp.json", entry("second"));
  work.write("project/.pi/mcp.json", entry("third"));
  await work.compile();
  expect(work.read("project/generated/servers/s.ts")).toContain('"third"');
});

test("a subfolder of the project compiles the project", async () => {
  const work = new Workspace();
  work.servers({ a: new Stub().entry });
  work.write("project/src/deep/file.txt", "");
  const { code } = await work.start(["compile"], { cwd: `${work.project}/src/deep` }).finished;
  expect(code).toBe(0);
  expect(work.has("project/generated/manifest.json")).toBe(true);
});
