/**
 * A call of an MCP tool as Pi makes it: the arguments go to the server, progress to the tool's row, and the result comes
 * back in two forms: what the model reads (within the tool's output limit, images as images) and, for scripts, the whole
 * `CallToolResult`. Aborting the call cancels it at the server, or its task. Never retried.
 */
import type { AgentToolResult, AgentToolUpdateCallback } from "@earendil-works/pi-coding-agent";
import type { ToolEntry } from "../../../schemas/artifacts/tool-table.ts";
import { isRecord } from "../../../schemas/record.ts";
import type { CallProgress, CallToolResult } from "../../codegen/v1.ts";
import { ServerError } from "../../errors.ts";
import type { OutputStore } from "../../limits/output-store.ts";
import type { LimitedResult } from "../../limits/result.ts";
import type { Runtime } from "../../runtime.ts";
import { messageOf } from "../in-background.ts";
import { shortLine, terminalText } from "../terminal-text.ts";
import { UpdatePace } from "../update-pace.ts";
import { callAbort } from "./task-abort.ts";

/** Kept with the result in the session's file, for drawing it again; holds nothing of the result itself. */
export interface CallDetails {
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  /** File with the text that was cut. */
  readonly fullOutputPath?: string;
  /** Of the task that the call had become. */
  readonly taskId?: string;
}

export type PiToolResult = AgentToolResult<CallDetails>;

export interface PiCall {
  readonly entry: ToolEntry;
  readonly args: unknown;
  readonly runtime: Pick<Runtime, "callEntry" | "compareWithServer">;
  readonly store: OutputStore;
  /** Of Pi's call. */
  readonly signal: AbortSignal | undefined;
  /** Of the session. */
  readonly ended: AbortSignal;
  /** Why servers can't ask the user, where they can't. */
  readonly whyNobody?: string | undefined;
  /** Takes what became of a task after its call was given up. */
  readonly onLateEnd: (message: string) => void;
  readonly onUpdate: AgentToolUpdateCallback<CallDetails> | undefined;
  /** The tool that reads resources, where the model has one. */
  readonly readResourceTool?: string | undefined;
}

/** Rejects when there is no result to give: the server can't be reached, refused the call, or was never asked. */
export async function callTool(call: PiCall): Promise<PiToolResult> {
  const { entry, args, runtime, onUpdate } = call;
  let details: CallDetails = { server: entry.server, tool: entry.tool };
  let text = "";
  const pace = new UpdatePace(() => onUpdate?.({ content: [{ type: "text", text }], details }));
  const tell = (latest: string) => {
    text = latest;
    pace.changed();
  };
  const { signal, ended, onLateEnd } = call;
  const abort = callAbort({ signal, ended, onLateEnd: (error) => onLateEnd(messageOf(error)) });
  try {
    const answered = runtime.callEntry(entry, args ?? {}, {
      signal: abort.signal,
      onProgress: (progress) => tell(`${taskPrefix(details.taskId)}${progressText(progress)}`),
      onTask: ({ taskId }) => {
        abort.becomesTask();
        details = { ...details, taskId };
        tell(`Running as task ${shownTask(taskId)}`);
      },
    });
    const { result, taskId } = await abort.orGivenUp(answered, () => givenUp(entry.server, details.taskId ?? ""));
    const whole = await piResult(result, { ...call, details: taskId === undefined ? details : { ...details, taskId } });
    const withheld = result.isError === true ? await whyWithheld(call) : undefined;
    if (withheld !== undefined) whole.content.push({ type: "text", text: withheld });
    return whole;
  } catch (error) {
    throw error instanceof ServerError ? await inFull(error, call) : error;
  } finally {
    // A task that was given up goes on for a moment, and its row is done by then.
    pace.end();
  }
}

/** MCP's code for a request that takes a capability the client didn't declare. */
const MISSING_CAPABILITY = -32021;

/** The error with what the model may make something of: that nobody could be asked, and the end of the server's stderr. */
async function inFull(error: ServerError, call: PiCall): Promise<Error> {
  const { whyNobody } = call;
  const { cause, stderrTail } = error;
  const kind = isRecord(cause) ? cause["kind"] : undefined;
  const failed = isRecord(cause) && kind === "rpc-error" ? cause["error"] : undefined;
  const isMissing = isRecord(failed) && failed["code"] === MISSING_CAPABILITY;
  const withheld = kind === "rpc-error" ? await whyWithheld(call) : undefined;
  const notes = [
    ...(withheld !== undefined ? [withheld] : []),
    ...(isMissing && whyNobody !== undefined ? [whyNobody] : []),
    // A call that was given up had nothing to do with what the server wrote.
    ...(stderrTail && kind !== "cancelled"
      ? [`The end of what the server wrote to stderr:\n${terminalText(stderrTail)}`]
      : []),
  ];
  return notes.length === 0 ? error : new Error([error.message, ...notes].join("\n"), { cause: error });
}

/** Servers keep tools from clients that can't ask their user, and say of one that there is no such tool. */
async function whyWithheld({ entry, runtime, whyNobody }: PiCall): Promise<string | undefined> {
  if (whyNobody === undefined) return undefined;
  // What is wrong with the server besides has been told by the call itself.
  const drift = await runtime.compareWithServer(entry.server).catch(() => undefined);
  const isGone = drift?.tools.some(({ tool, change }) => tool === entry.tool && change === "removed");
  return isGone ? `The server has no such tool for this session: ${whyNobody}` : undefined;
}

interface ResultContext extends Pick<PiCall, "entry" | "store" | "readResourceTool"> {
  readonly details: CallDetails;
}

/** A result for the model and for scripts. One with `isError` is an error for the model and a value for scripts. */
async function piResult(result: CallToolResult, context: ResultContext): Promise<PiToolResult> {
  const { limitResult } = await import("../../limits/result.ts");
  const { entry, store, readResourceTool, details } = context;
  const { maxOutputBytes: maxBytes, server, tool } = entry;
  const limited: LimitedResult = await limitResult(result, { maxBytes, server, tool, store, readResourceTool });
  const { _meta, ...forScripts } = result;
  return {
    content: limited.content.map((block) => ({ ...block })),
    details: limited.path === undefined ? details : { ...details, fullOutputPath: limited.path },
    // What came over the wire is JSON.
    structuredContent: forScripts as NonNullable<PiToolResult["structuredContent"]>,
    ...(result.isError === true && { isError: true }),
  };
}

/** Which of the two it is turns out only later: this stays with the conversation. */
function givenUp(server: string, taskId: string): Error {
  const fate = "is being cancelled at its server; where the session ended instead, it goes on and can be resumed";
  return new Error(`server "${server}": cancelled; task ${shownTask(taskId)} ${fate}`);
}

function taskPrefix(taskId: string | undefined): string {
  return taskId === undefined ? "" : `Task ${shownTask(taskId)}: `;
}

/** Ids are the server's. */
function shownTask(taskId: string): string {
  return shortLine(taskId, 100);
}

/** UTF-16 units of what a server says of its progress: it may say that often. */
const MAX_PROGRESS_LENGTH = 200;

/** `3/10 unpacking`, as much of it as the server says; a number alone says nothing beside a message. */
function progressText({ progress, total, message }: CallProgress): string {
  const counted = total === undefined ? `${progress}` : `${progress}/${total}`;
  if (message === undefined) return `Progress ${counted}`;
  const said = shortLine(message, MAX_PROGRESS_LENGTH);
  return total === undefined ? said : `${counted} ${said}`;
}
