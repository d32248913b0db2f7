/**
 * The content of `<agent dir>/mcp-auth.json`, in Pi's own format: a JSON object of one entry a server, under its
 * namespace and URL. Pure. Fields it doesn't know and entries of others come out as they went in; content it can't
 * read is refused, so that nobody overwrites it.
 */
import { createHash, type webcrypto } from "node:crypto";
import { jsonIn } from "../../../schemas/json.ts";
import { namespaceOf } from "../../../schemas/names.ts";
import { isRecord } from "../../../schemas/record.ts";
import { AuthError } from "./auth-error.ts";

export interface StoredTokens {
  readonly access_token: string;
  readonly token_type?: string;
  readonly refresh_token?: string;
  readonly expires_in?: number;
  /** Scopes granted, separated by blanks. */
  readonly scope?: string;
  /** The authorization server they come from. Ours. */
  readonly issuer?: string;
  /** Made up when somebody signs in and kept through refreshes: tells one sign-in from another. Ours. */
  readonly grant?: string;
}

export interface StoredClient {
  readonly client_id: string;
  readonly client_secret?: string;
  readonly redirect_uris?: readonly string[];
  readonly token_endpoint_auth_method?: string;
  readonly issuer?: string;
}

/** What was found of a server's authorization server when somebody signed in. Documents as they came. */
export interface StoredDiscovery {
  readonly authorizationServerUrl: string;
  readonly authorizationServerMetadata?: Readonly<Record<string, unknown>>;
  readonly resourceMetadata?: Readonly<Record<string, unknown>>;
  readonly resourceMetadataUrl?: string;
}

/** One server's entry. Other fields are Pi's (a sign-in of its own under way) or of a later version, and are kept. */
export interface Credentials {
  readonly serverUrl: string;
  readonly clientInformation?: StoredClient;
  readonly tokens?: StoredTokens;
  /** Milliseconds since the epoch. */
  readonly tokensExpireAt?: number;
  readonly discovery?: StoredDiscovery;
  /** The private key that DPoP tokens are bound to. Ours. */
  readonly dpopKey?: webcrypto.JsonWebKey;
  /** Scopes that a server asked for when nobody could be asked to grant them. Ours. */
  readonly wantedScope?: string;
  /**
   * The system's keyring has a part in it. True: the secrets are there and not here. "moving": they are being put there, and
   * count from the moment they are there. "left": older ones are still there, which count for nothing. Ours.
   */
  readonly keyring?: true | "moving" | "left";
}

/** Whose credentials: they belong to a server's name and URL. */
export interface CredentialKey {
  readonly server: string;
  /** Normalised, as `String(new URL(…))` writes it. */
  readonly url: string;
}

export function credentialKey(server: string, url: URL): CredentialKey {
  return { server, url: String(url) };
}

/** The name of the entry. */
export function entryName({ server, url }: CredentialKey): string {
  return `${namespaceOf(server)}|${url}`;
}

/** The file whose lock keeps two refreshes of one server apart, Pi's among them. */
export function refreshLockName(key: CredentialKey): string {
  return `mcp-auth-refresh-${createHash("sha256").update(entryName(key)).digest("hex").slice(0, 16)}`;
}

type Entries = Record<string, unknown>;

/** Throws `AuthError` (`credentials-unusable`) for what is no JSON object. */
export function parseEntries(content: string): Entries {
  if (content.trim() === "") return {};
  const parsed = jsonIn(content.replace(/^\ufeff/, ""));
  if (parsed === undefined) throw unusable("is not JSON");
  if (!isRecord(parsed)) throw unusable("is no JSON object");
  return parsed;
}

/** As Pi writes it. */
export function serializeEntries(entries: Entries): string {
  return `${JSON.stringify(entries, null, 2)}\n`;
}

/** The server's entry; an older Pi filed it under the URL alone. Throws `AuthError` where it has an unknown form. */
export function entryOf(entries: Entries, key: CredentialKey): Credentials | undefined {
  const entry = own(entries, entryName(key)) ?? own(entries, key.url);
  if (entry === undefined) return undefined;
  if (!isCredentials(entry)) throw unusable(`has an entry for "${key.server}" in a form that is unknown here`);
  // Credentials of another address never leave for this one.
  return entry.serverUrl === key.url ? entry : undefined;
}

/** The entries with the server's replaced, or removed; an older Pi's is taken over. */
export function withEntry(entries: Entries, key: CredentialKey, next: Credentials | undefined): Entries {
  const name = entryName(key);
  const changed = Object.fromEntries(
    Object.entries(entries).filter(([other]) => other !== key.url && (next !== undefined || other !== name)),
  );
  if (next !== undefined) define(changed, name, next);
  return changed;
}

function own(entries: Entries, name: string): unknown {
  return Object.hasOwn(entries, name) ? entries[name] : undefined;
}

function define(target: Entries, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

export function isCredentials(entry: unknown): entry is Credentials {
  if (!isRecord(entry) || typeof entry["serverUrl"] !== "string") return false;
  const { tokens, clientInformation, tokensExpireAt, discovery } = entry;
  return (
    (tokens === undefined || (isRecord(tokens) && areTokens(tokens))) &&
    (clientInformation === undefined || (isRecord(clientInformation) && isClient(clientInformation))) &&
    (tokensExpireAt === undefined || typeof tokensExpireAt === "number") &&
    (discovery === undefined || (isRecord(discovery) && typeof discovery["authorizationServerUrl"] === "string"))
  );
}

function areTokens(tokens: Entries): boolean {
  const isOptionalText = (name: string) => tokens[name] === undefined || typeof tokens[name] === "string";
  return (
    typeof tokens["access_token"] === "string" &&
    ["refresh_token", "scope", "token_type", "issuer", "grant"].every(isOptionalText)
  );
}

function isClient(client: Entries): boolean {
  const { client_id: id, client_secret: secret, redirect_uris: uris } = client;
  return (
    typeof id === "string" &&
    (secret === undefined || typeof secret === "string") &&
    (uris === undefined || (Array.isArray(uris) && uris.every((uri) => typeof uri === "string")))
  );
}

function unusable(what: string): AuthError {
  return new AuthError("credentials-unusable", `the credentials file mcp-auth.json ${what}; it is left as it is`, {
    notes: ["repair the file or move it away, then sign in again"],
  });
}
