/** Projects with one stub server, `s`, that answers as a test wants. */
import { compiled, declared } from "../runtime/runtime-project.ts";
import { Stub, tool } from "./pimcp.ts";

const SCHEMA = {
  type: "object",
  properties: {
    text: { type: "string" },
    n: { type: "integer" },
    yes: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    ids: { type: "array", items: { type: "number" } },
    at: { type: "object", properties: { lat: { type: "number" } } },
  },
  additionalProperties: false,
};

/** A project with the stub `s`, whose tool `echo` gives its arguments back. */
export async function project(tools: readonly object[] = [declared("echo", SCHEMA)], options: object = {}) {
  const stub = new Stub({ tools, ...options });
  return { stub, work: await compiled({ s: stub.entry }) };
}

/** The same with a tool `t` that gives this result. */
export const answer = (result: object, more: object = {}) =>
  project([tool("t")], { replies: { "tools/call": { result } }, ...more });
