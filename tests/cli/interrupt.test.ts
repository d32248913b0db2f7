/** Ctrl-C, SIGTERM, and a terminal that goes away: the run ends soon, and everything it started with it. */
import { expect, test } from "vitest";
import { readTree } from "../golden.ts";
import { countProcesses, eventually } from "../servers/run.ts";
import { FRESH, Stub, tool, Workspace } from "./pimcp.ts";

/** Never answers, doesn't end when asked to, and has a child of its own that doesn't either. */
const HANGING = {
  silent: ["initialize", "server/discover"],
  ignoreSigterm: true,
  ignoreStdinClose: true,
  grandchild: true,
};

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("%s while a server hangs ends the run with %i and leaves no process", async (signal, code) => {
  const work = new Workspace();
  const [hanging, quick] = [new Stub(HANGING), new Stub()];
  work.servers({ hanging: hanging.entry, quick: quick.entry });
  const run = work.start(["compile"]);
  await eventually(() => countProcesses(hanging.marker) >= 2, "the server and its child have started", 30_000);
  await eventually(() => quick.lists() > 0, "the other server was asked", 30_000);
  run.child.kill(signal);
  const sent = performance.now();
  const finished = await run.finished;
  expect(finished.code).toBe(code);
  // The server's own time limits are 10 s for the probe and 60 s for a request.
  expect(performance.now() - sent).toBeLessThan(8000);
  expect(countProcesses(hanging.marker)).toBe(0);
  expect(countProcesses(quick.marker)).toBe(0);
  expect(work.has("project/generated")).toBe(false);
});

test("an interrupted compile changes nothing", async () => {
  const work = new Workspace();
  const [first, second] = [new Stub({ tools: [tool("x")] }), new Stub()];
  work.servers({ first: first.entry, second: second.entry });
  await work.compile();
  const before = readTree(`${work.project}/generated`);
  first.set({ tools: [tool("y")] });
  second.set(HANGING);
  const run = work.start(["compile"]);
  await eventually(() => first.lists() > 1 && second.starts() > 1, "both were asked", 30_000);
  run.child.kill("SIGINT");
  expect((await run.finished).code).toBe(130);
  expect(readTree(`${work.project}/generated`)).toEqual(before);
});

test("a second SIGINT ends it at once, and still leaves no process", async () => {
  const work = new Workspace();
  const hanging = new Stub(HANGING);
  work.servers({ hanging: hanging.entry });
  const run = work.start(["compile"]);
  await eventually(() => countProcesses(hanging.marker) >= 2, "the server and its child have started", 30_000);
  run.child.kill("SIGINT");
  run.child.kill("SIGINT");
  expect((await run.finished).code).toBe(130);
  await eventually(() => countProcesses(hanging.marker) === 0, "its processes are gone");
});

test("after a normal run no process is left, though server and child ignore every request to end", async () => {
  const work = new Workspace();
  const stub = new Stub({ ignoreSigterm: true, ignoreStdinClose: true, grandchild: true });
  work.servers({ a: stub.entry });
  const { code } = await work.run("compile");
  expect(code).toBe(0);
  expect(countProcesses(stub.marker)).toBe(0);
});

test("a reader that goes away early is no error", async () => {
  const work = new Workspace();
  work.servers({ a: new Stub({ ...FRESH, tools: Array.from({ length: 500 }, (_, n) => tool(`t_${n}`)) }).entry });
  await work.run("compile");
  const run = work.start(["list", "--json"]);
  run.child.stdout!.once("data", () => run.child.stdout!.destroy());
  const { code, stderr } = await run.finished;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});
