// Made by pimcp from the tools of "shared". Do not edit; run `pimcp compile`.
/* eslint-disable */

import { type CallOptions, client, type ToolResult } from "pimcp/codegen/v1";

export interface TInput {
  [k: string]: unknown;
}

/** The project's own */
export interface Shared {
  t(args?: TInput, options?: CallOptions): Promise<ToolResult<unknown>>;
}

export const shared: Shared = /* @__PURE__ */ client<Shared>(import.meta.url, "shared", {
  t: "t",
});
