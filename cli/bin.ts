#!/usr/bin/env node
/**
 * The `pimcp` executable. SIGINT and SIGTERM abort the run, so that what it started is ended in order; a second
 * one leaves at once.
 */
import { setMaxListeners } from "node:events";
import { main, processIo } from "./main.ts";

const abort = new AbortController();
// Each server that is being asked listens for the end, and there may be many.
setMaxListeners(0, abort.signal);
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    if (abort.signal.aborted) process.exit(signal === "SIGINT" ? 130 : 143);
    abort.abort(signal);
  });
}
// A reader that went away (`pimcp list | head`) is no fault of ours.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

// Not awaited at top level: the build makes this a CommonJS file, which node starts with sooner.
void main(process.argv.slice(2), processIo(abort.signal)).then((code) => {
  process.stdout.write("", () => process.exit(code));
});
