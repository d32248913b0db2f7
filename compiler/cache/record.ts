/**
 * The record of a compile that changed nothing to come back to: when configuration, surroundings and outputs are
 * what they were, and every tool list is still fresh, the next compile would give the same bytes. Finding that
 * out needs a few hashes and no parser, client or renderer, and is all that an unchanged compile costs. Files are
 * read one after another and not by promises: there is nothing else to do meanwhile, and it takes half the time.
 */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { KeyedHash } from "../../runtime/connect/keyed-hash.ts";
import { sha256 } from "../../schemas/canonical.ts";
import type { Scope } from "../../schemas/config/server-config.ts";
import { readCacheFile, writeCacheFile } from "./folder.ts";

/** What decides the outcome of a compile, besides the servers' answers. */
export interface RunKey {
  /** Version of pimcp. */
  readonly version: string;
  readonly scopes: readonly Scope[];
  readonly only: readonly string[];
  /** Absolute working folder: a user's server may run in it, and messages name files from there. */
  readonly cwd: string;
  /** Absolute home folder: what `~/` means. */
  readonly homedir: string;
  /** What servers' processes inherit and may know somebody by. The key is only ever hashed. */
  readonly credentials: Readonly<Record<string, string | undefined>>;
  /** Absolute paths of every file that could be part of the configuration. */
  readonly files: readonly string[];
  /** Absolute output folders, unless the configuration names others. */
  readonly folders: readonly string[];
}

interface RunRecord {
  readonly format: 1;
  readonly key: string;
  /** Digest of each configuration file, in the order of the key's; null where there is none. */
  readonly files: readonly (string | null)[];
  readonly variables: readonly string[];
  /** Keyed hash of the variables' values. */
  readonly values: string;
  /** Milliseconds since the epoch until which every list is fresh. */
  readonly validUntil: number;
  /** Absolute output folders, and the digest of each one's manifest. */
  readonly folders: readonly string[];
  readonly manifests: readonly (string | null)[];
  readonly result: unknown;
}

/** What a compile has to say of itself to be remembered. */
export interface RunFacts extends Pick<RunRecord, "variables" | "validUntil" | "folders" | "result"> {}

/** The configuration files as a run found them, in the order of the key's; null where there is none. */
export type FileDigests = readonly (string | null)[];

/** Taken before the configuration is read: an edit during a compile must not be taken for what was compiled. */
export function digestConfiguration(key: RunKey): FileDigests {
  return key.files.map(digestOfFile);
}

/** One run as the cache sees it. */
export interface RunIdentity {
  readonly folder: string;
  readonly hash: KeyedHash;
  readonly key: RunKey;
  readonly digests: FileDigests;
}

/** What the last compile reported, when this one would report the same. */
export async function findRecord(run: RunIdentity, env: NodeJS.ProcessEnv, now: number): Promise<unknown> {
  const { folder, hash, key, digests } = run;
  const record = (await readCacheFile(recordPath(folder, hash, key))) as Partial<RunRecord> | undefined;
  if (record?.format !== 1 || record.key !== hash(key) || !(now < (record.validUntil ?? 0))) return undefined;
  if (record.values !== valuesOf(hash, record.variables ?? [], env)) return undefined;
  if (!sameList(digests, record.files)) return undefined;
  return sameList((record.folders ?? []).map(verifiedManifest), record.manifests) ? record.result : undefined;
}

/** Remembers a compile. The caller leaves out runs with errors, stale servers or `!command` values. */
export async function storeRecord(run: RunIdentity, env: NodeJS.ProcessEnv, facts: RunFacts): Promise<void> {
  const { folder, hash, key, digests } = run;
  const record: RunRecord = {
    format: 1,
    key: hash(key),
    files: digests,
    ...facts,
    values: valuesOf(hash, facts.variables, env),
    manifests: facts.folders.map(verifiedManifest),
  };
  await writeCacheFile(recordPath(folder, hash, key), record);
}

const recordPath = (folder: string, hash: KeyedHash, key: RunKey): string => join(folder, "runs", `${hash(key)}.json`);

function valuesOf(hash: KeyedHash, variables: readonly string[], env: NodeJS.ProcessEnv): string {
  return hash(variables.map((name) => [name, env[name] ?? null]));
}

function read(path: string): Buffer | undefined {
  try {
    // A pipe or a device in a file's place would keep us waiting for ever.
    return statSync(path).isFile() ? readFileSync(path) : undefined;
  } catch {
    return undefined; // whatever is wrong with it is found and said by the compile that follows
  }
}

function digestOfFile(path: string): string | null {
  const bytes = read(path);
  return bytes ? sha256(bytes) : null;
}

/** Digest of a folder's manifest, when every file it lists is there with the content it lists; null otherwise. */
function verifiedManifest(folder: string): string | null {
  const bytes = read(join(folder, "manifest.json"));
  const files = bytes && listedFiles(bytes.toString("utf8"));
  if (!files) return null;
  const isWhole = Object.entries(files).every(([path, digest]) => digestOfFile(join(folder, path)) === digest);
  return isWhole ? sha256(bytes) : null;
}

function listedFiles(text: string): Record<string, string> | undefined {
  try {
    return (JSON.parse(text) as { files?: Record<string, string> } | null)?.files;
  } catch {
    return undefined; // torn: the compile that follows writes it anew
  }
}

function sameList(a: readonly (string | null)[], b: readonly (string | null)[] | undefined): boolean {
  return b !== undefined && a.length === b.length && a.every((item, index) => item === b[index]);
}
