/**
 * Who follows a task: one process at a time. The claim is a file that names the process (and on Linux when it was started,
 * so that a number used again is told apart), so a process that was killed holds nothing, and whoever comes next
 * needn't wait for a time-out. The short moment of looking and claiming is guarded by proper-lockfile. A claim made on another
 * machine over a shared home counts as long as it is renewed.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { jsonIn } from "../../schemas/json.ts";
import { isRecord } from "../../schemas/record.ts";

export interface Holder {
  readonly pid: number;
  readonly host: string;
}

export type Claim = { readonly ok: true; readonly claim: HeldClaim } | { readonly ok: false; readonly holder: Holder };

export interface HeldClaim {
  /** False once somebody else has taken over, as after a long sleep of the machine. */
  isOurs(): Promise<boolean>;
  release(): Promise<void>;
}

interface Note extends Holder {
  readonly started: string;
  readonly token: string;
}

const RENEW_MS = 10_000;
/** A claim that can't be looked into and wasn't renewed for so long is given up. */
const STALE_MS = 60_000;
/**
 * Held for milliseconds. A process that is stopped while it holds the guard finds it taken over, which is no reason to
 * end that process: the claim itself is still made by one alone.
 */
const GUARD = {
  onCompromised: () => {},
  stale: 5000,
  realpath: false,
  retries: { retries: 60, minTimeout: 20, maxTimeout: 200 },
};

/** Claims the task whose handle is at `path`. Rejects only for what the file system does. */
export async function claimTask(path: string): Promise<Claim> {
  const file = `${path}.claim`;
  const unlock = await guarded(path);
  try {
    const held = await holderOf(path);
    if (held !== undefined) return { ok: false, holder: held };
    const note: Note = { ...self(), token: randomBytes(8).toString("hex") };
    await rm(file, { force: true });
    await writeFile(file, JSON.stringify(note), { mode: 0o600, flag: "wx" });
    return { ok: true, claim: heldClaim(path, file, note) };
  } finally {
    await unlock();
  }
}

/** The living process that follows the task, if there is one. */
export async function holderOf(path: string): Promise<Holder | undefined> {
  const file = `${path}.claim`;
  const note = await readNote(file);
  if (note === undefined) return undefined;
  const { pid, host } = note;
  if (host !== hostname()) return (await isRenewed(file)) ? { pid, host } : undefined;
  if (!isAlive(pid)) return undefined;
  const started = startOf(pid);
  const isSame = started === "" ? await isRenewed(file) : started === note.started;
  return isSame ? { pid, host } : undefined;
}

function heldClaim(path: string, file: string, note: Note): HeldClaim {
  const isOurs = async () => (await readNote(file))?.token === note.token;
  const renew = async () => {
    const now = new Date();
    if (await isOurs()) await utimes(file, now, now);
    else clearInterval(renewal);
  };
  // One that fails is tried again; a claim that is lost by then is found out about where it matters.
  const renewal = setInterval(() => void renew().catch(() => undefined), RENEW_MS);
  renewal.unref();
  return {
    isOurs,
    async release() {
      clearInterval(renewal);
      const unlock = await guarded(path);
      try {
        if (await isOurs()) await rm(file, { force: true });
      } finally {
        await unlock();
      }
    },
  };
}

async function guarded(path: string): Promise<() => Promise<void>> {
  const { lock } = (await import("proper-lockfile")).default;
  const unlock = await lock(path, { ...GUARD, lockfilePath: `${path}.guard` });
  // Taken over meanwhile, it is not ours to let go of.
  return () => unlock().catch(() => undefined);
}

async function readNote(file: string): Promise<Note | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  // No JSON: a claim that its writer didn't get to write whole.
  const value = jsonIn(text);
  if (!isRecord(value)) return undefined;
  const { pid, host, started, token } = value;
  const isNote = Number.isSafeInteger(pid) && typeof host === "string" && typeof started === "string";
  return isNote && typeof token === "string" ? ({ pid, host, started, token } as Note) : undefined;
}

async function isRenewed(file: string): Promise<boolean> {
  const info = await stat(file).catch(() => undefined);
  return info !== undefined && Date.now() - info.mtimeMs < STALE_MS;
}

function self(): Omit<Note, "token"> {
  return { pid: process.pid, host: hostname(), started: startOf(process.pid) };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Alive, and another user's.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** When a process was started, in a form of the system's own; empty where the system has no such file. */
function startOf(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the command in parentheses, which may hold any of both; a zombie is no process.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? "ended" : `${bootId()}:${fields[19]}`;
  } catch {
    return "";
  }
}

function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}
