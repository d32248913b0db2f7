/**
 * One compile at a time writes an output folder, whichever processes they are in: two at once would leave files of both.
 * Held for reading what is there, making files and writing them, never while a server is asked. The lock is a folder in the
 * cache, not beside the outputs, which may be in a repository. A process that died with it is waited for no longer than
 * fifteen seconds; where no lock can be had the compile goes on without. Loads a package only when it has to wait.
 */
import { mkdir, realpath, rmdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sha256 } from "../schemas/canonical.ts";

/** Runs `work` while no other compile changes `folder`. */
export type Exclusively = <T>(folder: string, work: () => Promise<T>) => Promise<T>;

const PAUSE_MS = 100;
/** Whoever holds the lock renews it; one that isn't counts as left behind. */
const RENEW_MS = 2000;
const STALE_MS = 15_000;
const PATIENCE_MS = 40_000;

type Release = () => Promise<void>;

/** Locks in a cache folder. An abort ends the waiting, not the work. */
export function outputLocks(cacheFolder: string, signal: AbortSignal): Exclusively {
  return async (folder, work) => {
    const release = await acquire(join(cacheFolder, "locks"), folder, signal);
    try {
      return await work();
    } finally {
      await release();
    }
  };
}

async function acquire(locks: string, folder: string, signal: AbortSignal): Promise<Release> {
  const lock = join(locks, sha256(await realpath(folder).catch(() => folder)).slice(0, 32));
  try {
    await mkdir(locks, { recursive: true, mode: 0o700 });
    await mkdir(lock);
    return holding(lock);
  } catch (error) {
    return isHeld(error) ? waitFor(lock, signal) : without;
  }
}

/** What proper-lockfile does for a lock that is free, so that each respects the other's. */
function holding(lock: string): Release {
  const renew = () => void utimes(lock, new Date(), new Date()).catch(() => undefined);
  const timer = setInterval(renew, RENEW_MS);
  return async () => {
    clearInterval(timer);
    await rmdir(lock).catch(() => undefined);
  };
}

async function waitFor(lock: string, signal: AbortSignal): Promise<Release> {
  const { default: lockfile } = await import("proper-lockfile");
  // Who was suspended for so long that it lost the lock writes whole files all the same.
  const options = { lockfilePath: lock, realpath: false, stale: STALE_MS, update: RENEW_MS, onCompromised: () => {} };
  for (let waited = 0; waited < PATIENCE_MS && !signal.aborted; waited += PAUSE_MS) {
    try {
      const release = await lockfile.lock(lock, options);
      return () => release().catch(() => undefined);
    } catch (error) {
      if (!isHeld(error)) break;
      await sleep(PAUSE_MS);
    }
  }
  return without;
}

const without: Release = async () => {};

function isHeld(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  // Windows keeps a folder that was just removed for as long as somebody looks at it.
  return code === "EEXIST" || code === "ELOCKED" || (code === "EPERM" && process.platform === "win32");
}
