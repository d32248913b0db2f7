/**
 * The snapshot cache of one run: binds the stored lists to the cache folder, the clock and the resolved
 * values of each server. A server whose values can't be resolved has no cache entry: which list it may
 * see is unknown.
 */

import { accountOf } from "../../runtime/connect/auth/account.ts";
import { keyedHash } from "../../runtime/connect/keyed-hash.ts";
import { type ResolvedServer, resolveServer } from "../../runtime/connect/resolve.ts";
import { connectionDigest } from "../../schemas/config/digest.ts";
import type { ServerConfig } from "../../schemas/config/server-config.ts";
import type { SnapshotCache } from "../acquire.ts";
import { inheritedCredentials } from "./credentials.ts";
import { type CacheIdentity, findSnapshot, freshUntil, storeSnapshot } from "./snapshots.ts";

export interface SnapshotCacheOptions {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly homedir: string;
  readonly signal: AbortSignal;
  /** Where sign-ins are stored. */
  readonly agentDir: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Opens the cache. Resolving a server's values may run its `!command`s; each is resolved once a run. */
export async function openSnapshotCache(options: SnapshotCacheOptions): Promise<SnapshotCache> {
  const hash = await keyedHash(options.folder);
  const identities = new Map<ServerConfig, Promise<CacheIdentity | undefined>>();
  const identityOf = (server: ServerConfig) => {
    const known = identities.get(server) ?? identify(server, options);
    identities.set(server, known);
    return known;
  };
  return {
    async find(server) {
      const identity = await identityOf(server);
      return identity && findSnapshot(options.folder, hash, identity);
    },
    freshUntil: (server, entry) => freshUntil(entry, server.ttlMs, options.now()),
    async store(server, snapshot) {
      const identity = await identityOf(server);
      const entry = { snapshot, fetchedAt: options.now() };
      const stored = identity && (await storeSnapshot(options.folder, hash, identity, entry));
      return stored ? entry : undefined;
    },
  };
}

async function identify(server: ServerConfig, options: SnapshotCacheOptions): Promise<CacheIdentity | undefined> {
  const resolution = await resolveServer(server, options);
  if (!resolution.ok) return undefined;
  const { resolved } = resolution;
  const digest = connectionDigest(server);
  if (resolved.kind === "http") {
    const account = await accountOf(options.agentDir, server.name, resolved);
    const credentials = [resolved.headers, resolved.oauth ?? null, account ?? null];
    return { server: { digest, url: resolved.url.href }, credentials };
  }
  return { server: { digest, ...ownPart(server, resolved) }, credentials: inheritedCredentials(options.env) };
}

/** A process is what it is started with: its folder and arguments, and its own variables whatever they hold. */
function ownPart(server: ServerConfig, resolved: Extract<ResolvedServer, { kind: "stdio" }>): object {
  const names = server.transport.kind === "stdio" ? Object.keys(server.transport.env) : [];
  return {
    command: resolved.command,
    args: resolved.args,
    cwd: resolved.cwd,
    env: Object.fromEntries(names.map((name) => [name, resolved.env[name]])),
  };
}
