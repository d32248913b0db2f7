// Made by pimcp from the tools of "plain". Do not edit; run `pimcp compile`.
/* eslint-disable */

import { type CallOptions, client, type ToolResult } from "pimcp/codegen/v1";

export interface NoteInput {
  [k: string]: unknown;
}

export interface Plain {
  note(args?: NoteInput, options?: CallOptions): Promise<ToolResult<unknown>>;
}

export const plain: Plain = /* @__PURE__ */ client<Plain>(import.meta.url, "plain", {
  note: "note",
});
