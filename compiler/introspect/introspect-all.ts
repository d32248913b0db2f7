/**
 * Several servers at once, as many as allowed at a time; what one does has no effect on another. Outcomes come
 * in the order of the servers given, whichever answers first. After an abort all processes are gone when this resolves.
 */
import type { ServerConfig } from "../../schemas/config/server-config.ts";
import type { Outcome } from "../../schemas/diagnostic.ts";
import type { ServerSnapshot } from "../snapshot.ts";
import { type IntrospectOptions, introspect } from "./introspect.ts";

export interface IntrospectAllOptions extends IntrospectOptions {
  /** Servers asked at a time, default 8. */
  readonly concurrency?: number | undefined;
  readonly onProgress?: ((event: { kind: "asking" | "done"; server: string }) => void) | undefined;
}

const DEFAULT_CONCURRENCY = 8;

/** `timeoutMs` of the options counts for each server from the moment it is asked. */
export async function introspectAll(
  servers: readonly ServerConfig[],
  options: IntrospectAllOptions,
): Promise<Outcome<ServerSnapshot | undefined>[]> {
  const outcomes: Outcome<ServerSnapshot | undefined>[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < servers.length; index = next++) {
      const server = servers[index]!;
      options.onProgress?.({ kind: "asking", server: server.name });
      outcomes[index] = await introspect(server, options);
      options.onProgress?.({ kind: "done", server: server.name });
    }
  };
  const width = Math.min(options.concurrency ?? DEFAULT_CONCURRENCY, servers.length);
  await Promise.all(Array.from({ length: width }, work));
  return outcomes;
}
