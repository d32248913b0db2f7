/**
 * The tasks there are on this machine, and what can be done with them from outside the call that began them: go on with one,
 * whichever process left it, or cancel it. A task belongs to the server it was made by, reached as it was then: its id
 * is shown to no other. Tools that are hidden now stay out of reach.
 */
import type { ToolEntry, ToolTable } from "../../schemas/artifacts/tool-table.ts";
import { digestOf } from "../../schemas/canonical.ts";
import type { Diagnostic } from "../../schemas/diagnostic.ts";
import { callNotice } from "../calls/call-notice.ts";
import { type InterpretedResult, interpretResult, remarksOn } from "../calls/results.ts";
import type { CallOptions } from "../codegen/v1.ts";
import type { Connections } from "../connections.ts";
import { RefusedError, ServerError } from "../errors.ts";
import type { TaskHandle } from "./handle-file.ts";
import type { Claim, HeldClaim } from "./handle-lock.ts";
import type { ListedTask } from "./handle-store.ts";
import type { TaskCalls, TaskHooks } from "./task-calls.ts";
import { taskText } from "./task-outcome.ts";
import { TaskRecord } from "./task-record.ts";

export type { ListedTask } from "./handle-store.ts";

export interface TasksContext {
  readonly table: ToolTable;
  readonly connections: Connections;
  readonly calls: TaskCalls;
  readonly onNotice: (notice: Diagnostic) => void;
}

export interface ResumeOptions extends CallOptions, TaskHooks {}

const CANCEL_MS = 10_000;

export class Tasks {
  readonly #context: TasksContext;

  constructor(context: TasksContext) {
    this.#context = context;
  }

  /** Tasks of all projects, oldest first: those that haven't ended, with `all` those of the last day too. */
  async list(options?: { readonly all?: boolean }): Promise<readonly ListedTask[]> {
    const { value, diagnostics } = await this.#context.calls.store.list(options);
    for (const found of diagnostics) this.#context.onNotice(found);
    return value;
  }

  /**
   * Follows a task to its end, as the call that began it would have. Rejects with `ServerError` as that would have, and
   * with `RefusedError` where another process follows it or its server is reached in another way now.
   */
  async resume(handle: TaskHandle, options: ResumeOptions = {}): Promise<InterpretedResult> {
    const { calls, connections, onNotice } = this.#context;
    const outputSchema = this.#outputSchema(handle);
    await this.#assertSameServer(handle);
    const claimed = await this.#claim(handle);
    if (!claimed.ok) throw refused(handle, `is followed by process ${claimed.holder.pid} on ${claimed.holder.host}`);
    // It may have ended, or gone on, between being listed and being claimed.
    const current = await this.#current(handle, claimed.claim);
    const { server, taskId, status, ttlMs, pollIntervalMs } = current;
    const record = new TaskRecord(current, calls.store, onNotice, claimed.claim);
    try {
      await this.#assertSameEra(current, await connections.get(server, options.signal));
    } catch (error) {
      await record.release();
      throw error;
    }
    const { signal, timeoutMs, onProgress, onTaskResult } = options;
    const known = {
      taskId,
      status: status === "expired" ? ("working" as const) : status,
      ...(ttlMs !== undefined && { ttlMs }),
      ...(pollIntervalMs !== undefined && { pollIntervalMs }),
    };
    const answered = await calls.follow(record, known, { options: { signal, timeoutMs, onProgress }, onTaskResult });
    const interpreted = await interpretResult(answered.result, outputSchema);
    for (const remark of remarksOn(interpreted)) onNotice(callNotice(handle, remark));
    await answered.forget?.();
    return { ...interpreted, taskId };
  }

