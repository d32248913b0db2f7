/**
 * What servers say of tasks unasked: notices of status, heard on every connection to the server for as long as somebody
 * follows the task, and asked for where a server sends them only on request. A notice saves a wait and is never relied on:
 * tasks are polled all the same.
 */
import type { Connection } from "../connect/connection.ts";
import { readTaskState, type TaskState } from "./task-state.ts";

const STATUS_NOTICES = new Set(["notifications/tasks", "notifications/tasks/status"]);

/** Tasks that begin and end within this make one change of what is listened for. */
const TOGETHER_MS = 200;

type Listener = (state: TaskState) => void;

export class TaskNotices {
  /** By server, then by the task's id. */
  readonly #followed = new Map<string, Map<string, Listener>>();
  readonly #connections = new Map<string, Connection>();
  readonly #unlisten = new Map<string, () => void>();
  readonly #pending = new Set<string>();

  /** Called for every connection that is opened. */
  opened(connection: Connection): void {
    const { server } = connection;
    this.#connections.set(server, connection);
    connection.onNotification((method, params) => {
      if (!STATUS_NOTICES.has(method)) return;
      const state = readTaskState(params);
      if (state !== undefined) this.#followed.get(server)?.get(state.taskId)?.(state);
    });
    if (this.#followed.has(server)) this.#ask(server);
  }

  /** The returned function stops it. */
  follow(server: string, taskId: string, listener: Listener): () => void {
    const tasks = this.#followed.get(server) ?? new Map<string, Listener>();
    this.#followed.set(server, tasks);
    tasks.set(taskId, listener);
    // The first task is listened for at once; each further one would be a stream of its own for a moment.
    if (this.#unlisten.has(server)) this.#later(server);
    else this.#ask(server);
    return () => {
      if (tasks.get(taskId) !== listener) return;
      tasks.delete(taskId);
      if (tasks.size === 0 && this.#followed.get(server) === tasks) this.#followed.delete(server);
      this.#later(server);
    };
  }

  #later(server: string): void {
    if (this.#pending.has(server)) return;
    this.#pending.add(server);
    const timer = setTimeout(() => {
      this.#pending.delete(server);
      this.#ask(server);
    }, TOGETHER_MS);
    timer.unref();
  }

  #ask(server: string): void {
    const before = this.#unlisten.get(server);
    this.#unlisten.delete(server);
    const connection = this.#connections.get(server);
    const tasks = [...(this.#followed.get(server)?.keys() ?? [])];
    // The next wish before the last is withdrawn, so that no stream is closed for nothing.
    if (tasks.length > 0 && connection !== undefined && !connection.closed)
      this.#unlisten.set(server, connection.listenFor({ tasks }));
    before?.();
  }
}
