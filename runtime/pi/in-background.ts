/**
 * Work of a session that nobody waits for. What goes wrong in it is told and never thrown: Pi ends with an unhandled rejection.
 * Once the session has ended, whatever still asks Pi of it fails, and there is nobody to be told.
 */
import type { PiSession } from "./session.ts";

/** `what` begins the message: `prompts can't be shown`. */
export function inBackground(
  session: Pick<PiSession, "signal" | "tell">,
  what: string,
  work: () => Promise<unknown>,
): void {
  work().catch((error: unknown) => {
    if (!session.signal.aborted) session.tell(`${what}: ${messageOf(error)}`, "warning");
  });
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
