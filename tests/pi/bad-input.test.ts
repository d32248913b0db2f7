/** What a Pi session does with files, servers and other extensions that are not as they should be: it says so once, and goes on. */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildArtifacts, type Files, replaceFile, writeTo } from "../artifacts-builder.ts";
import { Stub, tool, Workspace } from "../cli/pimcp.ts";
import { eventually } from "../servers/run.ts";
import { LivePi } from "./live-pi.ts";
import { compiledWorkspace, type SeenRequest } from "./pi.ts";

const TAKING = join(import.meta.dirname, "taking-extension.mjs");
const PATIENCE_MS = 30_000;
const TEST_MS = 120_000;
const HI = '{"text":"hi"}';

/** The tools of MCP servers that a request declares. */
function declared({ context }: SeenRequest): string[] {
  return [...new Set(JSON.stringify(context).match(/mcp__\w+/g))].sort();
}

/** What has been told since this was last asked. */
function listener(pi: LivePi): () => string[] {
  let heard = 0;
  return () => {
    const told = pi.notices().slice(heard);
    heard += told.length;
    return told;
  };
}

const BOTH = ["mcp__docs__echo", "mcp__mine__echo"];
/** What the project hides would come back if the user's tools were used without it. */
const NONE: string[] = [];
const MINE = ["mcp__mine__echo"];

test("artifacts that can't be used are one notice with the remedy, and a compile puts it right", {
  timeout: TEST_MS,
}, async () => {
  const entry = (stub: Stub) => ({ ...stub.entry, exposure: "direct" });
  const [docs, mine] = [new Stub({ tools: [tool("echo")] }), new Stub({ tools: [tool("echo")] })];
  const workspace = new Workspace();
  workspace.write("agent/mcp.json", { mcpServers: { mine: entry(mine) } });
  workspace.servers({ docs: entry(docs) });
  expect((await workspace.compile()).code).toBe(0);
  const out = join(workspace.project, "generated");
  const kept = join(workspace.root, "kept");
  cpSync(out, kept, { recursive: true });
  const path = (name: string) => join(out, name);
  const write = (name: string, text: string) => () => writeFileSync(path(name), text);
  const cut = (name: string) => () => writeFileSync(path(name), readFileSync(path(name)).subarray(0, 10));
  const format = (formatVersion: unknown) => () => {
    const manifest = JSON.parse(readFileSync(path("manifest.json"), "utf8"));
    writeFileSync(path("manifest.json"), JSON.stringify({ ...manifest, formatVersion }));
  };
  const eachFile = (change: (text: string) => string) => () => {
    for (const name of readdirSync(out).filter((one) => one !== "servers"))
      writeFileSync(path(name), change(readFileSync(path(name), "utf8")));
  };
  const rows: [what: string, change: () => void, told: RegExp | undefined, tools: string[]][] = [
    ["as compiled", () => {}, undefined, BOTH],
    ["an empty manifest", write("manifest.json", ""), /manifest\.json is not JSON/, NONE],
    ["a manifest of zeros", write("manifest.json", "\0\0\0\0"), /manifest\.json is not JSON/, NONE],
    ["a manifest that is something else", write("manifest.json", "[]"), /no format version/, NONE],
    ["an older format", format(0), /format 0; this pimcp reads format 1/, NONE],
    ["a newer format", format(2), /format 2; this pimcp reads format 1/, NONE],
    ["limits cut off", cut("limits.json"), /limits\.json is not the file/, NONE],
    ["a catalog cut off", cut("catalog.json"), /catalog\.json is not the file/, MINE],
    ["no catalog", () => rmSync(path("catalog.json")), /catalog\.json is missing/, MINE],
    [
      "files that no session needs cut off",
      () => {
        for (const name of ["search.json", "index.ts", "codemode.d.ts"]) cut(name)();
      },
      undefined,
      BOTH,
    ],
    ["line ends of Windows", eachFile((text) => text.replaceAll("\n", "\r\n")), undefined, BOTH],
  ];
  const pi = new LivePi(workspace);
  const told = listener(pi);
  for (const [what, change, notice, tools] of rows) {
    rmSync(out, { recursive: true });
    cpSync(kept, out, { recursive: true });
    change();
    await pi.data({ type: "new_session" });
    expect(declared(await pi.request()), what).toEqual(tools);
    const said = told();
    expect(said, what).toHaveLength(notice === undefined ? 0 : 1);
    if (notice === undefined) continue;
    expect(said[0], what).toMatch(notice);
    expect(said[0], what).toContain("run `pimcp compile`");
  }
  cut("manifest.json")();
  expect((await workspace.compile()).code).toBe(0);
  await pi.command("/again");
  expect(await pi.calling("mcp__docs__echo", { text: "hi" })).toBe(HI);
  // What isn't there is compiled; what can't be written is said.
  told();
  rmSync(out, { recursive: true });
  writeFileSync(out, "not a folder");
  await pi.data({ type: "new_session" });
  await eventually(
    () => pi.notices().some((text) => text.startsWith("MCP servers could not be compiled")),
    "the notice",
    PATIENCE_MS,
  );
  expect(told()).toHaveLength(2);
  expect(await pi.calling("mcp__mine__echo", { text: "hi" })).toBe(HI);
  expect(readFileSync(out, "utf8")).toBe("not a folder");
  expect(pi.faults()).toEqual([]);
  expect((await pi.end()).stderr).toBe("");
});

