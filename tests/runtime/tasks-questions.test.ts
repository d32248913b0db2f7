/** What a task asks: each question once, whoever follows the task and however often it is asked about. */
import { describe, expect, test } from "vitest";
import { digestOf } from "../../schemas/canonical.ts";
import { DONE, type FollowScript, follow, missed, type Said, type Step } from "./tasks-following.ts";

const elicit = (message: string) => ({
  method: "elicitation/create",
  params: { message, requestedSchema: { type: "object", properties: { name: { type: "string" } } } },
});
const asking = (inputRequests: unknown): Said => ({ status: "input_required", inputRequests, pollIntervalMs: 1000 });
const ANSWER = { action: "accept", content: { name: "Ada" } };

/** Follows a task whose questions are answered; what was asked is in `asked`. */
async function answered(steps: FollowScript["steps"], more: Partial<FollowScript> = {}) {
  const asked: string[] = [];
  const followed = await follow({
    steps,
    ask: async ({ params }) => {
      asked.push(String(params["message"]));
      return ANSWER;
    },
    ...more,
  });
  return { followed, asked };
}

describe("asked once", () => {
  test("though the server goes on listing the question for three polls", async () => {
    const listed = asking({ k1: elicit("Who?") });
    const { followed, asked } = await answered([listed, listed, listed, listed, DONE]);
    expect(await followed.outcome).toMatchObject({ kind: "result" });
    expect(asked).toEqual(["Who?"]);
    expect(followed.sent).toEqual([`update ${JSON.stringify({ k1: ANSWER })}`]);
    expect(followed.polls).toHaveLength(5);
  });

  test("up to two hundred, whether answered or not", async () => {
    const many = asking(Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`k${at}`, elicit(`${at}?`)])));
    const { followed, asked } = await answered([...Array<Said>(210).fill(many), DONE]);
    expect(await followed.outcome).toMatchObject({ kind: "result" });
    expect(new Set(asked).size).toBe(200);
    expect(asked).toHaveLength(200);
  });

  test("several, one after the other, and each answer sent", async () => {
    const both = asking({ a: elicit("A?"), b: elicit("B?") });
    let atOnce = 0;
    const asked: string[] = [];
    const { followed } = await answered([both, both, both, DONE], {
      ask: async ({ params }) => {
        expect(++atOnce).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        atOnce--;
        asked.push(String(params["message"]));
        return ANSWER;
      },
    });
    await followed.outcome;
    expect(asked).toEqual(["A?", "B?"]);
    expect(followed.sent.filter((one) => one.includes('"a"'))).toHaveLength(1);
    expect(followed.sent.filter((one) => one.includes('"b"'))).toHaveLength(1);
  });

  test("a new question under a new key is asked", async () => {
    const { followed, asked } = await answered([
      asking({ k1: elicit("A?") }),
      asking({ k2: elicit("B?") }),
      asking({ k2: elicit("B?") }),
      DONE,
    ]);
    await followed.outcome;
    expect(asked).toEqual(["A?", "B?"]);
  });

  test("a key named like a property of every object is a key like any other", async () => {
    const listed = asking(
      JSON.parse(`{"__proto__": ${JSON.stringify(elicit("A?"))}, "constructor": ${JSON.stringify(elicit("B?"))}}`),
    );
    const { followed, asked } = await answered([listed, listed, listed, listed, DONE]);
    expect(await followed.outcome).toMatchObject({ kind: "result" });
    expect(asked).toEqual(["A?", "B?"]);
    expect(followed.sent.join()).toContain("__proto__");
  });
});

describe("the answer is on disk before it is sent", () => {
  test("and its value no longer once the server has taken it", async () => {
    const onDisk: unknown[] = [];
    const listed = asking({ k1: elicit("Who?") });
    const { followed } = await answered([listed, listed, listed, listed, listed, DONE], {
      update: async () => {
        const [task] = (await followed.store.list()).value;
        onDisk.push(task?.answers);
        return { ok: true, value: {} };
      },
    });
    await followed.outcome;
    const question = digestOf(elicit("Who?"));
    expect(onDisk).toEqual([[{ key: "k1", question, answer: ANSWER }]]);
    expect((await followed.store.list()).value[0]?.answers).toEqual([{ key: "k1", question }]);
  });

  test("so that the next process sends it and asks nobody", async () => {
    const answers = [{ key: "k1", question: digestOf(elicit("Who?")), answer: ANSWER }];
    const listed = asking({ k1: elicit("Who?") });
    const { followed, asked } = await answered([listed, DONE], { handle: { answers } });
    expect(await followed.outcome).toMatchObject({ kind: "result" });
    expect(asked).toEqual([]);
    expect(followed.sent).toEqual([`update ${JSON.stringify({ k1: ANSWER })}`]);
  });

  test("and one that was taken is neither asked nor sent again", async () => {
    const answers = [{ key: "k1", question: digestOf(elicit("Who?")) }];
    const listed = asking({ k1: elicit("Who?") });
    const { followed, asked } = await answered([listed, listed, DONE], { handle: { answers } });
    await followed.outcome;
    expect({ asked, sent: followed.sent }).toEqual({ asked: [], sent: [] });
  });
});

