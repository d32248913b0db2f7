// Made by pimcp from the tools of "a__b". Do not edit; run `pimcp compile`.
/* eslint-disable */

import { type CallOptions, client, type ToolResult } from "pimcp/codegen/v1";

export interface CInput {
  [k: string]: unknown;
}

export interface AB {
  c(args?: CInput, options?: CallOptions): Promise<ToolResult<unknown>>;
}

export const aB: AB = /* @__PURE__ */ client<AB>(import.meta.url, "a__b", {
  c: "c",
});
