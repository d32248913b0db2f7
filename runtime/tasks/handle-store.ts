/**
 * The folder of task handles in the user's state folder: `$PIMCP_STATE_DIR/tasks`, else `$XDG_STATE_HOME/pimcp/tasks`, else
 * `~/.local/state/pimcp/tasks`. Folders are 0700 and files 0600, each appears whole and is on the disk before a write resolves. A handle
 * is gone when its task has ended; a line about it stays in `ended/` for a day, for `tasks list --all`. A file that is
 * no handle is put aside with a finding and never stops the others.
 */
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { byCodeUnit } from "../../schemas/canonical.ts";
import { type Diagnostic, diagnostic, type Outcome } from "../../schemas/diagnostic.ts";
import { writeWhole } from "../connect/whole-file.ts";
import {
  deadlineOf,
  type HandleReading,
  handleFileName,
  readHandle,
  type TaskHandle,
  writeHandle,
} from "./handle-file.ts";
import { type Claim, claimTask, type Holder, holderOf } from "./handle-lock.ts";

export interface ListedTask extends TaskHandle {
  /** Its result was fetched, or there is none to be had. */
  readonly ended: boolean;
  /** The process that follows it now. */
  readonly holder?: Holder;
}

/** Bytes of a handle at most: answers are short, and a file that is longer is none of ours. */
const MAX_BYTES = 4 * 1024 * 1024;
const ENDED_KEPT_MS = 24 * 60 * 60_000;
/** The newest of them; looked at now and then, so there may be twice as many. */
const ENDED_KEPT = 200;
/** Guards and claims of handles that are gone, and halves of writes. */
const LEFTOVER_MS = 60 * 60_000;
/** Files that were put aside, counted from then. */
const ASIDE_KEPT_MS = 24 * 60 * 60_000;
const FOLDER = { recursive: true, mode: 0o700 } as const;

export class HandleStore {
  readonly folder: string;
  readonly #now: () => number;
  #ends = 0;

  /** `stateDir` is the state folder; tasks have one of their own in it. */
  constructor(stateDir: string, now: () => number = Date.now) {
    this.folder = join(stateDir, "tasks");
    this.#now = now;
  }

  pathOf(handle: Pick<TaskHandle, "server" | "connection" | "taskId">): string {
    return join(this.folder, handleFileName(handle));
  }

  /** Rejects where it can't be written. Without `flush` it survives this process, but perhaps not the machine. */
  async write(handle: TaskHandle, flush = true): Promise<void> {
    await mkdir(this.folder, FOLDER);
    await writeWhole(this.pathOf(handle), writeHandle(handle), { flush });
  }

  /** The same for a new task; false where there is a handle of that task already, which is left as it is. */
  async create(handle: TaskHandle): Promise<boolean> {
    const isThere = (await stat(this.pathOf(handle)).catch(() => undefined)) !== undefined;
    if (!isThere) await this.write(handle);
    return !isThere;
  }

  async claim(handle: TaskHandle): Promise<Claim> {
    return claimTask(this.pathOf(handle));
  }

  /** Undefined where there is none. */
  read(handle: Pick<TaskHandle, "server" | "connection" | "taskId">): Promise<HandleReading | undefined> {
    return readFrom(this.folder, handleFileName(handle));
  }

