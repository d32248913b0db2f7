/** Servers that were never compiled: compiled by a process of its own while a session goes on. */
import { expect, test } from "vitest";
import { Stub, tool, Workspace } from "../cli/pimcp.ts";
import { countProcesses, eventually } from "../servers/run.ts";
import { textOf } from "./pi.ts";
import { RpcPi } from "./rpc.ts";

const DONE = { text: "done" };
const NAMES = `return ALL_TOOLS.map((one) => one.name).filter((name) => name.startsWith("mcp__"))`;
const PATIENCE_MS = 30_000;

const told = (pi: RpcPi, text: string) =>
  eventually(() => pi.notices().some((notice) => notice.includes(text)), `"${text}" being told`, PATIENCE_MS);

test("what fails is one notice with a remedy, and the others' tools and prompts appear", async () => {
  const [good, bad] = [
    new Stub({ tools: [tool("echo")], capabilities: { tools: {}, prompts: {} }, prompts: [{ name: "greet" }] }),
    new Stub({ exitAtStart: 3 }),
  ];
  const workspace = new Workspace();
  workspace.servers({ good: good!.entry, bad: bad!.entry, worse: { command: "no-such-program" } });
  const pi = new RpcPi(workspace, { answers: [{ call: ["codemode", { code: NAMES }] }, DONE] });
  await told(pi, "MCP servers are ready: good");
  await told(pi, "could not be compiled");
  const notices = pi.notices();
  expect(notices).toHaveLength(3);
  expect(notices[0]).toContain("Compiling MCP servers for the first time: bad, good, worse. Run `pimcp compile`");
  expect(notices[2]).toMatch(/"bad".*exited[\s\S]*"worse".*no-such-program[\s\S]*Run `pimcp compile`/);
  const { data } = await pi.ask({ type: "get_commands" });
  expect((data as { commands: { name: string }[] }).commands.map(({ name }) => name)).toContain("mcp__good__greet");
  pi.prompt("go");
  expect(textOf(await pi.tool())).toContain("mcp__good__echo");
  await pi.end();
});

test("of an untrusted project nothing is compiled; the user's servers are, in the session's folder", async () => {
  const [mine, theirs] = [new Stub({ tools: [tool("cwd")] }), new Stub({ tools: [tool("steal")] })];
  const workspace = new Workspace();
  workspace.write("agent/mcp.json", { mcpServers: { mine: { ...mine!.entry, cwd: "." } } });
  workspace.servers({ theirs: theirs!.entry, mine: { enabled: false } });
  const code = "return (await tools.mcp__mine__cwd({})).content[0].text";
  const pi = new RpcPi(workspace, { args: ["--no-approve"], answers: [{ call: ["codemode", { code }] }, DONE] });
  await told(pi, "MCP servers are ready: mine");
  pi.prompt("go");
  expect(textOf(await pi.tool())).toContain(workspace.project);
  expect([theirs!.starts(), workspace.has("project/generated")]).toEqual([0, false]);
  expect(workspace.has("agent/pimcp/generated/manifest.json")).toBe(true);
  await pi.end();
});

test("two sessions that start at once both have the tools, and leave whole artifacts", async () => {
  const stubs = ["a", "b", "c"].map((name) => new Stub({ tools: [tool(name)] }));
  const workspace = new Workspace();
  workspace.servers({ a: stubs[0]!.entry, b: stubs[1]!.entry, c: stubs[2]!.entry });
  const answers = [{ call: ["codemode", { code: NAMES }] as const }, DONE];
  const pis = [1, 2].map(() => new RpcPi(workspace, { answers }));
  for (const pi of pis) await told(pi, "MCP servers are ready: a, b, c");
  for (const pi of pis) {
    pi.prompt("go");
    for (const name of ["mcp__a__a", "mcp__b__b", "mcp__c__c"]) expect(textOf(await pi.tool())).toContain(name);
  }
  expect((await workspace.compile("--check")).json).toMatchObject({ ok: true });
  await Promise.all(pis.map((pi) => pi.end()));
});

test("it ends with the session, and its servers with it", async () => {
  const stub = new Stub({ silent: ["tools/list"] });
  const workspace = new Workspace();
  workspace.servers({ slow: stub.entry });
  const pi = new RpcPi(workspace, { answers: [] });
  await eventually(() => stub.log().some(({ method }) => method === "tools/list"), "the list being asked", PATIENCE_MS);
  await pi.end();
  await eventually(() => countProcesses(stub.marker) === 0, "the server being gone", PATIENCE_MS);
  expect(workspace.has("project/generated")).toBe(false);
});
