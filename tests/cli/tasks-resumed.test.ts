/**
 * A process that is killed at any step of a task's life loses nothing: another one gets the result, once. Real processes,
 * killed with SIGKILL.
 */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { script } from "../runtime/runtime-project.ts";
import { scratchFolder } from "../scratch.ts";
import { eventually } from "../servers/run.ts";
import { answers, ERAS, QUESTION, TaskProject } from "./task-project.ts";

describe.each(ERAS)("killed with SIGKILL, %s", (era) => {
  test.each<[string, object, (project: TaskProject) => boolean]>([
    ["as soon as the handle is on disk", { workMs: 1500, intervalMs: 400 }, (p) => p.handles().length === 1],
    ["while the task works", { workMs: 1500, intervalMs: 200 }, (p) => p.count("tasks/get") >= 2],
    [
      "after it has ended and before it is looked at",
      { workMs: 300, intervalMs: 3000 },
      (p) => p.handles().length === 1,
    ],
  ])("%s: another process gets the result, once", async (_, plan, step) => {
    const project = await TaskProject.make(era);
    await project.killedWhen(() => step(project), plan);
    const id = await project.theTask();
    const { code, json } = await project.tasks("resume", id);
    expect({ code, json }).toMatchObject({ code: 0, json: { content: [{ type: "text", text: "done" }] } });
    expect(project.count("tools/call")).toBe(1);
    expect(project.handles()).toEqual([]);
    expect((await project.tasks("list")).json).toEqual({ tasks: [] });
    const again = await project.tasks("resume", id);
    expect(again).toMatchObject({ code: 1, json: { error: { message: expect.stringContaining("has ended") } } });
  });
});

describe("killed during a question", () => {
  test("before it was answered: the next process asks it and gets the result", async () => {
    const project = await TaskProject.make();
    // Nobody is there to answer: without a terminal the question would be cancelled, so it is killed at the poll that brings it.
    const plan = { intervalMs: 300, ask: { k1: QUESTION } };
    await project.killedWhen(() => project.count("tasks/get") === 1 || project.handles().length === 1, plan);
    const { code, json } = await project.tasks("resume", await project.theTask(), ...answers(project.work));
    expect({ code, text: json.content[0].text }).toEqual({
      code: 0,
      text: JSON.stringify({ k1: { action: "accept", content: { name: "Ada" } } }),
    });
    expect(project.count("tasks/update")).toBe(1);
  });

  test("while a person thinks about it: the next process asks again, as nothing was answered", async () => {
    const project = await TaskProject.make();
    const plan = { intervalMs: 200, ask: { k1: QUESTION } };
    const running = project.program(
      `const { result } = await runtime.callEntry(entry, ${JSON.stringify({ plan })});`,
      'elicitation: () => { console.log("asked"); return new Promise(() => {}); }',
    );
    await eventually(() => running.stdout().includes("asked"), "somebody was asked", 30_000);
    running.child.kill("SIGKILL");
    await running.finished;
    expect(project.handle().answers).toEqual([]);
    const { code, json } = await project.tasks("resume", await project.theTask(), ...answers(project.work));
    expect({ code, text: json.content[0].text }).toMatchObject({ code: 0, text: expect.stringContaining("Ada") });
    expect({ calls: project.count("tools/call"), updates: project.count("tasks/update") }).toEqual({
      calls: 1,
      updates: 1,
    });
  });

  test("between the answer and the server's taking it: the answer is sent again, and nobody is asked again", async () => {
    const project = await TaskProject.make("modern", {});
    const plan = { intervalMs: 200, ask: { k1: QUESTION }, dieOnUpdate: true };
    await project.killedWhen(() => project.count("tasks/update") === 1, plan, ...answers(project.work));
    expect(project.handle().answers).toMatchObject([{ key: "k1", answer: { action: "accept" } }]);
    // No answers now: whoever were asked again would cancel.
    const { code, json } = await project.tasks("resume", await project.theTask());
    expect({ code, text: json.content[0].text }).toEqual({
      code: 0,
      text: JSON.stringify({ k1: { action: "accept", content: { name: "Ada" } } }),
    });
    expect(project.handles()).toEqual([]);
  });

  test("a server that dies of the answer and comes back gets it again, and nobody is asked again", async () => {
    const project = await TaskProject.make();
    const plan = { intervalMs: 200, ask: { k1: QUESTION }, dieOnUpdate: true };
    const { code, stdout } = await project.call(plan, ...answers(project.work)).finished;
    expect({ code, text: JSON.parse(stdout).content[0].text }).toEqual({
      code: 0,
      text: JSON.stringify({ k1: { action: "accept", content: { name: "Ada" } } }),
    });
    expect(project.count("tasks/update")).toBe(2);
  });
});

