/** MCP servers that other extensions register with Pi. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Stub, tool, Workspace } from "../cli/pimcp.ts";
import { countProcesses, eventually } from "../servers/run.ts";
import { type Answer, textOf } from "./pi.ts";
import { RpcPi } from "./rpc.ts";

const REGISTERING = join(import.meta.dirname, "registering-extension.mjs");
const PATIENCE_MS = 30_000;
const DONE: Answer = { text: "done" };
const script = (code: string): Answer => ({ call: ["codemode", { code }] });
function start(workspace: Workspace, servers: Readonly<Record<string, object>>, answers: readonly Answer[]): RpcPi {
  return new RpcPi(workspace, {
    answers,
    extensions: [REGISTERING],
    env: { REGISTERED: JSON.stringify(servers) },
  });
}

/** What a script gave back, after asking the model to run it. */
async function ran(pi: RpcPi): Promise<string> {
  const scripts = () => pi.ended().filter(({ toolName }) => toolName === "codemode");
  const before = scripts().length;
  pi.prompt("go");
  await eventually(() => scripts().length > before, "the script ending", PATIENCE_MS);
  return textOf(scripts().at(-1));
}

const run = (pi: RpcPi, message: string) => pi.ask({ type: "prompt", message });

/** What Pi has of MCP tools now. */
async function toolsOf(pi: RpcPi): Promise<string> {
  await run(pi, "/tools");
  return pi
    .notices()
    .findLast((text) => text.startsWith("tools: "))!
    .slice("tools: ".length);
}

/** Waits until Pi has just these. */
async function hasTools(pi: RpcPi, wanted: string): Promise<void> {
  let last = "";
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; ) {
    last = await toolsOf(pi);
    if (last === wanted) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(last).toBe(wanted);
}

const told = (pi: RpcPi) => pi.notices().filter((text) => !text.startsWith("tools: "));

const compiled = (workspace: Workspace) => {
  const folder = join(workspace.cache, "registered");
  return readdirSync(folder, { withFileTypes: true })
    .map((entry) => join(folder, entry.name))
    .filter((path) => readdirSync(path).includes("manifest.json"));
};

test("a registered server is compiled, called with its own configuration, and there at once the next time", async () => {
  const secret = "s3cret-token-Zq81";
  const stub = new Stub({ tools: [tool("env")] });
  const entry = { ...stub.entry, env: { ...stub.entry.env, API_TOKEN: secret } };
  const workspace = new Workspace();
  const call = script(`return (await tools.mcp__mine__env({ names: ["API_TOKEN"] })).content[0].text.length`);
  const pi = start(workspace, { mine: entry }, [call, DONE]);
  await hasTools(pi, "mcp__mine__env");
  expect(told(pi)).toEqual(["MCP servers of extensions are ready: mine"]);
  // Nothing that the server was given is kept; what it answers is the session's, so it is looked for before that.
  for (const path of readdirSync(workspace.root, { recursive: true, withFileTypes: true }))
    if (path.isFile()) expect(readFileSync(join(path.parentPath, path.name), "latin1")).not.toContain(secret);
  if (process.platform !== "win32") expect(statSync(join(workspace.cache, "registered")).mode & 0o077).toBe(0);
  expect(await ran(pi)).toContain(String(JSON.stringify([secret]).length));
  await pi.end();
  const starts = stub.starts();
  const unused = join(workspace.cache, "registered", "0".repeat(32));
  mkdirSync(unused);
  utimesSync(unused, new Date(0), new Date(0));
  const again = start(workspace, { mine: entry }, [DONE]);
  await hasTools(again, "mcp__mine__env");
  await eventually(() => !existsSync(unused), "what nobody has used for long being gone", PATIENCE_MS);
  await again.end();
  expect([stub.starts(), told(again)]).toEqual([starts, []]);
});

test("mcp.json wins over the same name and over one that differs in - and _, compiled or not", async () => {
  const [mine, theirs] = [new Stub({ tools: [tool("mine")] }), new Stub({ tools: [tool("theirs")] })];
  const workspace = new Workspace();
  workspace.servers({ same: mine!.entry, off_line: { ...mine!.entry, enabled: false } });
  await workspace.compile();
  const pi = start(workspace, { same: theirs!.entry, "off-line": theirs!.entry, own: theirs!.entry }, []);
  await hasTools(pi, "mcp__own__theirs mcp__same__mine");
  for (const name of ["same", "off_line"]) {
    await run(pi, `/mcp status ${name}`);
    expect(told(pi).at(-1)).toMatch(/^ {2}in place of the one that .*registering-extension\.mjs registers$/m);
  }
  await run(pi, "/mcp status own");
  expect(told(pi).at(-1)).not.toContain("in place of");
  await pi.end();
  expect(compiled(workspace)).toHaveLength(1);
});

