/**
 * What a command may touch of the process: its streams, its surroundings and its end. Commands get this instead of
 * `process`, so tests run them without one.
 */
import type { Interactive } from "../runtime/connect/auth/interactive.ts";
import type { TraceSink } from "../runtime/connect/trace.ts";
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
  /** Where a person can be asked: stdin and stderr, when both are terminals. */
  readonly terminal?: { readonly input: NodeJS.ReadableStream; readonly output: NodeJS.WritableStream } | undefined;
  /** Aborted by SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  /** How a person signs in in the middle of a command, with `--login`. */
  readonly signIn?: Interactive | undefined;
  /** Where `--trace` has what passes between us and servers written; for commands that connect. */
  readonly trace?: TraceSink | undefined;
}

/** Milliseconds for a server that somebody may have to sign in to, and to others before it. */
export const WITH_SIGN_IN_MS = 30 * 60_000;

/** Exit codes (DESIGN section 4). */
export const EXIT = { ok: 0, reported: 1, usage: 2, interrupted: 130 } as const;

/** Exit code of a run that a signal has ended, as shells have it: 128 and the signal's number. */
export function interruptedExit(signal: AbortSignal): number {
  return signal.reason === "SIGTERM" ? 143 : EXIT.interrupted;
}
