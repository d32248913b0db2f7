/**
 * Tool calls that may become tasks. A server that has tasks is told, call by call, that they are welcome (2026-07-28), or
 * asked for one where its tool takes that (2025-11-25); what comes of it looks to the caller like any other call. The
 * task's handle is on disk before it is asked about, and goes when the result has been handed over. A task that nobody
 * asked for is cancelled and is an error.
 */
import { setMaxListeners } from "node:events";
import type { ToolEntry } from "../../schemas/artifacts/tool-table.ts";
import { digestOf } from "../../schemas/canonical.ts";
import type { CatalogTool } from "../../schemas/catalog.schema.ts";
import type { Diagnostic } from "../../schemas/diagnostic.ts";
import { isRecord } from "../../schemas/record.ts";
import type { ConfigurationFiles } from "../connect/configuration-files.ts";
import type { Connection } from "../connect/connection.ts";
import { withoutResultType } from "../connect/message.ts";
import { withLateListener } from "../connect/result-slot.ts";
import type { RequestOptions } from "../connect/session.ts";
import { TASKS_EXTENSION } from "../connect/task-subscription.ts";
import type { Connections } from "../connections.ts";
import { ServerError } from "../errors.ts";
import type { Question } from "../questions.ts";
import { type Clock, systemClock } from "./clock.ts";
import { HANDLE_FORMAT, type TaskHandle } from "./handle-file.ts";
import { HandleStore } from "./handle-store.ts";
import { TaskNotices } from "./task-notices.ts";
import { taskText } from "./task-outcome.ts";
import { TaskRecord } from "./task-record.ts";
import { createdTask, type TaskGeneration, type TaskState } from "./task-state.ts";

export interface TaskCallsOptions {
  readonly connections: Connections;
  /** Absolute state folder. */
  readonly stateDir: string;
  readonly files: ConfigurationFiles;
  /** The client capabilities advertised to servers. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly answer: (question: Question) => Promise<Record<string, unknown>>;
  readonly onNotice: (notice: Diagnostic) => void;
  readonly clock?: Clock | undefined;
}

export interface TaskHooks {
  /** The call has become this task. */
  readonly onTask?: ((task: { readonly taskId: string }) => void) | undefined;
  /**
   * Takes over forgetting the task, for who wants its handle kept until the result has really been delivered. By default
   * it is forgotten before the call resolves.
   */
  readonly onTaskResult?: ((forget: () => Promise<void>) => void) | undefined;
}

export interface CallRequest extends TaskHooks {
  readonly entry: ToolEntry;
  readonly definition: CatalogTool;
  readonly args: Readonly<Record<string, unknown>>;
  readonly options: RequestOptions;
}

export interface Answered {
  readonly result: Readonly<Record<string, unknown>>;
  /** Of the task it came from. */
  readonly taskId?: string;
  /** Forgets the task, where there was one. */
  readonly forget?: () => Promise<void>;
}

const QUIET_CANCEL_MS = 3000;
/** Servers that a caller of the runtime opens in a way of its own have no configuration to be found again by. */
const UNCONFIGURED = "unconfigured";

export class TaskCalls {
  readonly options: TaskCallsOptions;
  readonly store: HandleStore;
  readonly notices = new TaskNotices();
  readonly clock: Clock;
  readonly #closing = new AbortController();
  readonly #following = new Set<Promise<unknown>>();

  constructor(options: TaskCallsOptions) {
    this.options = options;
    this.clock = options.clock ?? systemClock;
    // Each task that is followed listens for it.
    setMaxListeners(0, this.#closing.signal);
    this.store = new HandleStore(options.stateDir, () => this.clock.now());
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Leaves every task that is followed as it is, for another process to go on with. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#following);
  }

  /** Sends the call. Rejects with `ServerError`. */
  async call(request: CallRequest): Promise<Answered> {
    // From the beginning: a server may keep its tasks in a process that ends with the connection.
    const release = this.options.connections.lease(request.entry.server);
    try {
      return await this.#call(request);
    } finally {
      release();
    }
  }

  async #call(request: CallRequest): Promise<Answered> {
    const { entry, definition, args, options } = request;
    const { connections, capabilities } = this.options;
    const { server } = entry;
    // A call that is given up already connects to nothing.
    const connection = options.signal?.aborted ? undefined : await connections.get(server, options.signal);
    const generation = connection && generationOf(connection, definition);
    const plain = { name: entry.tool, arguments: args };
    const params =
      generation === undefined
        ? plain
        : generation === "v1"
          ? { ...plain, task: {} }
          : await (await import("./task-peer.ts")).takingTasks(plain, capabilities);
    const onLate = (late: Readonly<Record<string, unknown>>) => void this.#late(request, late);
    const result = await connections.request(server, "tools/call", withLateListener(params, onLate), options);
    const created = createdTask(result);
    if (created === undefined) return { result };
    const { task } = created;
    if (task === undefined || created.generation !== generation) throw await this.#unwanted(request, created);
    const record = new TaskRecord(
      await this.#handle(entry, definition, generation, task),
      this.store,
      this.options.onNotice,
    );
    await record.begin();
    request.onTask?.({ taskId: task.taskId });
    return this.follow(record, task, request);
  }

