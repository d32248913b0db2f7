// Made by pimcp from the tools of "a-b". Do not edit; run `pimcp compile`.
/* eslint-disable */

import { type CallOptions, client, type ToolResult } from "pimcp/codegen/v1";

export interface TInput {
  [k: string]: unknown;
}

export interface AB {
  t(args?: TInput, options?: CallOptions): Promise<ToolResult<unknown>>;
}

export const aB: AB = /* @__PURE__ */ client<AB>(import.meta.url, "a-b", {
  t: "t",
});
