/** Handles of tasks on disk: their format, who may write them, and what is made of anything else that lies there. */
import { spawn } from "node:child_process";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { handleFileName, readHandle, type TaskHandle, writeHandle } from "../../runtime/tasks/handle-file.ts";
import { HandleStore } from "../../runtime/tasks/handle-store.ts";
import { TaskRecord } from "../../runtime/tasks/task-record.ts";
import { createdTask, readTaskState } from "../../runtime/tasks/task-state.ts";
import { stateFolder } from "../../schemas/user-folders.ts";
import { scratchFolder } from "../scratch.ts";
import { handleOf, START } from "./tasks-following.ts";

test.each<[string, NodeJS.ProcessEnv, string]>([
  ["by default", {}, "/home/u/.local/state/pimcp"],
  ["XDG_STATE_HOME", { XDG_STATE_HOME: "/state" }, "/state/pimcp"],
  ["a relative XDG_STATE_HOME is ignored", { XDG_STATE_HOME: "state" }, "/home/u/.local/state/pimcp"],
  ["PIMCP_STATE_DIR", { PIMCP_STATE_DIR: "/mine", XDG_STATE_HOME: "/state" }, "/mine"],
])("the state folder: %s", (_, env, folder) => {
  expect(stateFolder(env, "/home/u")).toBe(folder);
});

describe("the format", () => {
  test("what is written is read", () => {
    const handle = handleOf({
      ttlMs: 60_000,
      pollIntervalMs: 500,
      project: { cwd: "/p", config: "/p/mcp.json" },
      answers: [
        { key: "__proto__", question: "q", answer: { action: "accept" } },
        { key: "k", question: "q" },
      ],
    });
    expect(readHandle(writeHandle(handle))).toEqual({ ok: true, handle });
  });

  test.each<[string, object]>([
    ["another format", { format: 2 }],
    ["no task", { taskId: undefined }],
    ["a task that is no text", { taskId: 5 }],
    ["an unknown generation", { generation: "v3" }],
    ["an unknown status", { status: "thinking" }],
    ["no project", { project: undefined }],
    ["a configuration that is no text", { project: { cwd: "/p", config: 5 } }],
    ["answers that are none", { answers: {} }],
    ["an answer without its question", { answers: [{ key: "k" }] }],
    ["an answer that is no object", { answers: [{ key: "k", question: "q", answer: 5 }] }],
    ["a time that is none", { createdAt: "yesterday-ish" }],
    ["a negative ttl", { ttlMs: -1 }],
    ["an interval that is no number", { pollIntervalMs: "5" }],
  ])("%s is a finding", (_, changes) => {
    expect(readHandle(JSON.stringify({ ...handleOf(), ...changes }))).toMatchObject({ ok: false });
  });

  test("no text makes the reader throw, and whatever it accepts can be listed", () => {
    const anything = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .record({ ...Object.fromEntries(Object.keys(handleOf()).map((key) => [key, fc.jsonValue()])) })
        .map((one) => JSON.stringify(one)),
      fc
        .tuple(fc.constantFrom(...Object.keys(handleOf())), fc.jsonValue())
        .map(([key, value]) => JSON.stringify({ ...handleOf(), [key]: value })),
    );
    fc.assert(
      fc.property(anything, (text) => {
        const reading = readHandle(text);
        if (!reading.ok) return;
        expect(handleFileName(reading.handle)).toMatch(/^[0-9a-f]{32}\.json$/);
        expect(Number.isFinite(Date.parse(reading.handle.updatedAt))).toBe(true);
      }),
    );
  });

  test("names of files hold no text of a server's", () => {
    const evil = ["../../etc/passwd", "a/b", "", "\u0000", "x".repeat(5000)];
    for (const taskId of evil) expect(handleFileName(handleOf({ taskId }))).toMatch(/^[0-9a-f]{32}\.json$/);
    expect(new Set(evil.map((taskId) => handleFileName(handleOf({ taskId })))).size).toBe(evil.length);
  });
});

