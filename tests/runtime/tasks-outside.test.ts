/** Tasks from outside the call that began them: gone on with, and cancelled, whatever lies on the disk meanwhile. */
import { existsSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Runtime } from "../../runtime/runtime.ts";
import { HandleStore, type ListedTask } from "../../runtime/tasks/handle-store.ts";
import { scratchFolder } from "../scratch.ts";
import { eventually, readLog } from "../servers/run.ts";
import { compiled, failure, script } from "./runtime-project.ts";

/** A task that nobody follows, and a runtime to go on with it. */
async function left(ERA: "modern" | "legacy", plan: object) {
  const folder = scratchFolder();
  const log = join(folder, "log");
  const work = await compiled({
    t: script("tasks.mjs", { ERA, TASKS_STORE: join(folder, "store"), TASKS_LOG: log }),
  });
  const stateDir = join(folder, "state");
  const store = new HandleStore(stateDir);
  const count = (method: string) => readLog(log).filter((one) => one.method === method).length;
  const first: Runtime = await work.runtime({ stateDir });
  const failed = failure(first.call("t", "run", { plan }));
  const handles = () =>
    existsSync(store.folder) ? readdirSync(store.folder).filter((name) => name.endsWith(".json")) : [];
  await eventually(() => handles().length === 1, "the task has a handle");
  await first.close();
  await failed;
  const runtime = await work.runtime({ stateDir });
  const tasks = await runtime.tasks();
  const task: ListedTask = (await tasks.list())[0]!;
  const claims = () => readdirSync(store.folder).filter((name) => name.endsWith(".claim"));
  return { work, store, tasks, task, count, handles, claims };
}

test("resumed from what the handle says now, not from what it said when it was listed", async () => {
  const { store, tasks, task, count } = await left("legacy", { workMs: 100, intervalMs: 3_600_000 });
  await store.write({ ...withoutListing(task), status: "completed", updatedAt: new Date().toISOString() });
  // By the listed status it would be polled in an hour.
  expect((await tasks.resume(task)).text).toBe("done");
  expect(count("tasks/get")).toBe(0);
});

test.each<[string, (path: string) => void, RegExp]>([
  ["went", (path) => rmSync(path), /has ended meanwhile/],
  ["is damaged", (path) => writeFileSync(path, "{"), /has no usable handle: it is not JSON/],
  [
    "can't be read",
    (path) => {
      rmSync(path);
      symlinkSync(path, path);
    },
    /has no usable handle: it can't be read \(ELOOP\)/,
  ],
])("a handle that %s after it was listed is not resumed, and claimed by nobody", async (_, damage, message) => {
  const { store, tasks, task, count, claims } = await left("modern", { workMs: 60_000, intervalMs: 100 });
  const before = count("tasks/get");
  damage(store.pathOf(task));
  expect((await failure(tasks.resume(task))).message).toMatch(message);
  expect({ gets: count("tasks/get"), claims: claims() }).toEqual({ gets: before, claims: [] });
});

test("a cancelled task whose handle can't be removed is let go of all the same, and that is said", async () => {
  const { work, store, tasks, task, count, handles, claims } = await left("modern", {
    workMs: 60_000,
    intervalMs: 100,
  });
  writeFileSync(join(store.folder, "ended"), "no folder");
  expect(await tasks.cancel(task)).toBe(true);
  expect(count("tasks/cancel")).toBe(1);
  expect({ handles: handles().length, claims: claims() }).toEqual({ handles: 1, claims: [] });
  expect(work.notices).toMatchObject([{ code: "task-handle-stays", message: expect.stringContaining(task.taskId) }]);
});

test("a task that ended while it was being cancelled stays what it was", async () => {
  const { store, tasks, task } = await left("modern", { workMs: 60_000, intervalMs: 100 });
  await store.end({ ...withoutListing(task), status: "completed" });
  await tasks.cancel(task);
  expect((await tasks.list({ all: true })).map(({ status }) => status)).toEqual(["completed"]);
});

function withoutListing({ ended: _, holder: __, ...handle }: ListedTask) {
  return handle;
}
