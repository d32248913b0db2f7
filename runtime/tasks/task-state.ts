/**
 * A server's word on a task, of either generation: the answer to a call that became one, to `tasks/get`, or a notice.
 * Only the id and a known status are insisted on. A missing date, a fractional or absurd interval loses nobody
 * their result, and a result is neither validated nor copied here, however large or deep it is. That is why the schemas of
 * `@modelcontextprotocol/ext-tasks` are not applied to snapshots: they do all of that.
 */
import { isRecord } from "../../schemas/record.ts";

export const TASK_STATUSES = ["working", "input_required", "completed", "failed", "cancelled"] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** `v1` is the experiment of 2025-11-25, `v2` the extension `io.modelcontextprotocol/tasks` of 2026-07-28. */
export type TaskGeneration = "v1" | "v2";

export interface TaskState {
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly statusMessage?: string;
  /** Milliseconds; absent where the server gave none that means anything. */
  readonly pollIntervalMs?: number;
  /** Milliseconds from the task's making, absent for no end. */
  readonly ttlMs?: number;
  /** Questions by key, as the server sent them. */
  readonly inputRequests?: unknown;
  /** Of a completed task of `v2`. */
  readonly result?: Readonly<Record<string, unknown>>;
  /** Of a failed task of `v2`: a JSON-RPC error, as the server sent it. */
  readonly error?: unknown;
}

/** Longer ids are refused: they are put into headers and file names' hashes, and nobody needs them. */
const MAX_ID_LENGTH = 4096;

/** The task that a result speaks of, or undefined where it speaks of none. */
export function readTaskState(value: unknown): TaskState | undefined {
  if (!isRecord(value)) return undefined;
  const taskId = value["taskId"];
  const status = TASK_STATUSES.find((one) => one === value["status"]);
  if (typeof taskId !== "string" || taskId === "" || taskId.length > MAX_ID_LENGTH || !status) return undefined;
  const { statusMessage, inputRequests, result, error } = value;
  const pollIntervalMs = duration(value["pollIntervalMs"] ?? value["pollInterval"]);
  const ttlMs = duration(value["ttlMs"] ?? value["ttl"]);
  return {
    taskId,
    status,
    ...(typeof statusMessage === "string" && { statusMessage }),
    ...(pollIntervalMs !== undefined && { pollIntervalMs }),
    ...(ttlMs !== undefined && { ttlMs }),
    ...(inputRequests !== undefined && { inputRequests }),
    ...(isRecord(result) && { result }),
    ...(error !== undefined && { error }),
  };
}

/** The task in the answer to a call: `resultType: "task"` (v2), or a `task` member instead of content (v1). */
export function createdTask(
  result: Readonly<Record<string, unknown>>,
): { readonly generation: TaskGeneration; readonly task: TaskState | undefined } | undefined {
  if (result["resultType"] === "task") return { generation: "v2", task: readTaskState(result) };
  const nested = result["task"];
  if (Array.isArray(result["content"]) || !isRecord(nested) || nested["taskId"] === undefined) return undefined;
  return { generation: "v1", task: readTaskState(nested) };
}

export function isTerminal(status: TaskStatus): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

/** Zero, negative, infinite and non-numbers mean nothing. */
function duration(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : undefined;
}
