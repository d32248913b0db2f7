/** `pimcp tasks` beside resuming: what it lists and shows, the folder of handles, cancelling, and Ctrl-C during a call. */
import { chmodSync, copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventually } from "../servers/run.ts";
import { ERAS, TaskProject } from "./task-project.ts";

describe("list and show", () => {
  test("have what the design promises", async () => {
    const project = await TaskProject.make();
    await project.killedWhen(() => project.handles().length === 1, { workMs: 60_000, intervalMs: 300 });
    const { code, json } = await project.tasks("list");
    const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    const task = {
      taskId: expect.any(String),
      server: "t",
      tool: "run",
      status: "working",
      createdAt: iso,
      updatedAt: iso,
    };
    expect({ code, json }).toEqual({ code: 0, json: { tasks: [task] } });
    expect(Object.keys(json.tasks[0])).toEqual(["taskId", "server", "tool", "status", "createdAt", "updatedAt"]);
    const shown = await project.tasks("show", json.tasks[0].taskId);
    expect(shown.json).toMatchObject({
      ...json.tasks[0],
      name: "mcp__t__run",
      pollIntervalMs: 300,
      cwd: project.work.project,
    });
    const text = await project.work.run("tasks");
    expect(text.stdout).toContain(`${json.tasks[0].taskId}  t/run  working  since `);
  });

  test("--all has the finished ones too", async () => {
    const project = await TaskProject.make();
    expect((await project.call({ workMs: 200, intervalMs: 100 }).finished).code).toBe(0);
    expect((await project.tasks("list")).json).toEqual({ tasks: [] });
    expect((await project.tasks("list", "--all")).json).toMatchObject({
      tasks: [{ tool: "run", status: "completed" }],
    });
  });

  test("an id that a shell would run is quoted where it is shown to be copied", async () => {
    const project = await TaskProject.make();
    const taskId = "of 'monday' $(touch pwned)";
    await project.killedWhen(() => project.handles().length === 1, { workMs: 60_000, taskId });
    const quoted = "'of '\\''monday'\\'' $(touch pwned)'";
    expect((await project.work.run("tasks")).stdout).toContain(`${quoted}  t/run`);
    expect((await project.work.run("tasks", "show", `${taskId}!`)).stderr).toContain(`did you mean ${quoted}?`);
  });

  test.each([30, 75, 200])("fits %i columns, and an id that was cut is taken as it is shown", async (width) => {
    const project = await TaskProject.make();
    const taskId = "nightly-build-of-the-whole-product-2026-11-30";
    await project.killedWhen(() => project.handles().length === 1, { workMs: 60_000, taskId });
    const { stdout } = await project.work.start(["tasks"], { env: { COLUMNS: `${width}` } }).finished;
    const [line = "", ...rest] = stdout.split("\n");
    expect(rest).toEqual([""]);
    expect(line.length).toBeLessThanOrEqual(width);
    expect(line).toContain("working");
    if (width === 75) expect(line).toContain("  t/run  ");
    if (width === 200) expect(line).toContain("t/run  working  since 20");
    const [shown = ""] = line.split("  ");
    expect(shown === taskId).toBe(width > 30);
    expect((await project.tasks("show", shown)).json).toMatchObject({ taskId });
  });

  test("an unknown task exits with 1 and names the nearest, or how to list them", async () => {
    const project = await TaskProject.make();
    await project.killedWhen(() => project.handles().length === 1, { workMs: 60_000, taskId: "build-of-monday" });
    for (const verb of ["show", "resume", "cancel"]) {
      const near = await project.work.run("tasks", verb, "build-of-mondax");
      expect(near).toMatchObject({ code: 1, stderr: expect.stringContaining("did you mean build-of-monday?") });
    }
    expect(await project.work.run("tasks", "resume", "other")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("pimcp tasks list"),
    });
  });

  test.each([[["foo"]], [["resume"]], [["list", "x"]], [["resume", "a", "b"]]])("%j is wrong usage", async (words) => {
    const project = await TaskProject.make();
    expect((await project.work.run("tasks", ...words)).code).toBe(2);
  });
});

