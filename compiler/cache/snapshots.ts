/**
 * Tool lists remembered between runs. A list is served only while it is fresh (`ttlMs`) and only to who
 * may see it: a `private` list is filed under a keyed hash of the credentials it was got with, so another
 * token, or another user's, never finds it. What is stored is what the server said; no setting,
 * credential or expanded value is.
 */

import { join } from "node:path";
import type { KeyedHash } from "../../runtime/connect/keyed-hash.ts";
import { isRecord } from "../../schemas/record.ts";
import { lifetimeOf, type ServerSnapshot } from "../snapshot.ts";
import { readCacheFile, writeCacheFile } from "./folder.ts";

/** Lists are never served for longer than this, whatever `ttlMs` a server claims: 24 hours, as in the official SDK. */
export const MAX_TTL_MS = 86_400_000;

/** What a list is filed under. `server` and `credentials` are hashed with the folder's key before they touch the disk. */
export interface CacheIdentity {
  /** Everything that decides which server is reached, short of credentials. */
  readonly server: unknown;
  /** The resolved values a request is made with. */
  readonly credentials: unknown;
}

export interface CachedSnapshot {
  readonly snapshot: ServerSnapshot;
  /** Milliseconds since the epoch. */
  readonly fetchedAt: number;
}

/** Raised with any change of what is kept of a list. */
const FORMAT = 4;

/** Finds the list for this server and these credentials, however old. */
export async function findSnapshot(
  folder: string,
  hash: KeyedHash,
  identity: CacheIdentity,
): Promise<CachedSnapshot | undefined> {
  const [own, shared] = await Promise.all([
    readSnapshot(privatePath(folder, hash, identity), "private"),
    readSnapshot(publicPath(folder, hash, identity), "public"),
  ]);
  // A server may have changed its mind about the scope: the later answer counts.
  return own && shared ? (own.fetchedAt >= shared.fetchedAt ? own : shared) : (own ?? shared);
}

/** Remembers a list. False where the cache folder can't be written. */
export async function storeSnapshot(
  folder: string,
  hash: KeyedHash,
  identity: CacheIdentity,
  entry: CachedSnapshot,
): Promise<boolean> {
  const path =
    entry.snapshot.cacheScope === "public" ? publicPath(folder, hash, identity) : privatePath(folder, hash, identity);
  return writeCacheFile(path, { format: FORMAT, ...entry });
}

/**
 * Until when a list may be served, in milliseconds since the epoch; 0 when it may not be served at `now`. `ownTtlMs`
 * is the configuration's, for what carries none. An era known only from silence is weak evidence, so such
 * a server is asked anew; a list from the future was written under another clock, so its age is unknown.
 */
export function freshUntil(entry: CachedSnapshot, ownTtlMs: number, now: number): number {
  if (entry.snapshot.verdict === "silence" || entry.fetchedAt > now) return 0;
  const until = entry.fetchedAt + Math.min(lifetimeOf(entry.snapshot, ownTtlMs), MAX_TTL_MS);
  return now < until ? until : 0;
}

const publicPath = (folder: string, hash: KeyedHash, identity: CacheIdentity): string =>
  join(folder, "lists", `${hash(["public", identity.server])}.json`);
const privatePath = (folder: string, hash: KeyedHash, identity: CacheIdentity): string =>
  join(folder, "lists", `${hash(["private", identity.server, identity.credentials])}.json`);

async function readSnapshot(path: string, scope: ServerSnapshot["cacheScope"]): Promise<CachedSnapshot | undefined> {
  const found = await readCacheFile(path);
  if (!isRecord(found) || found["format"] !== FORMAT || typeof found["fetchedAt"] !== "number") return undefined;
  const snapshot = found["snapshot"];
  if (!isSnapshot(snapshot) || snapshot.cacheScope !== scope) return undefined;
  return { snapshot, fetchedAt: found["fetchedAt"] };
}

function isSnapshot(value: unknown): value is ServerSnapshot {
  return (
    isRecord(value) &&
    typeof value["server"] === "string" &&
    (value["era"] === "legacy" || value["era"] === "modern") &&
    typeof value["verdict"] === "string" &&
    typeof value["protocolVersion"] === "string" &&
    typeof value["transport"] === "string" &&
    (value["cacheScope"] === "public" || value["cacheScope"] === "private") &&
    isRecord(value["capabilities"]) &&
    Array.isArray(value["tools"]) &&
    value["tools"].every(isNamed) &&
    (value["promptList"] === undefined || (Array.isArray(value["promptList"]) && value["promptList"].every(isNamed)))
  );
}

function isNamed(entry: unknown): boolean {
  return isRecord(entry) && typeof entry["name"] === "string";
}
