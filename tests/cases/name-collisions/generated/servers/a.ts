// Made by pimcp from the tools of "a". Do not edit; run `pimcp compile`.
/* eslint-disable */

import { type CallOptions, client, type ToolResult } from "pimcp/codegen/v1";

export interface BCInput {
  [k: string]: unknown;
}

export interface A {
  bC(args?: BCInput, options?: CallOptions): Promise<ToolResult<unknown>>;
}

export const a: A = /* @__PURE__ */ client<A>(import.meta.url, "a", {
  bC: "b__c",
});
