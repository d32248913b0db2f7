/**
 * How a command says that it can't do what was asked: a line on stderr, and for a program that wants JSON an object on
 * stdout. What is found on the way is said with diagnostics instead.
 */
import type { Invocation } from "./commands.ts";
import type { Io } from "./io.ts";
import { printable } from "./print.ts";

/** Gives `code` back. */
export function fail(
  command: string,
  { flags }: Pick<Invocation, "flags">,
  io: Io,
  message: string,
  code: number,
): number {
  if (flags["json"]) io.out(`${JSON.stringify({ error: { message } })}\n`);
  io.err(`pimcp ${command}: ${printable(message)}\n`);
  return code;
}
