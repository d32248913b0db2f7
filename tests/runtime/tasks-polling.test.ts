/** When a task is asked about. By a clock that jumps, so hours pass in no time. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DEADLINE_GRACE_MS, nextPollAt, type PollSituation } from "../../runtime/tasks/poll-schedule.ts";
import { DONE, follow, type Said, START, WORKING, working } from "./tasks-following.ts";

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
