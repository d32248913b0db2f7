/**
 * Requests of the server's own (2025): who waits for them, and which request of ours they belong to. The protocol
 * doesn't say which, so a question that comes while one request is under way is taken to be that one's: it is
 * withdrawn when that request ends, and ends it when there is no answer. With several under way it is nobody's in
 * particular. What goes wrong on our side is told here in full and to the server in a few fixed words.
 */
import type * as Sdk from "@modelcontextprotocol/client";
import { type Failure, failureOf, HandlerFailedError, timeoutFailure } from "./failure.ts";
import { type AnswerQuestion, toolOf } from "./input-required.ts";
import { type Busy, RequestClock, sendInTime, type TimedOptions, underClock } from "./request-clock.ts";
import type { RequestOutcome, SessionSettings } from "./session.ts";

/** Questions of one server that may be open at once; any more is a flood. */
const MAX_OPEN = 50;
/** Questions during one request, one after the other; whoever asks more never has enough. */
const MAX_ASKED = 200;
const INTERNAL_ERROR = -32603;
/** As MCP has it for sampling that the user rejected. */
const USER_REJECTED = -1;

interface Underway {
  readonly tool: string | undefined;
  /** Questions so far. */
  asked: number;
  readonly clock: RequestClock;
  /** Aborted when the request has ended, however it did. */
  readonly ended: AbortController;
  /** Ends the request with what its question failed with. */
  readonly failed: AbortController;
}

export interface DirectQuestionsOptions {
  readonly answer: AnswerQuestion;
  /** Names of what may be asked: the client capabilities that are advertised. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  failureOf(error: unknown): Failure;
  /** A question that failed and belongs to no request in particular. */
  readonly onUnanswered?: ((failure: Failure) => void) | undefined;
  readonly busy?: Busy | undefined;
}

const METHODS: readonly (readonly [capability: string, method: string])[] = [
  ["elicitation", "elicitation/create"],
  ["sampling", "sampling/createMessage"],
  ["roots", "roots/list"],
];

/** Requests of ours during which a server may ask back. */
const MAY_ASK = new Set(["tools/call", "prompts/get", "resources/read", "tasks/result"]);

/** Nothing where nobody answers or nothing may be asked. */
export function directQuestions({ answer, identity, onUnanswered, secrets, sdk }: SessionSettings, busy?: Busy) {
  if (answer === undefined || Object.keys(identity.capabilities).length === 0) return undefined;
  return new DirectQuestions({
    answer,
    capabilities: identity.capabilities,
    failureOf: (error) => failureOf(error, { secrets, sdk }),
    onUnanswered,
    busy,
  });
}

export class DirectQuestions {
  readonly #options: DirectQuestionsOptions;
  readonly #underway = new Set<Underway>();
  #open = 0;

  constructor(options: DirectQuestionsOptions) {
    this.#options = options;
  }

  /** Takes the questions that are advertised, before the handshake: a server may ask right after it. */
  register(client: Sdk.Client): void {
    for (const [capability, method] of METHODS) {
      if (!Object.hasOwn(this.#options.capabilities, capability)) continue;
      client.setRequestHandler(method as "roots/list", (request, { mcpReq }) => {
        return this.#answer(method, (request.params ?? {}) as Record<string, unknown>, mcpReq.signal) as never;
      });
    }
  }

  /** Sends a request during which the server may ask. Its `timeoutMs` is how long it may be silent while nobody is asked. */
  async during(
    method: string,
    params: Readonly<Record<string, unknown>> | undefined,
    options: TimedOptions,
    send: (options: TimedOptions) => Promise<RequestOutcome>,
  ): Promise<RequestOutcome> {
    const { busy } = this.#options;
    if (!MAY_ASK.has(method)) return sendInTime(busy, options, send);
    const { timeoutMs, signal } = options;
    const clock = new RequestClock(timeoutMs, busy);
    const tool = toolOf(method, params);
    const underway: Underway = { tool, asked: 0, clock, ended: new AbortController(), failed: new AbortController() };
    this.#underway.add(underway);
    try {
      const outcome = await send(underClock(clock, options, underway.failed.signal));
      if (outcome.ok || signal?.aborted) return outcome;
      if (underway.failed.signal.aborted) return { ok: false, failure: underway.failed.signal.reason as Failure };
      return clock.signal.aborted ? { ok: false, failure: timeoutFailure(timeoutMs) } : outcome;
    } finally {
      clock.stop();
      this.#underway.delete(underway);
      underway.ended.abort();
    }
  }

  async #answer(
    method: string,
    params: Readonly<Record<string, unknown>>,
    withdrawn: AbortSignal,
  ): Promise<Record<string, unknown>> {
    if (this.#open >= MAX_OPEN) throw refusal("too many questions at once");
    const requests = [...this.#underway];
    const only = requests.length === 1 ? requests[0] : undefined;
    if (only !== undefined && ++only.asked > MAX_ASKED) {
      const message = `it asked more than ${MAX_ASKED} questions`;
      this.#report({ kind: "unusable", message }, only);
      throw refusal("too many questions");
    }
    this.#open++;
    const [signal, release] = untilEnded(requests, withdrawn);
    const holds = requests.map(({ clock }) => clock.hold());
    try {
      return await this.#options.answer({ method, params, tool: only?.tool, signal });
    } catch (error) {
      if (error instanceof HandlerFailedError && error.isDecline) throw refusal("the user said no", USER_REJECTED);
      if (!signal.aborted) this.#report(this.#options.failureOf(error), only);
      throw refusal("the client could not answer");
    } finally {
      this.#open--;
      release();
      for (const release of holds) release();
    }
  }

  #report(failure: Failure, request: Underway | undefined): void {
    if (request) request.failed.abort(failure);
    else this.#options.onUnanswered?.(failure);
  }
}

/** What the server is told of a question without an answer. */
function refusal(message: string, code = INTERNAL_ERROR): Error {
  return Object.assign(new Error(message), { code });
}

/** A signal aborted when the server withdraws its question or every request that it may belong to has ended. */
function untilEnded(requests: readonly Underway[], withdrawn: AbortSignal): [AbortSignal, release: () => void] {
  const ended = new AbortController();
  let left = requests.length;
  const onEnd = () => {
    left--;
    if (left === 0) ended.abort();
  };
  for (const request of requests) request.ended.signal.addEventListener("abort", onEnd, { once: true });
  const release = () => {
    for (const request of requests) request.ended.signal.removeEventListener("abort", onEnd);
  };
  return [AbortSignal.any([withdrawn, ended.signal]), release];
}
