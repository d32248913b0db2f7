// An extension of Pi for the benchmark: one tool that starts its server when it is called, by the least a client can do. What a
// script waits for with it is one server's own start and Pi itself.
import { rawClient } from "./raw-client.mjs";

const { entry, tool } = JSON.parse(process.env.PI_BENCH_BY_HAND);

export default function byHand(pi) {
  pi.registerTool({
    name: `mcp__s00__${tool}`,
    label: tool,
    description: "Starts a server and calls its tool",
    parameters: { type: "object", properties: {} },
    outputSchema: { type: "object", properties: { content: { type: "array" } } },
    exposure: "codemode",
    execute: async (_id, args) => {
      const client = await rawClient(entry, "legacy");
      const { content } = await client.call(tool, args);
      client.close();
      return { content, details: undefined, structuredContent: { content } };
    },
  });
}
