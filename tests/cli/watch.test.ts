/** `pimcp watch` as a process: one build for what belongs together, the last good files, and an orderly end. */
import { readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CompileJson } from "../../cli/compile-command.ts";
import { readTree } from "../golden.ts";
import { scratchFolder } from "../scratch.ts";
import { countProcesses, eventually } from "../servers/run.ts";
import { codes, type Running, Stub, statuses, tool, Workspace } from "./pimcp.ts";

const SOON = 20_000;
const changingServer = join(import.meta.dirname, "changing-server.mjs");

interface Watching extends Running {
  /** One for each build so far. */
  readonly builds: () => CompileJson[];
  /** Waits until there are that many builds, and gives the last. */
  readonly built: (count: number) => Promise<CompileJson>;
}

function watch(work: Workspace, ...args: string[]): Watching {
  const running = work.start(["watch", "--json", ...args]);
  const builds = () =>
    running
      .stdout()
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as CompileJson);
  const built = async (count: number) => {
    await eventually(() => builds().length >= count, `build ${count}; stderr: ${running.stderr()}`, SOON);
    return builds()[count - 1]!;
  };
  return { ...running, builds, built };
}

/** Long enough that a build too many would have begun: quiet time, a build, and the interval of comparisons. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 3000));

test("compiles at once, and once for a burst of 20 writes", async () => {
  const work = new Workspace();
  const entry = new Stub().entry;
  work.servers({ s0: entry });
  const watching = watch(work);
  expect(statuses(await watching.built(1))).toEqual({ s0: "compiled/live" });
  const from = performance.now();
  for (let n = 1; n <= 20; n++) work.servers({ [`s${n}`]: entry });
  const burstMs = performance.now() - from;
  const last = () => watching.builds().at(-1)!;
  await eventually(() => "s20" in statuses(last()), "a build of the last state", SOON);
  await settle();
  // Mostly one. One may begin within the burst, and so does one more for each quiet time that this process was held up.
  const QUIET_MS = 100;
  expect(watching.builds().length - 1).toBeLessThanOrEqual(2 + Math.floor(burstMs / QUIET_MS));
  expect(Object.keys(statuses(last()))).toEqual(["s20"]);
  // A build in between may have met a file that was only half written; the last one has not.
  expect(last().files.length).toBeGreaterThan(0);
  expect(work.has("project/generated/servers/s20.ts")).toBe(true);
  expect(work.has("project/generated/servers/s0.ts")).toBe(false);
});

test("its own outputs and other files start no build", async () => {
  const work = new Workspace();
  work.servers({ a: new Stub().entry });
  const watching = watch(work);
  await watching.built(1);
  work.write("project/generated/notes.txt", "x");
  work.write("project/package.json", "{}");
  work.write("project/.mcp.json.swp", "x");
  await settle();
  expect(watching.builds()).toHaveLength(1);
});

test("a file replaced by renaming, one that appears, and one that goes are each noticed", async () => {
  const work = new Workspace();
  const entry = new Stub().entry;
  work.servers({ a: entry });
  const watching = watch(work);
  await watching.built(1);
  work.write("project/new.json", { mcpServers: { b: entry } });
  renameSync(join(work.project, "new.json"), join(work.project, "mcp.json"));
  expect(Object.keys(statuses(await watching.built(2)))).toEqual(["b"]);
  work.write("project/.pi/mcp.json", { mcpServers: { c: entry } });
  expect(Object.keys(statuses(await watching.built(3)))).toEqual(["b", "c"]);
  rmSync(join(work.project, ".pi"), { recursive: true });
  expect(Object.keys(statuses(await watching.built(4)))).toEqual(["b"]);
  work.write("agent/mcp.json", { mcpServers: { mine: entry } });
  expect(Object.keys(statuses(await watching.built(5)))).toEqual(["mine", "b"]);
});

test("what a linked configuration points at is watched", async () => {
  const work = new Workspace();
  const entry = new Stub().entry;
  const real = join(scratchFolder(), "real.json");
  writeFileSync(real, JSON.stringify({ mcpServers: { a: entry } }));
  symlinkSync(real, join(work.project, "mcp.json"));
  const watching = watch(work);
  await watching.built(1);
  writeFileSync(`${real}.new`, JSON.stringify({ mcpServers: { b: entry } }));
  renameSync(`${real}.new`, real);
  expect(Object.keys(statuses(await watching.built(2)))).toEqual(["b"]);
});

test("a syntax error keeps the last good files, and mending it builds again", async () => {
  const work = new Workspace();
  const entry = new Stub().entry;
  work.servers({ a: entry });
  const watching = watch(work);
  await watching.built(1);
  const good = readTree(join(work.project, "generated"));
  work.write("project/mcp.json", '{ "mcpServers": {');
  const broken = await watching.built(2);
  expect(broken.ok).toBe(false);
  expect(codes(broken)).toEqual(["error config-syntax"]);
  expect(readTree(join(work.project, "generated"))).toEqual(good);
  work.servers({ a: entry, b: entry });
  const mended = await watching.built(3);
  expect(mended.ok).toBe(true);
  expect(statuses(mended)).toEqual({ a: "unchanged/live", b: "compiled/live" });
  expect(watching.child.exitCode).toBeNull();
});

test("a server that announces other tools is asked again, alone", async () => {
  const work = new Workspace();
  const other = new Stub();
  const tools = join(work.root, "tools.json");
  writeFileSync(tools, JSON.stringify([tool("before")]));
  work.servers({ changing: { command: process.execPath, args: [changingServer, tools] }, other: other.entry });
  const watching = watch(work);
  await watching.built(1);
  // Watched once its connection is there.
  await eventually(() => countProcesses(tools) === 1, "the server is connected for its announcements", SOON);
  await new Promise((resolve) => setTimeout(resolve, 500));
  for (const name of ["during", "after"]) {
    writeFileSync(tools, JSON.stringify([tool(name)]));
    const stub = join(work.project, "generated", "servers", "changing.ts");
    await eventually(() => readFileSync(stub, "utf8").includes(`"${name}"`), `a build with ${name}`, SOON);
  }
  const last = watching.builds().at(-1)!;
  expect(statuses(last)).toEqual({ changing: "compiled/live" });
  expect(other.lists()).toBe(1);
  expect(work.has("project/generated/servers/other.ts")).toBe(true);
});

test("a server that announces without end is asked a handful of times, and causes no output", async () => {
  const work = new Workspace();
  const stub = new Stub({ capabilities: { tools: { listChanged: true } }, listChangedAfterList: 5 });
  work.servers({ a: stub.entry });
  const watching = watch(work);
  await watching.built(1);
  await settle();
  expect(stub.lists()).toBeLessThan(12);
  expect(watching.builds()).toHaveLength(1);
});

test.each(["SIGINT", "SIGTERM"] as const)("%s ends it and every process it started", async (signal) => {
  const work = new Workspace();
  const tools = join(work.root, "tools.json");
  writeFileSync(tools, JSON.stringify([tool("x")]));
  work.servers({ changing: { command: process.execPath, args: [changingServer, tools] } });
  const watching = watch(work);
  await watching.built(1);
  await eventually(() => countProcesses(tools) === 1, "the server is connected for its announcements", SOON);
  watching.child.kill(signal);
  expect((await watching.finished).code).toBe(0);
  expect(countProcesses(tools)).toBe(0);
});

test("a signal during a build with a hanging server ends it too", async () => {
  const work = new Workspace();
  const stub = new Stub({ silent: ["initialize", "server/discover"], ignoreSigterm: true, grandchild: true });
  work.servers({ a: stub.entry });
  const watching = watch(work);
  await eventually(() => countProcesses(stub.marker) >= 2, "the server and its child have started", SOON);
  watching.child.kill("SIGINT");
  expect((await watching.finished).code).toBe(0);
  expect(countProcesses(stub.marker)).toBe(0);
});

test("without --json, people read what changed and what came of it", async () => {
  const work = new Workspace();
  work.servers({ a: new Stub().entry });
  const running = work.start(["watch"]);
  await eventually(() => running.stdout().includes("files: "), "a first build", SOON);
  work.servers({ a: new Stub().entry, b: new Stub().entry });
  await eventually(() => /mcp\.json changed/.test(running.stderr()), "the change is announced", SOON);
  await eventually(() => running.stdout().split("files: ").length === 3, "a second build", SOON);
});