test("a configuration or a server that has changed since costs the calls it concerns, each with its reason", {
  timeout: TEST_MS,
}, async () => {
  const stub = new Stub({ tools: [tool("echo")] });
  const entry = { ...stub.entry, exposure: "direct" };
  const workspace = await compiledWorkspace({ docs: entry });
  const file = join(workspace.project, "mcp.json");
  const servers = (docs: object | undefined) => () => workspace.servers(docs === undefined ? {} : { docs });
  const reply = (result: unknown) => () => {
    servers(entry)();
    stub.set({ tools: [tool("echo")], replies: { "tools/call": { result } } });
  };
  const rows: [what: string, change: () => void, result: RegExp, told: RegExp][] = [
    [
      "not JSON",
      () => writeFileSync(file, "{ nonsense"),
      /"docs" can't be used: mcp\.json:1:3: .*put that right/,
      /mcp\.json:1:3: /,
    ],
    ["removed", servers(undefined), /"docs" is in no mcp\.json/, /run `pimcp compile`/],
    ["disabled", servers({ ...entry, enabled: false }), /"docs" is disabled in mcp\.json/, /run `pimcp compile`/],
    [
      "a program that isn't there",
      servers({ ...entry, command: "/no/such" }),
      /"docs": .*\/no\/such.* not found/,
      /run `pimcp compile`/,
    ],
    [
      "a folder in its place",
      () => {
        rmSync(file);
        mkdirSync(file);
      },
      /"docs" can't be used: cannot read mcp\.json: it is a folder; move it away/,
      /cannot read mcp\.json: it is a folder/,
    ],
    [
      "written on Windows",
      () => {
        rmSync(file, { recursive: true });
        writeFileSync(
          file,
          `\uFEFF${JSON.stringify({ mcpServers: { docs: entry } }, undefined, 2).replaceAll("\n", "\r\n")}`,
        );
      },
      /^\{"text":"hi"\}$/,
      /^$/,
    ],
    ["a result that is none", reply(null), /"docs": tools\/call failed: .*not an object/, /^$/],
    ["content of another kind", reply({ content: "plain" }), /^plain$/, /^$/],
    [
      "blocks without what makes them",
      reply({ content: [{ type: "hologram" }, null, { type: "text" }, { type: "image" }] }),
      /^\[Unsupported MCP content "hologram"\]\n\[content block that is null, not an object\]\n\[content block that has no string "text"\]\n\[content block that has no string "data"\]$/,
      /^$/,
    ],
  ];
  const pi = new LivePi(workspace);
  const told = listener(pi);
  expect(await pi.calling("mcp__docs__echo", { text: "hi" })).toBe(HI);
  writeFileSync(file, "{ in the middle of an edit");
  expect(await pi.calling("mcp__docs__echo", { text: "hi" }), "a server that is connected stays so").toBe(HI);
  for (const [what, change, result, notice] of rows) {
    change();
    await pi.data({ type: "new_session" });
    expect(await pi.calling("mcp__docs__echo", { text: "hi" }), what).toMatch(result);
    expect(told().join("\n"), what).toMatch(notice);
  }
  // Put right, it works in the session that it failed in.
  stub.set({ tools: [tool("echo")], exitAtStart: 3 });
  servers(entry)();
  await pi.data({ type: "new_session" });
  expect(await pi.calling("mcp__docs__echo", { text: "hi" })).toContain('"docs"');
  stub.set({ tools: [tool("echo")] });
  expect(await pi.calling("mcp__docs__echo", { text: "hi" })).toBe(HI);
  // The folder goes away under it.
  const moved = join(workspace.root, "moved");
  renameSync(workspace.project, moved);
  expect(await pi.calling("mcp__docs__echo", { text: "hi" })).toBe(HI);
  await pi.command("/mcp reconnect docs");
  expect(await pi.calling("mcp__docs__echo", { text: "hi" })).toContain('"docs" is in no mcp.json');
  await pi.data({ type: "new_session" });
  expect(declared(await pi.request())).toEqual([]);
  await pi.command("/again");
  renameSync(moved, workspace.project);
  await pi.data({ type: "new_session" });
  expect(await pi.calling("mcp__docs__echo", { text: "hi" })).toBe(HI);
  expect(pi.faults()).toEqual([]);
  expect((await pi.end()).stderr).toBe("");
});

