// Made by pimcp from the tools of "up". Do not edit; run `pimcp compile`.
/* eslint-disable */

import { type CallOptions, client, type ToolResult } from "pimcp/codegen/v1";

export interface TInput {
  [k: string]: unknown;
}

export interface Up {
  t(args?: TInput, options?: CallOptions): Promise<ToolResult<unknown>>;
}

export const up: Up = /* @__PURE__ */ client<Up>(import.meta.url, "up", {
  t: "t",
});
