/** The panel of `/mcp` in a real terminal: its screens at two widths, what its keys do to servers and files. */
import { expect, test } from "vitest";
import { Stub, tool, Workspace } from "../cli/pimcp.ts";
import { startAuthorization } from "../servers/authorization.ts";
import { TerminalPi, withoutTmux } from "./terminal.ts";

/** Why these tests are skipped, in their names. */
const why = withoutTmux === undefined ? "" : ` (${withoutTmux})`;

const NASTY = "Says \u001b[31mred\u001b[0m and \u202eevil";

/** The panel alone: the lines between its rules. */
function panelOf(screen: string): string[] {
  const lines = screen.split("\n");
  const title = lines.findIndex((line) => /^ MCP server/.test(line));
  const end = lines.findIndex((line, index) => index > title && line.startsWith("────"));
  return lines.slice(title, end);
}

test.skipIf(withoutTmux !== undefined)(`the panel in a terminal${why}`, { timeout: 240_000 }, async () => {
  const stub = new Stub({ tools: [tool("echo", NASTY), tool("wipe")] });
  const other = new Stub({ tools: [tool("read")] });
  const workspace = new Workspace();
  workspace.write("agent/mcp.json", { mcpServers: { mine: other.entry } });
  const servers = {
    docs: { ...stub.entry, toolExposure: { wipe: "hidden" } },
    off: { ...other.entry, enabled: false },
  };
  workspace.servers(servers);
  await workspace.compile();
  const starts = stub.starts();
  const pi = await TerminalPi.start(workspace, { columns: 100, lines: 36 });
  await pi.shows("extension.ts");
  await pi.type("/mcp");
  await pi.press("Enter");

  // Wide: everything in one row.
  const wide = panelOf(await pi.shows("esc close"));
  expect(wide.slice(0, 5)).toEqual([
    " MCP servers",
    "",
    expect.stringMatching(/^→ docs {2}not connected {2}2 tools {2}codemode {2}\d+\/\d+ tokens {2}mcp\.json:3:5$/),
    expect.stringMatching(
      /^ {2}mine {2}not connected {3}1 tool {2}codemode {2}\d+\/\d+ tokens {2}\S*agent\/mcp\.json:3:5$/,
    ),
    expect.stringMatching(/^ {2}off {3}disabled {2,}codemode {2,}mcp\.json:\d+:5$/),
  ]);
  expect(wide.at(-1)).toBe(" ↑↓ choose · enter open · r reconnect · c compile · e exposure · d disable · esc close");
  expect(stub.starts()).toBe(starts);

  // Narrow: names and states stay, the rest is below, no line is broken by the terminal.
  await pi.resize({ columns: 40, lines: 36 });
  const narrow = await pi.shows(
    /^ MCP servers\n\n→ docs {2}not connected {2}2 tools {2}codemode\n {2}mine {2}not connected {3}1 tool {2}codemode\n {2}off {3}disabled {16}codemode$/m,
    /^ 2 tools · \d+ of \d+ tokens declared ·\n codemode · mcp\.json:3:5$/m,
    /^ ↑↓ choose · enter open · r reconnect\n c compile · e exposure · d disable\n esc close$/m,
  );
  expect(panelOf(narrow).length).toBeLessThan(15);

  // A server's tools; what it says of them moves nothing on the screen.
  await pi.press("Enter");
  const server = await pi.shows("MCP server docs", "→ echo", "  wipe  hidden");
  expect(panelOf(server).join("\n").replace(/\s+/g, " ")).toContain("Says \\u001b[31mred\\u001b[0m and \\u202eevil");
  await pi.resize({ columns: 100, lines: 36 });
  await pi.shows(/→ echo {2}codemode {2}\d+ tokens {2}declared {2}Says/);

  // A connection shows while it is made and when it is there.
  await pi.press("r");
  await pi.shows(/^ connected$/m, 'connected to "docs"; its tools are those that were compiled');

  // The exposure of one tool, through Pi's own dialog.
  await pi.press("Down", "Enter");
  await pi.shows("Exposure of docs/wipe", "✓ hidden");
  await pi.press("Down", "Enter");
  // Who may see a tool is none of its server's business: its process and connection go on.
  await pi.shows(/^ connected$/m, /→ wipe {2}codemode/, "saved to mcp.json");
  expect(stub.starts()).toBe(starts + 1);
  expect(JSON.parse(workspace.read("project/mcp.json"))).toEqual({ mcpServers: { ...servers, docs: stub.entry } });

  // Off and on again: the file, the artifacts, the process.
  // An escape and a letter at once would be another key.
  await pi.press("Escape");
  await pi.shows(/^ MCP servers$/m);
  await pi.press("d");
  await pi.shows(/→ docs {2}disabled/, '"docs" is disabled (saved to mcp.json)', "d enable");
  expect(JSON.parse(workspace.read("project/mcp.json"))).toMatchObject({ mcpServers: { docs: { enabled: false } } });
  expect(workspace.read("project/generated/manifest.json")).not.toContain("docs");
  await pi.press("d");
  await pi.shows(/→ docs {2}not connected {2}2 tools/, '"docs" is enabled');
  expect(JSON.parse(workspace.read("project/mcp.json"))).toEqual({ mcpServers: { ...servers, docs: stub.entry } });

  // A user's server in this project alone.
  const user = workspace.read("agent/mcp.json");
  await pi.press("Down", "p");
  await pi.shows(/→ mine {2}disabled/, "overridden at mcp.json");
  expect(workspace.read("agent/mcp.json")).toBe(user);

  // What somebody edits meanwhile is shown, and stays when the panel saves something.
  const byHand = { ...servers, docs: { ...stub.entry, exposure: "direct" }, new: { ...other.entry, enabled: false } };
  const project = JSON.parse(workspace.read("project/mcp.json"));
  workspace.write("project/mcp.json", { mcpServers: { ...project.mcpServers, ...byHand } });
  await pi.shows(/ {2}docs {2}(not )?connected, stale +2 tools {2}direct/, / {2}new {3}disabled/);
  await pi.press("p");
  await pi.shows(/→ mine {2}not connected/);
  expect(JSON.parse(workspace.read("project/mcp.json")).mcpServers).toMatchObject(byHand);

  // An error stands where it arose.
  other.set({ exitAtStart: 7 });
  await pi.press("r");
  await pi.shows(/→ mine {2}failed|mine {2}failed/, "status 7");

  // Closed: the editor is back.
  await pi.press("Escape");
  await pi.shows(/^(?!.*MCP servers)/s);
});

