// Made by pimcp from the tools of "evil". Do not edit; run `pimcp compile`.
/* eslint-disable */

import { type CallOptions, client, type ToolResult } from "pimcp/codegen/v1";

export interface ProcessExitInput {
  "__proto__": string;
  /**
   * *\/ evil() /*
   * (default "*\/")
   */
  "a*/b"?: "*/" | "`${x}`" | "\"" | "\n" | "'";
  constructor?: number | Object["constructor"];
  /**
   * \@param see user\@example.com
   * \@deprecated
   */
  "user@example.com"?: string;
}

export interface BadMembersInput {
  [k: string]: unknown;
}

export interface GnpExeInput {
  [k: string]: unknown;
}

/** ends *\/ a comment */
export interface Evil {
  /**
   * *\/ } ; process.exit(1); /*
   *  next  reversed  [31mred
   */
  processExit(args: ProcessExitInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  badMembers(args?: BadMembersInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  /** ${FILE} ```  zero width */
  gnpExe(args?: GnpExeInput, options?: CallOptions): Promise<ToolResult<unknown>>;
}

export const evil: Evil = /* @__PURE__ */ client<Evil>(import.meta.url, "evil", {
  processExit: "*/process.exit()//",
  badMembers: "bad-members",
  gnpExe: "\u202egnp.exe",
});