describe("an answer that does not arrive", () => {
  test("is sent again, and nobody is asked again", async () => {
    let tries = 0;
    const listed = asking({ k1: elicit("Who?") });
    const { followed, asked } = await answered([listed, listed, DONE], {
      update: async () => (++tries < 3 ? { ok: false, failure: missed("unavailable") } : { ok: true, value: {} }),
    });
    expect(await followed.outcome).toMatchObject({ kind: "result" });
    expect(asked).toEqual(["Who?"]);
    expect(followed.sent).toHaveLength(3);
  });

  test("or that the server refuses: the task is left, and the next who follows it is asked", async () => {
    const failure = missed("rpc-error", -32602);
    const { followed } = await answered([asking({ k1: elicit("Who?") })], {
      update: async () => ({ ok: false, failure }),
    });
    expect(await followed.outcome).toEqual({ kind: "left", failure });
    expect(followed.record.handle.answers).toEqual([]);
  });

  test.each([-32001, -32602])("as the task is gone (%d): it is unknown, not left", async (code) => {
    const failure = missed("rpc-error", code);
    const steps: Step[] = [asking({ k1: elicit("Who?") })];
    let pollsBefore = 0;
    const { followed } = await answered(steps, {
      onPoll: (count) => {
        if (steps[0] !== failure) pollsBefore = count;
      },
      update: async () => {
        steps[0] = failure;
        return { ok: false, failure };
      },
    });
    expect(await followed.outcome).toEqual({ kind: "unknown", failure });
    // Asked about once more where the code may mean the answer, and not sooner than the server wants to be.
    expect(followed.polls.slice(pollsBefore)).toEqual(code === -32602 ? [1000 * (pollsBefore + 1)] : []);
  });
});

describe("an answer that is refused with a code that may mean the task", () => {
  const failure = missed("rpc-error", -32602);

  test("because the task has ended: its result is what counts", async () => {
    const steps: Step[] = [asking({ k1: elicit("Who?") })];
    const { followed } = await answered(steps, {
      update: async () => {
        steps[0] = DONE;
        return { ok: false, failure };
      },
    });
    expect(await followed.outcome).toMatchObject({ kind: "result" });
    expect(followed.sent).toHaveLength(1);
  });

  test("to a caller that gives up meanwhile: the task is cancelled, and the answer kept", async () => {
    const abort = new AbortController();
    let isRefused = false;
    const { followed } = await answered([asking({ k1: elicit("Who?") })], {
      signal: abort.signal,
      update: async () => {
        isRefused = true;
        return { ok: false, failure };
      },
      onPoll: () => isRefused && abort.abort(),
    });
    expect(await followed.outcome).toEqual({ kind: "given-up" });
    expect(followed.sent.map((one) => one.split(" ")[0])).toEqual(["update", "cancel"]);
    expect(followed.record.handle.answers).toHaveLength(1);
  });
});

describe("a server that gets it wrong", () => {
  const deep = JSON.parse(`${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`) as object;
  test.each<[string, FollowScript["steps"], RegExp]>([
    [
      "reuses a key for another question",
      [asking({ k1: elicit("A?") }), asking({ k1: elicit("B?") })],
      /another question under the key "k1"/,
    ],
    ["waits for input and asks nothing", [asking(17)], /doesn't say for which/],
    [
      "asks what nobody can be asked",
      [asking({ k1: { method: "tools/call", params: {} } })],
      /nothing a client can be asked/,
    ],
    [
      "asks with no params that are any",
      [asking({ k1: { method: "roots/list", params: 5 } })],
      /nothing a client can be asked/,
    ],
    ["nests its question without end", [asking({ k1: deep })], /nested too deeply/],
    ["names its question without end", [asking({ ["k".repeat(1001)]: elicit("A?") })], /a key of 1001 characters/],
    [
      "asks without end",
      [asking(Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`k${n}`, elicit("?")])))],
      /more than 200/,
    ],
  ])("%s: the task ends with an error and is cancelled", async (_, steps, message) => {
    const { followed } = await answered(steps);
    expect(await followed.outcome).toMatchObject({ kind: "unanswered", message: expect.stringMatching(message) });
    expect(followed.sent).toContain("cancel");
  });
});

test("a question that nobody can answer ends the task with the reason, and cancels it", async () => {
  const ask = async () => Promise.reject(new Error("no handler for elicitation"));
  const { followed } = await answered([asking({ k1: elicit("Who?") })], { ask });
  expect(await followed.outcome).toMatchObject({
    kind: "unanswered",
    message: expect.stringContaining("no handler for elicitation"),
  });
  expect(followed.sent).toEqual(["cancel"]);
});

test("while a person thinks the task is watched, and a question it no longer waits for is withdrawn", async () => {
  let withdrawn = false;
  const listed = asking({ k1: elicit("Who?") });
  const { followed } = await answered([listed, listed, listed, DONE], {
    ask: ({ signal }) =>
      new Promise((_, reject) => {
        signal?.addEventListener("abort", () => {
          withdrawn = true;
          reject(new Error("withdrawn"));
        });
      }),
  });
  expect(await followed.outcome).toMatchObject({ kind: "result" });
  expect(followed.polls).toEqual([1000, 2000, 3000, 4000]);
  expect(withdrawn).toBe(true);
  expect(followed.sent).toEqual([]);
});
