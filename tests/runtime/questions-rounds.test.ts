/** Requests that are answered with questions: what is asked, what is sent again, and where it ends. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Failure } from "../../runtime/connect/failure.ts";
import { type Answers, type AskedQuestion, answerRounds, MAX_ROUNDS } from "../../runtime/connect/input-required.ts";
import type { RequestOutcome } from "../../runtime/connect/session.ts";

const done: RequestOutcome = { ok: true, result: { content: [] } };
const asks = (inputRequests: unknown, requestState?: unknown): RequestOutcome => ({
  ok: true,
  result: { resultType: "input_required", inputRequests, ...(requestState !== undefined && { requestState }) },
});
const form = (message: string) => ({ method: "elicitation/create", params: { message } });
const failed = (kind: Failure["kind"], message: unknown) => ({ ok: false, failure: { kind, message } });

/** Answers each question with its number; `server` gives the outcomes one by one, the last for ever. */
function conversation(
  server: readonly RequestOutcome[],
  answer: (asked: AskedQuestion, number: number) => unknown = (_, n) => n,
) {
  const asked: AskedQuestion[] = [];
  const sent: Answers[] = [];
  const abort = new AbortController();
  const outcome = answerRounds(server[0]!, {
    tool: "greet",
    signal: abort.signal,
    failureOf: (error) => ({ kind: "handler-failed", message: (error as Error).message }),
    answer: async (question) => {
      asked.push(question);
      const given = await answer(question, asked.length);
      return typeof given === "number" ? { action: "accept", content: { n: given } } : (given as never);
    },
    send: async (answers) => {
      sent.push(answers);
      return server[Math.min(sent.length, server.length - 1)]!;
    },
  });
  return { outcome, asked, sent, abort };
}

const accepted = (n: number) => ({ action: "accept", content: { n } });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

async function settle<T>(promise: Promise<T>): Promise<T> {
  await vi.runAllTimersAsync();
  return promise;
}

