/** `/mcp …` in a real Pi without a terminal: what it says, what it writes to which file, and what the session has afterwards. */
import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Stub, tool, Workspace } from "../cli/pimcp.ts";
import { startAuthorization } from "../servers/authorization.ts";
import { eventually } from "../servers/run.ts";
import { compiledWorkspace, runPi, textOf } from "./pi.ts";
import { RpcPi } from "./rpc.ts";

const DONE = { text: "done" };
/** Pi and a compile, each a process, on a machine that has other things to do. */
const LONG_MS = 50_000;
const LONG = { timeout: 240_000 };

/** Runs a command and gives back what it said. */
async function said(pi: RpcPi, command: string): Promise<string> {
  const before = pi.notices().length;
  await pi.ask({ type: "prompt", message: command });
  await eventually(() => pi.notices().length > before, `an answer to ${command}\n${pi.running.stderr()}`, LONG_MS);
  return pi.notices().slice(before).join("\n");
}

/** A project file as a person writes it: comments, tabs, a trailing comma. */
function commented(stub: Stub, more = ""): string {
  const { command, args, env } = stub.entry;
  return `// what this project needs
{
\t"mcpServers": {
\t\t"docs": { // reads documents
\t\t\t"command": ${JSON.stringify(command)},
\t\t\t"args": ${JSON.stringify(args)},
\t\t\t"env": ${JSON.stringify(env)}, // not for sharing${more}
\t\t},
\t},
}
`;
}

test("status shows every server, and wrong usage what was meant", LONG, async () => {
  const stub = new Stub({ tools: [tool("echo"), tool("wipe")] });
  const workspace = new Workspace();
  workspace.write("agent/mcp.json", { mcpServers: { mine: stub.entry } });
  workspace.servers({
    docs: { ...stub.entry, toolExposure: { wipe: "hidden" } },
    off: { ...stub.entry, enabled: false },
    bad: { args: [] },
  });
  await workspace.compile();
  const pi = new RpcPi(workspace, { answers: [] });
  const status = await said(pi, "/mcp");
  expect(status.split("\n")).toEqual([
    "bad: not usable (codemode, project)",
    expect.stringContaining('server "bad" needs either "command"'),
    expect.stringMatching(/^docs: not connected, 2 tools, \d+ of \d+ tokens declared \(codemode, project\)$/),
    expect.stringMatching(/^mine: not connected, 2 tools, .* \(codemode, user\)$/),
    "off: disabled (codemode, project)",
  ]);
  expect(await said(pi, "/mcp status docs")).toMatch(
    / {2}defined at mcp\.json:3:5\n {2}stdio, legacy 2025-11-25\n {2}echo {2}codemode {2}\d+ tokens\n {2}wipe {2}hidden/,
  );
  const rows: [command: string, answer: string][] = [
    ["/mcp help", "/mcp: the panel"],
    ["/mcp statsu", "there is no /mcp statsu; did you mean /mcp status?"],
    ["/mcp status dosc", 'there is no server "dosc"; did you mean "docs"?'],
    ["/mcp disable dosc", 'there is no server "dosc"; did you mean "docs"?'],
    ["/mcp exposure docs diret", '"diret" is no exposure; did you mean direct?'],
    ["/mcp exposure docs wype direct", '"docs" has no tool "wype"; did you mean wipe?'],
    ["/mcp exposure docs", "/mcp exposure takes a server, perhaps a tool, and an exposure"],
    ["/mcp reconnect docs --project", "--project goes with enable, disable and exposure"],
    ["/mcp login docs", 'server "docs" is started by a command'],
    ["/mcp login", "There is no MCP server that anybody signs in to."],
    ["/mcp disable bad", 'server "bad" needs either "command"'],
  ];
  for (const [command, answer] of rows) expect(await said(pi, command)).toContain(answer);
  expect(stub.log().some(({ method }) => method === "tools/call")).toBe(false);
});

