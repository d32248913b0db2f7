/**
 * The runtimes that stubs share in a process: one for each folder of artifacts, made by the first call. Its
 * connections don't keep the program from ending, so a script that calls a tool needs no set-up and no close.
 */
import type { CallOptions, ToolResult } from "../codegen/v1.ts";
import { artifactsBeside } from "../locate.ts";
import { createRuntime, type Runtime } from "../runtime.ts";

export interface StubCall {
  /** URL of the stub. */
  readonly base: string;
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  readonly args: unknown;
  readonly options?: CallOptions;
}

const runtimes = new Map<string, Promise<Runtime>>();

/**
 * Rejects with `ToolError` when the tool says it failed, with `ServerError` when the server can't be reached, and with
 * `RefusedError` when the call was not sent.
 */
export async function callTool({ base, server, tool, args, options }: StubCall): Promise<ToolResult<unknown>> {
  const runtime = await runtimeFor(base);
  return runtime.call(server, tool, args, options);
}

/** Artifacts beside the stub where it runs in place; otherwise (bundled, built elsewhere) from the working folder upwards. */
function runtimeFor(base: string): Promise<Runtime> {
  const beside = artifactsBeside(base);
  const key = beside?.folder ?? process.cwd();
  const known = runtimes.get(key) ?? make(beside);
  runtimes.set(key, known);
  return known;
}

function make(beside: ReturnType<typeof artifactsBeside>): Promise<Runtime> {
  if (!beside) return createRuntime();
  const { folder, scope } = beside;
  return createRuntime({ cwd: folder, ...(scope === "user" ? { userOut: folder } : { projectOut: folder }) });
}
