/** (b) Configuration: each reported fault, from files on disk to what the servers were started with. */
import { mkdirSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Stub, statuses, tool, variable, Workspace } from "../cli/pimcp.ts";
import { readTree } from "../golden.ts";
import { RuntimeProject } from "../runtime/runtime-project.ts";
import { countProcesses, eventually } from "../servers/run.ts";
import { call, compiledOk, findingsOn, serve } from "./product.ts";

const TOKEN = "s3cr3t-9fQ2";

test("fastmcp #4711: bad entries are each named, and drop no other", async () => {
  const work = new Workspace();
  work.servers({ bad: { args: ["x"] }, good: new Stub().entry, nil: null, worse: 5 });
  const { code, json } = await work.compile();
  expect(code).toBe(1);
  expect(json.servers.find(({ name }) => name === "good")).toMatchObject({ status: "compiled", tools: 1 });
  for (const name of ["bad", "nil", "worse"]) {
    const [found, ...more] = findingsOn(json, name, "error");
    expect(found).toMatchObject({ file: "mcp.json", message: expect.stringContaining(`"${name}"`) });
    expect(found!.line).toBeGreaterThan(0);
    expect(more).toEqual([]);
  }
  expect(json.diagnostics.filter(({ severity }) => severity === "error")).toHaveLength(3);
  expect(await call(work, ["good", "echo"], { text: "hi" })).toMatchObject({ code: 0 });
  const { stderr } = await work.run("compile");
  expect(stderr).not.toMatch(/^\s+at /m);
});

test("langchain-mcp-adapters #437, altimate-code #666, adapter #333: variables are expanded in every field", async () => {
  const work = await expandingProject();
  const P_DIR = join(work.root, "there");
  mkdirSync(P_DIR);
  const env = { P_T: TOKEN, P_NODE: process.execPath, P_DIR, P_PORT: new URL(work.web.url).port };
  const { code, json } = await work.compileWith(env);
  expect(code).toBe(1);
  expect(statuses(json)).toEqual({ local: "compiled/live", remote: "compiled/live", unset: "failed/none" });
  expect(json.diagnostics.map(({ severity, code, server }) => [severity, code, server])).toEqual([
    ["error", "unset-variable", "unset"],
  ]);
  expect(json.diagnostics[0]!.message).toMatch(/P_NO\b.*env\.U|env\.U.*P_NO\b/);

  const runtime = await work.runtime({ env: { ...work.surroundings.env, ...env } });
  const { text } = await runtime.call("local", "env", { names: ["T", "D"] });
  expect(JSON.parse(text)).toEqual([TOKEN, "fb"]);
  expect((await runtime.call("local", "cwd")).text).toBe(realpathSync(P_DIR));
  expect(countProcesses(`--k=${TOKEN}`)).toBe(1);
  await runtime.call("remote", "echo");
  expect([...new Set(work.stub.log().map(({ authorization }) => authorization))]).toEqual([`Bearer ${TOKEN}`]);
  await runtime.close();
  await eventually(() => countProcesses(`--k=${TOKEN}`) === 0, "the server has ended");

  // The same at the time of a call: P_T is set no more.
  const { P_T: _, ...rest } = env;
  const failed = await call(work, ["local", "echo"], {}, { env: rest });
  expect(failed.code).toBe(1);
  expect(failed.json.error.message).toMatch(/P_T\b/);
  expect(failed.json.error.message).toMatch(/\bargs\b|env\.T/);
  for (const folder of [join(work.project, "generated"), work.cache])
    for (const [file, text] of Object.entries(readTree(folder))) expect(text, file).not.toContain(TOKEN);
});

async function expandingProject() {
  const tools = ["env", "cwd", "echo"].map((name) => ({ name, inputSchema: { type: "object" } }));
  const [local, stub, unset] = [new Stub({ tools }), new Stub({ http: {}, tools }), new Stub({ tools })];
  const web = await serve(stub);
  const { entry } = local;
  const work = new RuntimeProject();
  work.servers({
    local: {
      command: variable("P_NODE"),
      args: [...entry.args, `--k=${variable("P_T")}`],
      env: { ...entry.env, T: variable("P_T"), D: variable("P_NO:-fb") },
      cwd: variable("P_DIR"),
    },
    remote: {
      url: `http://127.0.0.1:${variable("P_PORT")}/mcp`,
      headers: { Authorization: `Bearer ${variable("P_T")}` },
    },
    unset: { ...unset.entry, env: { ...unset.entry.env, U: variable("P_NO") } },
  });
  return Object.assign(work, { stub, web });
}