  /** To the task's end, whoever began it. The record is claimed, or could not be. */
  follow(
    record: TaskRecord,
    known: TaskState,
    how: TaskHooks & { readonly options: RequestOptions },
  ): Promise<Answered> {
    const following = this.#follow(record, known, how);
    this.#following.add(following);
    const done = () => void this.#following.delete(following);
    following.then(done, done);
    return following;
  }

  async #follow(
    record: TaskRecord,
    known: TaskState,
    { options, onTaskResult }: TaskHooks & { readonly options: RequestOptions },
  ): Promise<Answered> {
    const { connections, capabilities, answer } = this.options;
    const { server, taskId, tool, generation } = record.handle;
    const [{ followTask }, { taskPeer }, { taskEnd }] = await Promise.all([
      import("./follow.ts"),
      import("./task-peer.ts"),
      import("./task-outcome.ts"),
    ]);
    const { timeoutMs, signal } = options;
    const { notices, closing, clock } = this;
    const release = connections.lease(server);
    let steps = 0;
    try {
      const outcome = await followTask({
        peer: taskPeer({ connections, notices, closing, server, taskId, generation, capabilities, timeoutMs }),
        record,
        known,
        clock,
        closing,
        signal,
        ask: (question) => answer({ ...question, server, tool, taskId }),
        onStatus: ({ statusMessage }) =>
          options.onProgress?.({ progress: ++steps, ...(statusMessage !== undefined && { message: statusMessage }) }),
      });
      const end = await taskEnd(outcome, record.handle, connections);
      if ("error" in end) {
        if (end.status !== undefined) await record.update({ status: end.status });
        await (end.over ? record.end() : record.release());
        throw end.error;
      }
      const forget = () => record.end("completed");
      if (onTaskResult) onTaskResult(forget);
      return { result: withoutResultType(end.result), taskId, ...(onTaskResult === undefined && { forget }) };
    } catch (error) {
      // Whatever went wrong, nobody else has to wait for this process to end.
      await record.release();
      throw error;
    } finally {
      release();
    }
  }

  /** A task that was made after its call was given up has nobody to wait for it. */
  async #late(request: CallRequest, result: Readonly<Record<string, unknown>>): Promise<void> {
    const created = createdTask(result);
    if (created !== undefined && !this.closing.aborted) await this.#unwanted(request, created);
  }

  /** The error for a task that nobody asked for, which is cancelled where its id is known. */
  async #unwanted(
    { entry: { server, tool } }: CallRequest,
    { generation, task }: { generation: TaskGeneration; task: TaskState | undefined },
  ): Promise<ServerError> {
    if (task === undefined) {
      return new ServerError(`server "${server}": "${tool}" was answered with a task that has no id or status`, {
        server,
      });
    }
    const { connections, capabilities } = this.options;
    const { taskId } = task;
    const { taskPeer } = await import("./task-peer.ts");
    const { notices, closing } = this;
    const peer = taskPeer({ connections, notices, closing, server, taskId, generation, capabilities });
    const cancelled = await peer.cancel(AbortSignal.any([AbortSignal.timeout(QUIET_CANCEL_MS), closing]));
    const fate = cancelled.ok ? "it was cancelled" : `it could not be cancelled (${cancelled.failure.message})`;
    const message = `"${tool}" was answered with a task that nobody asked for`;
    return new ServerError(`server "${server}": ${message}; ${taskText(taskId)}; ${fate}`, { server, taskId });
  }

  async #handle(
    { server, tool, name }: ToolEntry,
    { outputSchema }: CatalogTool,
    generation: TaskGeneration,
    { taskId, status, ttlMs, pollIntervalMs }: TaskState,
  ): Promise<TaskHandle> {
    const { connections, files } = this.options;
    const at = new Date(this.clock.now()).toISOString();
    const config = files.isNamed ? files.candidates[0]?.path : undefined;
    return {
      format: HANDLE_FORMAT,
      taskId,
      generation,
      server,
      connection: (await connections.digest(server)) ?? UNCONFIGURED,
      tool,
      name,
      outputSchema: outputSchema === undefined ? "" : digestOf(outputSchema),
      project: { cwd: files.sessionDir, ...(config !== undefined && { config }) },
      createdAt: at,
      updatedAt: at,
      status,
      ...(ttlMs !== undefined && { ttlMs }),
      ...(pollIntervalMs !== undefined && { pollIntervalMs }),
      answers: [],
    };
  }
}

/** How a call of this tool may become a task on this connection; undefined where it may not. */
function generationOf({ tasks, verdict }: Connection, { execution }: CatalogTool): TaskGeneration | undefined {
  if (!tasks) return undefined;
  const { era, capabilities = {} } = verdict;
  if (era === "modern") {
    const { extensions } = capabilities;
    return isRecord(extensions) && isRecord(extensions[TASKS_EXTENSION]) ? "v2" : undefined;
  }
  const offered = member(member(member(capabilities["tasks"], "requests"), "tools"), "call") !== undefined;
  const support = member(execution, "taskSupport");
  return offered && (support === "optional" || support === "required") ? "v1" : undefined;
}

function member(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