describe("what a server says of a task", () => {
  test.each<[string, unknown, unknown]>([
    [
      "v2",
      { taskId: "a", status: "working", ttlMs: 5, pollIntervalMs: 7, createdAt: "x" },
      { taskId: "a", status: "working", ttlMs: 5, pollIntervalMs: 7 },
    ],
    [
      "v1",
      { taskId: "a", status: "working", ttl: 5, pollInterval: 7 },
      { taskId: "a", status: "working", ttlMs: 5, pollIntervalMs: 7 },
    ],
    ["without dates", { taskId: "a", status: "failed" }, { taskId: "a", status: "failed" }],
    ["without id", { status: "working" }, undefined],
    ["with an empty id", { taskId: "", status: "working" }, undefined],
    ["with an endless id", { taskId: "x".repeat(5000), status: "working" }, undefined],
    ["with an unknown status", { taskId: "a", status: "exploded" }, undefined],
    [
      "absurd times",
      { taskId: "a", status: "working", ttlMs: Number.POSITIVE_INFINITY, pollIntervalMs: "soon" },
      { taskId: "a", status: "working" },
    ],
    ["no object", [1], undefined],
  ])("%s", (_, value, state) => {
    expect(readTaskState(value)).toEqual(state);
  });

  test.each<[string, Record<string, unknown>, unknown]>([
    ["a plain result", { content: [] }, undefined],
    ["a result that happens to have a task", { content: [], task: { taskId: "a", status: "working" } }, undefined],
    [
      "a task of 2026",
      { resultType: "task", taskId: "a", status: "working" },
      { generation: "v2", task: { taskId: "a", status: "working" } },
    ],
    [
      "a task of 2025",
      { task: { taskId: "a", status: "working" } },
      { generation: "v1", task: { taskId: "a", status: "working" } },
    ],
    ["a task without id", { resultType: "task" }, { generation: "v2", task: undefined }],
  ])("an answer to a call: %s", (_, result, created) => {
    expect(createdTask(result)).toEqual(created);
  });
});

function storeOf(now = START) {
  const store = new HandleStore(join(scratchFolder(), "state"), () => now);
  return { store, write: (handle: TaskHandle) => store.write(handle) };
}