describe("the folder of handles", () => {
  test("is the user's alone, and holds no argument, no credential and no text of the server's", async () => {
    const project = await TaskProject.make("modern", { API_KEY: "sk-very-secret-value-0123456789" });
    const plan = { workMs: 60_000, intervalMs: 200, messages: ["text of the server"], note: "argument-value-4711" };
    await project.killedWhen(() => project.count("tasks/get") >= 2, plan);
    expect(statSync(project.folder).mode & 0o777).toBe(0o700);
    const [name] = project.handles();
    expect(statSync(join(project.folder, name!)).mode & 0o777).toBe(0o600);
    const all = readdirSync(project.folder).filter((one) => statSync(join(project.folder, one)).isFile());
    const text = all.map((one) => readFileSync(join(project.folder, one), "utf8")).join("\n");
    expect(text).not.toMatch(/sk-very-secret|argument-value-4711|text of the server/);
  });

  test.each<[string, (text: string) => string]>([
    ["cut off", (text) => text.slice(0, 40)],
    ["empty", () => ""],
    ["of another format", (text) => text.replace('"format": 1', '"format": 99')],
    ["with a missing member", (text) => text.replace('"server"', '"sever"')],
    ["binary", () => "\u0000\u0001\u0002"],
  ])("a handle that is %s is put aside, said to be, and stops nothing", async (_, spoil) => {
    const project = await TaskProject.make();
    await project.killedWhen(() => project.handles().length === 1, { workMs: 60_000, taskId: "one" });
    const [spoilt] = project.handles();
    await project.killedWhen(() => project.handles().length === 2, { workMs: 60_000, taskId: "two" });
    const path = join(project.folder, spoilt!);
    writeFileSync(path, spoil(readFileSync(path, "utf8")));
    const { code, json, stderr } = await project.tasks("list");
    expect(code).toBe(0);
    expect(json.tasks.map(({ taskId }: { taskId: string }) => taskId)).toEqual(["two"]);
    expect(stderr).toContain("[task-handle-unreadable]");
    expect(readdirSync(project.folder)).toContain(`${spoilt}.unreadable`);
    expect((await project.tasks("list")).stderr).toBe("");
  });

  test("a copy of a handle under another name is no second task", async () => {
    const project = await TaskProject.make();
    await project.killedWhen(() => project.handles().length === 1, { workMs: 60_000, taskId: "one" });
    copyFileSync(join(project.folder, project.handles()[0]!), join(project.folder, `${"0".repeat(32)}.json`));
    expect((await project.tasks("list")).json.tasks).toHaveLength(1);
  });

  test("a task past its ttl is dropped", async () => {
    const project = await TaskProject.make();
    await project.killedWhen(() => project.handles().length === 1, { workMs: 60_000, ttlMs: 1, intervalMs: 5000 });
    expect((await project.tasks("list")).json).toEqual({ tasks: [] });
    expect(project.handles()).toEqual([]);
    expect((await project.tasks("list", "--all")).json).toMatchObject({ tasks: [{ status: "expired" }] });
  });

  test.skipIf(process.getuid?.() === 0)("that can't be written is said, and the call goes on", async () => {
    const project = await TaskProject.make();
    chmodSync(join(project.work.root, "home"), 0o500);
    const { code, stderr } = await project.call({ workMs: 200, intervalMs: 100 }).finished;
    chmodSync(join(project.work.root, "home"), 0o700);
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining("[task-not-durable]") });
  });

  test("that is a file is said, and the call goes on", async () => {
    const project = await TaskProject.make();
    project.work.write("home/.local/state/pimcp", "not a folder");
    const { code, stdout, stderr } = await project.call({ workMs: 200, intervalMs: 100 }).finished;
    expect({ code, text: JSON.parse(stdout).content[0].text }).toEqual({ code: 0, text: "done" });
    expect(stderr).toContain("[task-not-durable]");
  });
});

describe("cancel", () => {
  test.each(ERAS)("tells the server, and the task is off the list, %s", async (era) => {
    const project = await TaskProject.make(era);
    await project.killedWhen(() => project.handles().length === 1, { workMs: 60_000, intervalMs: 300 });
    const { code, json } = await project.tasks("cancel", await project.theTask());
    expect({ code, json }).toMatchObject({ code: 0, json: { status: "cancelled" } });
    expect(project.count("tasks/cancel")).toBe(1);
    expect((await project.tasks("list")).json).toEqual({ tasks: [] });
  });

  test("of a task that a call waits for ends that call with an error", async () => {
    const project = await TaskProject.make();
    const running = project.call({ workMs: 60_000, intervalMs: 300 });
    await eventually(() => project.handles().length === 1, "the handle is on disk", 30_000);
    const id = await project.theTask();
    expect((await project.tasks("cancel", id)).code).toBe(0);
    const { code, stdout } = await running.finished;
    expect({ code, message: JSON.parse(stdout).error.message }).toMatchObject({
      code: 1,
      message: expect.stringContaining("was cancelled"),
    });
    expect(JSON.parse(stdout).error.message).toContain(id);
    expect(project.handles()).toEqual([]);
  });

  test("of a task the server has forgotten exits with 1, and it is off the list", async () => {
    const project = await TaskProject.make();
    await project.killedWhen(() => project.handles().length === 1, { workMs: 60_000 });
    writeFileSync(project.store, "{}");
    expect(await project.tasks("cancel", await project.theTask())).toMatchObject({
      code: 1,
      json: { error: { message: expect.stringContaining("does not know task") } },
    });
    expect(project.handles()).toEqual([]);
  });
});

describe("SIGINT during a task", () => {
  test("cancels it and says so", async () => {
    const project = await TaskProject.make();
    const running = project.call({ workMs: 60_000, intervalMs: 300 });
    await eventually(() => project.count("tasks/get") > 0, "the task is polled", 30_000);
    const id = await project.theTask();
    running.child.kill("SIGINT");
    const { code, stderr } = await running.finished;
    expect(code).toBe(130);
    expect(stderr).toContain(`task ${id}; it was cancelled`);
    expect(project.count("tasks/cancel")).toBe(1);
    expect(project.handles()).toEqual([]);
  });

  test("where the server doesn't answer, leaves it listed and says so", async () => {
    const project = await TaskProject.make();
    const running = project.call({ workMs: 60_000, intervalMs: 300, uncancellable: true });
    await eventually(() => project.count("tasks/get") > 0, "the task is polled", 30_000);
    const id = await project.theTask();
    running.child.kill("SIGINT");
    const { code, stderr } = await running.finished;
    expect(code).toBe(130);
    expect(stderr).toContain(`pimcp tasks resume ${id}`);
    expect(await project.theTask()).toBe(id);
    expect((await project.tasks("show", id)).json.followedBy).toBeUndefined();
  });
});
