/**
 * `--trace FILE`: what passes between a command and the servers it connects to, appended to a file as JSON lines. The
 * file is opened before anything else happens, so that one that can't be written is an error and not a lost trace.
 */
import { resolve } from "node:path";
import { openTraceFile } from "../runtime/connect/trace-file.ts";
import type { Invocation } from "./commands.ts";
import { fail } from "./fail.ts";
import { EXIT, type Io } from "./io.ts";
import { printable } from "./print.ts";

export async function withTrace(
  command: string,
  invocation: Invocation,
  io: Io,
  run: (traced: Io) => Promise<number>,
): Promise<number> {
  const path = String(invocation.flags["trace"]);
  const says = (code: string) => `--trace ${printable(path)} can't be written (${code})`;
  const file = openTraceFile(resolve(io.cwd, path), (code) => io.err(`pimcp ${command}: warning: ${says(code)}\n`));
  if (!file.ok) return fail(command, invocation, io, says(file.code), EXIT.usage);
  try {
    return await run({ ...io, trace: file.sink });
  } finally {
    file.close();
  }
}
