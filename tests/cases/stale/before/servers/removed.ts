// Made by pimcp from the tools of "removed". Do not edit; run `pimcp compile`.
/* eslint-disable */

import { type CallOptions, client, type ToolResult } from "pimcp/codegen/v1";

export interface BInput {
  [k: string]: unknown;
}

export interface OldInput {
  [k: string]: unknown;
}

export interface Removed {
  b(args?: BInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  /** Of the last compile. */
  old(args?: OldInput, options?: CallOptions): Promise<ToolResult<unknown>>;
}

export const removed: Removed = /* @__PURE__ */ client<Removed>(import.meta.url, "removed", {
  b: "b",
  old: "old",
});
