/** Whole programs over the built package: that they end by themselves, leave nothing behind, and don't disturb each other. */
import { spawn } from "node:child_process";
import { cpSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { DIST, Stub } from "../cli/pimcp.ts";
import { scratchFolder } from "../scratch.ts";
import { countProcesses, eventually } from "../servers/run.ts";
import { compiled, declared, overHttp, type RuntimeProject, script } from "./runtime-project.ts";

const TOOLS = ["echo", "crash", "hang", "sleep"].map((name) => declared(name, { type: "object" }));
const built = (path: string, dist = DIST) => pathToFileURL(join(dist, path)).href;

interface Ended {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program in the project; `v1` in it is the module that stubs import. */
function program(project: RuntimeProject, source: string, name = "program.mjs") {
  const file = join(project.project, name);
  writeFileSync(file, source);
  const { env } = project.surroundings;
  const child = spawn(process.execPath, [file], {
    cwd: project.project,
    env: { ...env, HOME: join(project.root, "home") },
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (text) => {
    stdout += text;
  });
  child.stderr.on("data", (text) => {
    stderr += text;
  });
  const ended = new Promise<Ended>((resolve) =>
    child.once("close", (code, signal) => resolve({ code: code ?? signal!, stdout, stderr })),
  );
  return { child, ended };
}

const stubClient = (tools: readonly string[], dist = DIST) => `
import { client } from ${JSON.stringify(built("runtime/codegen/v1.js", dist))};
const s = client(import.meta.url, "s", ${JSON.stringify(Object.fromEntries(tools.map((name) => [name, name])))});
`;

test.each<[string, () => Promise<object>, string[]]>([
  ["legacy over stdio", async () => script("legacy.mjs"), ["add"]],
  ["modern over stdio", async () => script("modern.mjs"), ["add"]],
  ["legacy over HTTP", () => overHttp("legacy.mjs", { HTTP: "streamable" }), ["add"]],
  ["modern over HTTP", () => overHttp("modern.mjs", { HTTP: "1" }), ["add"]],
])("a program that makes one call ends by itself: %s", async (_, entryOf, tools) => {
  const project = await compiled({ s: (await entryOf()) as Record<string, unknown> });
  const source = `${stubClient(tools)}console.log((await s.add({ a: 1, b: 2 })).structured.sum);`;
  expect(await program(project, source).ended).toEqual({ code: 0, stdout: "3\n", stderr: "" });
});

test("no child and no grandchild is left, however the program ends", async () => {
  const endings: [string, number | string][] = [
    ["", 0],
    ["process.exit(3);", 3],
    ["throw new Error('on purpose');", 1],
    ["process.kill(process.pid, 'SIGTERM'); await new Promise((r) => setTimeout(r, 5000));", "SIGTERM"],
    ["await s.crash().catch(() => {});", 0],
    ["void s.hang(); setTimeout(() => process.exit(0), 50);", 0],
  ];
  const stub = new Stub({ tools: TOOLS, grandchild: true, ignoreSigterm: true });
  const project = await compiled({ s: stub.entry });
  for (const [ending, code] of endings) {
    const source = `${stubClient(["echo", "crash", "hang"])}await s.echo();\n${ending}`;
    expect((await program(project, source).ended).code).toBe(code);
    await eventually(() => countProcesses(stub.marker) === 0, `nothing is left after "${ending}"`);
  }
});

test("killed outright, it leaves no server that minds its stdin", async () => {
  const stub = new Stub({ tools: TOOLS });
  const project = await compiled({ s: stub.entry });
  const { child, ended } = program(project, `${stubClient(["echo", "hang"])}await s.echo(); await s.hang();`);
  await eventually(() => stub.log().filter(({ method }) => method === "tools/call").length === 2, "the call arrives");
  child.kill("SIGKILL");
  expect((await ended).code).toBe("SIGKILL");
  await eventually(() => countProcesses(stub.marker) === 0, "the server is gone");
});

test("a rejected call ends the program with its error, readable", async () => {
  const project = await compiled({ s: new Stub({ tools: TOOLS }).entry });
  const { code, stderr } = await program(project, `${stubClient(["nope"])}await s.nope();`).ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(/RefusedError: server "s" has no tool "nope"/);
});

test("ten processes use one configuration at once", async () => {
  const stub = new Stub({ tools: TOOLS });
  const project = await compiled({ s: stub.entry });
  const runs = Array.from({ length: 10 }, (_, n) => {
    const source = `${stubClient(["echo"])}console.log((await s.echo({ n: ${n} })).text);`;
    return program(project, source, `program-${n}.mjs`).ended;
  });
  const outcomes = await Promise.all(runs);
  expect(outcomes).toEqual(outcomes.map((_, n) => ({ code: 0, stdout: `{"n":${n}}\n`, stderr: "" })));
  expect(countProcesses(stub.marker)).toBe(0);
});

test("two copies of the package in one process: each its own connections, errors recognised across them", async () => {
  const stub = new Stub({ tools: TOOLS });
  const project = await compiled({ s: stub.entry });
  const starts = stub.starts();
  const copy = join(scratchFolder(), "pimcp");
  cpSync(DIST, join(copy, "dist"), { recursive: true });
  cpSync(join(dirname(DIST), "package.json"), join(copy, "package.json"));
  symlinkSync(join(import.meta.dirname, "..", "..", "node_modules"), join(copy, "node_modules"));
  const source = `
    import * as first from ${JSON.stringify(built("runtime/index.js"))};
    import * as second from ${JSON.stringify(built("runtime/index.js", join(copy, "dist")))};
    const runtimes = await Promise.all([first, second].map((one) => one.createRuntime()));
    const texts = await Promise.all(runtimes.map(async (one, n) => (await one.call("s", "echo", { n })).text));
    const errors = await Promise.all(runtimes.map((one) => one.call("s", "nope").catch((error) => error)));
    const server = await runtimes[0].call("s", "crash").catch((error) => error);
    const still = (await runtimes[1].call("s", "echo", {})).text;
    console.log(JSON.stringify({
      different: first.RefusedError !== second.RefusedError,
      texts,
      refused: errors.map((error) => [error instanceof first.RefusedError, error instanceof second.RefusedError]),
      server: [server instanceof second.ServerError, server instanceof second.ToolError, server instanceof Error],
      declined: new first.DeclinedError() instanceof second.DeclinedError,
      still,
    }));`;
  const { code, stdout, stderr } = await program(project, source).ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toEqual({
    different: true,
    texts: ['{"n":0}', '{"n":1}'],
    refused: [
      [true, true],
      [true, true],
    ],
    server: [true, false, true],
    declined: true,
    still: "{}",
  });
  expect(stub.starts() - starts).toBe(2);
  expect(countProcesses(stub.marker)).toBe(0);
});

test("a start connects nothing and loads no client, validator or compiler", async () => {
  const stub = new Stub({ tools: TOOLS });
  const project = await compiled({ s: stub.entry });
  const starts = stub.starts();
  const source = `
    import { createRuntime } from ${JSON.stringify(built("runtime/index.js"))};
    import { createRequire } from "node:module";
    const before = process.moduleLoadList.length;
    const runtime = await createRuntime();
    const loaded = process.moduleLoadList.slice(before).filter((one) => /child_process|internal\\/deps\\/undici/.test(one));
    const cjs = Object.keys(createRequire(import.meta.url).cache ?? {});
    console.log(JSON.stringify({ tools: runtime.table.tools().length, loaded, cjs }));`;
  const { stdout, stderr } = await program(project, source).ended;
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual({ tools: TOOLS.length, loaded: [], cjs: [] });
  expect(stub.starts()).toBe(starts);
});

test("what the artifacts have against being loaded is told on stderr, and the program's output stays its own", async () => {
  const project = await compiled({ s: new Stub({ tools: TOOLS }).entry });
  writeFileSync(join(project.project, "generated", "limits.json"), "{}");
  const { stdout, stderr } = await program(
    project,
    `${stubClient(["echo"])}console.log(await s.echo().catch((error) => error.name));`,
  ).ended;
  expect(stdout).toBe("RefusedError\n");
  expect(stderr).toMatch(/^pimcp: error: .*pimcp compile.*\n$/);
});