  /** Takes the handle away; what it was stays for a day. */
  async end(handle: TaskHandle): Promise<void> {
    const past: TaskHandle = { ...handle, answers: [], updatedAt: new Date(this.#now()).toISOString() };
    const ended = join(this.folder, "ended");
    await mkdir(ended, FOLDER);
    await writeWhole(join(ended, handleFileName(handle)), writeHandle(past), { flush: true });
    await rm(this.pathOf(handle), { force: true });
    if (++this.#ends % ENDED_KEPT === 0) await this.#forgetPast(await this.#readAll(ended, []));
  }

  /** Every handle, oldest first, with `all` those that ended too. Those past their time are taken away. */
  async list({ all = false } = {}): Promise<Outcome<readonly ListedTask[]>> {
    const diagnostics: Diagnostic[] = [];
    try {
      return { value: await this.#list(all, diagnostics), diagnostics };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined) throw error;
      const message = `the tasks in ${this.folder} can't be read (${code})`;
      return { value: [], diagnostics: [...diagnostics, diagnostic("task-handle-unreadable", message)] };
    }
  }

  async #list(all: boolean, diagnostics: Diagnostic[]): Promise<readonly ListedTask[]> {
    const live = await this.#readAll(this.folder, diagnostics);
    const present: ListedTask[] = [];
    for (const handle of live) {
      const holder = await holderOf(this.pathOf(handle));
      if (holder === undefined && this.#isPast(handle)) await this.end({ ...handle, status: "expired" });
      else present.push({ ...handle, ended: false, ...(holder && { holder }) });
    }
    const names = new Set(present.map(handleFileName));
    const past = (await this.#readAll(join(this.folder, "ended"), [])).filter((one) => !names.has(handleFileName(one)));
    const kept = all ? past.map((handle) => ({ ...handle, ended: true })) : [];
    await this.#forgetPast(past);
    await this.#clean(names);
    return [...present, ...kept].sort((a, b) => byCodeUnit(a.createdAt, b.createdAt) || byCodeUnit(a.taskId, b.taskId));
  }

  #isPast(handle: TaskHandle): boolean {
    const deadline = deadlineOf(handle);
    return deadline !== undefined && deadline < this.#now();
  }

  async #readAll(folder: string, diagnostics: Diagnostic[]): Promise<TaskHandle[]> {
    const handles: TaskHandle[] = [];
    for (const name of await namesIn(folder)) {
      if (!/^[0-9a-f]{32}\.json$/.test(name)) continue;
      const path = join(folder, name);
      const reading = await readFrom(folder, name);
      if (reading === undefined) continue; // ended while we looked
      if (reading.ok) handles.push(reading.handle);
      else diagnostics.push(reading.isUnread ? unreadable(path, reading.reason) : await putAside(path, reading.reason));
    }
    return handles;
  }

  async #forgetPast(past: readonly TaskHandle[]): Promise<void> {
    const newest = [...past].sort((a, b) => byCodeUnit(b.updatedAt, a.updatedAt));
    for (const [index, handle] of newest.entries()) {
      if (index >= ENDED_KEPT || Date.parse(handle.updatedAt) + ENDED_KEPT_MS < this.#now())
        await rm(join(this.folder, "ended", handleFileName(handle)), { force: true });
    }
  }

  /** What processes that were killed left beside their handles, and what was put aside long ago. */
  async #clean(present: ReadonlySet<string>): Promise<void> {
    for (const folder of [this.folder, join(this.folder, "ended")]) {
      for (const name of await namesIn(folder)) {
        const [, handle, ending] = /^([0-9a-f]{32}\.json)\.(claim|guard|unreadable|[0-9a-f]+\.tmp)$/.exec(name) ?? [];
        if (handle === undefined || (ending !== "unreadable" && present.has(handle))) continue;
        const path = join(folder, name);
        const info = await stat(path).catch(() => undefined);
        if (info === undefined) continue;
        const isOld =
          ending === "unreadable"
            ? info.ctimeMs + ASIDE_KEPT_MS < this.#now()
            : info.mtimeMs + LEFTOVER_MS < this.#now();
        if (isOld) await rm(path, { force: true, recursive: info.isDirectory() });
      }
    }
  }
}

/** `isUnread`: nothing is known of what is in it. */
type FileReading = HandleReading & { readonly isUnread?: boolean };

/** Undefined where there is no such file. */
async function readFrom(folder: string, name: string): Promise<FileReading | undefined> {
  let text: string | undefined;
  try {
    text = await readBounded(join(folder, name));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { ok: false, isUnread: true, reason: `it can't be read (${code ?? message})` };
  }
  if (text === undefined) return undefined;
  const reading = readHandle(text);
  if (!reading.ok || handleFileName(reading.handle) === name) return reading;
  // A handle in a file of another name was copied there by somebody.
  return { ok: false, reason: "it is another task's" };
}

/** Left where it is: its owner may yet let us read it. */
function unreadable(path: string, reason: string): Diagnostic {
  return diagnostic("task-handle-unreadable", `${path}: ${reason}`);
}

async function putAside(path: string, reason: string): Promise<Diagnostic> {
  const aside = `${path}.unreadable`;
  const moved = await rename(path, aside).then(
    () => true,
    () => false,
  );
  const notes = [moved ? `it was renamed to ${aside}` : "it could not be renamed", "its task can't be resumed"];
  return diagnostic("task-handle-unreadable", `${path} is no task handle: ${reason}`, { notes });
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort(byCodeUnit);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

async function readBounded(path: string): Promise<string | undefined> {
  const file = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (file === undefined) return undefined;
  try {
    const info = await file.stat();
    return info.isFile() && info.size <= MAX_BYTES ? await file.readFile("utf8") : "";
  } finally {
    await file.close();
  }
}
