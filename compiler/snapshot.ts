/**
 * What one server said of itself when it was asked: the value that introspection makes, the cache
 * keeps, and a catalog is built from. Plain data, as the server sent it; nothing here is trusted.
 */

/** A tool as the server declares it, unknown keys included. Only `name` is certain to be a string. */
export interface DeclaredTool {
  readonly name: string;
  readonly [key: string]: unknown;
}

/** A prompt as the server declares it, likewise. */
export type DeclaredPrompt = DeclaredTool;

export interface ServerSnapshot {
  readonly server: string;
  readonly transport: "stdio" | "streamable-http" | "sse";
  readonly era: "legacy" | "modern";
  /** Evidence for the era: see manifest.schema.json. */
  readonly verdict: "answered" | "silence" | "configured";
  readonly protocolVersion: string;
  /** Versions of a modern server's `server/discover` answer. */
  readonly supportedVersions?: readonly string[];
  readonly serverInfo?: { readonly name: string; readonly version: string; readonly title?: string };
  readonly instructions?: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** `resources/list` really answers. */
  readonly resources: boolean;
  /** `prompts/list` really answers. */
  readonly prompts: boolean;
  /** All pages, in the server's order; absent where there are none. */
  readonly promptList?: readonly DeclaredPrompt[];
  /** All pages, in the server's order. */
  readonly tools: readonly DeclaredTool[];
  /** Milliseconds the lists are fresh: the least over all pages of all lists; absent when none carried any. */
  readonly ttlMs?: number;
  /** Some page carried none: the configuration's counts for it. */
  readonly partlyTimed?: true;
  /** `private` unless every page of every list said `public`. */
  readonly cacheScope: "public" | "private";
}

/** Milliseconds the lists are fresh, where `ownTtlMs` is the configuration's: for what carries none. */
export function lifetimeOf({ ttlMs, partlyTimed }: ServerSnapshot, ownTtlMs: number): number {
  if (ttlMs === undefined) return ownTtlMs;
  return partlyTimed ? Math.min(ttlMs, ownTtlMs) : ttlMs;
}