test("killed when the result has come and isn't delivered yet: the next process delivers it", async () => {
  const project = await TaskProject.make();
  const plan = { workMs: 100, intervalMs: 150 };
  const running = project.program(`
    await runtime.callEntry(entry, ${JSON.stringify({ plan })}, { onTaskResult: () => {} });
    console.log("come");
    setInterval(() => {}, 1000);
  `);
  await eventually(() => running.stdout().includes("come"), "the result has come", 30_000);
  running.child.kill("SIGKILL");
  await running.finished;
  const { code, json } = await project.tasks("resume", await project.theTask());
  expect({ code, text: json.content[0].text }).toEqual({ code: 0, text: "done" });
  expect(project.handles()).toEqual([]);
});

test.each(ERAS)("killed again and again, at one poll after the other: one task, one result, %s", async (era) => {
  const project = await TaskProject.make(era);
  const plan = { workMs: 6000, intervalMs: 250 };
  await project.killedWhen(() => project.count("tasks/get") >= 1, plan);
  const id = await project.theTask();
  for (let polls = 2; polls <= 4; polls++) {
    const resumed = project.work.start(["tasks", "resume", id, "--json"]);
    await eventually(() => project.count("tasks/get") >= polls, `poll ${polls}`, 30_000);
    resumed.child.kill("SIGKILL");
    expect((await resumed.finished).stdout).toBe("");
  }
  const { code, json } = await project.tasks("resume", id);
  expect({ code, text: json.content[0].text }).toEqual({ code: 0, text: "done" });
  expect(project.count("tools/call")).toBe(1);
  expect((await project.tasks("resume", id)).code).toBe(1);
});

describe("resume", () => {
  test("of a task that another process follows: one wins, the other says so", async () => {
    const project = await TaskProject.make();
    await project.killedWhen(() => project.handles().length === 1, { workMs: 6000, intervalMs: 300 });
    const id = await project.theTask();
    const both = await Promise.all([project.tasks("resume", id), project.tasks("resume", id)]);
    const [won, lost] = both[0].code === 0 ? both : [both[1], both[0]];
    expect(won).toMatchObject({ code: 0, json: { content: [{ text: "done" }] } });
    expect(lost).toMatchObject({
      code: 1,
      json: { error: { message: expect.stringMatching(/is followed by process \d+/) } },
    });
  });

  test("of a task whose own call is still running is refused, and the call gets its result", async () => {
    const project = await TaskProject.make();
    const running = project.call({ workMs: 6000, intervalMs: 300 });
    await eventually(() => project.handles().length === 1, "the handle is on disk", 30_000);
    const id = await project.theTask();
    expect((await project.tasks("resume", id)).json.error.message).toContain("is followed by process");
    expect((await running.finished).code).toBe(0);
  });

  test("from another folder finds the project, and prints what `pimcp call` would have", async () => {
    const project = await TaskProject.make();
    await project.killedWhen(() => project.handles().length === 1, { workMs: 300, intervalMs: 200 });
    const id = await project.theTask();
    const { code, stdout } = await project.work.start(["tasks", "resume", id.slice(0, 8)], { cwd: project.work.root })
      .finished;
    expect({ code, stdout }).toEqual({ code: 0, stdout: "done\n" });
  });

  test("a tool's error exits with 1, a protocol error too", async () => {
    const project = await TaskProject.make();
    await project.killedWhen(() => project.handles().length === 1, {
      intervalMs: 300,
      result: { isError: true, content: [{ type: "text", text: "no" }] },
    });
    expect(await project.tasks("resume", await project.theTask())).toMatchObject({ code: 1, json: { isError: true } });
    await project.killedWhen(() => project.handles().length === 1, {
      intervalMs: 300,
      error: { code: -32000, message: "disk full" },
    });
    const id = await project.theTask();
    const { code, json } = await project.tasks("resume", id);
    expect({ code, json }).toMatchObject({ code: 1, json: { error: { code: -32000 } } });
    expect(json.error.message).toContain("disk full");
    expect(json.error.message).toContain(id);
    expect(project.handles()).toEqual([]);
  });

  test("of a server that is reached in another way now shows it no id", async () => {
    const project = await TaskProject.make();
    await project.killedWhen(() => project.handles().length === 1, { workMs: 300, intervalMs: 200 });
    const other = scratchFolder();
    project.work.servers({ t: script("tasks.mjs", { TASKS_STORE: join(other, "store"), OTHER: "1" }) });
    const { code, json } = await project.tasks("resume", await project.theTask());
    expect({ code, message: json.error.message }).toMatchObject({
      code: 1,
      message: expect.stringContaining("reached in another way"),
    });
    expect(project.handles()).toHaveLength(1);
  });

  test("of a task of a tool that is hidden by now is refused", async () => {
    const project = await TaskProject.make();
    await project.killedWhen(() => project.handles().length === 1, { workMs: 300, intervalMs: 200 });
    const mcp = JSON.parse(project.work.read("project/mcp.json"));
    mcp.mcpServers.t.toolExposure = { run: "hidden" };
    project.work.write("project/mcp.json", mcp);
    await project.work.compile();
    expect(await project.tasks("resume", await project.theTask())).toMatchObject({ code: 1 });
    expect(project.count("tasks/get")).toBe(0);
  });
});
