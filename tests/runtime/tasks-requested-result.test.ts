/** Tasks of 2025-11-25, whose result is a request of its own: when it is sent, and what comes of one that fails or is cut off. */
import { describe, expect, test } from "vitest";
import { follow, missed, type Said, START } from "./tasks-following.ts";

describe("2025-11-25", () => {
  test("the result is fetched once the task has ended", async () => {
    const result = { content: [{ type: "text", text: "x" }] };
    const followed = await follow({
      generation: "v1",
      created: { status: "working", pollInterval: 300 },
      steps: [{ status: "working", pollInterval: 300 }, { status: "completed" }],
      result: async () => ({ ok: true, value: result }),
    });
    expect(await followed.outcome).toEqual({ kind: "result", result });
    expect(followed.polls).toEqual([300, 600]);
    expect(followed.sent).toEqual(["result"]);
  });

  test("a failed task's error is that of its result", async () => {
    const failure = missed("rpc-error", -32000);
    const followed = await follow({
      generation: "v1",
      steps: [{ status: "failed" }],
      result: async () => ({ ok: false, failure }),
    });
    expect(await followed.outcome).toEqual({ kind: "refused", failure });
  });

  test("a failed task's result is delivered, as the tool's own error", async () => {
    const result = { content: [], isError: true };
    const followed = await follow({
      generation: "v1",
      steps: [{ status: "failed", statusMessage: "x" }],
      result: async () => ({ ok: true, value: result }),
    });
    expect(await followed.outcome).toEqual({ kind: "result", result });
  });

  test("a result that can't be fetched is tried again, slower each time, and then left", async () => {
    const followed = await follow({
      generation: "v1",
      steps: [{ status: "completed" }],
      result: async () => ({ ok: false, failure: missed("timeout") }),
    });
    expect(await followed.outcome).toMatchObject({ kind: "left" });
    expect(followed.sent).toEqual(Array(6).fill("result"));
    expect(followed.clock.waits.slice(1)).toEqual([1000, 2000, 4000, 8000, 16_000]);
  });

  test("one that waits for input is asked for its result meanwhile, once, and still polled", async () => {
    let resolve: (reply: { ok: true; value: Said }) => void = () => {};
    const promise = new Promise<{ ok: true; value: Said }>((done) => {
      resolve = done;
    });
    const followed = await follow({
      generation: "v1",
      steps: [{ status: "input_required", pollInterval: 500 }],
      result: () => promise,
      onPoll: (count) => count === 4 && resolve({ ok: true, value: { content: [] } }),
    });
    expect(await followed.outcome).toEqual({ kind: "result", result: { content: [] } });
    expect(followed.sent).toEqual(["result"]);
  });

  const asking = { status: "input_required", pollInterval: 60_000 };

  test.each([
    ["it can't be reached", missed("closed")],
    ["it refuses", missed("rpc-error", -32603)],
    ["it only knows tasks that have ended", missed("rpc-error", -32602)],
  ])("while the wait fails it is begun again later and later, and not for ever: %s", async (_, failure) => {
    const sentAt: number[] = [];
    const followed = await follow({
      generation: "v1",
      created: asking,
      steps: [asking],
      result: async ({ clock }) => {
        sentAt.push(clock.now() - START);
        return { ok: false, failure };
      },
    });
    expect(await followed.outcome).toEqual({ kind: "left", failure });
    expect(sentAt).toEqual([0, 1000, 3000, 7000, 15_000, 31_000]);
    expect(followed.polls).toEqual([]);
  });

  test("a server without such a request is asked once", async () => {
    const failure = missed("rpc-error", -32601);
    const followed = await follow({
      generation: "v1",
      created: asking,
      steps: [asking],
      result: async () => ({ ok: false, failure }),
    });
    expect(await followed.outcome).toEqual({ kind: "left", failure });
    expect(followed.sent).toEqual(["result"]);
  });

  test("a wait that is cut off time and again, but lasted, is begun again for as long as the task is there", async () => {
    let waits = 0;
    const followed = await follow({
      generation: "v1",
      created: asking,
      steps: [asking],
      result: async ({ clock }) => {
        await clock.wait(60_000, new AbortController().signal);
        return ++waits < 20 ? { ok: false, failure: missed("unavailable") } : { ok: true, value: { content: [] } };
      },
    });
    expect(await followed.outcome).toMatchObject({ kind: "result" });
    expect(followed.sent).toEqual(Array(20).fill("result"));
  });

  test("a task that is busy again needs no wait, and no time passes faster for it", async () => {
    const busy = { status: "working", pollInterval: 1000 };
    const followed = await follow({
      generation: "v1",
      created: asking,
      handle: { pollIntervalMs: 1000 },
      steps: [busy, busy, busy, { status: "completed" }],
      result: async ({ polls }) =>
        polls.length < 4 ? { ok: false, failure: missed("closed") } : { ok: true, value: { content: [] } },
    });
    expect(await followed.outcome).toMatchObject({ kind: "result" });
    expect(followed.polls).toEqual([1000, 2000, 3000, 4000]);
    expect(followed.clock.waits.every((ms) => ms > 0)).toBe(true);
  });

  test("a wait that is turned away once the task is busy again ends nothing: it is polled on", async () => {
    const busy = { status: "working", pollInterval: 1000 };
    let turnAway = () => {};
    const turnedAway = new Promise<void>((done) => {
      turnAway = done;
    });
    const followed = await follow({
      generation: "v1",
      created: asking,
      handle: { pollIntervalMs: 1000 },
      steps: [busy, busy, busy, { status: "completed" }],
      onPoll: (count) => count === 2 && turnAway(),
      result: async ({ polls }) => {
        if (polls.length === 4) return { ok: true, value: { content: [] } };
        await turnedAway;
        return { ok: false, failure: missed("rpc-error", -32601) };
      },
    });
    expect(await followed.outcome).toMatchObject({ kind: "result" });
    expect(followed.polls).toHaveLength(4);
  });

  test("a wait that the server forgets about doesn't hold up a task that has ended", async () => {
    let requests = 0;
    const followed = await follow({
      generation: "v1",
      created: asking,
      steps: [{ status: "completed" }],
      result: () => (++requests === 1 ? new Promise(() => {}) : Promise.resolve({ ok: true, value: { content: [] } })),
    });
    expect(await followed.outcome).toEqual({ kind: "result", result: { content: [] } });
    expect(requests).toBe(2);
  });
});
