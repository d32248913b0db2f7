// Made by pimcp from the tools of "notes". Do not edit; run `pimcp compile`.
/* eslint-disable */

import { type CallOptions, client, type ToolResult } from "pimcp/codegen/v1";

export interface AddInput {
  text?: string;
}

export interface Delete_Input {
  [k: string]: unknown;
}

export interface Notes {
  add(args?: AddInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  delete_(args?: Delete_Input, options?: CallOptions): Promise<ToolResult<unknown>>;
}

export const notes: Notes = /* @__PURE__ */ client<Notes>(import.meta.url, "notes", {
  add: "add",
  delete_: "delete",
});
