/**
 * Servers that a program brings itself, beside those of `mcp.json`, which win: over the same name, and over one that differs
 * only in `-` and `_`. Their configuration is in memory alone.
 */
import type { Configuration, ServerConfig } from "../schemas/config/server-config.ts";
import { namespaceOf } from "../schemas/names.ts";

export interface OwnServer {
  readonly config: ServerConfig;
  /** Absolute folder of its artifacts; they need not be there. */
  readonly out: string;
}

/** The configuration with those servers that it doesn't name itself. */
export function withOwnServers(configuration: Configuration, own: readonly OwnServer[]): Configuration {
  if (own.length === 0) return configuration;
  const taken = namespacesOf(configuration);
  const added = own.map(({ config }) => config).filter(({ name }) => !taken.has(namespaceOf(name)));
  return { ...configuration, servers: [...configuration.servers, ...added] };
}

/** Of every server that `mcp.json` names, whether it is enabled or has a mistake. */
export function namespacesOf({ servers, dropped = [] }: Configuration): ReadonlySet<string> {
  return new Set([...servers, ...dropped].map(({ name }) => namespaceOf(name)));
}