test("a change is saved where the server is defined, byte for byte, and the session takes it over", LONG, async () => {
  const stub = new Stub({ tools: [tool("echo"), tool("wipe")] });
  const workspace = new Workspace();
  const before = commented(stub);
  workspace.write("project/.pi/mcp.json", before);
  const file = join(workspace.project, ".pi", "mcp.json");
  chmodSync(file, 0o640);
  await workspace.compile();
  const names = "return ALL_TOOLS.map(({ name }) => name).filter((name) => name.startsWith('mcp__')).join()";
  const list = { call: ["codemode", { code: names }] as const };
  const pi = new RpcPi(workspace, { answers: [list, DONE, list, DONE, list, DONE] });
  const tools = async (nth: number) => {
    await pi.ask({ type: "prompt", message: "go" });
    return textOf(await pi.tool(nth));
  };
  const now = () => readFileSync(file, "utf8");

  expect(await said(pi, "/mcp exposure docs wipe hidden")).toBe(
    "the exposure of docs/wipe is hidden (saved to .pi/mcp.json)",
  );
  expect(now()).toBe(commented(stub, '\n\t\t\t"toolExposure": {\n\t\t\t\t"wipe": "hidden"\n\t\t\t},'));
  expect(await tools(0)).toContain("mcp__docs__echo");
  expect(textOf(pi.ended()[0])).not.toContain("wipe");
  expect(await said(pi, "/mcp exposure docs wipe inherit")).toContain("is what its server's is");
  expect(now()).toBe(before);

  const starts = stub.starts();
  // Edited by hand in between: that stays.
  writeFileSync(file, now().replace("// reads documents", "// reads every document"));
  expect(await said(pi, "/mcp exposure docs direct")).toContain("saved to .pi/mcp.json");
  expect(now()).toContain("// reads every document");
  writeFileSync(file, now().replace("// reads every document", "// reads documents"));
  expect(await said(pi, "/mcp disable docs")).toBe('"docs" is disabled (saved to .pi/mcp.json)');
  expect(stub.starts()).toBe(starts);
  expect(now()).toBe(commented(stub, '\n\t\t\t"exposure": "direct",\n\t\t\t"enabled": false,'));
  expect(await tools(1)).not.toContain("mcp__docs");
  expect(await said(pi, "/mcp disable docs")).toBe('"docs" is disabled (nothing to change in .pi/mcp.json)');

  expect(await said(pi, "/mcp enable")).toBe('"docs" is enabled (saved to .pi/mcp.json)');
  expect(await said(pi, "/mcp exposure docs codemode")).toContain("is codemode");
  expect(now()).toBe(before);
  expect(await tools(2)).toContain("mcp__docs__wipe");
  expect(statSync(file).mode & 0o777).toBe(0o640);
  expect(readdirSync(join(workspace.project, ".pi"))).toEqual(["mcp.json"]);
});

test("a file that doesn't parse is left alone, with the place of the mistake", LONG, async () => {
  const stub = new Stub({ tools: [tool("echo")] });
  const workspace = await compiledWorkspace({ docs: stub.entry });
  const pi = new RpcPi(workspace, { answers: [] });
  await said(pi, "/mcp");
  const half = '{\n  "mcpServers": {\n    "docs": {\n';
  workspace.write("project/mcp.json", half);
  expect(await said(pi, "/mcp disable docs")).toMatch(/^mcp\.json:4:1: expected /);
  expect(await said(pi, "/mcp")).toMatch(
    /^docs: not connected.*\n.*its configuration can't be read.*\nerror: mcp\.json:4:1: expected /,
  );
  expect(workspace.read("project/mcp.json")).toBe(half);
});

