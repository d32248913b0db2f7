/**
 * Runs the command of a `!command` value and hands back what it prints. The output is a secret: it is
 * returned to the caller alone and stands in no error. The command runs in its own process group, so
 * that a time limit or an abort ends what it started too.
 */
import { spawn } from "node:child_process";
import type { Environment } from "../../schemas/expand.ts";
import { endGroup, trackGroup, USE_GROUPS } from "./process-group.ts";

/** Why a command gave no value, in words that follow "the command ". */
export type CommandValue =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly reason: string };

const MAX_OUTPUT_BYTES = 1024 * 1024;

/** `command` is shell text; trailing newlines of its output are dropped, as `$(…)` does. */
export function runCommandValue(
  command: string,
  options: { env: Environment; cwd: string; timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<CommandValue> {
  return new Promise((resolve) => {
    const child = spawn(command, {
      shell: true,
      cwd: options.cwd,
      env: options.env,
      stdio: ["ignore", "pipe", "ignore"],
      windowsHide: true,
      detached: USE_GROUPS,
    });
    const untrack = trackGroup(child);
    const chunks: Buffer[] = [];
    let bytes = 0;
    const finish = (outcome: CommandValue) => {
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", onAbort);
      untrack();
      resolve(outcome);
    };
    const stop = (reason: string) => {
      endGroup(child, "SIGKILL");
      finish({ ok: false, reason });
    };
    const onAbort = () => stop("was cancelled");
    const timer = setTimeout(() => stop(`did not end within ${options.timeoutMs} ms`), options.timeoutMs);
    options.signal?.addEventListener("abort", onAbort, { once: true });
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_OUTPUT_BYTES) stop("printed more than 1 MiB");
      else chunks.push(chunk);
    });
    child.once("error", (error: NodeJS.ErrnoException) =>
      finish({ ok: false, reason: `could not be started (${error.code ?? "unknown error"})` }),
    );
    child.once("close", (code, signal) => {
      const value = Buffer.concat(chunks)
        .toString("utf8")
        .replace(/[\r\n]+$/, "");
      if (code !== 0) finish({ ok: false, reason: signal ? `ended by ${signal}` : `exited with status ${code}` });
      else if (value === "") finish({ ok: false, reason: "printed nothing" });
      else finish({ ok: true, value });
    });
    if (options.signal?.aborted) onAbort();
  });
}
