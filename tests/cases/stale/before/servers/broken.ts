// Made by pimcp from the tools of "broken". Do not edit; run `pimcp compile`.
/* eslint-disable */

import { type CallOptions, client, type ToolResult } from "pimcp/codegen/v1";

export interface OldInput {
  [k: string]: unknown;
}

export interface Broken {
  /** Of the last compile. */
  old(args?: OldInput, options?: CallOptions): Promise<ToolResult<unknown>>;
}

export const broken: Broken = /* @__PURE__ */ client<Broken>(import.meta.url, "broken", {
  old: "old",
});
