/**
 * From a task's handle to its end: polls at the server's pace, listens to its notices, has its questions answered, and hands back
 * one outcome. Knows nothing of connections, files or terminals, and decides by kinds and codes, never by texts.
 * Ends by itself: with the task, with its `ttlMs`, when the server no longer knows it, when the server can't be reached for
 * several polls in a row, or when the caller gives up, which cancels the task.
 */
import type { Question } from "../questions.ts";
import { AwaitedResult } from "./awaited-result.ts";
import type { Clock } from "./clock.ts";
import { deadlineOf } from "./handle-file.ts";
import { failurePauseMs, MOST_FAILURES, nextPollAt } from "./poll-schedule.ts";
import {
  closingFailure,
  isUnknownTask,
  maybeUnknownTask,
  mayPass,
  type PeerFailure,
  type TaskPeer,
} from "./task-peer.ts";
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

/** How long a server may take to take note of a cancellation. */
const CANCEL_MS = 3000;
const INTERNAL_ERROR = -32603;

export function followTask(options: FollowOptions): Promise<TaskOutcome> {
  return new Following(options).run();
}

class Following {
  readonly #o: FollowOptions;
  readonly #stop: AbortSignal;
  readonly #questions: TaskQuestions;
  readonly #awaited: AwaitedResult;
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

  constructor(options: FollowOptions) {
    this.#o = options;
    const { known, peer, record, clock } = options;
    this.#state = isSpoken(known, peer) ? known : { ...known, status: "working" };
    // Clocks are put back at times.
    this.#lastAt = Math.min(clock.now(), Date.parse(record.handle.updatedAt));
    this.#chance = options.clock.random();
    this.#stop = options.signal ? AbortSignal.any([options.signal, options.closing]) : options.closing;
    const onChange = () => this.#wake.abort();
    this.#questions = new TaskQuestions({
      answers: () => record.handle.answers,
      keep: (answers) => record.update({ answers }),
      ask: options.ask,
      onChange,
    });
    this.#awaited = new AwaitedResult({ peer, clock, stop: this.#stop, onChange });
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
      this.#awaited.close();
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
    const { result, failure } = this.#awaited;
    if (result !== undefined) return { kind: "result", result };
    if (isTerminal(state.status)) return this.#ended(state);
    if (this.#needsAwaiting && failure !== undefined) return { kind: "left", failure };
    if (this.#needsAwaiting) this.#awaited.open();
    if (state.status !== "input_required") this.#questions.idle();
    else if (state.inputRequests !== undefined) this.#questions.observe(state.inputRequests);
    return this.#problem();
  }

  /** `v1` hands out questions only to who waits for the result. */
  get #needsAwaiting(): boolean {
    return this.#o.peer.generation === "v1" && this.#state.status === "input_required";
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
    const reply = await this.#awaited.fetch();
    if (reply === undefined) return undefined;
    if (reply.ok) return { kind: "result", result: reply.value };
    const { failure } = reply;
    if (failure.kind !== "rpc-error") return { kind: "left", failure };
    // An experimental server that keeps no error behind a failed task has said what there is to say.
    return status === "failed" && message !== undefined
      ? { kind: "failed", error: { code: failure.code, message }, message }
      : { kind: "refused", failure };
  }

  /** One event: an answer to send, a notice, or the time for a poll, which no notices hold off. */
  async #step(): Promise<TaskOutcome | undefined> {
    const ready = this.#questions.ready();
    if (ready !== undefined) return this.#answer(ready);
    const { clock, peer } = this.#o;
    const notice = this.#notice;
    this.#notice = undefined;
    if (notice !== undefined && isSpoken(notice, peer)) await this.#accept(notice, false);
    const at = this.#nextPollAt();
    if (notice === undefined && !this.#wake.signal.aborted) {
      const until = Math.min(at, (this.#needsAwaiting && this.#awaited.retryAt) || at);
      await clock.wait(Math.max(0, until - clock.now()), this.#wake.signal);
    }
    this.#wake = new AbortController();
    const isDue = clock.now() >= at && !isTerminal(this.#state.status);
    return isDue && !this.#stop.aborted ? this.#poll() : undefined;
  }

  #nextPollAt(): number {
    const { handle } = this.#o.record;
    return nextPollAt({
      pollIntervalMs: handle.pollIntervalMs,
      unpaced: this.#unpaced,
      failures: this.#failures,
      lastAt: this.#lastAt,
      deadline: deadlineOf(handle),
      chance: this.#chance,
    });
  }

  async #poll(): Promise<TaskOutcome | undefined> {
    const { peer, clock, record } = this.#o;
    const deadline = deadlineOf(record.handle);
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
    const { failure } = reply;
    const task = await this.#taskBehind(failure);
    if (this.#stop.aborted || task === "ended") return undefined;
    if (task === "unknown") return { kind: "unknown", failure };
    const { code } = failure;
    if (code !== undefined && code !== INTERNAL_ERROR) {
      await this.#questions.refused(keys);
      return { kind: "left", failure };
    }
    const outcome = this.#missed(failure);
    // The same answer is sent again.
    if (outcome === undefined) await this.#o.clock.wait(failurePauseMs(this.#failures), this.#stop);
    return outcome;
  }

  /** Whether it is the task that the server doesn't take, and not the answer: asked, where one code stands for both. */
  async #taskBehind(refusal: PeerFailure): Promise<"unknown" | "ended" | "there"> {
    const isUnknown = maybeUnknownTask(refusal);
    if (isUnknown !== "perhaps") return isUnknown === "yes" ? "unknown" : "there";
    const { peer, clock } = this.#o;
    await clock.wait(Math.max(0, this.#nextPollAt() - clock.now()), this.#stop);
    const reply = await peer.get(this.#stop);
    this.#lastAt = clock.now();
    if (!reply.ok) return isUnknownTask(reply.failure) ? "unknown" : "there";
    await this.#accept(reply.value, true);
    return isTerminal(reply.value.status) ? "ended" : "there";
  }

  /** A request that got no result: something passing, or the end of it. */
  #missed(failure: PeerFailure): TaskOutcome | undefined {
    if (this.#stop.aborted) return undefined;
    if (isUnknownTask(failure)) return { kind: "unknown", failure };
    this.#failures++;
    return mayPass(failure) && this.#failures < MOST_FAILURES ? undefined : { kind: "left", failure };
  }
}

/** Whether a word of the task's end comes with what it ended in. Where it doesn't, that is asked for. */
function isSpoken({ status, result, error }: TaskState, { generation }: TaskPeer): boolean {
  if (generation === "v1" || !isTerminal(status) || status === "cancelled") return true;
  return (status === "completed" ? result : error) !== undefined;
}
