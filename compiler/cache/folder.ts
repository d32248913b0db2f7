/**
 * The user's cache folder: how files get into it, and the key that turns credentials into
 * names. Files are 0600 and appear whole; one that is torn, foreign or unreadable is a miss, never
 * an error. Nothing in it is needed: deleting the folder costs time and nothing else.
 */
import { createHmac, randomBytes } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeWhole } from "../../runtime/connect/whole-file.ts";
import { canonicalJson } from "../../schemas/canonical.ts";

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
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeWhole(path, JSON.stringify(value));
    return true;
  } catch {
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