describe("rounds", () => {
  test("a result is left as it is, and nothing is asked", async () => {
    const { outcome, asked } = conversation([done]);
    expect(await outcome).toBe(done);
    expect(asked).toEqual([]);
  });

  test("every question of a round goes to its handler, and the state comes back as it was", async () => {
    const state = "opaque \u0000 é";
    const { outcome, asked, sent } = conversation([asks({ a: form("A?"), b: form("B?") }, state), done]);
    expect(await settle(outcome)).toBe(done);
    expect(asked.map(({ params, tool, whenDone }) => [params["message"], tool, whenDone])).toEqual([
      ["A?", "greet", true],
      ["B?", "greet", true],
    ]);
    expect(sent).toEqual([{ inputResponses: { a: accepted(1), b: accepted(2) }, requestState: state }]);
  });

  test("one that comes back unchanged under its key is not asked again", async () => {
    const again = asks({ a: form("A?") });
    const { outcome, asked, sent } = conversation([again, again, again, done]);
    expect(await settle(outcome)).toBe(done);
    expect(asked).toHaveLength(1);
    expect(sent.map(({ inputResponses }) => inputResponses)).toEqual(Array(3).fill({ a: accepted(1) }));
  });

  test("a key used again for another question is another question", async () => {
    const { outcome, asked, sent } = conversation([asks({ a: form("A?") }), asks({ a: form("Sure?") }), done]);
    expect(await settle(outcome)).toBe(done);
    expect(asked.map(({ params }) => params["message"])).toEqual(["A?", "Sure?"]);
    expect(sent[1]).toEqual({ inputResponses: { a: accepted(2) } });
  });

  test("a key called __proto__ is a key", async () => {
    const { outcome, sent } = conversation([asks(JSON.parse('{"__proto__":{"method":"roots/list"}}')), done]);
    await settle(outcome);
    expect(JSON.stringify(sent[0])).toBe('{"inputResponses":{"__proto__":{"action":"accept","content":{"n":1}}}}');
  });

  test("a round that only carries state is sent on after a pause, without answers", async () => {
    const { outcome, sent, asked } = conversation([asks(undefined, "s"), done]);
    await vi.advanceTimersByTimeAsync(200);
    expect(sent).toEqual([]);
    expect(await settle(outcome)).toBe(done);
    expect([sent, asked]).toEqual([[{ requestState: "s" }], []]);
  });

  test.each([
    ["a new question each time", (n: number) => asks({ [`k${n}`]: form(`Q${n}?`) })],
    ["another way of putting it each time", (n: number) => asks({ a: form(`A${n}?`) })],
    ["state alone", () => asks({}, "s")],
  ])("a server that never has enough is ended, and it is said why: %s", async (_, next) => {
    const { outcome, sent } = conversation(Array.from({ length: 50 }, (_, n) => next(n)));
    expect(await settle(outcome)).toEqual(failed("unusable", expect.stringContaining("10 times")));
    expect(sent).toHaveLength(MAX_ROUNDS);
  });

  test("a server that goes on asking what it was told is ended within seconds, and it is said why", async () => {
    const { outcome, sent, asked } = conversation([
      asks({ a: form("A?") }, "state 1"),
      asks({ a: form("A?") }, "state 2"),
    ]);
    const from = Date.now();
    expect(await settle(outcome)).toEqual(
      failed("unusable", "it asked the same again, though it had been answered 5 times"),
    );
    expect({ sent: sent.length, asked: asked.length }).toEqual({ sent: 5, asked: 1 });
    expect(Date.now() - from).toBeLessThan(5000);
  });

  test("a server that only wants time is given most of a minute", async () => {
    const { outcome } = conversation([asks({}, "s")]);
    const from = Date.now();
    await settle(outcome);
    expect(Date.now() - from).toBeGreaterThan(40_000);
    expect(Date.now() - from).toBeLessThan(60_000);
  });

  test.each<[string, unknown]>([
    ["nothing asked and no state", {}],
    ["a list", []],
    ["text", "who?"],
    ["a question that is none", { a: 5 }],
    ["a question without a method", { a: { params: {} } }],
  ])("what isn't MCP is an error, not a loop: %s", async (_, inputRequests) => {
    const { outcome, sent, asked } = conversation([asks(inputRequests), done]);
    expect(await settle(outcome)).toEqual(failed("unusable", expect.stringMatching(/^it asked for input/)));
    expect([sent, asked]).toEqual([[], []]);
  });

  test("a flood of questions, or one that is nested without end, is refused", async () => {
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`k${n}`, form("?")]));
    expect(await conversation([asks(many)]).outcome).toMatchObject(failed("unusable", "it asked 51 questions at once"));
    let deep: unknown = "x";
    for (let n = 0; n < 50_000; n++) deep = [deep];
    const nested = asks({ a: { method: "elicitation/create", params: { deep } } });
    expect(await conversation([nested]).outcome).toMatchObject(failed("unusable", expect.stringContaining("deep")));
  });

  test("a question without an answer ends the request and withdraws those beside it", async () => {
    const signals: AbortSignal[] = [];
    const { outcome, sent } = conversation([asks({ a: form("A?"), b: form("B?") })], ({ signal }, n) => {
      signals.push(signal);
      if (n === 2) throw new Error("no");
      return new Promise(() => {});
    });
    expect(await settle(outcome)).toEqual(failed("handler-failed", "no"));
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    expect(sent).toEqual([]);
  });

  test("an abort between rounds sends nothing more", async () => {
    const { outcome, sent, abort } = conversation([asks(undefined, "s")]);
    await vi.advanceTimersByTimeAsync(100);
    abort.abort();
    expect(await outcome).toEqual(failed("cancelled", "cancelled"));
    expect(sent).toEqual([]);
  });
});

describe("a page to visit first (-32042)", () => {
  const visits = (...elicitations: unknown[]): RequestOutcome => ({
    ok: false,
    failure: { kind: "rpc-error", message: "visit", error: { code: -32042, message: "visit", data: { elicitations } } },
  });
  const page = { mode: "url", url: "https://example.com", elicitationId: "e1", message: "Go" };

  test("is asked for once and the request sent again as it was, with growing pauses", async () => {
    const { outcome, asked, sent } = conversation([visits(page), visits(page), done]);
    expect(await settle(outcome)).toBe(done);
    expect(asked.map(({ method, params, whenDone }) => [method, params, whenDone])).toEqual([
      ["elicitation/create", page, true],
    ]);
    expect(sent).toEqual([{}, {}]);
  });

  test("declined, the server's error stands", async () => {
    const error = visits(page);
    const { outcome, sent } = conversation([error, done], () => ({ action: "decline" }));
    expect(await settle(outcome)).toBe(error);
    expect(sent).toEqual([]);
  });

  test("without pages it is an error like any other", async () => {
    const error = visits();
    expect(await conversation([error, done]).outcome).toBe(error);
  });
});