describe("the folder", () => {
  test("is 0700, its files 0600, and nothing half-written stays", async () => {
    const { store } = storeOf();
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => store.write(handleOf({ taskId: `t-${n % 5}`, status: "working" }))),
    );
    expect(statSync(store.folder).mode & 0o777).toBe(0o700);
    const names = readdirSync(store.folder);
    expect(names).toHaveLength(5);
    for (const name of names) expect(statSync(join(store.folder, name)).mode & 0o777).toBe(0o600);
  });

  test("lists the oldest first, and what ended only when asked", async () => {
    const { store } = storeOf(START + 10_000);
    const later = new Date(START + 5000).toISOString();
    await store.write(handleOf({ taskId: "b", createdAt: later }));
    await store.write(handleOf({ taskId: "a", createdAt: later }));
    await store.write(handleOf({ taskId: "z" }));
    await store.end(
      handleOf({
        taskId: "a",
        createdAt: later,
        status: "completed",
        answers: [{ key: "k", question: "q", answer: { secret: 1 } }],
      }),
    );
    const ids = async (all: boolean) =>
      (await store.list({ all })).value.map(({ taskId, ended }) => `${taskId}${ended ? " ended" : ""}`);
    expect(await ids(false)).toEqual(["z", "b"]);
    expect(await ids(true)).toEqual(["z", "a ended", "b"]);
    expect(readFileSync(join(store.folder, "ended", handleFileName(handleOf({ taskId: "a" }))), "utf8")).not.toContain(
      "secret",
    );
  });

  test("drops a task past its ttl, but not while it is followed", async () => {
    const { store } = storeOf(START + 10_000);
    const handle = handleOf({ ttlMs: 5000 });
    await store.write(handle);
    const claimed = await store.claim(handle);
    expect((await store.list()).value).toMatchObject([{ holder: { pid: process.pid } }]);
    if (claimed.ok) await claimed.claim.release();
    expect((await store.list()).value).toEqual([]);
    expect((await store.list({ all: true })).value).toMatchObject([{ status: "expired", ended: true }]);
  });

  test("forgets what ended a day ago, and clears leftovers of an hour ago", async () => {
    const now = Date.now();
    const { store } = storeOf(now);
    await store.end(handleOf());
    const old = new HandleStore(join(store.folder, ".."), () => now + 25 * 3_600_000);
    const name = handleFileName(handleOf({ taskId: "gone" }));
    writeFileSync(join(store.folder, `${name}.claim`), "{}");
    writeFileSync(join(store.folder, `${name}.0123456789ab.tmp`), "half");
    mkdirSync(join(store.folder, `${name}.guard`));
    await old.list({ all: true });
    expect(readdirSync(store.folder)).toEqual(["ended"]);
    expect(readdirSync(join(store.folder, "ended"))).toEqual([]);
  });

  test("clears what was put aside a day ago, and leftovers beside what ended", async () => {
    const now = Date.now();
    const { store } = storeOf(now);
    await store.end(handleOf());
    const name = handleFileName(handleOf());
    const ended = join(store.folder, "ended");
    writeFileSync(store.pathOf(handleOf()), "not JSON");
    utimesSync(store.pathOf(handleOf()), 0, 0);
    writeFileSync(join(ended, `${name}.0123456789ab.tmp`), "half");
    writeFileSync(join(ended, handleFileName(handleOf({ taskId: "x" }))), "not JSON");
    const at = (ms: number) => new HandleStore(join(store.folder, ".."), () => now + ms);
    await at(2 * 3_600_000).list();
    // However old the file itself is, it was put aside just now.
    expect(readdirSync(store.folder).sort()).toEqual([`${name}.unreadable`, "ended"].sort());
    expect(readdirSync(ended).some((one) => one.endsWith(".tmp"))).toBe(false);
    await at(25 * 3_600_000).list();
    expect(readdirSync(store.folder)).toEqual(["ended"]);
    expect(readdirSync(ended)).toEqual([]);
  });

  test("one handle is read with the same care as all of them", async () => {
    const { store } = storeOf();
    const read = () => store.read(handleOf());
    expect(await read()).toBeUndefined();
    await store.write(handleOf());
    expect(await read()).toEqual({ ok: true, handle: handleOf() });
    writeFileSync(store.pathOf(handleOf()), writeHandle(handleOf({ taskId: "another" })));
    expect(await read()).toMatchObject({ ok: false, reason: "it is another task's" });
    writeFileSync(store.pathOf(handleOf()), `${writeHandle(handleOf())}${" ".repeat(5 * 1024 * 1024)}`);
    expect(await read()).toMatchObject({ ok: false });
    rmSync(store.pathOf(handleOf()));
    symlinkSync("itself", join(store.folder, "itself"));
    symlinkSync("itself", store.pathOf(handleOf()));
    expect(await read()).toMatchObject({ ok: false, reason: "it can't be read (ELOOP)" });
  });

  test("keeps few of those that ended, however many there were", async () => {
    const { store } = storeOf();
    for (let n = 0; n < 200; n++) await store.end(handleOf({ taskId: `first-${n}` }));
    for (let n = 0; n < 200; n++) await store.end(handleOf({ taskId: `then-${n}` }));
    expect((await store.list({ all: true })).value.length).toBeLessThanOrEqual(400);
    expect(readdirSync(join(store.folder, "ended"))).toHaveLength(200);
  });

  test("that is no folder is a finding, not a crash", async () => {
    const state = join(scratchFolder(), "state");
    mkdirSync(state);
    writeFileSync(join(state, "tasks"), "a file");
    const { value, diagnostics } = await new HandleStore(state).list({ all: true });
    expect({ value, codes: diagnostics.map(({ code }) => code) }).toEqual({
      value: [],
      codes: ["task-handle-unreadable"],
    });
  });

  test("files of others in it are left alone", async () => {
    const { store } = storeOf();
    await store.write(handleOf());
    writeFileSync(join(store.folder, "notes.txt"), "mine");
    expect((await store.list()).value).toHaveLength(1);
    expect(readFileSync(join(store.folder, "notes.txt"), "utf8")).toBe("mine");
  });

  test("one that can't be opened is said, and stops none of the others", async () => {
    const { store } = storeOf();
    await store.write(handleOf());
    symlinkSync("itself", join(store.folder, "itself"));
    symlinkSync("itself", join(store.folder, `${"0".repeat(32)}.json`));
    const { value, diagnostics } = await store.list();
    expect(value).toHaveLength(1);
    expect(diagnostics).toMatchObject([
      { code: "task-handle-unreadable", message: expect.stringContaining("(ELOOP)") },
    ]);
  });

  test("an endless file is no handle", async () => {
    const { store } = storeOf();
    await store.write(handleOf());
    writeFileSync(store.pathOf(handleOf()), "x".repeat(5 * 1024 * 1024));
    expect(await store.list()).toMatchObject({ value: [], diagnostics: [{ code: "task-handle-unreadable" }] });
  });
});

