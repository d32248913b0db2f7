/** When a task is asked about, and when that ends. By a clock that jumps, so hours pass in no time. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DEADLINE_GRACE_MS, nextPollAt, type PollSituation } from "../../runtime/tasks/poll-schedule.ts";
import { DONE, follow, missed, type Said, START, WORKING } from "./tasks-following.ts";

const working = (pollIntervalMs: unknown, more: Said = {}): Said => ({ ...WORKING, pollIntervalMs, ...more });

describe("the next poll", () => {
  const base: PollSituation = { unpaced: 0, failures: 0, lastAt: 0, chance: 0 };
  test.each<[string, Partial<PollSituation>, number]>([
    ["the server's interval", { pollIntervalMs: 5000 }, 5000],
    ["with chance, a little later", { pollIntervalMs: 5000, chance: 1 }, 5500],
    ["with chance, at most two seconds later", { pollIntervalMs: 600_000, chance: 1 }, 602_000],
    ["an interval of nearly nothing", { pollIntervalMs: 0.001 }, 100],
    ["an interval beyond reason", { pollIntervalMs: 1e15 }, 3_600_000],
    ["no interval: a second", {}, 1000],
    ["no interval, the third time: longer", { unpaced: 2 }, 2250],
    ["no interval, for the hundredth time: no longer than this", { unpaced: 100 }, 15_000],
    ["after a failure, not before the interval", { pollIntervalMs: 5000, failures: 1 }, 5000],
    ["after several, later than the interval", { pollIntervalMs: 5000, failures: 4 }, 8000],
    ["a last look when the time is up", { pollIntervalMs: 5000, deadline: 2000 }, 2000 + DEADLINE_GRACE_MS],
    ["after that at its pace again", { pollIntervalMs: 5000, deadline: 2000, lastAt: 9000 }, 14_000],
    ["and no burst where it can't be reached", { failures: 4, deadline: 2000, lastAt: 9000 }, 17_000],
  ])("%s", (_, situation, at) => {
    expect(nextPollAt({ ...base, ...situation })).toBe(at);
  });

  test("is never sooner than the server asks, unless its own time is up before", () => {
    const ms = fc.integer({ min: 1, max: 3_600_000 });
    fc.assert(
      fc.property(
        ms,
        fc.nat(20),
        fc.nat(20),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (interval, unpaced, failures, chance) => {
          const at = nextPollAt({ pollIntervalMs: interval, unpaced, failures, lastAt: START, chance });
          expect(at - START).toBeGreaterThanOrEqual(interval);
          expect(at - START).toBeLessThanOrEqual(Math.max(100, interval, 30_000) * 1.1);
        },
      ),
    );
  });
});

describe("following a task", () => {
  test.each<[string, Said, readonly Said[], readonly number[]]>([
    ["the first poll waits too", working(5000), [DONE], [5000]],
    ["at the server's pace", working(200), [working(200), working(200), DONE], [200, 400, 600]],
    ["a longer interval is followed at once", working(200), [working(3000), DONE], [200, 3200]],
    ["and a shorter one", working(3000), [working(200), DONE], [3000, 3200]],
    ["one that is left out stays", working(3000), [WORKING, DONE], [3000, 6000]],
    ["none at all: longer and longer", WORKING, [WORKING, WORKING, WORKING, DONE], [1000, 2500, 4750, 8125]],
    ["none that means anything", working(0), [working(-5), working("soon"), DONE], [1000, 2500, 4750]],
  ])("%s", async (_, created, steps, polls) => {
    const followed = await follow({ created, steps });
    expect(await followed.outcome).toMatchObject({ kind: "result", result: DONE["result"] });
    expect(followed.polls).toEqual(polls);
  });

  test("chance only ever delays", async () => {
    const followed = await follow({ created: working(1000), steps: [working(1000), DONE], chance: 0.5 });
    await followed.outcome;
    expect(followed.polls).toEqual([1050, 2100]);
  });

  test("a task without end and without a ttl is polled on, hours after", async () => {
    const abort = new AbortController();
    const followed = await follow({
      created: working(60_000),
      steps: [working(60_000)],
      signal: abort.signal,
      onPoll: (count) => count === 200 && abort.abort(),
    });
    expect(await followed.outcome).toEqual({ kind: "given-up" });
    expect(followed.polls.at(-1)).toBe(200 * 60_000);
    expect(followed.sent).toEqual(["cancel"]);
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

describe("notices", () => {
  test("of the end end it, without a poll", async () => {
    const followed = await follow({ created: working(3_600_000), steps: [WORKING] });
    followed.notify(DONE);
    expect(await followed.outcome).toMatchObject({ kind: "result" });
    expect(followed.polls).toEqual([]);
  });

  test("of an end without what it ended in are not believed, and polls go on at their pace", async () => {
    const followed = await follow({
      created: working(5000),
      steps: [working(5000), DONE],
      onPoll: (_, f) => f.notify({ status: "completed" }),
    });
    expect(await followed.outcome).toMatchObject({ kind: "result" });
    expect(followed.polls).toEqual([5000, 10_000]);
  });

  test("a new interval in a notice counts from the last poll", async () => {
    const followed = await follow({
      created: working(1000),
      steps: [working(1000), DONE],
      onPoll: (count, f) => count === 1 && setImmediate(() => f.notify(working(7000))),
    });
    await followed.outcome;
    expect(followed.polls).toEqual([1000, 8000]);
  });

  test("without end hold off neither a poll nor the end of its time", async () => {
    const said = working(1000, { ttlMs: 3500 });
    const flood = { afterMs: 10, said: { ...said, statusMessage: "busy" } };
    const followed = await follow({ created: said, steps: [said], flood });
    expect(await followed.outcome).toEqual({ kind: "expired", ttlMs: 3500 });
    expect(followed.polls).toEqual([1000, 2000, 3000, 3500 + DEADLINE_GRACE_MS]);
  });

  test("in a flood cause no poll, and the last one counts", async () => {
    const seen: (string | undefined)[] = [];
    const followed = await follow({
      created: working(5000),
      steps: [working(5000), DONE],
      onStatus: ({ statusMessage }) => seen.push(statusMessage),
      onPoll: (count, f) => {
        for (let n = 0; count === 1 && n < 10_000; n++) f.notify({ ...working(5000), statusMessage: `step ${n}` });
      },
    });
    await followed.outcome;
    expect(followed.polls).toEqual([5000, 10_000]);
    expect((await followed.store.list()).value[0]?.updatedAt).toBe(new Date(START + 10_000).toISOString());
    expect(seen).toEqual(["step 9999"]);
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
