/**
 * A task followed without a server and without waiting: a clock that jumps to whatever is waited for, and a peer that
 * answers from a script and writes down when it was asked what.
 */
import { join } from "node:path";
import type { Clock } from "../../runtime/tasks/clock.ts";
import { type FollowOptions, followTask, type TaskOutcome } from "../../runtime/tasks/follow.ts";
import { HANDLE_FORMAT, type TaskHandle } from "../../runtime/tasks/handle-file.ts";
import { HandleStore } from "../../runtime/tasks/handle-store.ts";
import type { PeerFailure, Reply, TaskPeer } from "../../runtime/tasks/task-peer.ts";
import { TaskRecord } from "../../runtime/tasks/task-record.ts";
import { readTaskState, type TaskGeneration, type TaskState } from "../../runtime/tasks/task-state.ts";
import type { Diagnostic } from "../../schemas/diagnostic.ts";
import { scratchFolder } from "../scratch.ts";

export const START = Date.parse("2026-11-30T12:00:00.000Z");

/** Jumps to the end of every wait, after whatever else is about to happen has happened. */
export class JumpingClock implements Clock {
  time = START;
  chance = 0;
  /** Called in every wait, once so many milliseconds of it have passed; may end it. */
  disturb: { readonly afterMs: number; readonly by: () => void } | undefined;
  /** Milliseconds of each wait that was begun. */
  readonly waits: number[] = [];

  now(): number {
    return this.time;
  }

  random(): number {
    return this.chance;
  }

  async wait(ms: number, signal: AbortSignal): Promise<void> {
    this.waits.push(ms);
    const end = this.time + ms;
    await new Promise((resolve) => setImmediate(resolve));
    if (signal.aborted) return;
    if (this.disturb !== undefined && this.disturb.afterMs < ms) {
      this.time += this.disturb.afterMs;
      this.disturb.by();
      if (signal.aborted) return;
    }
    // Of several waits at the same time each ends at its own.
    this.time = Math.max(this.time, end);
  }
}

/** What a server says of the task, without its id. */
export type Said = Readonly<Record<string, unknown>>;
/** The answer to one poll. */
export type Step = Said | PeerFailure;

export const WORKING: Said = { status: "working" };
export const working = (pollIntervalMs: unknown, more: Said = {}): Said => ({ ...WORKING, pollIntervalMs, ...more });
export const DONE: Said = { status: "completed", result: { content: [{ type: "text", text: "done" }] } };

export function missed(kind: PeerFailure["kind"], code?: number): PeerFailure {
  const message = `${kind} ${code ?? ""}`.trim();
  return {
    kind,
    message,
    ...(code !== undefined && { code }),
    toError: async () => Promise.reject(new Error(message)),
  };
}

export function stateOf(said: Said): TaskState {
  const state = readTaskState({ taskId: "t-1", ...said });
  if (state === undefined) throw new Error(`no task state: ${JSON.stringify(said)}`);
  return state;
}

export interface Followed {
  readonly clock: JumpingClock;
  readonly store: HandleStore;
  readonly record: TaskRecord;
  /** Milliseconds after the start of each poll. */
  readonly polls: number[];
  /** Every other request: `update {"k":…}`, `cancel`, `result`. */
  readonly sent: string[];
  readonly notices: Diagnostic[];
  /** Sends a notice about the task. */
  notify(said: Said): void;
  readonly outcome: Promise<TaskOutcome>;
}

export interface FollowScript {
  /** The task as the call was answered. */
  readonly created?: Said;
  /** Answers to polls; the last one repeats. */
  readonly steps: readonly Step[];
  readonly generation?: TaskGeneration;
  readonly chance?: number;
  readonly handle?: Partial<TaskHandle>;
  readonly ask?: FollowOptions["ask"];
  readonly update?: (responses: Said) => Promise<Reply<Said>>;
  readonly result?: (followed: Followed) => Promise<Reply<Said>>;
  readonly cancel?: Reply<Said>;
  readonly signal?: AbortSignal;
  readonly closing?: AbortSignal;
  readonly onStatus?: (state: TaskState) => void;
  /** A notice in every wait of the follower's that is longer than this, so many milliseconds into it. */
  readonly flood?: { readonly afterMs: number; readonly said: Said };
  /** Called at each poll, before it is answered. */
  readonly onPoll?: (count: number, followed: Followed) => void;
}

export function handleOf(changes: Partial<TaskHandle> = {}): TaskHandle {
  const at = new Date(START).toISOString();
  return {
    format: HANDLE_FORMAT,
    taskId: "t-1",
    generation: "v2",
    server: "s",
    connection: "digest",
    tool: "run",
    name: "mcp__s__run",
    outputSchema: "",
    project: { cwd: "/project" },
    createdAt: at,
    updatedAt: at,
    status: "working",
    answers: [],
    ...changes,
  };
}

export async function follow(script: FollowScript): Promise<Followed> {
  const { created = WORKING, steps, generation = "v2" } = script;
  const clock = new JumpingClock();
  clock.chance = script.chance ?? 0;
  const known = stateOf(created);
  const { status, ttlMs, pollIntervalMs } = known;
  const handle = handleOf({
    generation,
    status,
    ...(ttlMs !== undefined && { ttlMs }),
    ...(pollIntervalMs !== undefined && { pollIntervalMs }),
    ...script.handle,
  });
  const store = new HandleStore(join(scratchFolder(), "state"), () => clock.now());
  const notices: Diagnostic[] = [];
  const record = new TaskRecord(handle, store, (notice) => notices.push(notice));
  await record.begin();
  const polls: number[] = [];
  const sent: string[] = [];
  const listeners = new Set<(state: TaskState) => void>();
  const ok = async <T>(value: T): Promise<Reply<T>> => ({ ok: true, value });
  const peer: TaskPeer = {
    generation,
    async get() {
      polls.push(clock.now() - START);
      script.onPoll?.(polls.length, followed);
      const step = steps[Math.min(polls.length, steps.length) - 1]!;
      return "toError" in step ? { ok: false, failure: step as PeerFailure } : ok(stateOf(step));
    },
    update(responses) {
      sent.push(`update ${JSON.stringify(responses)}`);
      return script.update?.(responses) ?? ok({});
    },
    async cancel() {
      sent.push("cancel");
      return script.cancel ?? ok({});
    },
    result() {
      sent.push("result");
      return script.result?.(followed) ?? ok({ content: [] });
    },
    onStatus(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const notify = (said: Said) => {
    for (const listener of listeners) listener(stateOf(said));
  };
  const followed: Followed = {
    clock,
    store,
    record,
    polls,
    sent,
    notices,
    notify,
    get outcome() {
      return outcome;
    },
  };
  const { flood } = script;
  if (flood) clock.disturb = { afterMs: flood.afterMs, by: () => notify(flood.said) };
  const outcome = followTask({
    peer,
    record,
    known,
    clock,
    ask: script.ask ?? (async () => Promise.reject(new Error("nobody is here"))),
    signal: script.signal,
    closing: script.closing ?? new AbortController().signal,
    onStatus: script.onStatus,
  });
  return followed;
}
