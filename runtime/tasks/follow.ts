/**
 * From a task's handle to its end: polls at the server's pace, listens to its notices, has its questions answered, and hands back
 * one outcome. Knows nothing of connections, files or terminals, and decides by kinds and codes, never by texts.
 * Ends by itself: with the task, with its `ttlMs`, when the server no longer knows it, when the server can't be reached for
 * several polls in a row, or when the caller gives up, which cancels the task.
 */
import type { Question } from "../questions.ts";
import type { Clock } from "./clock.ts";
import { deadlineOf } from "./handle-file.ts";
import { nextPollAt } from "./poll-schedule.ts";
import { closingFailure, isUnknownTask, type PeerFailure, type Reply, type TaskPeer } from "./task-peer.ts";
import { TaskQuestions } from "./task-questions.ts";
import type { TaskRecord } from "./task-record.ts";
import { isTerminal, type TaskState } from "./task-state.ts";

export type TaskOutcome =
  | { readonly kind: "result"; readonly result: Readonly<Record<string, unknown>> }
  /** A JSON-RPC error as the server sent it: what a plain call would have failed with. */
  | { readonly kind: "failed"; readonly error: unknown; readonly message: string | undefined }
  /** The same, where it came as the answer to a request. */
  | { readonly kind: "refused"; readonly failure: PeerFailure }
  /** On the server, by whomever. */
  | { readonly kind: "cancelled"; readonly message: string | undefined }
  /** Completed, says the server, and gives no result. */
  | { readonly kind: "empty" }
  | { readonly kind: "expired"; readonly ttlMs: number }
  | { readonly kind: "unknown"; readonly failure: PeerFailure }
  /** It can't be followed now; it goes on and stays on disk. */
  | { readonly kind: "left"; readonly failure: PeerFailure }
  /** Another process follows it. */
  | { readonly kind: "lost" }
  | { readonly kind: "unanswered"; readonly message: string; readonly cause?: unknown }
  /** The caller gave up; `failure` where the server could not be told. */
  | { readonly kind: "given-up"; readonly failure?: PeerFailure };

export interface FollowOptions {
  readonly peer: TaskPeer;
  readonly record: TaskRecord;
  /** What the server said last; its status alone when it is known from disk. */
  readonly known: TaskState;
  readonly clock: Clock;
  readonly ask: (question: Pick<Question, "method" | "params" | "signal">) => Promise<Record<string, unknown>>;
  /** Aborted by the caller: cancels the task. */
  readonly signal?: AbortSignal | undefined;
  /** Aborted when this process has to let go: leaves the task as it is. */
  readonly closing: AbortSignal;
  readonly onStatus?: ((state: TaskState) => void) | undefined;
}

/** Failed polls in a row before the task is left to a later resume. */
const MOST_FAILURES = 6;
/** How long a server may take to take note of a cancellation. */
const CANCEL_MS = 3000;
const PASSING: ReadonlySet<PeerFailure["kind"]> = new Set([
  "closed",
  "unavailable",
  "timeout",
  "session-lost",
  "unopened",
]);
const INTERNAL_ERROR = -32603;
/** Codes for a server that has no tasks at all. */
const NO_TASKS = new Set([-32601, -32021]);

export function followTask(options: FollowOptions): Promise<TaskOutcome> {
  return new Following(options).run();
}

class Following {
  readonly #o: FollowOptions;
  readonly #stop: AbortSignal;
  /** Aborted with the end of it all, for what is still being waited for then. */
  readonly #over = new AbortController();
  readonly #questions: TaskQuestions;
  #state: TaskState;
  /** The latest notice not looked at yet. */
  #notice: TaskState | undefined;
  /** Ends the pause under way. */
  #wake = new AbortController();
  #lastAt: number;
  #unpaced = 0;
  #failures = 0;
  #chance: number;
  #saidMessage: string | undefined;
  /** `v1` hands out questions only to who waits for the result. */
  #waiting: Promise<Reply<Readonly<Record<string, unknown>>>> | undefined;
  #waited: Reply<Readonly<Record<string, unknown>>> | undefined;

