/**
 * Commands that talk to servers: makes a runtime for this invocation, hands it over, turns its errors into a line
 * and an exit code, and ends everything it started.
 */
import { RefusedError, ServerError } from "../runtime/errors.ts";
import { createRuntime, type Runtime } from "../runtime/runtime.ts";
import type { Diagnostic } from "../schemas/diagnostic.ts";
import { answering } from "./asking/handlers.ts";
import { whenTerminalFree } from "./asking/terminal-queue.ts";
import type { Invocation } from "./commands.ts";
import { EXIT, type Io, interruptedExit } from "./io.ts";
import { asText, diagnosticLines, printable } from "./print.ts";

/** Runs `use`. A refused call of bad arguments, a dead server and a protocol error are reported, not thrown. */
export async function withRuntime(
  command: string,
  { flags }: Invocation,
  io: Io,
  use: (runtime: Runtime) => Promise<number>,
): Promise<number> {
  const verbose = flags["verbose"] === true;
  const tell = (notice: Diagnostic) => {
    if (notice.severity === "info" && !verbose) return;
    whenTerminalFree(() => io.err(asText(diagnosticLines(notice, io.errLook))));
  };
  const asked = await answering(flags["answers"] as string | undefined, io, tell);
  for (const found of asked.diagnostics) tell(found);
  if (!asked.ok) {
    if (flags["json"])
      io.out(`${JSON.stringify({ error: { message: asked.diagnostics.map(({ message }) => message).join("; ") } })}\n`);
    return EXIT.usage;
  }
  const runtime = await createRuntime({
    cwd: io.cwd,
    env: io.env,
    homedir: io.homedir,
    ...(io.trace && { trace: io.trace }),
    ...(io.signIn && { signIn: io.signIn }),
    ...(typeof flags["config"] === "string" && { config: flags["config"] }),
    handlers: asked.answering.handlers,
    onNotice: tell,
  });
  try {
    const code = await use(runtime);
    for (const remark of asked.answering.remarks()) tell(remark);
    return code;
  } catch (error) {
    if (io.signal.aborted) {
      // What has become of the task that was waited for, or of the hope to cancel it.
      if (error instanceof ServerError && error.taskId !== undefined)
        io.err(`pimcp ${command}: ${lines(error.message)}\n`);
      return interruptedExit(io.signal);
    }
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
    ...(error instanceof ServerError && error.taskId !== undefined && { taskId: error.taskId }),
  };
}

function lines(text: string, prefix = ""): string {
  return text
    .split("\n")
    .map((line) => prefix + printable(line))
    .join("\n");
}
