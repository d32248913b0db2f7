/**
 * The key of the user's cache folder, which turns credentials into names that say nothing: what was got with one token is
 * never found with another, and nobody who sees the names learns a token by trying.
 */
import { createHmac, randomBytes } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { canonicalJson } from "../../schemas/canonical.ts";

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
    // Another process was first, or left a torn key behind, or the folder can't be written.
    const theirs = await readKey(folder);
    if (theirs) return theirs;
    const temporary = `${path}.${process.pid}.tmp`;
    await writeFile(temporary, key, { mode: 0o600 })
      .then(() => rename(temporary, path))
      .catch(() => undefined);
    return (await readKey(folder)) ?? key;
  }
}
