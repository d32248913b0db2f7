/**
 * Stub types remembered between runs, one file for each output folder: a compile that changes one tool converts
 * one tool's schemas. Holds only what this run used, so it does not grow; a torn or foreign file is an empty
 * cache.
 */
import { join } from "node:path";
import { type CachedType, isCachedType, type TypeCache } from "../stubs/type-source.ts";
import { readCacheFile, writeCacheFile } from "./folder.ts";

export interface StoredTypeCache extends TypeCache {
  /** Writes back what this run used, when that differs from what was there. */
  save(): Promise<void>;
}

/** `name` tells the caches of different outputs apart. */
export async function openTypeCache(folder: string, name: string): Promise<StoredTypeCache> {
  const path = join(folder, "types", `${name}.json`);
  const found = await readCacheFile(path);
  const stored = new Map<string, unknown>(isEntries(found) ? Object.entries(found.types) : []);
  const used = new Map<string, CachedType>();
  return {
    get(digest) {
      const known = used.get(digest) ?? stored.get(digest);
      if (!isCachedType(known)) return undefined;
      used.set(digest, known);
      return known;
    },
    set(digest, type) {
      used.set(digest, type);
    },
    async save() {
      const same = used.size === stored.size && [...used.keys()].every((digest) => stored.has(digest));
      if (!same) await writeCacheFile(path, { format: 1, types: Object.fromEntries(used) });
    },
  };
}

function isEntries(value: unknown): value is { types: Record<string, unknown> } {
  const found = value as { format?: unknown; types?: unknown } | null | undefined;
  return found?.format === 1 && typeof found.types === "object" && found.types !== null;
}
