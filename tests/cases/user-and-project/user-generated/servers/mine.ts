// Made by pimcp from the tools of "mine". Do not edit; run `pimcp compile`.
/* eslint-disable */

import { type CallOptions, client, type ToolResult } from "pimcp/codegen/v1";

export interface MInput {
  [k: string]: unknown;
}

export interface Mine {
  m(args?: MInput, options?: CallOptions): Promise<ToolResult<unknown>>;
}

export const mine: Mine = /* @__PURE__ */ client<Mine>(import.meta.url, "mine", {
  m: "m",
});
