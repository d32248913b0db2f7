/** `--timeout` of the commands that take it in seconds. */
import type { Invocation } from "./commands.ts";

export const NO_SECONDS = "--timeout is a positive number of seconds";

/** Milliseconds; NaN where the flag is no positive number. */
export function secondsFlag({ flags }: Pick<Invocation, "flags">): number | undefined {
  if (flags["timeout"] === undefined) return undefined;
  const seconds = Number(flags["timeout"]);
  return seconds > 0 ? seconds * 1000 : Number.NaN;
}
