/**
 * The locks on credentials, by the same paths and rules as Pi's, so that both tools exclude each other: a folder beside
 * the file, renewed by its holder and taken over when that holder died. Every wait has an end.
 */
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { AuthError } from "./auth-error.ts";

/** Longer than any of Pi's locks lives after its holder died. */
const FILE_WAIT_MS = 15_000;
const FILE_STALE_MS = 10_000;
const REFRESH_STALE_MS = 20_000;
const REFRESH_WAIT_MS = 25_000;

/** Many may be waiting, and the more often they look the longer the holder takes. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 400;

export interface LockTimes {
  /** Milliseconds after which a lock that is not renewed counts as left behind. */
  readonly staleMs: number;
  readonly waitMs: number;
}

export const FILE_LOCK: LockTimes = { staleMs: FILE_STALE_MS, waitMs: FILE_WAIT_MS };
export const REFRESH_LOCK: LockTimes = { staleMs: REFRESH_STALE_MS, waitMs: REFRESH_WAIT_MS };

/**
 * Runs `task` while holding the lock of `path`. Whenever somebody else holds it, `meanwhile` is asked whether waiting is
 * still needed: what it finds is the outcome. Throws `AuthError` when the wait is over or the lock can't be made.
 */
export async function withLock<T>(
  path: string,
  times: LockTimes,
  task: () => Promise<T>,
  meanwhile?: () => Promise<T | undefined>,
): Promise<T> {
  const { default: lockfile } = await import("proper-lockfile");
  await makeFolder(dirname(path));
  const until = Date.now() + times.waitMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)) {
    const release = await acquire(lockfile, path, times);
    if (release !== undefined) {
      try {
        return await task();
      } finally {
        // A lock that was lost meanwhile has no more to release; whoever took it over releases it.
        await release().catch(() => undefined);
      }
    }
    const found = await meanwhile?.();
    if (found !== undefined) return found;
    if (Date.now() >= until) throw busy();
    await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random())));
  }
}

/** Undefined while another holds it. */
async function acquire(
  lockfile: typeof import("proper-lockfile"),
  path: string,
  { staleMs }: LockTimes,
): Promise<(() => Promise<void>) | undefined> {
  try {
    return await lockfile.lock(path, {
      realpath: false,
      stale: staleMs,
      // By default it throws from a timer. What is written afterwards is compared with what is stored.
      onCompromised: () => undefined,
    });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ELOCKED") return undefined;
    // Windows keeps a folder that was just removed for as long as somebody looks at it.
    if (code === "EPERM" && process.platform === "win32") return undefined;
    throw unwritable(cause);
  }
}

/** Only its owner may look into a folder that is made for credentials. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw unwritable(cause);
  }
}

export function unwritable(cause: unknown): AuthError {
  const { code = "unknown error" } = cause as NodeJS.ErrnoException;
  return new AuthError("credentials-unwritable", `the credentials can't be stored in mcp-auth.json (${code})`, {
    cause,
    notes: ["make the agent folder and mcp-auth.json writable, or set PI_CODING_AGENT_DIR to a folder that is"],
  });
}

function busy(): AuthError {
  return new AuthError("credentials-unwritable", "another process keeps the credentials of mcp-auth.json locked", {
    notes: ["try again; if nothing else is running, remove the .lock folder beside mcp-auth.json"],
  });
}
