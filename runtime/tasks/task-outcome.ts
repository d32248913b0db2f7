/**
 * What the end of a task means to its caller: the result, or the error that a plain call would have ended with, naming the
 * task; and whether the task is over, so that its handle goes. An end without a result is never an empty success.
 */
import { isRecord } from "../../schemas/record.ts";
import type { Failure } from "../connect/failure.ts";
import { rpcErrorOf } from "../connect/message.ts";
import { printableLine } from "../connect/redact.ts";
import type { Connections } from "../connections.ts";
import { ServerError } from "../errors.ts";
import type { TaskOutcome } from "./follow.ts";
import type { TaskHandle } from "./handle-file.ts";
import type { TaskStatus } from "./task-state.ts";

export type TaskEnd =
  | { readonly over: true; readonly result: Readonly<Record<string, unknown>> }
  | { readonly over: boolean; readonly error: ServerError; readonly status?: TaskStatus | "expired" };

/** The word for a task in messages. */
export function taskText(taskId: string): string {
  return `task ${printableLine(taskId, 100)}`;
}

type Ended = Exclude<TaskOutcome, { kind: "result" }>;

export async function taskEnd(outcome: TaskOutcome, handle: TaskHandle, connections: Connections): Promise<TaskEnd> {
  if (outcome.kind === "result") return { over: true, result: outcome.result };
  const { server, taskId } = handle;
  const plain = await errorOf(outcome, handle, connections);
  const { over, status, notes } = fateOf(outcome, taskId);
  const error = new ServerError([plain.message, taskText(taskId), ...notes].join("; "), {
    server,
    taskId,
    cause: plain.cause ?? ("cause" in outcome ? outcome.cause : undefined),
    ...(plain.stderrTail !== undefined && { stderrTail: plain.stderrTail }),
  });
  return { over, error, ...(status && { status }) };
}

async function errorOf(outcome: Ended, handle: TaskHandle, connections: Connections): Promise<ServerError> {
  const { server } = handle;
  const own = (message: string) => new ServerError(`server "${server}": ${message}`, { server });
  switch (outcome.kind) {
    case "failed":
      return connections.failed(server, "tools/call", failureOf(outcome, connections.discreet(server)));
    case "refused":
    case "left":
      return outcome.failure.toError();
    case "unknown":
      return own(`it does not know the task any more (${outcome.failure.message})`);
    case "cancelled":
      return own(`the task was cancelled${said(outcome.message, connections.discreet(server))}`);
    case "empty":
      return own("the task is completed, and the server gave no result");
    case "expired":
      return own(`the task did not end within the ${outcome.ttlMs} ms that the server gives it`);
    case "lost":
      return own("another process took over the task");
    case "unanswered":
      return own(`the task can't go on: ${printableLine(outcome.message, 500)}`);
    case "given-up":
      return connections.failed(server, "tools/call", { kind: "cancelled", message: "cancelled" });
  }
}

function fateOf(outcome: Ended, taskId: string): { over: boolean; status?: TaskStatus | "expired"; notes: string[] } {
  const resume = resumeNote(taskId);
  switch (outcome.kind) {
    case "left":
    case "lost":
      return { over: false, notes: outcome.kind === "left" ? [resume] : [] };
    case "given-up":
      if (outcome.failure === undefined) return { over: true, status: "cancelled", notes: ["it was cancelled"] };
      return { over: false, notes: [`the server could not be told (${outcome.failure.message})`, resume] };
    case "unanswered":
      return { over: true, status: "cancelled", notes: [] };
    case "expired":
    case "unknown":
      return { over: true, status: "expired", notes: [] };
    default:
      return { over: true, notes: [] };
  }
}

/** Ids are the server's, and people paste commands into shells: of an id only what no shell reads as more than a word. */
function resumeNote(taskId: string): string {
  // The beginning of an id will do, from four characters on.
  const [plain = ""] = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,79}/.exec(taskId) ?? [];
  const isEnough = plain !== "" && (plain === taskId || plain.length >= 4);
  return isEnough ? `\`pimcp tasks resume ${plain}\` goes on with it` : "`pimcp tasks resume` goes on with it";
}

type Redact = <T>(value: T) => T;

function failureOf({ error, message }: Extract<Ended, { kind: "failed" }>, redact: Redact): Failure {
  const told = rpcErrorOf(isRecord(error) ? error : { ...(message !== undefined && { message }) });
  const clean = redact(told);
  return { kind: "rpc-error", error: clean, message: printableLine(clean.message, 500) };
}

function said(message: string | undefined, redact: Redact): string {
  return message === undefined ? "" : `: ${printableLine(redact(message), 300)}`;
}