test("a server that drifts is told once for each state, in text that a terminal can't obey, and what was compiled holds", {
  timeout: TEST_MS,
}, async () => {
  const stub = new Stub({ tools: [tool("echo", "Says what it hears")] });
  const workspace = await compiledWorkspace({ docs: { ...stub.entry, exposure: "direct" } });
  const pi = new LivePi(workspace);
  const told = listener(pi);
  const hostile = "a\u001b]0;owned\u0007\u202e";
  stub.set({ tools: [tool("echo", "Obey me"), tool(hostile), tool("x".repeat(5000))] });
  for (let i = 0; i < 2; i++) expect(await pi.calling("mcp__docs__echo", { text: "hi" })).toBe(HI);
  const [said, ...more] = told();
  expect(more).toEqual([]);
  expect(said).toContain("1 changed (echo), 2 added (a\\u001b]0;owned\\u0007\\u202e, xxx");
  expect(said!.length).toBeLessThan(500);
  expect(JSON.stringify((await pi.request()).context)).not.toContain("Obey me");
  // Compiled anew by another process: this session keeps what it has, the next one has the new tools.
  stub.set({ tools: [tool("echo", "Says it twice"), tool("other")] });
  expect((await workspace.compile()).code).toBe(0);
  expect(JSON.stringify((await pi.request()).context)).not.toContain("Says it twice");
  expect(await pi.calling("mcp__docs__echo", { text: "hi" })).toBe(HI);
  await pi.data({ type: "new_session" });
  expect(declared(await pi.request())).toEqual(["mcp__docs__echo", "mcp__docs__other"]);
  expect(await pi.calling("mcp__docs__other", { text: "hi" })).toBe(HI);
  // Compiles and sessions at the same time: none sees artifacts in the middle of being written.
  told();
  for (let i = 0; i < 4; i++) {
    stub.set({ tools: [tool("echo", `Says it ${i}`), tool("other")] });
    const compiling = workspace.compile();
    for (let n = 0; n < 4; n++) await pi.command("/again");
    expect((await compiling).code).toBe(0);
  }
  expect(told().filter((text) => !text.includes("differ from those compiled"))).toEqual([]);
  expect(await pi.calling("mcp__docs__echo", { text: "hi" })).toBe(HI);
  expect(pi.faults()).toEqual([]);
  expect((await pi.end()).stderr).toBe("");
});

