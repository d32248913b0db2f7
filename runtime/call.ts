/**
 * One tool call, from behind the gate to the interpreted result: first the arguments, then the server. A call is sent
 * once; whatever its answer is, it is delivered.
 */
import type { ToolEntry, ToolTable } from "../schemas/artifacts/tool-table.ts";
import type { CatalogTool } from "../schemas/catalog.schema.ts";
import type { Diagnostic } from "../schemas/diagnostic.ts";
import type { DriftMode } from "../schemas/drift-mode.ts";
import { prepareArguments } from "./calls/arguments.ts";
import { callNotice } from "./calls/call-notice.ts";
import { type InterpretedResult, interpretResult, remarksOn } from "./calls/results.ts";
import { validatorFor } from "./calls/validator.ts";
import type { CallOptions } from "./codegen/v1.ts";
import { paramHeaders } from "./connect/param-headers.ts";
import { settled } from "./connect/waiting.ts";
import type { Connections } from "./connections.ts";
import type { Drift } from "./drift.ts";
import type { DriftWatch } from "./drift-watch.ts";
import { RefusedError, ServerError } from "./errors.ts";
import type { TaskCalls, TaskHooks } from "./tasks/task-calls.ts";

/** Long enough for a process to have been started, and shorter than servers mostly take to answer. */
const WHILE_STARTING_MS = 150;

export interface EntryCallOptions extends CallOptions, TaskHooks {}

export interface CallContext {
  readonly table: ToolTable;
  readonly connections: Connections;
  readonly drift: DriftWatch;
  readonly tasks: TaskCalls;
  /** `block` refuses tools whose definition changed since they were compiled, or can't be compared. */
  readonly onDrift: () => DriftMode | Promise<DriftMode>;
  readonly onNotice: (notice: Diagnostic) => void;
}

/**
 * Calls a tool. A result with `isError` is a result like any other here. Rejects with `RefusedError` when the call
 * was not sent, and with `ServerError` when the server could not be reached or answered with a protocol error.
 */
export async function callTool(
  context: CallContext,
  entry: ToolEntry,
  args: unknown,
  options: EntryCallOptions = {},
): Promise<InterpretedResult> {
  const definition = definitionOf(context.table, entry);
  const prepared = await prepareArguments(definition.inputSchema, args);
  if (!prepared.ok) throw new RefusedError(prepared.message, { ...entry, reason: "invalid-arguments" });
  if (prepared.notice !== undefined) context.onNotice(callNotice(entry, prepared.notice));
  const onDrift = context.onDrift();
  // Known but for the first call, and then nobody waits.
  if ((typeof onDrift === "string" ? onDrift : await onDrift) === "block")
    await refuseDrifted(context, entry, options.signal);
  const { onTask, onTaskResult } = options;
  const { result, taskId, forget } = await context.tasks.call({
    entry,
    definition,
    args: prepared.args,
    options: {
      ...(options.signal && { signal: options.signal }),
      ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
      ...(options.onProgress && { onProgress: options.onProgress }),
      headers: () => paramHeaders(definition.inputSchema, prepared.args),
    },
    onTask,
    onTaskResult,
  });
  const interpreted = await interpretResult(result, definition.outputSchema);
  for (const remark of remarksOn(interpreted)) context.onNotice(callNotice(entry, remark));
  await forget?.();
  return taskId === undefined ? interpreted : { ...interpreted, taskId };
}

/**
 * Gets ready for a call of the tool, as far as that can be done without its arguments and without a request over HTTP: the
 * settings may have changed since they were compiled. Rejects when the server's process can't be used.
 */
export async function readyForCall({ table, connections }: CallContext, entry: ToolEntry): Promise<void> {
  if (!(await connections.startsProcess(entry.server))) return;
  const connected = connections.get(entry.server);
  const isOver = () => undefined;
  // First of all the server's process is to be started; while it starts there is time for what a check of arguments takes.
  await settled(connected.then(isOver, isOver), WHILE_STARTING_MS);
  const definition = table.definition(entry.name);
  if (definition.ok && definition.value !== undefined) await validatorFor(definition.value.inputSchema, "all");
  await connected;
}

function definitionOf(table: ToolTable, entry: ToolEntry): CatalogTool {
  const definition = table.definition(entry.name);
  if (!definition.ok)
    throw new ServerError(definition.diagnostic.message, { server: entry.server, cause: definition.diagnostic });
  return definition.value!;
}

async function refuseDrifted(
  { connections, drift }: CallContext,
  entry: ToolEntry,
  signal?: AbortSignal,
): Promise<void> {
  const found = await drift.settled(await connections.get(entry.server, signal));
  const why = found ? changeOf(entry, found) : "the server would not list its tools";
  if (why === undefined) return;
  const message = `tool "${entry.tool}" of "${entry.server}" is not known to be what was compiled: ${why}`;
  throw new RefusedError(`${message}; run \`pimcp compile\``, { ...entry, reason: "definition-changed" });
}

function changeOf(entry: ToolEntry, { tools }: Drift): string | undefined {
  const found = tools.find(({ tool, change }) => tool === entry.tool && change !== "added");
  if (!found) return undefined;
  return found.change === "removed" ? "the server no longer has it" : `other ${found.members.join(", ")}`;
}
