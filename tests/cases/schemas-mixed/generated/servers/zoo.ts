// Made by pimcp from the tools of "zoo". Do not edit; run `pimcp compile`.
/* eslint-disable */

import { type CallOptions, client, type ToolResult } from "pimcp/codegen/v1";

export interface AnythingInput {
  [k: string]: unknown;
}

export interface ClosedConditionalInput {
  host?: string;
  on: boolean;
}

export interface DiamondInput {
  a?: DiamondInputL0;
}

export interface DiamondInputL0 {
  a?: DiamondInputL1;
  b?: DiamondInputL1;
}

export interface DiamondInputL1 {
  a?: DiamondInputL2;
  b?: DiamondInputL2;
}

export interface DiamondInputL2 {
  a?: DiamondInputL3;
  b?: DiamondInputL3;
}

export interface DiamondInputL3 {
  a?: DiamondInputL4;
  b?: DiamondInputL4;
}

export interface DiamondInputL4 {
  a?: DiamondInputL5;
  b?: DiamondInputL5;
}

export interface DiamondInputL5 {
  a?: DiamondInputL6;
  b?: DiamondInputL6;
}

export interface DiamondInputL6 {
  a?: DiamondInputL7;
  b?: DiamondInputL7;
}

export interface DiamondInputL7 {
  a?: DiamondInputL8;
  b?: DiamondInputL8;
}

export interface DiamondInputL8 {
  a?: DiamondInputL9;
  b?: DiamondInputL9;
}

export interface DiamondInputL9 {
  a?: DiamondInputL10;
  b?: DiamondInputL10;
}

export interface DiamondInputL10 {
  a?: DiamondInputL11;
  b?: DiamondInputL11;
}

export interface DiamondInputL11 {
  a?: DiamondInputL12;
  b?: DiamondInputL12;
}

export interface DiamondInputL12 {
  a?: DiamondInputL13;
  b?: DiamondInputL13;
}

export interface DiamondInputL13 {
  a?: DiamondInputL14;
  b?: DiamondInputL14;
}

export interface DiamondInputL14 {
  a?: DiamondInputL15;
  b?: DiamondInputL15;
}

export interface DiamondInputL15 {
  a?: DiamondInputL16;
  b?: DiamondInputL16;
}

export interface DiamondInputL16 {
  a?: DiamondInputL17;
  b?: DiamondInputL17;
}

export interface DiamondInputL17 {
  a?: DiamondInputL18;
  b?: DiamondInputL18;
}

export interface DiamondInputL18 {
  a?: DiamondInputL19;
  b?: DiamondInputL19;
}

export interface DiamondInputL19 {
  a?: DiamondInputL20;
  b?: DiamondInputL20;
}

export interface DiamondInputL20 {
  a?: DiamondInputL21;
  b?: DiamondInputL21;
}

export interface DiamondInputL21 {
  a?: DiamondInputL22;
  b?: DiamondInputL22;
}

export interface DiamondInputL22 {
  a?: DiamondInputL23;
  b?: DiamondInputL23;
}

export interface DiamondInputL23 {
  a?: string;
  b?: string;
}

export interface Draft04Input {
  items?: unknown[];
  /** (integer, > 0) */
  n?: number;
  never?: never;
}

export interface ExternalInput {
  x?: unknown;
  y?: unknown;
}

export interface NoInputInput {
  [k: string]: unknown;
}

export interface OddEnumInput {
  $ref?: string;
  "__proto__"?: string;
  description?: string;
  v?: "" | "9lives" | "a\"b" | "a\nb" | null;
}

export interface RecursiveInput {
  root?: RecursiveInputNode;
}

export interface RecursiveInputNode {
  /** the other way */
  inverse?: RecursiveInputNode;
  value?: string;
}

export interface TuplesInput {
  new?: [] | [string] | [string, number];
  old?: [] | [string] | [string, number];
}

export interface TuplesOutput {
  x?: string | null;
  y?: number | null;
}

export interface Zoo {
  anything(args?: AnythingInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  closedConditional(args: ClosedConditionalInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  diamond(args?: DiamondInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  draft04(args?: Draft04Input, options?: CallOptions): Promise<ToolResult<unknown>>;

  external(args?: ExternalInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  noInput(args?: NoInputInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  oddEnum(args?: OddEnumInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  recursive(args?: RecursiveInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  tuples(args?: TuplesInput, options?: CallOptions): Promise<ToolResult<TuplesOutput>>;
}

export const zoo: Zoo = /* @__PURE__ */ client<Zoo>(import.meta.url, "zoo", {
  anything: "anything",
  closedConditional: "closed_conditional",
  diamond: "diamond",
  draft04: "draft04",
  external: "external",
  noInput: "no_input",
  oddEnum: "odd_enum",
  recursive: "recursive",
  tuples: "tuples",
});
