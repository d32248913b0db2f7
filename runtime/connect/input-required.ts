/**
 * A request whose answer is a question (`input_required`, 2026-07-28; error -32042, 2025-11-25), carried through: the
 * questions are put to whoever answers them, and the request is sent again with the answers and the server's state,
 * until it has a result. Each question is asked once: one that comes back unchanged under its key gets the answer it
 * was given, after a pause that grows. A server that never has enough is ended after ten rounds, and one that only goes on
 * asking what it was told after four: within seconds, as nobody is asked anything meanwhile.
 * It doesn't know what a question means, and nothing in it touches a connection.
 */
import { canonicalJson } from "../../schemas/canonical.ts";
import { isRecord } from "../../schemas/record.ts";
import type { Failure } from "./failure.ts";
import type { RequestOutcome } from "./session.ts";
import { pause } from "./waiting.ts";

/** A question as a server put it. */
export interface AskedQuestion {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The tool during whose call it was put; absent where that can't be told. */
  readonly tool?: string | undefined;
  /** The server looks again only once it has the answer, so a visit to a URL should be over by then. */
  readonly whenDone?: boolean | undefined;
  /** Aborted when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

/** Resolves with the result for the server. What it rejects with ends the request that raised the question. */
export type AnswerQuestion = (asked: AskedQuestion) => Promise<Record<string, unknown>>;

/** The tool that a request calls, if it calls one. */
export function toolOf(method: string, params: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const name = method === "tools/call" ? params?.["name"] : undefined;
  return typeof name === "string" ? name : undefined;
}

/** What a request is sent again with. */
export interface Answers {
  readonly inputResponses?: Readonly<Record<string, unknown>>;
  readonly requestState?: unknown;
}

export interface Rounds {
  /** Sends the request once more. */
  send(answers: Answers): Promise<RequestOutcome>;
  answer: AnswerQuestion;
  readonly tool?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The failure that a rejected answer is. */
  failureOf(error: unknown): Failure;
}

/** Times that a request is sent again. */
export const MAX_ROUNDS = 10;
/** Times in a row that it is sent again with nothing but answers that the server has had. */
const MAX_REPEATS = 4;
/** Questions in one answer. */
const MAX_QUESTIONS = 50;
/** Milliseconds before a request is sent again that had nothing new to be asked: doubled each time, up to the longest. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 8000;

/** JSON-RPC code of `URLElicitationRequiredError`: the request was not run, and may be sent again after a visit. */
const URL_ELICITATION_REQUIRED = -32042;

/** The outcome of a request in the end; `first` is that of sending it the first time. */
export async function answerRounds(first: RequestOutcome, rounds: Rounds): Promise<RequestOutcome> {
  const given = new Map<string, { readonly question: string; readonly answer: Record<string, unknown> }>();
  let outcome = first;
  let pauseMs = FIRST_PAUSE_MS;
  let repeats = 0;
  for (let round = 1; ; round++) {
    const asked = readQuestions(outcome);
    if (asked === undefined) return outcome;
    if (asked.wrong !== undefined) return failed("unusable", asked.wrong);
    if (round > MAX_ROUNDS) return failed("unusable", `it asked for more input ${MAX_ROUNDS} times without an end`);
    const news = asked.questions.filter(({ key, text }) => given.get(key)?.question !== text);
    const isRepeat = news.length === 0 && asked.questions.length > 0 && !asked.visits;
    repeats = isRepeat ? repeats + 1 : 0;
    if (repeats > MAX_REPEATS)
      return failed("unusable", `it asked the same again, though it had been answered ${repeats} times`);
    const answered = await askAll(news, rounds);
    if (!answered.ok) return { ok: false, failure: answered.failure };
    for (const [index, { key, text }] of news.entries())
      given.set(key, { question: text, answer: answered.all[index]! });
    if (asked.visits && news.some(({ key }) => given.get(key)!.answer["action"] !== "accept")) return outcome;
    if (news.length === 0 || asked.visits) {
      await pause(pauseMs, rounds.signal);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
    if (rounds.signal?.aborted) return failed("cancelled", "cancelled");
    // Not by assignment: a key may be `__proto__`.
    const responses = Object.fromEntries(asked.questions.map(({ key }) => [key, given.get(key)!.answer]));
    outcome = await rounds.send({
      ...(!asked.visits && asked.questions.length > 0 && { inputResponses: responses }),
      ...(asked.requestState !== undefined && { requestState: asked.requestState }),
    });
  }
}

interface KeyedQuestion {
  readonly key: string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Two questions are the same if and only if this is. */
  readonly text: string;
}

interface Asked {
  readonly questions: readonly KeyedQuestion[];
  readonly requestState?: unknown;
  /** They are URLs to visit before the request is sent again as it was. */
  readonly visits?: boolean;
  /** Why it can't be answered. */
  readonly wrong?: string;
}

/** Nothing where the outcome is an end. */
function readQuestions(outcome: RequestOutcome): Asked | undefined {
  try {
    const asked = questionsIn(outcome);
    const tooMany = asked !== undefined && asked.questions.length > MAX_QUESTIONS;
    return tooMany ? { ...asked, wrong: `it asked ${asked.questions.length} questions at once` } : asked;
  } catch (error) {
    if (error instanceof RangeError) return { questions: [], wrong: "it asked for input that nests too deeply" };
    throw error;
  }
}

function questionsIn(outcome: RequestOutcome): Asked | undefined {
  if (!outcome.ok) return visitsIn(outcome.failure);
  const { resultType, inputRequests, requestState } = outcome.result;
  if (resultType !== "input_required") return undefined;
  const requests = inputRequests ?? {};
  if (!isRecord(requests)) return { questions: [], wrong: "it asked for input in a form that isn't MCP" };
  const questions: KeyedQuestion[] = [];
  for (const [key, request] of Object.entries(requests)) {
    if (!isRecord(request) || typeof request["method"] !== "string") {
      return { questions, wrong: "it asked for input in a form that isn't MCP" };
    }
    questions.push(keyed(key, request["method"], isRecord(request["params"]) ? request["params"] : {}));
  }
  if (questions.length === 0 && requestState === undefined) {
    return { questions, wrong: "it asked for input without saying which" };
  }
  return { questions, requestState };
}

function visitsIn(failure: Failure): Asked | undefined {
  if (failure.kind !== "rpc-error" || failure.error.code !== URL_ELICITATION_REQUIRED) return undefined;
  const { data } = failure.error;
  const listed = isRecord(data) && Array.isArray(data["elicitations"]) ? data["elicitations"].filter(isRecord) : [];
  if (listed.length === 0) return undefined;
  const questions = listed.map((params, index) =>
    keyed(String(params["elicitationId"] ?? index), "elicitation/create", { ...params, mode: "url" }),
  );
  return { questions, visits: true };
}

function keyed(key: string, method: string, params: Readonly<Record<string, unknown>>): KeyedQuestion {
  return { key, method, params, text: canonicalJson({ method, params }) };
}

type AllAnswered =
  | { readonly ok: true; readonly all: readonly Record<string, unknown>[] }
  | { readonly ok: false; readonly failure: Failure };

/** At the same time; the first that has no answer withdraws the others. */
async function askAll(questions: readonly KeyedQuestion[], rounds: Rounds): Promise<AllAnswered> {
  const withdrawn = new AbortController();
  const signal = rounds.signal ? AbortSignal.any([rounds.signal, withdrawn.signal]) : withdrawn.signal;
  try {
    const { tool } = rounds;
    const all = questions.map(({ method, params }) => rounds.answer({ method, params, tool, whenDone: true, signal }));
    return { ok: true, all: await Promise.all(all) };
  } catch (error) {
    withdrawn.abort();
    return { ok: false, failure: rounds.failureOf(error) };
  }
}

function failed(kind: "unusable" | "cancelled", message: string): RequestOutcome {
  return { ok: false, failure: { kind, message } };
}
