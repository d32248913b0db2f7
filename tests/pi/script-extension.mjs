// Tools of another extension, of every kind that a script may or may not call.
import { subscribe } from "node:diagnostics_channel";

let threads = 0;
subscribe("worker_threads", () => {
  threads++;
});

const text = (value) => ({ content: [{ type: "text", text: String(value) }], details: undefined });
const object = (properties, required = []) => ({ type: "object", properties, required });

export default function tools(pi) {
  const add = (name, fields, answer) =>
    pi.registerTool({
      name,
      label: name,
      description: `Does ${name}`,
      parameters: object({}),
      exposure: "codemode",
      execute: async (_id, args) => answer(args),
      ...fields,
    });
  add("plain_tool", { parameters: object({ word: { type: "string" } }, ["word"]) }, ({ word }) =>
    text(`plain ${word}`),
  );
  const outputSchema = { ...object({ sum: { type: "number" } }, ["sum"]), additionalProperties: false };
  const numbers = object({ a: { type: "number" }, b: { type: "number" } }, ["a", "b"]);
  add("typed_tool", { parameters: numbers, outputSchema, exposure: "deferred" }, ({ a, b }) => ({
    ...text(a + b),
    structuredContent: { sum: a + b },
  }));
  add("my-tool", {}, () => text("dashed"));
  add("hidden_tool", { exposure: "hidden" }, () => text("never"));
  add("asking_tool", { exposure: "model-only" }, () => text("never"));
  add("image_tool", {}, () => ({
    content: [{ type: "text", text: "no image" }],
    details: undefined,
    isError: true,
  }));
  add("count_threads", { exposure: "direct" }, () => text(threads));
  pi.registerCommand("back", {
    description: "Goes to before the last prompt",
    handler: async (_args, ctx) => {
      const prompts = ctx.sessionManager.getBranch().filter((entry) => entry.message?.role === "user");
      await ctx.navigateTree(prompts.at(-1).id, { summarize: false });
    },
  });
  // Registered by the call that needs it, as servers are that connect late.
  pi.on("tool_call", ({ toolName, input }) => {
    if (toolName !== "codemode" || !String(input.code).includes("mcp__late__")) return;
    add("mcp__late__echo", { parameters: object({ text: { type: "string" } }) }, ({ text: said }) => text(said));
  });
}
