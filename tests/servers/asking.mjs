/**
 * A server that asks its client back during a call. By default of the 2025 era, by requests of its own; with ERA=modern of
 * 2026-07-28, by `input_required` results. Both have `greet` (asks for a name), `form` (asks with the `schema` and
 * `message` of its arguments, and gives the answer back as JSON) and `visit` (URL mode, with the `url` of its arguments). Of
 * 2025 alone: `roots`, `sample`, `nag` (asks without end), `pair` (two forms at once), `visit_first` (error -32042 until it is called again).
 * With LOG, each message received is a line of that file.
 */
import { appendFileSync } from "node:fs";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { acceptedContent, inputRequired, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
const text = (value) => ({
  content: [{ type: "text", text: typeof value === "string" ? value : JSON.stringify(value) }],
});

if (process.env.LOG) process.stdin.on("data", (chunk) => appendFileSync(process.env.LOG, chunk));

async function legacy() {
  const server = new Server({ name: "asking", version: "1.0.0" }, { capabilities: { tools: {} } });
  // Not `elicitInput`, which refuses odd schemas before they are sent.
  const ask = (method, params) => server.request({ method, params }, z.any());
  let visited = false;
  const tools = {
    roots: async () => text((await server.listRoots()).roots),
    greet: async () => {
      const { action, content } = await server.elicitInput({ message: "Who is there?", requestedSchema });
      return text(action === "accept" ? `hello ${content.name}` : `no name: ${action}`);
    },
    form: async ({ message = "Fill this in", schema = requestedSchema }) =>
      text(await ask("elicitation/create", { message, requestedSchema: schema })),
    pair: async () =>
      text(
        await Promise.all(
          ["First?", "Second?"].map((message) => ask("elicitation/create", { message, requestedSchema })),
        ),
      ),
    nag: async () => {
      for (;;) await server.elicitInput({ message: "Who is there?", requestedSchema });
    },
    visit: async ({ url = "https://example.com/visit" }) => {
      const answer = await ask("elicitation/create", {
        mode: "url",
        message: "Please visit",
        url,
        elicitationId: "v1",
      });
      await server.notification({ method: "notifications/elicitation/complete", params: { elicitationId: "v1" } });
      return text(answer);
    },
    visit_first: async () => {
      if (visited) return text("visited");
      visited = true;
      const elicitations = [
        { mode: "url", message: "First visit", url: "https://example.com/first", elicitationId: "v2" },
      ];
      throw Object.assign(new Error("visit first"), { code: -32042, data: { elicitations } });
    },
    sample: async ({ request }) => {
      const messages = [{ role: "user", content: { type: "text", text: "6 times 7?" } }];
      // Not `createMessage`, which refuses what a client didn't offer before it is sent.
      if (request) return text(await ask("sampling/createMessage", { messages, maxTokens: 10, ...request }));
      return text(await server.createMessage({ messages, maxTokens: 10 }));
    },
  };
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: "object" } })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    try {
      return await tools[params.name](params.arguments ?? {});
    } catch (error) {
      if (error.code === -32042) throw error;
      return { ...text(error.message), isError: true };
    }
  });
  await server.connect(new StdioServerTransport());
}

function modern() {
  serveStdio(() => {
    const server = new McpServer({ name: "asking", version: "2.0.0" });
    server.registerTool("greet", { description: "Greets", inputSchema: z.object({}) }, (_, ctx) => {
      const responses = ctx.mcpReq.inputResponses;
      const answer = acceptedContent(responses, "who");
      if (answer) return text(`hello ${answer.name}`);
      if (responses?.who) return text(`no name: ${responses.who.action}`);
      return inputRequired({
        inputRequests: { who: inputRequired.elicit({ message: "Who is there?", requestedSchema }) },
      });
    });
    const form = z.object({ message: z.string().optional(), schema: z.any().optional() });
    server.registerTool("form", { description: "Asks", inputSchema: form }, ({ message, schema }, ctx) => {
      const responses = ctx.mcpReq.inputResponses;
      if (responses?.form) return text(responses.form);
      const params = { message: message ?? "Fill this in", requestedSchema: schema ?? requestedSchema };
      return inputRequired({ inputRequests: { form: { method: "elicitation/create", params } }, requestState: "s1" });
    });
    const visit = z.object({ url: z.string().optional() });
    server.registerTool("visit", { description: "Asks", inputSchema: visit }, ({ url }, ctx) => {
      const responses = ctx.mcpReq.inputResponses;
      if (responses?.visit) return text(responses.visit);
      const params = { mode: "url", message: "Please visit", url: url ?? "https://example.com/visit" };
      return inputRequired({ inputRequests: { visit: { method: "elicitation/create", params } } });
    });
    return server;
  });
}

if (process.env.ERA === "modern") modern();
else await legacy();
