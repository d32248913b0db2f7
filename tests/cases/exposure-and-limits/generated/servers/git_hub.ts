// Made by pimcp from the tools of "git_hub". Do not edit; run `pimcp compile`.
/* eslint-disable */

import { type CallOptions, client, type ToolResult } from "pimcp/codegen/v1";

export interface PushAllInput {
  [k: string]: unknown;
}

export interface GitHub {
  pushAll(args?: PushAllInput, options?: CallOptions): Promise<ToolResult<unknown>>;
}

export const gitHub: GitHub = /* @__PURE__ */ client<GitHub>(import.meta.url, "git_hub", {
  pushAll: "push_all",
});