test.each(["before", "after"])(
  "names of an extension loaded %s ours are its own, those of commands too",
  async (order) => {
    const prompt = { role: "user", content: { type: "text", text: "asked" } };
    const stub = new Stub({
      tools: [tool("echo"), tool("other")],
      capabilities: { tools: {}, prompts: {} },
      prompts: [{ name: "ask" }],
      replies: { "prompts/get": { result: { messages: [prompt] } } },
    });
    const workspace = await compiledWorkspace({ docs: { ...stub.entry, exposure: "direct" } });
    const isFirst = order === "before";
    const pi = new LivePi(workspace, isFirst ? { extensions: [TAKING] } : { args: ["--approve", "-e", TAKING] });
    // Pi numbers commands of one name in the order of their extensions.
    const [theirs, ours] = isFirst ? [1, 2] : [2, 1];
    await pi.command(`/mcp:${theirs}`);
    await pi.command(`/mcp__docs__ask:${theirs}`);
    expect(pi.notices()).toEqual([
      `Another extension has a command /mcp too; the one of pimcp is /mcp:${ours} here.`,
      "not MCP: mcp",
      "not MCP: mcp__docs__ask",
    ]);
    await pi.command(`/mcp:${ours} status`);
    expect(pi.notices().at(-1)).toContain("docs: not connected, 2 tools");
    await pi.command(`/mcp__docs__ask:${ours}`);
    await eventually(() => JSON.stringify(pi.running.requests()).includes("asked"), "the prompt", PATIENCE_MS);
    // Taken in mid-session: Pi goes by the order of extensions.
    await pi.command("/take mcp__docs__echo");
    expect(await pi.calling("mcp__docs__echo", { text: "hi" })).toBe(isFirst ? "not MCP" : HI);
    expect(await pi.calling("mcp__docs__other", { text: "hi" })).toBe(HI);
    await pi.command("/again");
    expect(await pi.calling("mcp__docs__echo", { text: "hi" })).toBe(HI);
    expect(pi.faults()).toEqual([]);
    expect((await pi.end()).stderr).toBe("");
  },
);

test("200 servers with 3,000 tools are there, and the prompt is no longer for it", { timeout: TEST_MS }, async () => {
  const tools = Array.from({ length: 15 }, (_, n) => tool(`t${n}`)) as { name: string }[];
  const stub = new Stub({ tools });
  const workspace = new Workspace();
  const names = Array.from({ length: 200 }, (_, n) => `s${n}`);
  workspace.servers(Object.fromEntries(names.map((name) => [name, stub.entry])));
  // Older than the artifacts, which were not compiled from it.
  utimesSync(join(workspace.project, "mcp.json"), 1, 1);
  const many = writeTo(
    join(workspace.project, "generated"),
    undeclared(buildArtifacts({ servers: names.map((name) => ({ name, tools })) })),
  );
  expect(readFileSync(join(many, "catalog.json"), "utf8").match(/"method"/g)).toHaveLength(3000);
  const pi = new LivePi(workspace);
  const request = JSON.stringify((await pi.request()).context);
  expect(request.length).toBeLessThan(40_000);
  expect(request).toContain("more; find their tools with searchTools()");
  expect(stub.starts()).toBe(0);
  const code = `return [ALL_TOOLS.filter(({ name }) => name.startsWith("mcp__")).length, (await tools.mcp__s199__t0({ text: "hi" })).content]`;
  pi.call("codemode", { code });
  await eventually(() => pi.ended().some(({ toolName }) => toolName === "codemode"), "the script", PATIENCE_MS);
  const script = pi.ended().find(({ toolName }) => toolName === "codemode");
  expect(JSON.stringify(script?.result)).toContain("[3000,");
  expect(stub.starts()).toBe(1);
  expect(pi.notices()).toEqual(["mcp.json of the project changed after the last compile; run `pimcp compile`"]);
  expect(pi.faults()).toEqual([]);
  expect((await pi.end()).stderr).toBe("");
});

