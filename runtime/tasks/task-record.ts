/**
 * The handle of one task while it is followed: the latest of it in memory, every change that matters on disk before it takes effect.
 * Writes happen one after the other, and only while the task is claimed by this process. Where the disk refuses, the task
 * is followed all the same and its caller is told that it would not survive.
 */
import { type Diagnostic, type DiagnosticCode, diagnostic } from "../../schemas/diagnostic.ts";
import type { TaskHandle } from "./handle-file.ts";
import type { HeldClaim } from "./handle-lock.ts";
import type { HandleStore } from "./handle-store.ts";
import { taskText } from "./task-outcome.ts";

export type HandleChanges = Partial<Pick<TaskHandle, "status" | "updatedAt" | "ttlMs" | "pollIntervalMs" | "answers">>;

export class TaskRecord {
  #handle: TaskHandle;
  readonly #store: HandleStore;
  readonly #onNotice: (notice: Diagnostic) => void;
  #claim: HeldClaim | undefined;
  #writing: Promise<void> = Promise.resolve();
  #saidNotDurable = false;
  #lost = false;

  constructor(handle: TaskHandle, store: HandleStore, onNotice: (notice: Diagnostic) => void, claim?: HeldClaim) {
    this.#handle = handle;
    this.#store = store;
    this.#onNotice = onNotice;
    this.#claim = claim;
  }

  get handle(): TaskHandle {
    return this.#handle;
  }

  /** Another process has taken the task over, and this one has to let go of it. */
  get lost(): boolean {
    return this.#lost;
  }

  /**
   * Puts a new task on disk and claims it. A server may answer two calls with one task: while somebody follows it, its
   * handle is theirs, and the second call follows it without.
   */
  async begin(): Promise<void> {
    try {
      const isNew = await this.#store.create(this.#handle);
      const claimed = await this.#store.claim(this.#handle);
      if (!claimed.ok) return;
      this.#claim = claimed.claim;
      // Left by a process that is gone, of an earlier task of the same name.
      if (!isNew) await this.#store.write(this.#handle);
    } catch (error) {
      this.#notDurable(error);
    }
  }

  /** Resolves when the change is on disk, or can't be brought there. */
  update(changes: HandleChanges): Promise<void> {
    this.#handle = { ...this.#handle, ...changes };
    const isCostly = changes.answers !== undefined;
    this.#writing = this.#writing.then(() => this.#write(isCostly));
    return this.#writing;
  }

  /** The task is over: its handle goes. */
  async end(status?: TaskHandle["status"]): Promise<void> {
    await this.#writing;
    if (status !== undefined) this.#handle = { ...this.#handle, status };
    if (!this.#lost) await this.#store.end(this.#handle).catch((error: unknown) => this.#stays(error));
    await this.release();
  }

  /** Lets another process follow the task. */
  async release(): Promise<void> {
    await this.#writing;
    const claim = this.#claim;
    this.#claim = undefined;
    await claim?.release().catch((error: unknown) => this.#notDurable(error));
  }

  /** What can't be asked for again is flushed to the disk; the rest only survives this process. */
  async #write(isCostly: boolean): Promise<void> {
    if (this.#claim === undefined || this.#lost) return;
    try {
      if (await this.#claim.isOurs()) await this.#store.write(this.#handle, isCostly);
      else this.#lost = true;
    } catch (error) {
      this.#notDurable(error);
    }
  }

  #notDurable(error: unknown): void {
    if (this.#saidNotDurable) return;
    this.#saidNotDurable = true;
    const notes = ["if this process ends, nobody can get the task's result"];
    this.#say("task-not-durable", "kept in", error, notes);
  }

  #stays(error: unknown): void {
    this.#say("task-handle-stays", "removed from", error, ["the task has ended, and is listed as if it hadn't"]);
  }

  #say(code: DiagnosticCode, what: string, error: unknown, notes: readonly string[]): void {
    const { server, tool, taskId } = this.#handle;
    const why = (error as NodeJS.ErrnoException).code ?? String(error);
    const message = `the handle of ${taskText(taskId)} of "${server}" can't be ${what} ${this.#store.folder} (${why})`;
    this.#onNotice(diagnostic(code, message, { server, tool, notes }));
  }
}