  /** Whether its server is reached as it was when the task was made: only then is the task resumed or cancelled. */
  async isReachable({ server, connection }: TaskHandle): Promise<boolean> {
    return ((await this.#context.connections.digest(server)) ?? "unconfigured") === connection;
  }

  /** Tells the server to stop. False where it did not know the task any more. Rejects like `resume`. */
  async cancel(handle: TaskHandle, signal?: AbortSignal): Promise<boolean> {
    const { calls, connections, onNotice } = this.#context;
    const { server, taskId, generation } = handle;
    this.#outputSchema(handle);
    await this.#assertSameServer(handle);
    await this.#assertSameEra(handle, await connections.get(server, signal));
    const { isUnknownTask, taskPeer } = await import("./task-peer.ts");
    const { notices, closing } = calls;
    const { capabilities } = calls.options;
    const peer = taskPeer({ connections, notices, closing, server, taskId, generation, capabilities });
    const limit = AbortSignal.any([AbortSignal.timeout(CANCEL_MS), closing, ...(signal ? [signal] : [])]);
    const reply = await peer.cancel(limit);
    const { failure } = reply.ok ? {} : reply;
    const isUnknown = failure !== undefined && isUnknownTask(failure);
    if (failure !== undefined && !isUnknown) throw await failure.toError();
    // Whoever follows it now learns of its end from the server, and takes the handle away.
    const claimed = await this.#claim(handle);
    if (claimed.ok) {
      const reading = await calls.store.read(handle);
      const record = new TaskRecord(reading?.ok ? reading.handle : handle, calls.store, onNotice, claimed.claim);
      await (reading === undefined ? record.release() : record.end(isUnknown ? "expired" : "cancelled"));
    }
    return !isUnknown;
  }

  /** Undefined where the tool has none, or is not compiled any more. Throws for one that is hidden. */
  #outputSchema(handle: TaskHandle): unknown {
    const { table } = this.#context;
    const { server, tool } = handle;
    const entry: ToolEntry | undefined = table.tools({ server, includeHidden: true }).find((one) => one.tool === tool);
    if (entry?.exposure === "hidden") throw refused(handle, "is of a server or tool that can't be reached here");
    const definition = entry === undefined ? undefined : table.definition(entry.name);
    const outputSchema = definition?.ok ? definition.value?.outputSchema : undefined;
    if ((outputSchema === undefined ? "" : digestOf(outputSchema)) !== handle.outputSchema)
      this.#context.onNotice(callNotice(handle, "the tool's output schema is another now than when the task was made"));
    return outputSchema;
  }

  async #claim(handle: TaskHandle): Promise<Claim> {
    return this.#context.calls.store.claim(handle).catch((error: NodeJS.ErrnoException) => {
      throw refused(handle, `can't be claimed in ${this.#context.calls.store.folder} (${error.code ?? error.message})`);
    });
  }

  /** The handle as it is on disk now. Where there is none to go on with, lets go of the claim and rejects. */
  async #current(handle: TaskHandle, claim: HeldClaim): Promise<TaskHandle> {
    const { store } = this.#context.calls;
    const reading = await store.read(handle);
    if (reading?.ok) return reading.handle;
    await claim.release();
    throw refused(handle, reading === undefined ? "has ended meanwhile" : `has no usable handle: ${reading.reason}`);
  }

  async #assertSameServer(handle: TaskHandle): Promise<void> {
    if (await this.isReachable(handle)) return;
    throw refused(handle, `was made by a server "${handle.server}" that is reached in another way than the one here`);
  }

  async #assertSameEra(handle: TaskHandle, { verdict }: { readonly verdict: { readonly era: string } }): Promise<void> {
    if ((verdict.era === "modern") === (handle.generation === "v2")) return;
    const { server, taskId } = handle;
    const message = `server "${server}" speaks another protocol version than when it made ${taskText(taskId)}`;
    throw new ServerError(message, { server, taskId });
  }
}

function refused({ taskId, server, tool }: TaskHandle, what: string): RefusedError {
  return new RefusedError(`${taskText(taskId)} ${what}`, { server, tool, reason: "not-offered" });
}
