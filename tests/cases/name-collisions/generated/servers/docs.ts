// Made by pimcp from the tools of "docs". Do not edit; run `pimcp compile`.
/* eslint-disable */

import { type CallOptions, client, type ToolResult } from "pimcp/codegen/v1";

export interface ProtoInput {
  [k: string]: unknown;
}

export interface Constructor_Input {
  [k: string]: unknown;
}

export interface Export_Input {
  [k: string]: unknown;
}

export interface Tool_e421a5Input {
  [k: string]: unknown;
}

export interface ReadFile_a00b4bInput {
  [k: string]: unknown;
}

export interface ReadFile_c9f812Input {
  [k: string]: unknown;
}

export interface Then_Input {
  [k: string]: unknown;
}

export interface Xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx1Input {
  [k: string]: unknown;
}

export interface Xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx2Input {
  [k: string]: unknown;
}

export interface Docs {
  proto(args?: ProtoInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  constructor_(args?: Constructor_Input, options?: CallOptions): Promise<ToolResult<unknown>>;

  export_(args?: Export_Input, options?: CallOptions): Promise<ToolResult<unknown>>;

  "größeMessenJetzt"(args?: Tool_e421a5Input, options?: CallOptions): Promise<ToolResult<unknown>>;

  readFile_a00b4b(args?: ReadFile_a00b4bInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  readFile_c9f812(args?: ReadFile_c9f812Input, options?: CallOptions): Promise<ToolResult<unknown>>;

  then_(args?: Then_Input, options?: CallOptions): Promise<ToolResult<unknown>>;

  xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx1(args?: Xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx1Input, options?: CallOptions): Promise<ToolResult<unknown>>;

  xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx2(args?: Xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx2Input, options?: CallOptions): Promise<ToolResult<unknown>>;
}

export const docs: Docs = /* @__PURE__ */ client<Docs>(import.meta.url, "docs", {
  proto: "__proto__",
  constructor_: "constructor",
  export_: "export",
  "größeMessenJetzt": "größe.messen/jetzt",
  readFile_a00b4b: "read-file",
  readFile_c9f812: "read_file",
  then_: "then",
  xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx1: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx1",
  xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx2: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx2",
});
