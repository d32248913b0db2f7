/**
 * Credentials in the system's keyring, for those who ask for it when signing in. The file keeps an entry without any
 * secret that says where they are, so that every later call finds them by itself; Pi sees a server that nobody
 * signed in to. The keyring package is optional and loaded only when it is needed.
 */
import { join } from "node:path";
import { jsonIn } from "../../../schemas/json.ts";
import { isRecord } from "../../../schemas/record.ts";
import { AuthError } from "./auth-error.ts";
import { type CredentialStore, fileStore } from "./store.ts";
import { type CredentialKey, type Credentials, entryName } from "./store-file.ts";
import { FILE_LOCK, withLock } from "./store-lock.ts";

const SERVICE = "pimcp";
/** Named apart from its import: bundlers would take it in, and fail at its native code. */
const PACKAGE: string = "@napi-rs/keyring";

/** Where credentials of this agent folder are. */
export function credentialStore(agentDir: string, signIns: "as-before" | "keyring" = "as-before"): CredentialStore {
  return keyringStore(fileStore(agentDir), agentDir, signIns);
}

/** `file` for all servers but those signed in to with `signIns: "keyring"`, then and now. */
export function keyringStore(
  file: CredentialStore,
  agentDir: string,
  signIns: "as-before" | "keyring",
): CredentialStore {
  const read = async (key: CredentialKey): Promise<Credentials | undefined> => {
    const entry = await file.read(key);
    return entry?.keyring ? readSecret(key, entry) : entry;
  };
  return {
    read,
    async assertWritable(key) {
      await file.assertWritable(key);
      const marked = (await file.read(key))?.keyring === true;
      // Where there is no keyring, or a locked one, it can't be read either.
      if (marked || signIns === "keyring") await inKeyring(key, (secret) => secret.getPassword());
    },
    withRefreshLock: (key, task, meanwhile) => file.withRefreshLock(key, task, meanwhile),
    async update(key, change) {
      const marked = (await file.read(key))?.keyring === true;
      if (!marked && signIns === "as-before") return file.update(key, change);
      await withLock(join(agentDir, "mcp-auth-keyring"), FILE_LOCK, async () => {
        const stored = await read(key);
        const next = change(stored);
        if (next === stored) return;
        await writeSecret(key, next);
        await file.update(key, () => next && { serverUrl: next.serverUrl, keyring: true });
      });
    },
  };
}

async function readSecret(key: CredentialKey, entry: Credentials): Promise<Credentials> {
  const text = await inKeyring(key, (secret) => secret.getPassword());
  if (!text) return { serverUrl: entry.serverUrl };
  // What is no JSON is as if nobody had signed in.
  const stored = jsonIn(text);
  return isRecord(stored) ? { ...stored, serverUrl: entry.serverUrl } : { serverUrl: entry.serverUrl };
}

async function writeSecret(key: CredentialKey, next: Credentials | undefined): Promise<void> {
  await inKeyring(key, async (secret) => {
    if (next === undefined) await secret.deleteCredential();
    else await secret.setPassword(JSON.stringify(next));
  });
}

type KeyringEntry = InstanceType<typeof import("@napi-rs/keyring")["AsyncEntry"]>;

async function inKeyring<T>(key: CredentialKey, use: (secret: KeyringEntry) => Promise<T>): Promise<T> {
  try {
    const { AsyncEntry } = (await import(PACKAGE)) as typeof import("@napi-rs/keyring");
    // On Linux the kernel's own keyring would forget everything with the session.
    return await use(new AsyncEntry(SERVICE, entryName(key), { linux: { store: "secret-service" } }));
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND";
    const message = missing
      ? "the optional package @napi-rs/keyring is not installed"
      : "the system's keyring can't be used: none is running, or it is locked";
    throw new AuthError("credentials-unwritable", message, {
      cause,
      notes: [missing ? "install it" : "unlock it", `or sign in with: pimcp login ${key.server} --store file`],
    });
  }
}