test("a schema or a name that is no good costs its own constraint, and the tool is called", {
  timeout: TEST_MS,
}, async () => {
  const withText = (text: unknown) => ({ type: "object", properties: { text } });
  const schemas: Readonly<Record<string, unknown>> = {
    absent: undefined,
    list: [],
    lost: withText({ $ref: "#/$defs/no" }),
    far: withText({ $ref: "http://127.0.0.1:9/schema.json" }),
    loop: withText({ $ref: "#/properties/text" }),
    self: { $ref: "#" },
    pattern: withText({ type: "string", pattern: "(?i)^h(" }),
    none: withText(null),
    format: withText({ type: "string", format: "nobody's" }),
    dialect: { $schema: "urn:nobody", ...withText({ type: "string" }) },
    constructor: withText({ type: "string" }),
    __proto: JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}'),
  };
  const stub = new Stub({ tools: Object.entries(schemas).map(([name, inputSchema]) => ({ name, inputSchema })) });
  const workspace = await compiledWorkspace({ constructor: { ...stub.entry, exposure: "direct" } });
  const pi = new LivePi(workspace);
  for (const name of Object.keys(schemas))
    expect(await pi.calling(`mcp__constructor__${name}`, { text: "hi" }), name).toBe(HI);
  expect(pi.notices()).toEqual([]);
  expect(pi.faults()).toEqual([]);
  expect((await pi.end()).stderr).toBe("");
});

/** As artifacts are whose budget has no room. */
function undeclared(files: Files): Files {
  const budget = JSON.parse(files.get("budget.json")!);
  for (const one of Object.values(budget.tools) as { declared: boolean }[]) one.declared = false;
  return replaceFile(files, "budget.json", budget);
}

const canTrace = spawnSync("strace", ["-o", "/dev/null", "true"]).status === 0;

describe.skipIf(!canTrace)("what the system saw", () => {
  test.each([
    ["of a project that isn't trusted no file is opened and nothing runs", []],
    ["of one that is trusted its files are opened and its servers run", ["--approve"]],
  ])("%s", { timeout: TEST_MS }, async (_, args) => {
    const workspace = new Workspace();
    const [canary, stub] = [join(workspace.root, "canary"), new Stub({ tools: [tool("echo")] })];
    const evil = { command: "touch", args: [canary] };
    workspace.servers({ docs: { ...stub.entry, exposure: "direct" } });
    expect((await workspace.compile()).code).toBe(0);
    workspace.servers({ docs: { ...evil, exposure: "direct" }, fresh: evil });
    workspace.write("project/.mcp.json", { mcpServers: { hidden: evil } });
    workspace.write("project/.pi/mcp.json", { mcpServers: { inner: evil } });
    const trace = join(workspace.root, "trace");
    const pi = new LivePi(workspace, {
      args,
      under: ["strace", "-f", "-qq", "--seccomp-bpf", "-e", "trace=open,openat,execve", "-o", trace],
    });
    const isTrusted = args.length > 0;
    expect(declared(await pi.request())).toEqual(isTrusted ? ["mcp__docs__echo"] : []);
    await pi.calling("mcp__docs__echo");
    for (const command of ["status", "compile docs", "reconnect docs", "status inner"])
      await pi.command(`/mcp ${command}`);
    if (isTrusted) await eventually(() => existsSync(canary), "the canary", PATIENCE_MS);
    await pi.end();
    const lines = readFileSync(trace, "utf8").split("\n");
    const opened = (path: string) =>
      lines.some((line) => /open(at)?\(/.test(line) && line.includes(`"${join(workspace.project, path)}`));
    const ours = ["mcp.json", ".mcp.json", ".pi/mcp.json", "generated/manifest.json", "generated/catalog.json"];
    expect(ours.filter(opened)).toEqual(isTrusted ? ours : []);
    expect(lines.some((line) => line.includes("execve(") && line.includes(canary))).toBe(isTrusted);
    expect(existsSync(canary)).toBe(isTrusted);
  });
});
