/**
 * The user's cache folder: how files get into it. Files are 0600 and appear whole; one that is torn, foreign or
 * unreadable is a miss, never an error. Nothing in it is needed: deleting the folder costs time and nothing else.
 */
import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { writeWhole } from "../../runtime/connect/whole-file.ts";

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
