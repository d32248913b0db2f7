// Made by pimcp from the tools of "git". Do not edit; run `pimcp compile`.
/* eslint-disable */

import { type CallOptions, client, type ToolResult } from "pimcp/codegen/v1";

export interface CommitInput {
  [k: string]: unknown;
}

export interface ShowLogInput {
  [k: string]: unknown;
}

export interface SmallInput {
  [k: string]: unknown;
}

export interface StatusInput {
  [k: string]: unknown;
}

export interface WrongInput {
  [k: string]: unknown;
}

export interface Git {
  commit(args?: CommitInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  showLog(args?: ShowLogInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  small(args?: SmallInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  status(args?: StatusInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  wrong(args?: WrongInput, options?: CallOptions): Promise<ToolResult<unknown>>;
}

export const git: Git = /* @__PURE__ */ client<Git>(import.meta.url, "git", {
  commit: "commit",
  showLog: "show_log",
  small: "small",
  status: "status",
  wrong: "wrong",
});
