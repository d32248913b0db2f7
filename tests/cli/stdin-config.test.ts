/** `pimcp compile --config -`: a configuration that is in no file. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CompileJson } from "../../cli/compile-command.ts";
import { FRESH, Stub, tool, Workspace } from "./pimcp.ts";

async function compileText(workspace: Workspace, text: string, ...args: string[]) {
  const { code, stdout, stderr } = await workspace.start(["compile", "--json", "--config", "-", ...args], {
    input: text,
  }).finished;
  return { code, stderr, json: JSON.parse(stdout) as CompileJson };
}

test("is compiled into the folder that is named, and its values are written nowhere", async () => {
  const secret = "s3cret-token-Zq81";
  const [own, theirs] = [new Stub({ tools: [tool("own")], ...FRESH }), new Stub({ tools: [tool("theirs")] })];
  const workspace = new Workspace();
  workspace.servers({ theirs: theirs!.entry });
  const entry = { ...own!.entry, env: { ...own!.entry.env, API_TOKEN: secret } };
  const { code, json } = await compileText(workspace, JSON.stringify({ mcpServers: { own: entry } }), "--out", "there");
  expect([code, json.servers.map(({ name, status }) => [name, status])]).toEqual([0, [["own", "compiled"]]]);
  expect(theirs!.starts()).toBe(0);
  expect(workspace.read("project/there/catalog.json")).toContain("mcp__own__own");
  for (const path of readdirSync(workspace.root, { recursive: true, withFileTypes: true }))
    if (path.isFile()) expect(readFileSync(join(path.parentPath, path.name), "latin1")).not.toContain(secret);
});

test("another text is another configuration, however fresh the lists are", async () => {
  const stub = new Stub({ tools: [tool("t")], ...FRESH });
  const workspace = new Workspace();
  const text = (more: object) => JSON.stringify({ mcpServers: { s: { ...stub.entry, ...more } } });
  await compileText(workspace, text({}));
  expect(workspace.read("project/generated/exposure.json")).toContain('"codemode"');
  await compileText(workspace, text({ exposure: "direct" }));
  expect(workspace.read("project/generated/exposure.json")).toContain('"direct"');
  // The list itself is remembered.
  expect(stub.lists()).toBe(1);
});

test("its mistakes have places in it", async () => {
  const { code, json } = await compileText(new Workspace(), '{\n  "mcpServers": { "s": 5 }\n}');
  expect(code).toBe(1);
  expect(json.diagnostics).toMatchObject([{ code: "invalid-server", file: "stdin", line: 2, column: 24 }]);
  const torn = await compileText(new Workspace(), "{");
  expect(torn.json.diagnostics).toMatchObject([{ code: "config-syntax", file: "stdin" }]);
});
