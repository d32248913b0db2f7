/**
 * Commands that talk to servers: makes a runtime for this invocation, hands it over, turns its errors into a line
 * and an exit code, and ends everything it started.
 */
import { RefusedError, ServerError } from "../runtime/errors.ts";
import { createRuntime, type Runtime } from "../runtime/runtime.ts";
import type { Invocation } from "./commands.ts";
import { EXIT, type Io, interruptedExit } from "./io.ts";
import { diagnosticLines, printable } from "./print.ts";

/** Runs `use`. A refused call of bad arguments, a dead server and a protocol error are reported, not thrown. */
export async function withRuntime(
  command: string,
  { flags }: Invocation,
  io: Io,
  use: (runtime: Runtime) => Promise<number>,
): Promise<number> {
  const verbose = flags["verbose"] === true;
  const runtime = await createRuntime({
    cwd: io.cwd,
    env: io.env,
    homedir: io.homedir,
    ...(typeof flags["config"] === "string" && { config: flags["config"] }),
    onNotice: (notice) => {
      if (notice.severity === "info" && !verbose) return;
      io.err(
        diagnosticLines(notice, io.errLook)
          .map((line) => `${line}\n`)
          .join(""),
      );
    },
  });
  try {
    return await use(runtime);
  } catch (error) {
    if (io.signal.aborted) return interruptedExit(io.signal);
    if (!(error instanceof ServerError || error instanceof RefusedError)) throw error;
    if (flags["json"]) io.out(`${JSON.stringify({ error: errorJson(error) })}\n`);
    io.err(`pimcp ${command}: ${lines(error.message)}\n`);
    if (error instanceof ServerError && error.stderrTail) io.err(`${lines(error.stderrTail, "  stderr: ")}\n`);
    return EXIT.reported;
  } finally {
    await runtime.close();
  }
}

function errorJson(error: ServerError | RefusedError): Record<string, unknown> {
  const rpc = (error.cause as { kind?: unknown; error?: { code?: unknown } } | undefined) ?? {};
  return {
    name: error.name,
    message: error.message,
    server: error.server,
    ...(rpc.kind === "rpc-error" && { code: rpc.error?.code }),
  };
}

function lines(text: string, prefix = ""): string {
  return text
    .split("\n")
    .map((line) => prefix + printable(line))
    .join("\n");
}
