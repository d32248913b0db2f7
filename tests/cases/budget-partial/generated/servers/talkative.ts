// Made by pimcp from the tools of "talkative". Do not edit; run `pimcp compile`.
/* eslint-disable */

import { type CallOptions, client, type ToolResult } from "pimcp/codegen/v1";

export interface T0Input {
  q?: string;
}

export interface T1Input {
  q?: string;
}

export interface T2Input {
  q?: string;
}

export interface T3Input {
  q?: string;
}

export interface T4Input {
  q?: string;
}

export interface T5Input {
  q?: string;
}

export interface Talkative {
  /**
   * Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room.
   */
  t0(args?: T0Input, options?: CallOptions): Promise<ToolResult<unknown>>;

  /**
   * Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room.
   */
  t1(args?: T1Input, options?: CallOptions): Promise<ToolResult<unknown>>;

  /**
   * Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room.
   */
  t2(args?: T2Input, options?: CallOptions): Promise<ToolResult<unknown>>;

  /**
   * Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room.
   */
  t3(args?: T3Input, options?: CallOptions): Promise<ToolResult<unknown>>;

  /**
   * Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room.
   */
  t4(args?: T4Input, options?: CallOptions): Promise<ToolResult<unknown>>;

  /**
   * Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room. Text that takes room.
   */
  t5(args?: T5Input, options?: CallOptions): Promise<ToolResult<unknown>>;
}

export const talkative: Talkative = /* @__PURE__ */ client<Talkative>(import.meta.url, "talkative", {
  t0: "t0",
  t1: "t1",
  t2: "t2",
  t3: "t3",
  t4: "t4",
  t5: "t5",
});
