/**
 * Credentials in the system's keyring, for those who ask for it when signing in. The file keeps an entry without any
 * secret that says where they are, so that every later call finds them by itself; Pi sees a server that nobody signed in to.
 *
 * File and keyring can't be written as one, so the order of writes says at each moment which of the two counts, and a
 * process that dies between two writes loses nothing that was stored: into the keyring the file first says "moving", then the
 * secret is there, then the file's own goes; out of it the file is whole before the secret goes. A refresh is one write.
 */
import { join } from "node:path";
import { type AuthError, orAuthError } from "./auth-error.ts";
import { assertKeyringWritable, deleteFromKeyring, readFromKeyring, writeToKeyring } from "./keyring.ts";
import { type Change, type CredentialStore, fileStore } from "./store.ts";
import type { CredentialKey, Credentials } from "./store-file.ts";
import { FILE_LOCK, withLock } from "./store-lock.ts";

/** Where what is stored from now on goes; `as-before`: where the last sign-in to that server is, else the file. */
export type SignIns = "as-before" | "file" | "keyring";

/** Where credentials of this agent folder are. */
export function credentialStore(agentDir: string, signIns: SignIns = "as-before"): CredentialStore {
  return new KeyringStore(fileStore(agentDir), agentDir, signIns);
}

class KeyringStore implements CredentialStore {
  readonly #file: CredentialStore;
  readonly #agentDir: string;
  readonly #signIns: SignIns;

  constructor(file: CredentialStore, agentDir: string, signIns: SignIns) {
    this.#file = file;
    this.#agentDir = agentDir;
    this.#signIns = signIns;
  }

  async read(key: CredentialKey): Promise<Credentials | undefined> {
    for (let entry = await this.#file.read(key); ; ) {
      const place = placeOf(entry);
      // Who leaves the keyring may do so because it is gone, or hangs.
      const secret = place === "file" || this.#signIns === "file" ? undefined : await readFromKeyring(key);
      if (secret !== undefined) return secret;
      // It may have left for the file between the two looks.
      const now = place === "file" ? entry : await this.#file.read(key);
      if (placeOf(now) === place) return place === "keyring" ? now && { serverUrl: now.serverUrl } : now && bare(now);
      entry = now;
    }
  }

  async update(key: CredentialKey, change: Change): Promise<void> {
    const place = placeOf(await this.#file.read(key));
    if (this.#signIns === "keyring" || (this.#signIns === "as-before" && place !== "file")) {
      await this.#locked(() => this.#intoKeyring(key, change));
    } else if (this.#signIns === "file") await this.#locked(() => this.#intoFile(key, change));
    else await this.#changeFile(key, change);
  }

  async assertWritable(key: CredentialKey): Promise<void> {
    await this.#file.assertWritable(key);
    if (this.#signIns === "file") return;
    if (this.#signIns === "as-before" && placeOf(await this.#file.read(key)) === "file") return;
    await this.#locked(() => assertKeyringWritable(key));
  }

  withRefreshLock<T>(key: CredentialKey, task: () => Promise<T>, meanwhile: () => Promise<T | undefined>): Promise<T> {
    return this.#file.withRefreshLock(key, task, meanwhile);
  }

  async whereabouts(key: CredentialKey): Promise<{ store: "file" | "keyring"; isLeftInKeyring: boolean }> {
    const entry = await this.#file.read(key);
    return { store: placeOf(entry) === "file" ? "file" : "keyring", isLeftInKeyring: isLeft(entry) };
  }

  async remove(key: CredentialKey): Promise<AuthError | undefined> {
    if ((await this.#file.read(key))?.keyring === undefined) return this.#file.remove(key);
    return this.#locked(async () => {
      await this.#file.update(key, () => ({ serverUrl: key.url, keyring: "left" }));
      const failed = await this.#deleteLeft(key);
      return failed ?? this.#file.remove(key);
    });
  }

  /** The file's own entry is changed, and says of the keyring what it said. */
  async #changeFile(key: CredentialKey, change: Change): Promise<void> {
    await this.#file.update(key, (stored) => {
      const shown = stored && bare(stored);
      const next = change(shown);
      if (next === shown) return stored;
      return next && stored?.keyring !== undefined ? { ...next, keyring: "left" } : next;
    });
  }

  async #intoFile(key: CredentialKey, change: Change): Promise<void> {
    const had = (await this.#file.read(key))?.keyring !== undefined;
    await this.#file.update(key, (stored) => {
      const shown = stored && (placeOf(stored) === "keyring" ? { serverUrl: stored.serverUrl } : bare(stored));
      const next = change(shown);
      if (next === shown) return stored;
      return next && had ? { ...next, keyring: "left" } : next;
    });
    // What can't be deleted now is noted there, and tried again when somebody signs in or out.
    if (had) await this.#deleteLeft(key);
  }

  async #intoKeyring(key: CredentialKey, change: Change): Promise<void> {
    const place = placeOf(await this.#file.read(key));
    const stored = await this.read(key);
    const next = change(stored);
    if (next === stored || next === undefined) return;
    if (place === "file") {
      // Nothing points there, so what is there is of no use, and must not count once the file says "moving".
      await deleteFromKeyring(key);
      await this.#file.update(key, (entry) => ({ ...(entry ?? { serverUrl: key.url }), keyring: "moving" }));
    }
    await writeToKeyring(key, next);
    if (place !== "keyring") await this.#file.update(key, () => ({ serverUrl: next.serverUrl, keyring: true }));
  }

  /** Deletes what counts for nothing any more, and the note of it; resolves with why that failed. */
  async #deleteLeft(key: CredentialKey): Promise<AuthError | undefined> {
    const failed = await orAuthError(deleteFromKeyring(key));
    if (failed !== undefined) return failed;
    await this.#file.update(key, (stored) => (isLeft(stored) ? bare(stored!) : stored));
    return undefined;
  }

  #locked<T>(task: () => Promise<T>): Promise<T> {
    return withLock(join(this.#agentDir, "mcp-auth-keyring"), FILE_LOCK, task);
  }
}

/** Where the credentials of an entry are. Tokens beside the mark of the keyring are Pi's: somebody signed in with it since. */
function placeOf(entry: Credentials | undefined): "file" | "moving" | "keyring" {
  if (entry?.keyring === "moving") return "moving";
  return entry?.keyring === true && entry.tokens === undefined ? "keyring" : "file";
}

function isLeft(entry: Credentials | undefined): boolean {
  return entry?.keyring === "left" || (entry?.keyring === true && placeOf(entry) === "file");
}

/** As any other entry; the same one where nothing is to be taken off. */
function bare(entry: Credentials): Credentials {
  if (entry.keyring === undefined) return entry;
  const { keyring: _, ...rest } = entry;
  return rest;
}