  constructor(options: FollowOptions) {
    this.#o = options;
    const { known, peer, record, clock } = options;
    this.#state = isSpoken(known, peer) ? known : { ...known, status: "working" };
    // Clocks are put back at times.
    this.#lastAt = Math.min(clock.now(), Date.parse(record.handle.updatedAt));
    this.#chance = options.clock.random();
    this.#stop = options.signal ? AbortSignal.any([options.signal, options.closing]) : options.closing;
    this.#questions = new TaskQuestions({
      answers: () => options.record.handle.answers,
      keep: (answers) => options.record.update({ answers }),
      ask: options.ask,
      onChange: () => this.#wake.abort(),
    });
  }

  async run(): Promise<TaskOutcome> {
    const unlisten = this.#o.peer.onStatus((state) => {
      this.#notice = state;
      this.#wake.abort();
    });
    const onStop = () => this.#wake.abort();
    this.#stop.addEventListener("abort", onStop, { once: true });
    try {
      for (;;) {
        const outcome = (await this.#interrupted()) ?? (await this.#look()) ?? (await this.#step());
        if (outcome !== undefined) return outcome;
      }
    } finally {
      unlisten();
      this.#questions.idle();
      this.#over.abort();
      this.#stop.removeEventListener("abort", onStop);
    }
  }

  async #interrupted(): Promise<TaskOutcome | undefined> {
    if (this.#o.record.lost) return { kind: "lost" };
    if (this.#o.closing.aborted) return { kind: "left", failure: closingFailure(this.#o.record.handle.server) };
    return this.#o.signal?.aborted ? this.#giveUp() : undefined;
  }

  async #giveUp(): Promise<TaskOutcome> {
    const reply = await this.#o.peer.cancel(AbortSignal.any([AbortSignal.timeout(CANCEL_MS), this.#o.closing]));
    return reply.ok || isUnknownTask(reply.failure)
      ? { kind: "given-up" }
      : { kind: "given-up", failure: reply.failure };
  }

  /** What the present state leads to; undefined where it is to be waited for. */
  async #look(): Promise<TaskOutcome | undefined> {
    const state = this.#state;
    if (state.statusMessage !== undefined && state.statusMessage !== this.#saidMessage) this.#o.onStatus?.(state);
    this.#saidMessage = state.statusMessage;
    if (this.#waited?.ok) return { kind: "result", result: this.#waited.value };
    if (isTerminal(state.status)) return this.#ended(state);
    if (state.status !== "input_required") this.#questions.idle();
    else if (this.#o.peer.generation === "v1") this.#waitForResult();
    else if (state.inputRequests !== undefined) this.#questions.observe(state.inputRequests);
    return this.#problem();
  }

  async #problem(): Promise<TaskOutcome | undefined> {
    const { problem } = this.#questions;
    if (problem === undefined) return undefined;
    await this.#giveUp();
    return { kind: "unanswered", ...problem };
  }

  async #ended(state: TaskState): Promise<TaskOutcome | undefined> {
    const { status, statusMessage, result, error } = state;
    this.#questions.idle();
    if (status === "cancelled") return { kind: "cancelled", message: statusMessage };
    if (this.#o.peer.generation === "v1") return this.#fetchResult(status, statusMessage);
    if (status === "failed") return { kind: "failed", error, message: statusMessage };
    return result === undefined ? { kind: "empty" } : { kind: "result", result };
  }

  async #fetchResult(status: string, message: string | undefined): Promise<TaskOutcome | undefined> {
    while (!this.#stop.aborted) {
      const reply = (await this.#waiting) ?? (await this.#o.peer.result(this.#stop, "ended"));
      this.#waiting = undefined;
      if (reply.ok) return { kind: "result", result: reply.value };
      const { failure } = reply;
      if (failure.kind === "rpc-error") {
        // An experimental server that keeps no error behind a failed task has said what there is to say.
        return status === "failed" && message !== undefined
          ? { kind: "failed", error: { code: failure.code, message }, message }
          : { kind: "refused", failure };
      }
      const outcome = this.#missed(failure);
      if (outcome !== undefined) return outcome;
      await this.#pause();
    }
    return undefined;
  }

  #waitForResult(): void {
    if (this.#waiting !== undefined) return;
    const waiting = this.#o.peer.result(AbortSignal.any([this.#stop, this.#over.signal]), "waiting");
    this.#waiting = waiting;
    void waiting.then((reply) => {
      this.#waited = reply;
      if (this.#waiting === waiting && !reply.ok) this.#waiting = undefined;
      this.#wake.abort();
    });
  }

  async #pause(): Promise<void> {
    await this.#o.clock.wait(1000 * this.#failures, this.#stop);
  }

  /** One event: an answer to send, a notice, or the time for a poll. */
  async #step(): Promise<TaskOutcome | undefined> {
    const ready = this.#questions.ready();
    if (ready !== undefined) return this.#answer(ready);
    const { clock, record } = this.#o;
    const deadline = deadlineOf(record.handle);
    const at = nextPollAt({
      pollIntervalMs: record.handle.pollIntervalMs,
      unpaced: this.#unpaced,
      failures: this.#failures,
      lastAt: this.#lastAt,
      deadline,
      chance: this.#chance,
    });
    if (this.#notice === undefined && !this.#wake.signal.aborted) {
      await clock.wait(Math.max(0, at - clock.now()), this.#wake.signal);
    }
    const woken = this.#wake.signal.aborted;
    this.#wake = new AbortController();
    if (this.#stop.aborted) return undefined;
    const notice = this.#notice;
    this.#notice = undefined;
    if (notice !== undefined) return isSpoken(notice, this.#o.peer) ? this.#accept(notice, false) : undefined;
    if (woken || clock.now() < at) return undefined;
    return this.#poll(deadline);
  }

  async #poll(deadline: number | undefined): Promise<TaskOutcome | undefined> {
    const { peer, clock, record } = this.#o;
    const reply = await peer.get(this.#stop);
    this.#lastAt = clock.now();
    this.#chance = clock.random();
    if (!reply.ok) return this.#missed(reply.failure);
    this.#failures = 0;
    this.#unpaced = reply.value.pollIntervalMs === undefined ? this.#unpaced + 1 : 0;
    await this.#accept(reply.value, true);
    if (isTerminal(reply.value.status)) return undefined;
    const { ttlMs } = record.handle;
    // The server's latest word may have prolonged it.
    const isPast = deadline !== undefined && (deadlineOf(record.handle) ?? Number.POSITIVE_INFINITY) <= clock.now();
    if (!isPast || ttlMs === undefined) return undefined;
    await this.#giveUp();
    return { kind: "expired", ttlMs };
  }

  /** A notice that changes nothing about the handle costs no write: there may be a flood of them. */
  async #accept(state: TaskState, isPoll: boolean): Promise<undefined> {
    const { record, clock } = this.#o;
    this.#state = state;
    const { status, ttlMs, pollIntervalMs } = state;
    const { handle } = record;
    const isNews =
      status !== handle.status ||
      (ttlMs ?? handle.ttlMs) !== handle.ttlMs ||
      (pollIntervalMs ?? handle.pollIntervalMs) !== handle.pollIntervalMs;
    if (!isPoll && !isNews) return;
    await record.update({
      status,
      updatedAt: new Date(clock.now()).toISOString(),
      ...(ttlMs !== undefined && { ttlMs }),
      ...(pollIntervalMs !== undefined && { pollIntervalMs }),
    });
    return undefined;
  }

  async #answer(responses: Record<string, unknown>): Promise<TaskOutcome | undefined> {
    const keys = Object.keys(responses);
    const reply = await this.#o.peer.update(responses, this.#stop);
    if (reply.ok) {
      await this.#questions.taken(keys);
      return undefined;
    }
    const { code } = reply.failure;
    if (code !== undefined && code !== INTERNAL_ERROR) {
      await this.#questions.refused(keys);
      return { kind: "left", failure: reply.failure };
    }
    const outcome = this.#missed(reply.failure);
    // The same answer is sent again.
    if (outcome === undefined) await this.#pause();
    return outcome;
  }

  /** A request that got no result: something passing, or the end of it. */
  #missed(failure: PeerFailure): TaskOutcome | undefined {
    if (this.#stop.aborted) return undefined;
    const { code } = failure;
    if (isUnknownTask(failure)) return { kind: "unknown", failure };
    const mayPass = code === undefined ? PASSING.has(failure.kind) : !NO_TASKS.has(code);
    this.#failures++;
    return mayPass && this.#failures < MOST_FAILURES ? undefined : { kind: "left", failure };
  }
}

/** Whether a word of the task's end comes with what it ended in. Where it doesn't, that is asked for. */
function isSpoken({ status, result, error }: TaskState, { generation }: TaskPeer): boolean {
  if (generation === "v1" || !isTerminal(status) || status === "cancelled") return true;
  return (status === "completed" ? result : error) !== undefined;
}