test("a user's server is turned off for a project that had no configuration, once the user agrees", LONG, async () => {
  const stub = new Stub({ tools: [tool("echo")] });
  const workspace = new Workspace();
  const user = { mcpServers: { mine: stub.entry, off: { ...stub.entry, enabled: false } } };
  workspace.write("home/dotfiles/mcp.json", user);
  symlinkSync(join(workspace.root, "home", "dotfiles", "mcp.json"), join(workspace.agent, "mcp.json"));
  await workspace.compile("--scope", "user");
  const pi = new RpcPi(workspace, { answers: [] });
  expect(await said(pi, "/mcp")).toContain("mine: not connected");

  const refused = said(pi, "/mcp disable mine --project");
  expect((await pi.answer("No")).title).toContain(workspace.project);
  expect(await refused).toContain("nothing was changed");
  expect(workspace.has("project/.pi")).toBe(false);

  const agreed = said(pi, "/mcp disable mine --project");
  await pi.answer("Yes");
  expect(await agreed).toBe('"mine" is disabled (saved to .pi/mcp.json)');
  expect(workspace.read("project/.pi/mcp.json")).toBe(
    '{\n  "mcpServers": {\n    "mine": {\n      "enabled": false\n    }\n  }\n}\n',
  );
  expect(await said(pi, "/mcp status mine")).toMatch(
    /^mine: disabled \(codemode, user\)\n.*\n {2}overridden at \.pi\/mcp\.json:3:5/,
  );
  expect(await said(pi, "/mcp enable off --project")).toContain("enable it there");

  // Later changes go to the override, and what is the user's stays the user's.
  expect(await said(pi, "/mcp enable mine")).toContain("saved to .pi/mcp.json");
  expect(await said(pi, "/mcp exposure mine echo direct")).toContain("saved to .pi/mcp.json");
  expect(await said(pi, "/mcp status mine")).toMatch(/echo {2}direct/);
  expect(JSON.parse(workspace.read("home/dotfiles/mcp.json"))).toEqual(user);
  expect(await said(pi, "/mcp enable off")).toContain("agent/mcp.json");
  expect(JSON.parse(workspace.read("home/dotfiles/mcp.json"))).toEqual({
    mcpServers: { mine: stub.entry, off: stub.entry },
  });
});

test("reconnecting starts another process, and a call under way hears why it ended", LONG, async () => {
  const stub = new Stub({ tools: [tool("hang")] });
  const workspace = await compiledWorkspace({ docs: { ...stub.entry, exposure: "direct" } });
  const pi = new RpcPi(workspace, { answers: [{ call: ["mcp__docs__hang", {}] }, DONE] });
  pi.prompt();
  await eventually(() => stub.log().some(({ method }) => method === "tools/call"), "the call", 20_000);
  const starts = stub.starts();
  expect(await said(pi, "/mcp reconnect")).toContain('connected to "docs"; its tools are those that were compiled');
  expect(stub.starts()).toBe(starts + 1);
  expect(textOf(await pi.tool())).toContain(
    "the connection was ended on purpose during tools/call; the call may have run",
  );
  expect(await said(pi, "/mcp")).toContain("docs: connected");
  stub.set({ tools: [tool("hang", "Does it otherwise"), tool("more")] });
  expect(await said(pi, "/mcp reconnect docs")).toContain("1 changed (hang), 1 added (more)");
  expect(await said(pi, "/mcp compile docs")).toBe('compiled "docs"');
  expect(await said(pi, "/mcp status docs")).toContain("more");
  stub.set({ exitAtStart: 7 });
  expect(await said(pi, "/mcp reconnect docs")).toMatch(/docs.*7/);
  expect(await said(pi, "/mcp status docs")).toMatch(/^docs: failed/);
  expect(await said(pi, "/mcp compile docs")).toMatch(/^"docs" could not be compiled:\n {2}server "docs": .*7/);
  // One that can be reached again is not shown as failed for what was.
  stub.set({ tools: [tool("hang")] });
  expect(await said(pi, "/mcp compile docs")).toBe('compiled "docs"');
  expect(await said(pi, "/mcp status docs")).toMatch(/^docs: not connected, 1 tool/);
});

