/**
 * A call of an MCP tool as Pi makes it: the arguments go to the server, progress to the tool's row, and the result comes
 * back in two forms: what the model reads (within the tool's output limit, images as images) and, for scripts, the whole
 * `CallToolResult`. Aborting the call cancels it at the server, or its task. Never retried.
 */
import type { AgentToolResult, AgentToolUpdateCallback } from "@earendil-works/pi-coding-agent";
import type { ToolEntry } from "../../schemas/artifacts/tool-table.ts";
import type { CallProgress, CallToolResult } from "../codegen/v1.ts";
import { ServerError } from "../errors.ts";
import type { OutputStore } from "../limits/output-store.ts";
import type { LimitedResult } from "../limits/result.ts";
import type { Runtime } from "../runtime.ts";
import { terminalLine, terminalText } from "./terminal-text.ts";

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
  readonly runtime: Pick<Runtime, "callEntry">;
  readonly store: OutputStore;
  readonly signal: AbortSignal;
  readonly onUpdate: AgentToolUpdateCallback<CallDetails> | undefined;
  /** The tool that reads resources, where the model has one. */
  readonly readResourceTool?: string | undefined;
}

/** Rejects when there is no result to give: the server can't be reached, refused the call, or was never asked. */
export async function callTool(call: PiCall): Promise<PiToolResult> {
  const { entry, args, runtime, signal, onUpdate } = call;
  const details: CallDetails = { server: entry.server, tool: entry.tool };
  const tell = (text: string, more: Partial<CallDetails> = {}) =>
    onUpdate?.({ content: [{ type: "text", text }], details: { ...details, ...more } });
  try {
    const { result, taskId } = await runtime.callEntry(entry, args ?? {}, {
      signal,
      onProgress: (progress) => tell(progressText(progress)),
      onTask: (task) => tell(`Running as task ${terminalLine(task.taskId)}`, { taskId: task.taskId }),
    });
    return await piResult(result, { ...call, details: taskId === undefined ? details : { ...details, taskId } });
  } catch (error) {
    throw error instanceof ServerError && error.stderrTail ? withStderr(error) : error;
  }
}

interface ResultContext extends Pick<PiCall, "entry" | "store" | "readResourceTool"> {
  readonly details: CallDetails;
}

/** A result for the model and for scripts. One with `isError` is an error for the model and a value for scripts. */
async function piResult(result: CallToolResult, context: ResultContext): Promise<PiToolResult> {
  const { limitResult } = await import("../limits/result.ts");
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

/** `3/10 unpacking`, as much of it as the server says. */
function progressText({ progress, total, message }: CallProgress): string {
  const counted = total === undefined ? `${progress}` : `${progress}/${total}`;
  return message === undefined ? `Progress ${counted}` : `${counted} ${terminalLine(message)}`;
}

function withStderr(error: ServerError): Error {
  const tail = terminalText(error.stderrTail ?? "");
  return new Error(`${error.message}\nThe end of what the server wrote to stderr:\n${tail}`, { cause: error });
}
