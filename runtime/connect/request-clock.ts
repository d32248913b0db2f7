/**
 * The time a request may take without an answer or progress. It stands still while the server waits for an answer of
 * ours, and while a person signs in: somebody who fills in a form or signs in may take longer than any server should.
 */
import { timeoutFailure } from "./failure.ts";
import type { RequestOptions, RequestOutcome } from "./session.ts";
import { MAX_TIMER_MS } from "./waiting.ts";

/** What a person does for requests before they can be sent: resolves when it is done, undefined where nobody does anything. */
export type Busy = () => Promise<void> | undefined;

export class RequestClock {
  /** Aborted when the time is up. */
  readonly signal: AbortSignal;
  readonly #overdue = new AbortController();
  readonly #limitMs: number;
  readonly #busy: Busy | undefined;
  #timer: NodeJS.Timeout | undefined;
  #holds = 0;
  #stopped = false;

  constructor(limitMs: number, busy?: Busy) {
    this.#limitMs = limitMs;
    this.#busy = busy;
    this.signal = this.#overdue.signal;
    this.restart();
  }

  /** The server has been heard of: all the time is there again. */
  restart(): void {
    clearTimeout(this.#timer);
    if (this.#holds > 0 || this.#stopped) return;
    this.#timer = setTimeout(() => this.#expire(), this.#limitMs);
  }

  #expire(): void {
    const busy = this.#busy?.();
    if (busy === undefined) this.#overdue.abort();
    else void busy.finally(this.hold());
  }

  /** Stands still until the returned function is called. */
  hold(): () => void {
    this.#holds++;
    clearTimeout(this.#timer);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holds--;
      this.restart();
    };
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }
}

/** Options of a request whose time is decided: `timeoutMs` is one that a timer takes. */
export type TimedOptions = RequestOptions & { readonly timeoutMs: number };

/** The options with `clock`, which progress restarts, in place of their time limit; any of `ends` ends the request too. */
export function underClock(clock: RequestClock, options: TimedOptions, ...ends: AbortSignal[]): TimedOptions {
  const { signal, onProgress } = options;
  return {
    ...options,
    timeoutMs: MAX_TIMER_MS,
    signal: AbortSignal.any([clock.signal, ...ends, ...(signal ? [signal] : [])]),
    ...(onProgress && {
      onProgress: (progress) => {
        clock.restart();
        onProgress(progress);
      },
    }),
  };
}

/** Sends a request whose time does not run out while its connection is `busy`. */
export async function sendInTime(
  busy: Busy | undefined,
  options: TimedOptions,
  send: (options: TimedOptions) => Promise<RequestOutcome>,
): Promise<RequestOutcome> {
  if (busy === undefined) return send(options);
  const { timeoutMs, signal } = options;
  const clock = new RequestClock(timeoutMs, busy);
  try {
    const outcome = await send(underClock(clock, options));
    const isOverdue = !outcome.ok && clock.signal.aborted && signal?.aborted !== true;
    return isOverdue ? { ok: false, failure: timeoutFailure(timeoutMs) } : outcome;
  } finally {
    clock.stop();
  }
}
