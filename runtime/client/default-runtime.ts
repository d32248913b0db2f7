/** The runtime that stubs share in a process. */
import type { CallOptions, ToolResult } from "../codegen/v1.ts";

export interface StubCall {
  /** URL of the stub. */
  readonly base: string;
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  readonly args: unknown;
  readonly options?: CallOptions;
}

/** Rejects with `ToolError` when the tool says it failed, with `ServerError` when the server can't be reached. */
export async function callTool(request: StubCall): Promise<ToolResult<unknown>> {
  throw new Error(`calls are not wired yet: ${request.server} ${request.tool}`);
}
