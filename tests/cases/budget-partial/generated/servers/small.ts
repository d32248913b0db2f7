// Made by pimcp from the tools of "small". Do not edit; run `pimcp compile`.
/* eslint-disable */

import { type CallOptions, client, type ToolResult } from "pimcp/codegen/v1";

export interface S0Input {
  q?: string;
}

export interface S1Input {
  q?: string;
}

export interface S2Input {
  q?: string;
}

export interface Small {
  s0(args?: S0Input, options?: CallOptions): Promise<ToolResult<unknown>>;

  s1(args?: S1Input, options?: CallOptions): Promise<ToolResult<unknown>>;

  s2(args?: S2Input, options?: CallOptions): Promise<ToolResult<unknown>>;
}

export const small: Small = /* @__PURE__ */ client<Small>(import.meta.url, "small", {
  s0: "s0",
  s1: "s1",
  s2: "s2",
});
