/**
 * The way of a result around the SDK: it arrives in the slot that its request carries, as it came, and the SDK
 * completes its bookkeeping with a stand-in that is valid whatever the result was.
 */

/** Where the result of one request arrives. */
export interface ResultSlot {
  result?: Record<string, unknown>;
  /** An `input_required` is wanted here too, instead of being answered by the SDK. */
  readonly takesQuestions?: boolean;
  /** The response was longer than the transport takes. */
  oversize?: { readonly limitBytes: number };
  /** The response's stream ended before the response. */
  brokenOff?: boolean;
}

const SLOT = Symbol("slot");

/** `params` of a request whose result is wanted as it comes. The mark is a symbol, so it is never sent. */
export function withSlot(params: Readonly<Record<string, unknown>> | undefined, slot: ResultSlot) {
  return { ...params, [SLOT]: slot };
}

export function slotOf(params: object | undefined): ResultSlot | undefined {
  return (params as { [SLOT]?: ResultSlot } | undefined)?.[SLOT];
}

/** Takes the result of a request that was given up before it came. */
export type LateListener = (result: Readonly<Record<string, unknown>>) => void;

const LATE = Symbol("late");

/** `params` of a request that may begin something on the server even where nobody waits for its answer any more. */
export function withLateListener(params: Readonly<Record<string, unknown>>, listener: LateListener) {
  return { ...params, [LATE]: listener };
}

export function lateListenerOf(params: object | undefined): LateListener | undefined {
  return (params as { [LATE]?: LateListener } | undefined)?.[LATE];
}

/** Valid as the result of any method in either era, for all the SDK looks at. */
const STAND_IN = Object.freeze({
  resultType: "complete",
  content: [],
  tools: [],
  prompts: [],
  messages: [],
  resources: [],
  resourceTemplates: [],
  contents: [],
  completion: { values: [] },
  ttlMs: 0,
  cacheScope: "private",
});
/** The same for the method that is asked most: the SDK looks at every key. */
const CALL_STAND_IN = Object.freeze({ resultType: "complete", content: [] });

export function standInFor(method: string): Readonly<Record<string, unknown>> {
  return method === "tools/call" ? CALL_STAND_IN : STAND_IN;
}
