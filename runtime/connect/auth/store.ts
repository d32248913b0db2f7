/**
 * Where credentials are kept between runs: `<agent dir>/mcp-auth.json`, shared with Pi. Reading takes no lock unless what
 * it finds looks half written. Changing is read, change, write under the file's lock, with a rename at the end, so
 * that no reader of ours and no crash ever meets half a file; what others stored is kept. Mode 0600.
 */
import { constants } from "node:fs";
import { access, open, readFile, readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { writeWhole } from "../whole-file.ts";
import { AuthError } from "./auth-error.ts";
import {
  type CredentialKey,
  type Credentials,
  entryOf,
  parseEntries,
  refreshLockName,
  serializeEntries,
  withEntry,
} from "./store-file.ts";
import { FILE_LOCK, REFRESH_LOCK, unwritable, withLock } from "./store-lock.ts";

/** Is given what is stored at that moment and returns what is to be stored: the same to change nothing, and never nothing to remove it. */
export type Change = (stored: Credentials | undefined) => Credentials | undefined;

/** Every method rejects with `AuthError` alone. */
export interface CredentialStore {
  read(key: CredentialKey): Promise<Credentials | undefined>;
  update(key: CredentialKey, change: Change): Promise<void>;
  /** Forgets it. Resolves with why some of it is left in the keyring, where it is: nothing that is used any more. */
  remove(key: CredentialKey): Promise<AuthError | undefined>;
  /** Where it is, and whether older credentials that couldn't be deleted are left in the keyring. */
  whereabouts(key: CredentialKey): Promise<{ readonly store: "file" | "keyring"; readonly isLeftInKeyring: boolean }>;
  /** Rejects where nothing could be saved: asked before a refresh spends a token that can be used once. */
  assertWritable(key: CredentialKey): Promise<void>;
  /**
   * Runs `task` with all other processes kept from refreshing this server's tokens. While another does, `meanwhile` is
   * asked every few milliseconds, and what it finds ends the wait.
   */
  withRefreshLock<T>(key: CredentialKey, task: () => Promise<T>, meanwhile: () => Promise<T | undefined>): Promise<T>;
}

export function fileStore(agentDir: string): CredentialStore {
  return new FileStore(agentDir);
}

class FileStore implements CredentialStore {
  readonly #agentDir: string;
  readonly #path: string;

  constructor(agentDir: string) {
    this.#agentDir = agentDir;
    this.#path = join(agentDir, "mcp-auth.json");
  }

  async read(key: CredentialKey): Promise<Credentials | undefined> {
    const content = await this.#content();
    if (content === undefined) return undefined;
    let torn: AuthError | undefined;
    try {
      if (content !== "") return entryOf(parseEntries(content), key);
    } catch (error) {
      if (!(error instanceof AuthError)) throw error;
      torn = error;
    }
    // Pi writes in place: an empty or torn file may be one that is being written. Once more when nobody does.
    if (!(await this.#canLock())) {
      if (torn !== undefined) throw torn;
      return undefined;
    }
    const path = await this.#target();
    return withLock(path, FILE_LOCK, async () => entryOf(parseEntries((await this.#content()) ?? ""), key));
  }

  async update(key: CredentialKey, change: Change): Promise<void> {
    const path = await this.#target();
    await withLock(path, FILE_LOCK, async () => {
      const entries = parseEntries((await this.#content()) ?? "");
      const stored = entryOf(entries, key);
      const next = change(stored);
      if (next === stored) return;
      await replaceFile(path, serializeEntries(withEntry(entries, key, next)));
    });
  }

  async remove(key: CredentialKey): Promise<undefined> {
    await this.update(key, () => undefined);
  }

  async whereabouts(): Promise<{ store: "file"; isLeftInKeyring: false }> {
    return { store: "file", isLeftInKeyring: false };
  }

  async assertWritable(key: CredentialKey): Promise<void> {
    const path = await this.#target();
    await withLock(path, FILE_LOCK, async () => {
      await assertFileWritable(path);
      entryOf(parseEntries((await this.#content()) ?? ""), key);
    });
  }

  withRefreshLock<T>(key: CredentialKey, task: () => Promise<T>, meanwhile: () => Promise<T | undefined>): Promise<T> {
    return withLock(join(this.#agentDir, refreshLockName(key)), REFRESH_LOCK, task, meanwhile);
  }

  /** Undefined where there is no file. */
  async #content(): Promise<string | undefined> {
    try {
      return await readFile(this.#path, "utf8");
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code === "ENOENT") return undefined;
      throw new AuthError("credentials-unusable", `the credentials file mcp-auth.json can't be read (${code})`, {
        cause,
      });
    }
  }

  /** The file itself, whatever links lead to it: the one that Pi locks, and that a rename must replace. */
  async #target(): Promise<string> {
    try {
      return await realpath(this.#path);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw unwritable(cause);
      return missingTarget(this.#path);
    }
  }

  /** In a folder that can't be written, a lock can't be made, and nobody is writing. */
  async #canLock(): Promise<boolean> {
    const found = await access(this.#agentDir, constants.W_OK).catch((error: NodeJS.ErrnoException) => error);
    return found === undefined;
  }
}

/** Where a file would be made that isn't there: a link to it stays. Links to links that lead nowhere are few. */
async function missingTarget(path: string, links = 0): Promise<string> {
  const linked = links < MAX_LINKS ? await readlink(path).catch(ignoreNoLink) : undefined;
  if (linked !== undefined) return missingTarget(resolve(dirname(path), linked), links + 1);
  const folder = await realpath(dirname(path)).catch(ignoreMissing);
  return join(folder ?? dirname(path), basename(path));
}

const MAX_LINKS = 10;

function ignoreNoLink(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT" && error.code !== "EINVAL") throw unwritable(error);
  return undefined;
}

/** Whole or not at all, and on the disk before the old one is gone: a token that was lost can't be asked for again. */
async function replaceFile(path: string, content: string): Promise<void> {
  await assertFileWritable(path);
  try {
    await writeWhole(path, content, { flush: true });
  } catch (cause) {
    throw unwritable(cause);
  }
  await syncFolder(dirname(path));
}

/** A file without write permission is meant to stay as it is; a rename would not mind. */
async function assertFileWritable(path: string): Promise<void> {
  try {
    await access(path, constants.W_OK).catch(ignoreMissing);
  } catch (cause) {
    throw unwritable(cause);
  }
}

/** Not every system can; the content has been flushed already. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
  return undefined;
}