test("one that comes, changes and goes in mid-session does so without a restart", async () => {
  const [first, second] = [new Stub({ tools: [tool("cwd")] }), new Stub({ tools: [tool("env")] })];
  const workspace = new Workspace();
  const pi = start(workspace, {}, [script(`return (await tools.mcp__late__cwd({})).content[0].text`), DONE]);
  await run(pi, `/register ${JSON.stringify({ late: first!.entry })}`);
  await hasTools(pi, "mcp__late__cwd");
  expect(await ran(pi)).toContain(workspace.project);
  expect(countProcesses(first!.marker)).toBe(1);
  await run(pi, `/register ${JSON.stringify({ late: second!.entry })}`);
  await eventually(() => countProcesses(first!.marker) === 0, "the old server being gone", PATIENCE_MS);
  await hasTools(pi, "mcp__late__env");
  await run(pi, "/unregister late");
  await hasTools(pi, "");
  // Registered again, it is the server that was compiled.
  await run(pi, `/register ${JSON.stringify({ late: first!.entry })}`);
  const starts = first!.starts();
  await hasTools(pi, "mcp__late__cwd");
  expect(first!.starts()).toBe(starts);
  await pi.end();
});

test("what is wrong is said with the extension's name, and takes nothing else along", async () => {
  const good = new Stub({ tools: [tool("echo")] });
  const workspace = new Workspace();
  const servers = {
    good: { ...good.entry, surprise: 1 },
    bad: { command: "no-such-program" },
    off: { ...good.entry, enabled: false },
  };
  const pi = start(workspace, servers, []);
  await hasTools(pi, "mcp__good__echo");
  await eventually(() => told(pi).length === 3, "three notices", PATIENCE_MS);
  const texts = told(pi).join("\n");
  expect(texts).toMatch(/"good", registered by .*registering-extension\.mjs: unknown key "surprise"/);
  expect(texts).toMatch(/MCP servers of extensions could not be compiled:\s+.*"bad".*no-such-program/);
  expect(texts).toContain("MCP servers of extensions are ready: good");
  expect(pi.lines().filter(({ type }) => type === "extension_error")).toEqual([]);
  await pi.end();
});

test("what /mcp changes holds for the session alone", async () => {
  const stub = new Stub({ tools: [tool("echo"), tool("other")] });
  const workspace = new Workspace();
  const pi = start(workspace, { mine: stub.entry }, []);
  await hasTools(pi, "mcp__mine__echo mcp__mine__other");
  await run(pi, "/mcp disable mine");
  await hasTools(pi, "");
  await run(pi, "/mcp enable mine");
  await hasTools(pi, "mcp__mine__echo mcp__mine__other");
  expect(told(pi).filter((text) => text.includes("for this session; it is registered by"))).toHaveLength(2);
  await pi.end();
  expect(workspace.has("agent/mcp.json")).toBe(false);
});

test("a server that offers other tools than it was compiled with is compiled for the next session", async () => {
  const stub = new Stub({ tools: [tool("cwd")] });
  const workspace = new Workspace();
  const pi = start(workspace, { mine: stub.entry }, [
    script(`return (await tools.mcp__mine__cwd({})).content[0].text`),
    DONE,
  ]);
  await hasTools(pi, "mcp__mine__cwd");
  stub.set({ tools: [tool("cwd"), tool("fresh")] });
  await ran(pi);
  const said = `MCP server "mine" offers other tools than before; the next session has them`;
  await eventually(() => told(pi).includes(said), "that being said", PATIENCE_MS);
  expect(told(pi).filter((text) => text.includes("pimcp compile"))).toEqual([]);
  expect(await toolsOf(pi)).toBe("mcp__mine__cwd");
  await pi.end();
  const next = start(workspace, { mine: stub.entry }, []);
  await hasTools(next, "mcp__mine__cwd mcp__mine__fresh");
  await next.end();
});

test.each(["catalog.json", "exposure.json", "manifest.json"])(
  "a %s that is torn is made again, without a word of what a person could do",
  async (file) => {
    const stub = new Stub({ tools: [tool("echo")] });
    const workspace = new Workspace();
    const first = start(workspace, { mine: stub.entry }, []);
    await hasTools(first, "mcp__mine__echo");
    await first.end();
    const [folder] = compiled(workspace);
    writeFileSync(join(folder!, file), "nothing of ours");
    const pi = start(workspace, { mine: stub.entry }, [script("return tools.mcp__mine__echo({ text: 'hi' })"), DONE]);
    await eventually(() => told(pi).length > 0, "a notice", PATIENCE_MS);
    await hasTools(pi, "mcp__mine__echo");
    expect(told(pi)).toEqual(["MCP servers of extensions are ready: mine"]);
    expect(await ran(pi)).toContain("hi");
    await pi.end();
    expect(compiled(workspace)).toEqual([folder]);
  },
);
