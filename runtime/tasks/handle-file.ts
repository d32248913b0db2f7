/**
 * What is kept of a task on disk: enough for another process to find its server again and get its result, and no more. No
 * credential, no argument of the call and no text of the server's is in it. An answer of the user's is in it only between
 * being given and being taken by the server. Reading validates everything: a file that was cut, edited or planted is
 * a finding, never a crash. Pure.
 */
import { digestOf } from "../../schemas/canonical.ts";
import { jsonIn } from "../../schemas/json.ts";
import { isRecord } from "../../schemas/record.ts";
import { TASK_STATUSES, type TaskGeneration, type TaskStatus } from "./task-state.ts";

export const HANDLE_FORMAT = 1;

/** A question that was answered; never asked again. */
export interface AnsweredQuestion {
  readonly key: string;
  /** Digest of the question, to tell when the server puts another one under the same key. */
  readonly question: string;
  /** Until the server has taken it. */
  readonly answer?: Readonly<Record<string, unknown>>;
}

export interface TaskHandle {
  readonly format: typeof HANDLE_FORMAT;
  readonly taskId: string;
  readonly generation: TaskGeneration;
  readonly server: string;
  /** How the server is reached, as `connectionDigest` has it: a task's id is shown to nobody else. */
  readonly connection: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  /** Folded name. */
  readonly name: string;
  /** Digest of the tool's output schema; empty where it has none. */
  readonly outputSchema: string;
  /** Where the configuration is found again: the folder of the session, and the file that was named. */
  readonly project: { readonly cwd: string; readonly config?: string };
  /** Ours, ISO 8601: servers' clocks differ. */
  readonly createdAt: string;
  /** When the server was last heard of. */
  readonly updatedAt: string;
  readonly status: TaskStatus | "expired";
  readonly ttlMs?: number;
  readonly pollIntervalMs?: number;
  readonly answers: readonly AnsweredQuestion[];
}

export type HandleReading =
  | { readonly ok: true; readonly handle: TaskHandle }
  | { readonly ok: false; readonly reason: string };

/** Name of the file, from what makes a task one of a kind; no text of a server's becomes a path. */
export function handleFileName({ server, connection, taskId }: Pick<TaskHandle, "server" | "connection" | "taskId">) {
  return `${digestOf({ server, connection, taskId }).slice(0, 32)}.json`;
}

export function writeHandle(handle: TaskHandle): string {
  return `${JSON.stringify(handle, undefined, 1)}\n`;
}

export function readHandle(text: string): HandleReading {
  const value = jsonIn(text);
  if (value === undefined) return { ok: false, reason: "it is not JSON" };
  if (!isRecord(value)) return { ok: false, reason: "it is no object" };
  if (value["format"] !== HANDLE_FORMAT) return { ok: false, reason: "its format is not one of this version" };
  const wrong = TEXTS.find((name) => typeof value[name] !== "string" || value[name] === "");
  if (wrong !== undefined) return { ok: false, reason: `its ${wrong} is missing` };
  const { generation, status, outputSchema, project, answers, createdAt, updatedAt } = value;
  if (generation !== "v1" && generation !== "v2") return { ok: false, reason: "its generation is unknown" };
  if (status !== "expired" && !TASK_STATUSES.some((one) => one === status))
    return { ok: false, reason: "its status is unknown" };
  if (typeof outputSchema !== "string") return { ok: false, reason: "its outputSchema is missing" };
  if (!isDate(createdAt) || !isDate(updatedAt)) return { ok: false, reason: "a time in it is none" };
  if (!isRecord(project) || typeof project["cwd"] !== "string") return { ok: false, reason: "its project is missing" };
  if (project["config"] !== undefined && typeof project["config"] !== "string")
    return { ok: false, reason: "its configuration file is no text" };
  if (!Array.isArray(answers) || !answers.every(isAnswer)) return { ok: false, reason: "its answers are malformed" };
  if (![value["ttlMs"], value["pollIntervalMs"]].every((ms) => ms === undefined || isDuration(ms)))
    return { ok: false, reason: "a duration in it is none" };
  return { ok: true, handle: value as unknown as TaskHandle };
}

const TEXTS = ["taskId", "server", "connection", "tool", "name"] as const;

function isDate(value: unknown): boolean {
  return typeof value === "string" && Number.isFinite(Date.parse(value));
}

function isDuration(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value > 0;
}

function isAnswer(value: unknown): boolean {
  if (!isRecord(value) || typeof value["key"] !== "string" || typeof value["question"] !== "string") return false;
  return value["answer"] === undefined || isRecord(value["answer"]);
}

/** When the server may forget the task; undefined for never. */
export function deadlineOf({ createdAt, ttlMs }: Pick<TaskHandle, "createdAt" | "ttlMs">): number | undefined {
  return ttlMs === undefined ? undefined : Date.parse(createdAt) + ttlMs;
}
