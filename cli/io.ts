/**
 * What a command may touch of the process: its streams, its surroundings and its end. Commands get this instead of
 * `process`, so tests run them without one.
 */
import type { Look } from "./print.ts";

export interface Io {
  readonly env: NodeJS.ProcessEnv;
  readonly homedir: string;
  readonly cwd: string;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly outLook: Look;
  readonly errLook: Look;
  /** stderr is a terminal, so a progress line may be drawn and wiped. */
  readonly interactive: boolean;
  /** Aborted by SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
}

/** Exit codes (DESIGN section 4). */
export const EXIT = { ok: 0, reported: 1, usage: 2, interrupted: 130 } as const;

/** Exit code of a run that a signal has ended, as shells have it: 128 and the signal's number. */
export function interruptedExit(signal: AbortSignal): number {
  return signal.reason === "SIGTERM" ? 143 : EXIT.interrupted;
}