test.skipIf(withoutTmux !== undefined)(
  `signing in from the panel, with the address of a browser elsewhere${why}`,
  { timeout: 240_000 },
  async () => {
    const server = await startAuthorization();
    const workspace = new Workspace();
    workspace.servers({ remote: { url: server.url } });
    const pi = await TerminalPi.start(workspace, { columns: 100, lines: 40 });
    await pi.shows("sign-in is needed");
    await pi.type("/mcp");
    await pi.press("Enter");
    await pi.shows(/→ remote {2}needs sign-in/, "s sign in", "nobody is signed in");
    await pi.press("s");
    const screen = await pi.shows("paste the address", "copy the address");
    const shown = screen.split("\n").slice(screen.split("\n").findIndex((line) => line.startsWith("http")));
    const address = shown.slice(0, shown.indexOf("")).join("");
    await pi.type((await server.approve(address)).href);
    await pi.press("Enter");
    await pi.shows(/→ remote {2}not connected {2}\d tools/, 'signed in to "remote"; Pi is signed in too');
    await pi.press("o");
    await pi.shows('signed out of "remote"');
  },
);

test.skipIf(withoutTmux !== undefined)(
  `many servers and tools scroll in a small terminal${why}`,
  { timeout: 240_000 },
  async () => {
    const stub = new Stub({
      tools: Array.from({ length: 40 }, (_, index) => tool(`tool_${String(index).padStart(2, "0")}`)),
    });
    const workspace = new Workspace();
    const names = Array.from({ length: 30 }, (_, index) => `server-${String(index).padStart(2, "0")}`);
    workspace.servers(Object.fromEntries(names.map((name) => [name, stub.entry])));
    await workspace.compile();
    const pi = await TerminalPi.start(workspace, { columns: 60, lines: 24 });
    await pi.shows("extension.ts");
    await pi.type("/mcp");
    await pi.press("Enter");
    await pi.shows("MCP servers (1 of 30)", "→ server-00", "esc close");
    await pi.press("Up");
    await pi.shows("(30 of 30)", "→ server-29");
    await pi.press("Enter", "PageDown", "PageDown");
    await pi.shows("MCP server server-29 (21 of 40)", "→ tool_20", "esc back");
  },
);
