// Made by pimcp from the tools of "writer". Do not edit; run `pimcp compile`.
/* eslint-disable */

import { type CallOptions, client, type ToolResult } from "pimcp/codegen/v1";

export interface DraftInput {
  [k: string]: unknown;
}

export interface Writer {
  draft(args?: DraftInput, options?: CallOptions): Promise<ToolResult<unknown>>;
}

export const writer: Writer = /* @__PURE__ */ client<Writer>(import.meta.url, "writer", {
  draft: "draft",
});
