/**
 * Writes a change into a configuration file: read anew right before, changed by `schemas/config/edit-source.ts` so that every
 * other byte stays, replaced whole and with its permissions. A symbolic link is followed and stays one. Changes take turns, those
 * of other processes too; what an editor saved since it was read is not written over. Expected failures are values.
 */
import { lstat, mkdir, readFile, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { SourceEdit } from "../../../schemas/config/edit-source.ts";
import { type Diagnostic, diagnostic } from "../../../schemas/diagnostic.ts";
import { writeWhole } from "../../connect/whole-file.ts";
import { Turns } from "../turns.ts";

export interface ConfigFile {
  /** Absolute. */
  readonly path: string;
  /** As messages name it. */
  readonly display: string;
}

export type ConfigEdited =
  | { readonly ok: true; readonly kind: "created" | "changed" | "unchanged" }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

/** How often a file that somebody else changes in the same moment is read again. */
const ATTEMPTS = 5;
/** After which a lock counts as left behind by a process that died; a change takes milliseconds. */
const LOCK_STALE_MS = 10_000;
/** Some ten seconds in all. */
const LOCK_RETRIES = { retries: 60, minTimeout: 20, maxTimeout: 250, factor: 1.3, randomize: true };
const LARGEST_FILE_BYTES = 8 * 1024 * 1024;

const turns = new Turns();

/** Makes the file, and its folder, where there is none. */
export function editConfig(file: ConfigFile, edits: readonly SourceEdit[]): Promise<ConfigEdited> {
  return turns.take(() => editInTurn(file, edits));
}

async function editInTurn(file: ConfigFile, edits: readonly SourceEdit[]): Promise<ConfigEdited> {
  try {
    const found = await readTarget(file);
    if (!found.ok) return found;
    if (found.bytes === undefined) await mkdir(dirname(found.target), { recursive: true });
    const release = await lock(found.target);
    try {
      return await editLocked(file, edits);
    } finally {
      // One that was lost meanwhile has no more to release; whoever took it over releases it.
      await release().catch(() => undefined);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    if (code === "ELOCKED") return refuse(file, "another process is changing it", "try again");
    return refuse(file, code, "check the permissions of the file and of its folder");
  }
}

/** Rejects with `ELOCKED` when another process doesn't let go of it. */
async function lock(target: string): Promise<() => Promise<void>> {
  const { default: lockfile } = await import("proper-lockfile");
  return lockfile.lock(target, {
    realpath: false,
    stale: LOCK_STALE_MS,
    retries: LOCK_RETRIES,
    // By default it throws from a timer. What is there is compared before it is replaced.
    onCompromised: () => undefined,
  });
}

async function editLocked(file: ConfigFile, edits: readonly SourceEdit[]): Promise<ConfigEdited> {
  const { editSource } = await import("../../../schemas/config/edit-source.ts");
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const found = await readTarget(file);
    if (!found.ok) return found;
    const { target, bytes, mode } = found;
    const text = bytes === undefined ? "{}\n" : utf8(bytes);
    if (text === undefined) return refuse(file, "it is not UTF-8 text", "save it as UTF-8");
    const edited = editSource(text, file.display, edits);
    if (!edited.ok) return edited;
    if (edited.text === text) return { ok: true, kind: "unchanged" };
    if (!isSame(bytes, await bytesOf(target))) continue;
    await writeWhole(target, edited.text, { mode: mode ?? 0o644 & ~process.umask() });
    return { ok: true, kind: bytes === undefined ? "created" : "changed" };
  }
  return refuse(file, "somebody else keeps changing it", "try again");
}

type Target =
  | {
      readonly ok: true;
      /** The file itself, where `path` is a link to it. */
      readonly target: string;
      /** Undefined where there is none. */
      readonly bytes: Buffer | undefined;
      readonly mode: number | undefined;
    }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

async function readTarget(file: ConfigFile): Promise<Target> {
  const { path } = file;
  let target: string;
  try {
    target = await realpath(path);
  } catch (error) {
    if (!isAbsence(error)) throw error;
    const isLink = await lstat(path).then(
      (info) => info.isSymbolicLink(),
      () => false,
    );
    if (isLink)
      return refuse(file, "it is a symbolic link to a file that does not exist", "correct or remove the link");
    return { ok: true, target: path, bytes: undefined, mode: undefined };
  }
  const info = await stat(target);
  if (!info.isFile()) return refuse(file, "it is not a file", "move it away");
  if (info.size > LARGEST_FILE_BYTES) return refuse(file, "it has more than 8 MB", "is this the right file?");
  return { ok: true, target, bytes: await bytesOf(target), mode: info.mode & 0o7777 };
}

async function bytesOf(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

function isSame(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.equals(b);
}

function isAbsence(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENOTDIR";
}

function utf8(bytes: Uint8Array): string | undefined {
  try {
    // The mark at the beginning is text like any other here: it stays.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined; // the one way `fatal` reports bytes that are not UTF-8
    throw error;
  }
}

function refuse(
  { display }: ConfigFile,
  why: string,
  remedy: string,
): { readonly ok: false; readonly diagnostic: Diagnostic } {
  const notes = [remedy, "nothing was written"];
  return {
    ok: false,
    diagnostic: diagnostic("config-unwritable", `can't change ${display}: ${why}`, { file: display, notes }),
  };
}
