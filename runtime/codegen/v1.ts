/**
 * What generated stubs import. The path is the version of the contract between a stub and the runtime: stubs
 * that were generated for `v1` keep working as long as this module exists, whatever changes behind it.
 * Making a client opens nothing and loads nothing; the runtime is imported by the first call.
 */
import type { ToolResult } from "./result.ts";

export { ServerError, ToolError } from "../errors.ts";
export type {
  Annotations,
  AudioContent,
  CallToolResult,
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  ResourceLink,
  TextContent,
  ToolResult,
} from "./result.ts";

/** What a server tells of a long call. */
export interface CallProgress {
  progress: number;
  total?: number;
  message?: string;
}

export interface CallOptions {
  /** Cancels the call. */
  signal?: AbortSignal;
  /** Milliseconds until the call fails; progress extends it. */
  timeoutMs?: number;
  onProgress?: (progress: CallProgress) => void;
}

declare global {
  /** Stubs say where they are by it; declared here for programs that have neither DOM nor Node types. */
  interface ImportMeta {
    url: string;
  }
}

/**
 * The client of one server: a method for each entry of `tools` (method name → the server's own name of the tool).
 * `base` is the URL of the stub, from where the artifacts are looked for.
 */
export function client<T extends object>(base: string, server: string, tools: Readonly<Record<string, string>>): T {
  const methods = Object.entries(tools).map(([method, tool]) => {
    const call = async (args: unknown = {}, options?: CallOptions): Promise<ToolResult<unknown>> => {
      const { callTool } = await import("../client/default-runtime.ts");
      return callTool({ base, server, tool, args, ...(options === undefined ? {} : { options }) });
    };
    return [method, call] as const;
  });
  return Object.freeze(Object.fromEntries(methods)) as T;
}