test("gemini-cli #11778, codex #9570, adapter #442: ~ and a relative cwd, and a cwd that is gone", async () => {
  const work = new Workspace();
  const tools = [{ name: "cwd", inputSchema: { type: "object" } }];
  const at = (cwd: string) => ({ ...new Stub({ tools }).entry, cwd });
  const elsewhere = join(work.project, "a", "b");
  for (const folder of [join(work.root, "home", "w"), join(work.project, "srv"), elsewhere])
    mkdirSync(folder, { recursive: true });
  work.servers({ gone: at("./gone"), home: at("~/w"), relative: at("./srv") });

  for (const [from, args] of [
    [elsewhere, []],
    [work.root, ["--config", join(work.project, "mcp.json")]],
  ] as const) {
    const { stdout } = await work.start(["compile", "--json", ...args], { cwd: from }).finished;
    const json = JSON.parse(stdout);
    expect(statuses(json)).toMatchObject({ gone: "failed/none", home: expect.stringMatching(/live/) });
    expect(findingsOn(json, "gone", "error")).toMatchObject([{ code: "missing-cwd" }]);
    const { message } = findingsOn(json, "gone", "error")[0]!;
    expect(message).toContain("gone");
    expect(message).not.toContain(process.execPath);
    const cwdOf = async (server: string) => {
      const running = work.start(["call", server, "cwd", ...args], { cwd: from });
      return (await running.finished).stdout.trim();
    };
    expect(await cwdOf("home")).toBe(realpathSync(join(work.root, "home", "w")));
    expect(await cwdOf("relative")).toBe(realpathSync(join(work.project, "srv")));
  }

  // Gone since it was compiled: a call names it too.
  rmSync(join(work.project, "srv"), { recursive: true });
  const { code, json } = await call(work, ["relative", "cwd"]);
  expect(code).toBe(1);
  expect(json.error.message).toMatch(/cwd.*srv|srv.*cwd/);
});

test("pi #10277, adapter #94: a partial project entry overrides only what it names", async () => {
  const work = new Workspace();
  const stub = new Stub({ tools: [tool("env"), tool("echo")] });
  const entry = { ...stub.entry, env: { ...stub.entry.env, WHO: "me" }, exposure: "deferred" };
  work.write("agent/mcp.json", { mcpServers: { s: entry } });
  const listed = async () => {
    const { servers } = JSON.parse((await work.run("list", "--json")).stdout);
    return servers.map(
      ({ name, scope, exposure, tools }: { name: string; scope: string; exposure: string; tools: unknown[] }) => [
        name,
        scope,
        exposure,
        tools.length,
      ],
    );
  };

  work.servers({ s: { enabled: false }, zz: { enabled: false } });
  const json = await compiledOk(work);
  expect(json.diagnostics.map(({ severity, code, server }) => [severity, code, server])).toEqual([
    ["warning", "override-without-server", "zz"],
  ]);
  expect(json.diagnostics[0]!.message).toContain('"zz"');
  expect(await listed()).toEqual([]);
  const off = await call(work, ["s", "env"], { names: ["WHO"] });
  expect(off.code).toBe(1);
  expect(off.json.error.message).toMatch(/"s"/);
  expect(stub.log().some(({ method }) => method === "tools/call")).toBe(false);

  work.servers({ s: { enabled: true } });
  await compiledOk(work);
  expect(await listed()).toEqual([["s", "user", "deferred", 2]]);
  const on = await call(work, ["s", "env"], { names: ["WHO"] });
  expect(on.json.content).toEqual([{ type: "text", text: '["me"]' }]);

  work.servers({ s: { exposure: "direct" } });
  await compiledOk(work);
  expect(await listed()).toEqual([["s", "user", "direct", 2]]);
  expect((await call(work, ["s", "env"], { names: ["WHO"] })).json.content[0].text).toBe('["me"]');
});
