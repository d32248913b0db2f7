/** Why servers of a session could not be compiled the last time that was tried, for whoever shows them. Kept in memory only. */
import type { Diagnostic } from "../../../schemas/diagnostic.ts";
import type { PiSession } from "../session.ts";

const bySession = new WeakMap<PiSession, Map<string, Diagnostic>>();

/** `servers` have been compiled, and `errors` is what came of it. */
export function noteCompile(session: PiSession, servers: readonly string[], errors: readonly Diagnostic[]): void {
  const known = bySession.get(session) ?? new Map<string, Diagnostic>();
  bySession.set(session, known);
  for (const server of servers) {
    const found = errors.find((one) => one.server === server);
    if (found === undefined) known.delete(server);
    else known.set(server, found);
  }
}

export function compileFinding(session: PiSession, server: string): Diagnostic | undefined {
  return bySession.get(session)?.get(server);
}
