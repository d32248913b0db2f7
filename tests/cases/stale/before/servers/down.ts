// Made by pimcp from the tools of "down". Do not edit; run `pimcp compile`.
/* eslint-disable */

import { type CallOptions, client, type ToolResult } from "pimcp/codegen/v1";

export interface BInput {
  [k: string]: unknown;
}

export interface OldInput {
  [k: string]: unknown;
}

export interface Down {
  b(args?: BInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  /** Of the last compile. */
  old(args?: OldInput, options?: CallOptions): Promise<ToolResult<unknown>>;
}

export const down: Down = /* @__PURE__ */ client<Down>(import.meta.url, "down", {
  b: "b",
  old: "old",
});
