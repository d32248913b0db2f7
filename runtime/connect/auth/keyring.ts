/**
 * One server's credentials in the system's keyring (Secret Service, Keychain, Credential Manager): as one secret, so that a
 * change of it is whole or not at all. The package that reaches it is optional and loaded only here. A keyring that is
 * missing, locked or full is an `AuthError` that says what helps.
 */
import { jsonIn } from "../../../schemas/json.ts";
import { AuthError } from "./auth-error.ts";
import { type CredentialKey, type Credentials, entryName, isCredentials, type StoredDiscovery } from "./store-file.ts";

const SERVICE = "pimcp";
/** Named apart from its import: bundlers would take it in, and fail at its native code. */
const PACKAGE: string = "@napi-rs/keyring";

/** Undefined where it holds none of this server. */
export async function readFromKeyring(key: CredentialKey): Promise<Credentials | undefined> {
  const bytes = await inKeyring(key, "can't be read", (entry) => entry.getSecret());
  const stored = bytes ? jsonIn(Buffer.from(bytes).toString("utf8")) : undefined;
  // What is no entry is as if nobody had signed in.
  return isCredentials(stored) && stored.serverUrl === key.url ? stored : undefined;
}

export async function writeToKeyring(key: CredentialKey, credentials: Credentials): Promise<void> {
  const bytes = Buffer.from(JSON.stringify(small(credentials)));
  await inKeyring(
    key,
    `can't store ${bytes.length} bytes`,
    (entry) => entry.setSecret(bytes),
    "or that is too much for it",
  );
}

export async function deleteFromKeyring(key: CredentialKey): Promise<void> {
  await inKeyring(key, "can't be changed", (entry) => entry.deleteCredential());
}

/** Rejects where nothing could be stored. Nobody else may be changing this entry meanwhile. */
export async function assertKeyringWritable(key: CredentialKey): Promise<void> {
  await inKeyring(key, "can't be used", async (entry) => {
    // One that is locked still says that it holds nothing; only writing finds out.
    if ((await entry.getSecret()) === null) await entry.setSecret(Buffer.from("{}"));
  });
}

/** Windows takes 2,560 bytes, and documents that can be asked for again are most of an entry. */
function small({ discovery, keyring: _, ...secrets }: Credentials): Credentials {
  if (discovery === undefined) return secrets;
  const { authorizationServerUrl, resourceMetadata: { resource } = {} } = discovery;
  const kept: StoredDiscovery = {
    authorizationServerUrl,
    ...(resource !== undefined && { resourceMetadata: { resource } }),
  };
  return { ...secrets, discovery: kept };
}

type KeyringEntry = InstanceType<typeof import("@napi-rs/keyring")["AsyncEntry"]>;

/** `trouble` follows "the system's keyring"; `otherwise` is a reason beside the usual ones. */
async function inKeyring<T>(
  key: CredentialKey,
  trouble: string,
  use: (entry: KeyringEntry) => Promise<T>,
  otherwise?: string,
): Promise<T> {
  try {
    const { AsyncEntry } = (await import(PACKAGE)) as typeof import("@napi-rs/keyring");
    // On Linux the kernel's own keyring would forget everything with the session.
    return await use(new AsyncEntry(SERVICE, entryName(key), { linux: { store: "secret-service" } }));
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND";
    const message = missing
      ? "the optional package @napi-rs/keyring is not installed"
      : `the system's keyring ${trouble}: ${["none is running", "or it is locked", ...(otherwise ? [otherwise] : [])].join(", ")}`;
    throw new AuthError("credentials-unwritable", message, {
      cause,
      notes: [missing ? "install it" : "unlock it", `or sign in with: pimcp login ${key.server} --store file`],
    });
  }
}
