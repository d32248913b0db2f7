/**
 * The user's cache folder: where it is, how files get into it, and the key that turns credentials into
 * names. Files are 0600 and appear whole; one that is torn, foreign or unreadable is a miss, never
 * an error. Nothing in it is needed: deleting the folder costs time and nothing else.
 */
import { createHmac, randomBytes } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { canonicalJson } from "../../schemas/canonical.ts";

/** `$PIMCP_CACHE_DIR`, else `$XDG_CACHE_HOME/pimcp`, else `~/.cache/pimcp` (XDG Base Directory specification). */
export function cacheFolder(env: NodeJS.ProcessEnv, homedir: string): string {
  if (env["PIMCP_CACHE_DIR"]) return env["PIMCP_CACHE_DIR"];
  const xdg = env["XDG_CACHE_HOME"];
  // The specification has relative paths ignored.
  return join(xdg?.startsWith("/") ? xdg : join(homedir, ".cache"), "pimcp");
}

/** The parsed JSON of a cache file, or undefined for anything that isn't one. */
export async function readCacheFile(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch {
    return undefined; // absent, torn or foreign: all the same miss
  }
}

/** Writes a cache file whole. False where it can't be written: the caller goes on without. */
export async function writeCacheFile(path: string, value: unknown): Promise<boolean> {
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString("hex")}.tmp`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(temporary, JSON.stringify(value), { mode: 0o600, flag: "wx" });
    await rename(temporary, path);
    return true;
  } catch {
    await rm(temporary, { force: true }).catch(() => undefined);
    return false;
  }
}

/** A keyed hash of any JSON value: the same on this machine, meaningless elsewhere. 32 hex digits. */
export type KeyedHash = (value: unknown) => string;

/** The keyed hash of this cache folder. Its key is made on first use; without a writable folder it lives for this run. */
export async function keyedHash(folder: string): Promise<KeyedHash> {
  const key = (await readKey(folder)) ?? (await makeKey(folder));
  return (value) => createHmac("sha256", key).update(canonicalJson(value)).digest("hex").slice(0, 32);
}

const KEY_BYTES = 32;

async function readKey(folder: string): Promise<Buffer | undefined> {
  const key = await readFile(join(folder, "key")).catch(() => undefined);
  return key?.length === KEY_BYTES ? key : undefined;
}

async function makeKey(folder: string): Promise<Buffer> {
  const key = randomBytes(KEY_BYTES);
  const path = join(folder, "key");
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(path, key, { mode: 0o600, flag: "wx" });
    return key;
  } catch {
    // Another compile was first, or left a torn key behind, or the folder can't be written.
    const theirs = await readKey(folder);
    if (theirs) return theirs;
    const temporary = `${path}.${process.pid}.tmp`;
    await writeFile(temporary, key, { mode: 0o600 })
      .then(() => rename(temporary, path))
      .catch(() => undefined);
    return (await readKey(folder)) ?? key;
  }
}
