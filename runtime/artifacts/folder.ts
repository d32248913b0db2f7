/**
 * The disk behind a folder of artifacts. Files that a session may read much later are opened when the folder
 * is: a compile replaces files by renaming new ones into their place, so an open file stays the one its manifest was
 * written for, and a session keeps the definitions it started with while `pimcp watch` writes newer ones. A
 * reader never writes and never waits.
 */
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ReadFailure, ReadFile } from "../../schemas/artifacts/read.ts";

/** Read on demand, if at all. */
const LATER = ["catalog.json", "budget.json", "search.json", "codemode.d.ts"] as const;

export interface FolderReader {
  readonly readFile: ReadFile;
  /** Lets go of files that were opened and never read. Reading goes on to work, from whatever is there by then. */
  readonly close: () => void;
}

/** A reader of `folder`, an absolute path. With `pin`, later reads see the files of now. */
export function folderReader(folder: string, options: { readonly pin: boolean }): FolderReader {
  const opened = new Map<string, number>();
  // Windows can't rename over an open file; there a session whose artifacts were replaced says so instead.
  if (options.pin && process.platform !== "win32") {
    for (const path of LATER) {
      const descriptor = tryOpen(join(folder, path));
      if (descriptor !== undefined) opened.set(path, descriptor);
    }
  }
  const readFile: ReadFile = (path) => {
    const descriptor = opened.get(path);
    try {
      return readFileSync(descriptor ?? join(folder, path));
    } catch (error) {
      return failureOf(error);
    } finally {
      // A descriptor is read to its end once; the caller keeps what it read.
      if (descriptor !== undefined) closeSync(descriptor);
      opened.delete(path);
    }
  };
  const close = () => {
    for (const descriptor of opened.values()) closeSync(descriptor);
    opened.clear();
  };
  return { readFile, close };
}

/** A file that can't be opened now gets its error when it is read. */
function tryOpen(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch {
    return undefined;
  }
}

function failureOf(error: unknown): ReadFailure {
  const code = (error as NodeJS.ErrnoException).code;
  return { missing: code === "ENOENT" || code === "ENOTDIR", message: code ?? String(error) };
}
