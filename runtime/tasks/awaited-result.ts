/**
 * The result of a task of 2025-11-25, whose server puts its questions only to who waits for that. While the task waits for input
 * one request for it is open; one that fails is sent again later and later, and not without end. Whether there is such a task is
 * left to the polls: a server that refuses the request may only not take it yet.
 */
import type { Clock } from "./clock.ts";
import { failurePauseMs, LONGEST_FAILURE_PAUSE_MS, MOST_FAILURES } from "./poll-schedule.ts";
import { mayPass, type PeerFailure, type Reply, type TaskPeer } from "./task-peer.ts";

type Result = Readonly<Record<string, unknown>>;

export interface AwaitedResultOptions {
  readonly peer: TaskPeer;
  readonly clock: Clock;
  /** Aborted when nobody wants it any more. */
  readonly stop: AbortSignal;
  /** There is a result, a failure, or a request to be sent again. */
  readonly onChange: () => void;
}

/** What an open request may still take once the task has ended. A server that forgot about it is asked anew then. */
const LATE_MS = 5000;

export class AwaitedResult {
  readonly #o: AwaitedResultOptions;
  readonly #over = new AbortController();
  #request: Promise<void> | undefined;
  #result: Result | undefined;
  #failure: PeerFailure | undefined;
  #failures = 0;
  #retryAt: number | undefined;

  constructor(options: AwaitedResultOptions) {
    this.#o = options;
  }

  get result(): Result | undefined {
    return this.#result;
  }

  /** Of the last request, once there is no use in another. */
  get failure(): PeerFailure | undefined {
    return this.#failure;
  }

  /** When `open` would send a request again that failed; undefined while one is open, or none has failed. */
  get retryAt(): number | undefined {
    return this.#request === undefined ? this.#retryAt : undefined;
  }

  /** Sees to it that a request is open, unless it is too early for another. */
  open(): void {
    const { peer, clock, stop } = this.#o;
    const now = clock.now();
    if (this.#request !== undefined || this.#failure !== undefined || now < (this.#retryAt ?? now)) return;
    const signal = AbortSignal.any([stop, this.#over.signal]);
    this.#request = peer.result(signal, "waiting").then((reply) => this.#answered(reply, now));
  }

  #answered(reply: Reply<Result>, openedAt: number): void {
    this.#request = undefined;
    if (reply.ok) this.#result = reply.value;
    else this.#missed(reply.failure, openedAt);
    this.#o.onChange();
  }

  #missed(failure: PeerFailure, openedAt: number): void {
    const now = this.#o.clock.now();
    // One that was open for long was cut off, as proxies do, and says nothing about those before.
    this.#failures = now - openedAt >= LONGEST_FAILURE_PAUSE_MS ? 1 : this.#failures + 1;
    if (mayPass(failure) && this.#failures < MOST_FAILURES) this.#retryAt = now + failurePauseMs(this.#failures);
    else this.#failure = failure;
  }

  /** Of a task that has ended, tried as often as it may help. Undefined where nobody wants it any more. */
  async fetch(): Promise<Reply<Result> | undefined> {
    const { peer, clock, stop } = this.#o;
    await this.#lateAnswer();
    if (this.#result !== undefined) return { ok: true, value: this.#result };
    this.close();
    for (let failures = 1; !stop.aborted; failures++) {
      const reply = await peer.result(stop, "ended");
      if (reply.ok) return reply;
      const { failure } = reply;
      const isFinal = failure.kind === "rpc-error" || !mayPass(failure) || failures === MOST_FAILURES;
      if (isFinal) return stop.aborted ? undefined : reply;
      await clock.wait(failurePauseMs(failures), stop);
    }
    return undefined;
  }

  /** Gives the request that is open a moment. */
  async #lateAnswer(): Promise<void> {
    if (this.#request === undefined) return;
    const { clock, stop } = this.#o;
    const answered = new AbortController();
    await Promise.race([this.#request, clock.wait(LATE_MS, AbortSignal.any([stop, answered.signal]))]);
    // The timer would keep a program going.
    answered.abort();
  }

  /** Lets go of the request that is open. */
  close(): void {
    this.#over.abort();
  }
}
