/**
 * A 2025-era server built on @modelcontextprotocol/sdk 1.x, over stdio, or over Streamable HTTP (with sessions) or
 * SSE when HTTP is `streamable` or `sse`. Over HTTP the first line on stdout is `listening PORT`.
 */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

function build() {
  const server = new McpServer({ name: "legacy", version: "1.0.0" }, { instructions: "A server of the 2025 era." });
  server.registerTool(
    "add",
    {
      description: "Adds two numbers",
      inputSchema: { a: z.number(), b: z.number() },
      outputSchema: { sum: z.number() },
    },
    ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }], structuredContent: { sum: a + b } }),
  );
  server.registerTool("fail", { description: "Always fails", inputSchema: {} }, () => ({
    content: [{ type: "text", text: "it failed" }],
    isError: true,
  }));
  server.registerTool(
    "count",
    { description: "Counts, with progress", inputSchema: { steps: z.number(), ms: z.number() } },
    async ({ steps, ms }, { sendNotification, _meta }) => {
      for (let progress = 1; progress <= steps; progress++) {
        await new Promise((resolve) => setTimeout(resolve, ms));
        const progressToken = _meta?.progressToken;
        if (progressToken === undefined) continue;
        await sendNotification({ method: "notifications/progress", params: { progressToken, progress, total: steps } });
      }
      return { content: [{ type: "text", text: `counted to ${steps}` }] };
    },
  );
  server.registerTool("grow", { description: "Adds the tool `grown`" }, () => {
    server.registerTool("grown", { description: "Was not there before" }, () => ({ content: [] }));
    return { content: [{ type: "text", text: "grew" }] };
  });
  server.registerResource("greeting", "stub://greeting", { mimeType: "text/plain" }, (uri) => ({
    contents: [{ uri: uri.href, text: "hello" }],
  }));
  return server;
}

async function bodyOf(request) {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text === "" ? undefined : JSON.parse(text);
}

function serveStreamable(sessions) {
  return async (request, response) => {
    const body = await bodyOf(request);
    let transport = sessions.get(request.headers["mcp-session-id"]);
    if (transport === undefined && body?.method === "initialize") {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void sessions.set(id, transport),
      });
      await build().connect(transport);
    }
    if (transport === undefined) response.writeHead(request.headers["mcp-session-id"] ? 404 : 400).end();
    else await transport.handleRequest(request, response, body);
  };
}

function serveSse(sessions) {
  return async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://localhost");
    if (request.method === "GET" && pathname === "/sse") {
      const transport = new SSEServerTransport("/messages", response);
      sessions.set(transport.sessionId, transport);
      await build().connect(transport);
    } else if (request.method === "POST" && pathname === "/messages") {
      await sessions.get(searchParams.get("sessionId"))?.handlePostMessage(request, response);
    } else response.writeHead(405).end();
  };
}

if (process.env.HTTP === undefined) await build().connect(new StdioServerTransport());
else {
  const serve = process.env.HTTP === "sse" ? serveSse : serveStreamable;
  const http = createServer(serve(new Map()));
  http.listen(0, "127.0.0.1", () => process.stdout.write(`listening ${http.address().port}\n`));
}
