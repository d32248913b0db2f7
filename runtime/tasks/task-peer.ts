/**
 * What can be said to a server about one task, in the words of its generation, as requests on the shared connection: they are the
 * SDK client's own, so their ids collide with nobody's, they are timed, traced and, over HTTP, headed with `Mcp-Name`
 * like any other. Answers go around the SDK's codec, which knows no task shapes, in result slots.
 *
 * Of `@modelcontextprotocol/ext-tasks` this uses the framing. Not its sessions: their driver polls by a clock and a pace of its own, keeps no
 * handle, answers questions from memory alone, and validates and copies whole results with recursion.
 */
import type { JsonValue } from "@modelcontextprotocol/ext-tasks/core";
import type { Failure } from "../connect/failure.ts";
import type { RequestOptions } from "../connect/session.ts";
import { MAX_TIMER_MS } from "../connect/waiting.ts";
import type { Connections } from "../connections.ts";
import { ServerError } from "../errors.ts";
import type { TaskNotices } from "./task-notices.ts";
import { readTaskState, type TaskGeneration, type TaskState } from "./task-state.ts";

/** Here from the second call on: asking for a module anew takes as long as a small call. */
const framing = import("@modelcontextprotocol/ext-tasks/core/v2");

type JsonObject = Readonly<Record<string, JsonValue>>;
type Members = Readonly<Record<string, unknown>>;

/** Why a request got no result. */
export interface PeerFailure {
  /** `unopened`: there is no connection, and trying again might help; `closing`: we are ending. */
  readonly kind: Failure["kind"] | "unopened" | "closing";
  /** Of a JSON-RPC error. */
  readonly code?: number | undefined;
  readonly message: string;
  /** The error that a plain call would have ended with. */
  readonly toError: () => Promise<ServerError>;
}

export type Reply<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: PeerFailure };

export interface TaskPeer {
  readonly generation: TaskGeneration;
  get(signal: AbortSignal): Promise<Reply<TaskState>>;
  /** Answers questions (v2). */
  update(responses: Members, signal: AbortSignal): Promise<Reply<Members>>;
  cancel(signal: AbortSignal): Promise<Reply<Members>>;
  /** The result of a task that has ended; of one that waits for input (v1), as soon as it has ended. */
  result(signal: AbortSignal, patience: "ended" | "waiting"): Promise<Reply<Members>>;
  /** Calls back for each notice about the task. The returned function stops that. */
  onStatus(listener: (state: TaskState) => void): () => void;
}

export interface PeerOptions {
  readonly connections: Connections;
  readonly notices: TaskNotices;
  /** Aborted when the runtime closes. */
  readonly closing: AbortSignal;
  readonly server: string;
  readonly taskId: string;
  readonly generation: TaskGeneration;
  readonly capabilities: Members;
  /** Milliseconds for each request. */
  readonly timeoutMs?: number | undefined;
}

/** Findings about a connection that may be gone a moment later. */
const PASSING = new Set(["server-unreachable", "server-timeout", "server-unavailable"]);
/** Codes for a task that there isn't: `-32602` by the specification, the others as servers have them. */
const UNKNOWN_TASK = new Set([-32602, -32002, -32001]);

/** It also stands for parameters that are no good. */
const INVALID_PARAMS = -32602;
/** Codes for a server that has no tasks at all. */
const NO_TASKS = new Set([-32601, -32021]);
/** Kinds of failure after which the same request may succeed. */
const PASSING_KINDS: ReadonlySet<PeerFailure["kind"]> = new Set([
  "closed",
  "unavailable",
  "timeout",
  "session-lost",
  "unopened",
]);

/** The server says that it has no such task, or none any more. */
export function isUnknownTask({ code }: PeerFailure): boolean {
  return code !== undefined && UNKNOWN_TASK.has(code);
}

/** The same of a request that has more in it than the task's id, which may be what is wrong. */
export function maybeUnknownTask(failure: PeerFailure): "yes" | "no" | "perhaps" {
  if (!isUnknownTask(failure)) return "no";
  return failure.code === INVALID_PARAMS ? "perhaps" : "yes";
}

/** Whether it may help to send the request again. */
export function mayPass({ kind, code }: PeerFailure): boolean {
  return code === undefined ? PASSING_KINDS.has(kind) : !NO_TASKS.has(code);
}

/** `params` with the word that this client takes tasks, beside its other capabilities. */
export async function takingTasks(params: Members, capabilities: Members): Promise<Record<string, unknown>> {
  const { CLIENT_CAPABILITIES_META_KEY_V2, withTaskCapabilityV2 } = await framing;
  const _meta = { [CLIENT_CAPABILITIES_META_KEY_V2]: capabilities as JsonObject };
  return withTaskCapabilityV2({ ...(params as JsonObject), _meta });
}

export function taskPeer(peer: PeerOptions): TaskPeer {
  const { connections, notices, server, taskId, generation, capabilities, timeoutMs } = peer;
  const send = async (method: string, more: Members, options: RequestOptions): Promise<Reply<Members>> => {
    const params = { taskId, ...more };
    const framed = generation === "v2" ? await takingTasks(params, capabilities) : params;
    const outcome = await connections.outcome(server, method, framed, {
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...options,
    });
    if (outcome.ok) return { ok: true, value: outcome.result };
    return { ok: false, failure: peerFailure(peer, outcome) };
  };
  return {
    generation,
    async get(signal) {
      const reply = await send("tasks/get", {}, { signal });
      if (!reply.ok) return reply;
      const state = readTaskState(reply.value);
      if (state?.taskId === taskId) return { ok: true, value: state };
      const what = state === undefined ? "is no task" : `is about task ${state.taskId}`;
      return { ok: false, failure: unusable(connections, server, `the answer to tasks/get ${what}`) };
    },
    update: (responses, signal) => send("tasks/update", { inputResponses: responses }, { signal }),
    cancel: (signal) => send("tasks/cancel", {}, { signal }),
    result: (signal, patience) =>
      send("tasks/result", {}, { signal, ...(patience === "waiting" && { timeoutMs: MAX_TIMER_MS }) }),
    onStatus: (listener) => notices.follow(server, taskId, listener),
  };
}

type Missed = Extract<Awaited<ReturnType<Connections["outcome"]>>, { ok: false }>;

/** Why a task is let go of that would be followed otherwise. */
export function closingFailure(server: string): PeerFailure {
  const message = "the runtime was closed";
  return {
    kind: "closing",
    message,
    toError: async () => new ServerError(`server "${server}": ${message}`, { server }),
  };
}

function peerFailure({ connections, closing, server }: PeerOptions, missed: Missed): PeerFailure {
  if (closing.aborted) return closingFailure(server);
  if ("diagnostic" in missed) {
    const { code, message } = missed.diagnostic;
    const toError = async () => connections.unopened(server, missed);
    return { kind: PASSING.has(code) ? "unopened" : "unusable", message, toError };
  }
  const { failure } = missed;
  return {
    kind: failure.kind,
    message: failure.message,
    ...(failure.kind === "rpc-error" && { code: failure.error.code }),
    toError: () => connections.failed(server, "tools/call", failure),
  };
}

function unusable(connections: Connections, server: string, message: string): PeerFailure {
  const failure = { kind: "unusable", message } as const;
  return { kind: "unusable", message, toError: () => connections.failed(server, "tasks/get", failure) };
}
