// Made by pimcp from the tools of "up". Do not edit; run `pimcp compile`.
/* eslint-disable */

import { type CallOptions, client, type ToolResult } from "pimcp/codegen/v1";

export interface BInput {
  [k: string]: unknown;
}

export interface OldInput {
  [k: string]: unknown;
}

export interface Up {
  b(args?: BInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  /** Of the last compile. */
  old(args?: OldInput, options?: CallOptions): Promise<ToolResult<unknown>>;
}

export const up: Up = /* @__PURE__ */ client<Up>(import.meta.url, "up", {
  b: "b",
  old: "old",
});