test("a server that wants a sign-in is signed in to, compiled and signed out of", LONG, async () => {
  const server = await startAuthorization();
  const workspace = new Workspace();
  workspace.servers({ remote: { url: server.url } });
  const pi = new RpcPi(workspace, { answers: [] });
  await eventually(
    () => pi.notices().some((notice) => notice.includes("sign-in is needed")),
    "the background compile",
    LONG_MS,
  );
  expect(await said(pi, "/mcp")).toContain("remote: needs sign-in, run /mcp login remote (codemode, project)");

  const signing = said(pi, "/mcp login");
  const dialog = await pi.dialog();
  const address = /https?:\/\/\S+/.exec(dialog.title)![0];
  const redirect = await server.approve(address);
  pi.reply(dialog, "http://127.0.0.1:1/callback?code=wrong&state=wrong");
  const again = await pi.dialog();
  expect(again.title).toContain("What was pasted");
  pi.reply(again, redirect.href);
  expect(await signing).toContain('signed in to "remote"');
  expect(await said(pi, "/mcp status remote")).toMatch(/^remote: not connected, \d tools/);

  const cancelled = said(pi, "/mcp login remote");
  pi.dismiss(await pi.dialog());
  expect(await cancelled).toContain("cancelled");
  expect(await said(pi, "/mcp logout")).toContain('signed out of "remote"');
  expect(JSON.stringify(JSON.parse(workspace.read("agent/mcp-auth.json")))).not.toContain("access_token");
  expect(await said(pi, "/mcp reconnect remote")).toContain("sign-in is needed");
  expect(await said(pi, "/mcp")).toContain("remote: needs sign-in");
});

test("without a UI the answer goes to stderr, and stdout is left to Pi", LONG, async () => {
  const stub = new Stub({ tools: [tool("echo")] });
  const workspace = await compiledWorkspace({ docs: stub.entry });
  const printed = await runPi(workspace, { args: ["--approve"], answers: [], mode: "print", prompts: ["/mcp"] });
  expect(printed.stderr).toMatch(/^docs: not connected, 1 tool, /m);
  const json = await runPi(workspace, { args: ["--approve"], answers: [], prompts: ["/mcp disable docs"] });
  expect(json.stderr).toContain('"docs" is disabled (saved to mcp.json)');
  expect(json.stdout.split("\n").filter((line) => line !== "" && !line.startsWith("{"))).toEqual([]);
  expect(JSON.parse(workspace.read("project/mcp.json"))).toMatchObject({ mcpServers: { docs: { enabled: false } } });
});

test("what a server logs is in mcp.log, without its secrets, and in no message", LONG, async () => {
  const stub = new Stub({ tools: [tool("log")] });
  const workspace = new Workspace();
  const secret = "s3cr3t-Zx81-Qq77-token";
  workspace.servers({ docs: { ...stub.entry, exposure: "direct", env: { ...stub.entry.env, API_TOKEN: secret } } });
  await workspace.compile();
  const notice = { level: "warning", logger: "db", data: `token ${secret}\nforged [other] error` };
  const pi = await runPi(workspace, {
    args: ["--approve"],
    answers: [{ call: ["mcp__docs__log", notice] }, DONE],
  });
  expect(textOf(pi.ended[0])).toBe("logged");
  expect(workspace.read("agent/mcp.log")).toMatch(
    /^\S+Z \[docs\] warning db: token \[redacted\]\\nforged \[other\] error\n$/,
  );
  expect(statSync(join(workspace.agent, "mcp.log")).mode & 0o777).toBe(0o600);
  expect(pi.stdout.split("forged").length - 1).toBe(
    JSON.stringify(pi.events.filter(({ type }) => type !== "tool_execution_end")).split("forged").length - 1,
  );
  expect(pi.stderr).not.toContain("forged");
});
