/**
 * A server that asks its client back during a call. By default of the 2025 era (`roots` asks for roots, `greet` for a
 * name, each by a request of its own); with ERA=modern of 2026-07-28 (`greet`: answers `input_required` until it has a name).
 */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { acceptedContent, inputRequired, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };

async function legacy() {
  const server = new Server({ name: "asking", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: ["roots", "greet"].map((name) => ({ name, inputSchema: { type: "object" } })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    try {
      if (params.name === "greet") {
        const { content } = await server.elicitInput({ message: "Who is there?", requestedSchema });
        return { content: [{ type: "text", text: `hello ${content.name}` }] };
      }
      const { roots } = await server.listRoots();
      return { content: [{ type: "text", text: JSON.stringify(roots) }] };
    } catch (error) {
      return { content: [{ type: "text", text: error.message }], isError: true };
    }
  });
  await server.connect(new StdioServerTransport());
}

function modern() {
  serveStdio(() => {
    const server = new McpServer({ name: "asking", version: "2.0.0" });
    server.registerTool("greet", { description: "Greets", inputSchema: z.object({}) }, (_, ctx) => {
      const answer = acceptedContent(ctx.mcpReq.inputResponses, "who");
      if (answer) return { content: [{ type: "text", text: `hello ${answer.name}` }] };
      return inputRequired({
        inputRequests: { who: inputRequired.elicit({ message: "Who is there?", requestedSchema }) },
      });
    });
    return server;
  });
}

if (process.env.ERA === "modern") modern();
else await legacy();
