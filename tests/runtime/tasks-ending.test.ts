/** When following a task ends, and in what: its own end, that of its time, a server that can't be asked, and giving up. */
import { describe, expect, test } from "vitest";
import { DEADLINE_GRACE_MS } from "../../runtime/tasks/poll-schedule.ts";
import { DONE, follow, missed, type Said, WORKING, working } from "./tasks-following.ts";

describe("how it ends", () => {
  test.each<[string, Said, Said]>([
    ["completed", DONE, { kind: "result" }],
    [
      "failed",
      { status: "failed", error: { code: -32000, message: "disk full" } },
      { kind: "failed", error: { code: -32000, message: "disk full" } },
    ],
    [
      "failed without an error",
      { status: "failed", statusMessage: "gone wrong" },
      { kind: "failed", error: undefined, message: "gone wrong" },
    ],
    ["cancelled", { status: "cancelled", statusMessage: "by an admin" }, { kind: "cancelled", message: "by an admin" }],
    ["completed without a result", { status: "completed" }, { kind: "empty" }],
  ])("%s", async (_, said, outcome) => {
    const followed = await follow({ created: working(1000), steps: [said] });
    expect(await followed.outcome).toMatchObject(outcome);
    expect(followed.polls).toEqual([1000]);
  });

  test("a call that was answered with an ended task is not polled", async () => {
    const followed = await follow({ created: { ...DONE, pollIntervalMs: 1000 }, steps: [DONE] });
    expect(await followed.outcome).toMatchObject({ kind: "result" });
    expect(followed.polls).toEqual([]);
  });

  test("and with one that says it has ended, but not in what, once", async () => {
    const followed = await follow({ created: { status: "completed", pollIntervalMs: 1000 }, steps: [DONE] });
    expect(await followed.outcome).toMatchObject({ kind: "result" });
    expect(followed.polls).toEqual([1000]);
  });
});

describe("the end of its time", () => {
  test("a task that never finishes ends with its ttl, and is cancelled", async () => {
    const followed = await follow({ created: working(500, { ttlMs: 2000 }), steps: [working(500, { ttlMs: 2000 })] });
    expect(await followed.outcome).toEqual({ kind: "expired", ttlMs: 2000 });
    expect(followed.polls).toEqual([500, 1000, 1500, 2000]);
    expect(followed.sent).toEqual(["cancel"]);
  });

  test("one that has ended by then is a result like any other", async () => {
    const followed = await follow({ created: working(60_000, { ttlMs: 2000 }), steps: [DONE] });
    expect(await followed.outcome).toMatchObject({ kind: "result" });
    expect(followed.polls).toEqual([2000 + DEADLINE_GRACE_MS]);
  });

  test("a ttl that the server prolongs is followed", async () => {
    const longer = working(1000, { ttlMs: 4000 });
    const followed = await follow({ created: working(1000, { ttlMs: 2000 }), steps: [longer] });
    expect(await followed.outcome).toEqual({ kind: "expired", ttlMs: 4000 });
    expect(followed.polls).toEqual([1000, 2000, 3000, 4000]);
  });

  test.each([[null], [0], [-1], ["x"]])("a ttl of %j is none", async (ttlMs) => {
    const followed = await follow({ created: working(1000, { ttlMs }), steps: [working(1000), working(1000), DONE] });
    expect(await followed.outcome).toMatchObject({ kind: "result" });
  });
});

describe("a server that can't be asked", () => {
  test("for a while: polled less and less, and the result is had", async () => {
    const steps = [missed("closed"), missed("unavailable"), missed("timeout"), missed("rpc-error", -32603), DONE];
    const followed = await follow({ created: working(1000), steps });
    expect(await followed.outcome).toMatchObject({ kind: "result" });
    expect(followed.polls).toEqual([1000, 2000, 4000, 8000, 16_000]);
  });

  test("for longer: the task is left for later", async () => {
    const followed = await follow({ created: working(1000), steps: [missed("unavailable")] });
    expect(await followed.outcome).toMatchObject({ kind: "left", failure: { kind: "unavailable" } });
    expect(followed.polls).toHaveLength(6);
    expect(followed.sent).toEqual([]);
  });

  test.each(["sign-in-needed", "access-denied", "unusable", "oversize", "closing"] as const)(
    "%s: left at once",
    async (kind) => {
      const followed = await follow({ created: working(1000), steps: [missed(kind)] });
      expect(await followed.outcome).toMatchObject({ kind: "left", failure: { kind } });
      expect(followed.polls).toHaveLength(1);
    },
  );

  test("a server without tasks any more: left at once", async () => {
    const followed = await follow({ created: working(1000), steps: [missed("rpc-error", -32601)] });
    expect(await followed.outcome).toMatchObject({ kind: "left" });
    expect(followed.polls).toHaveLength(1);
  });

  test("a task the server doesn't know is not asked about again", async () => {
    const followed = await follow({ created: working(1000), steps: [working(1000), missed("rpc-error", -32602)] });
    expect(await followed.outcome).toMatchObject({ kind: "unknown" });
    expect(followed.polls).toHaveLength(2);
  });
});

describe("giving up", () => {
  test("tells the server, and ends", async () => {
    const abort = new AbortController();
    const followed = await follow({
      created: working(1000),
      steps: [WORKING],
      signal: abort.signal,
      onPoll: () => abort.abort(),
    });
    expect(await followed.outcome).toEqual({ kind: "given-up" });
    expect(followed.sent).toEqual(["cancel"]);
  });

  test("where the server can't be told, says so", async () => {
    const abort = new AbortController();
    const failure = missed("timeout");
    const followed = await follow({
      created: working(1000),
      steps: [WORKING],
      signal: abort.signal,
      cancel: { ok: false, failure },
      onPoll: () => abort.abort(),
    });
    expect(await followed.outcome).toEqual({ kind: "given-up", failure });
  });

  test("a task the server doesn't know any more needs no cancelling", async () => {
    const abort = new AbortController();
    abort.abort();
    const cancel = { ok: false, failure: missed("rpc-error", -32602) } as const;
    const followed = await follow({ steps: [WORKING], signal: abort.signal, cancel });
    expect(await followed.outcome).toEqual({ kind: "given-up" });
  });

  test("a runtime that closes leaves the task alone", async () => {
    const closing = new AbortController();
    const followed = await follow({
      created: working(1000),
      steps: [WORKING],
      closing: closing.signal,
      onPoll: () => closing.abort(),
    });
    expect(await followed.outcome).toMatchObject({ kind: "left", failure: { kind: "closing" } });
    expect(followed.sent).toEqual([]);
  });
});