describe("who follows a task", () => {
  const note = (changes: object) =>
    JSON.stringify({ pid: process.pid, host: hostname(), started: "boot:1", token: "t", ...changes });

  test("a claim that can't be renewed ends nobody", async () => {
    const { store } = storeOf();
    await store.write(handleOf());
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const rejections: unknown[] = [];
    const onRejection = (reason: unknown) => rejections.push(reason);
    process.on("unhandledRejection", onRejection);
    try {
      await store.claim(handleOf());
      const file = `${store.pathOf(handleOf())}.claim`;
      rmSync(file);
      // Reading it fails, as where there are too many open files.
      mkdirSync(file);
      vi.advanceTimersByTime(25_000);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(rejections).toEqual([]);
    } finally {
      process.off("unhandledRejection", onRejection);
      vi.useRealTimers();
    }
  });

  test("one at a time, in this process too", async () => {
    const { store } = storeOf();
    await store.write(handleOf());
    const claims = await Promise.all(Array.from({ length: 5 }, () => store.claim(handleOf())));
    expect(claims.filter(({ ok }) => ok)).toHaveLength(1);
    for (const one of claims) if (one.ok) await one.claim.release();
    expect(await store.claim(handleOf())).toMatchObject({ ok: true });
  });

  test("a process that was killed holds nothing", async () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    const { store } = storeOf();
    await store.write(handleOf());
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await exited;
    writeFileSync(`${store.pathOf(handleOf())}.claim`, note({ pid: child.pid }));
    expect(await store.claim(handleOf())).toMatchObject({ ok: true });
  });

  test.skipIf(process.platform !== "linux")("another process that got its number is not taken for it", async () => {
    const { store } = storeOf();
    await store.write(handleOf());
    writeFileSync(`${store.pathOf(handleOf())}.claim`, note({ started: "another boot:99" }));
    expect(await store.claim(handleOf())).toMatchObject({ ok: true });
  });

  test("a claim of another machine counts while it is renewed", async () => {
    const { store } = storeOf();
    await store.write(handleOf());
    const file = `${store.pathOf(handleOf())}.claim`;
    writeFileSync(file, note({ host: "elsewhere", pid: 1 }));
    expect(await store.claim(handleOf())).toEqual({ ok: false, holder: { pid: 1, host: "elsewhere" } });
    const old = new Date(Date.now() - 120_000);
    utimesSync(file, old, old);
    expect(await store.claim(handleOf())).toMatchObject({ ok: true });
  });

  test.each(["", "{", "[]", '{"pid":"x"}', '{"pid":1}'])("a claim that reads %j is none", async (text) => {
    const { store } = storeOf();
    await store.write(handleOf());
    writeFileSync(`${store.pathOf(handleOf())}.claim`, text);
    expect(await store.claim(handleOf())).toMatchObject({ ok: true });
  });

  test("who has lost the claim writes nothing any more", async () => {
    const { store } = storeOf();
    const record = new TaskRecord(handleOf(), store, () => {});
    await record.begin();
    writeFileSync(`${store.pathOf(handleOf())}.claim`, note({ token: "somebody else's" }));
    await record.update({ status: "input_required" });
    expect(record.lost).toBe(true);
    expect((await store.list()).value).toMatchObject([{ status: "working" }]);
    await record.end("completed");
    expect((await store.list()).value).toHaveLength(1);
  });

  test("a call that is answered with a task that is followed already follows it too, and takes nothing away", async () => {
    const { store } = storeOf();
    const first = new TaskRecord(handleOf(), store, () => {});
    await first.begin();
    await first.update({ answers: [{ key: "k", question: "q" }] });
    const second = new TaskRecord(handleOf(), store, () => {});
    await second.begin();
    await second.update({ status: "input_required" });
    expect(second.lost).toBe(false);
    expect((await store.list()).value).toMatchObject([{ status: "working", answers: [{ key: "k" }] }]);
  });

  test("a new task with the name of one that a dead process left takes its place", async () => {
    const { store } = storeOf();
    await store.write(handleOf({ answers: [{ key: "old", question: "q" }] }));
    const record = new TaskRecord(handleOf(), store, () => {});
    await record.begin();
    expect((await store.list()).value).toMatchObject([{ answers: [] }]);
  });
});
