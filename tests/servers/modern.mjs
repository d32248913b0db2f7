/**
 * A 2026-07-28 server built on @modelcontextprotocol/server 2.x, over stdio, or over HTTP when HTTP is set (the first line
 * on stdout is then `listening PORT`). LEGACY=reject refuses the 2025 handshake.
 */
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const build = () => {
  const server = new McpServer(
    { name: "modern", version: "2.0.0", title: "A modern server" },
    { instructions: "A server of the 2026 era.", capabilities: { tools: { listChanged: true } } },
  );
  server.registerTool(
    "add",
    {
      description: "Adds two numbers",
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
    },
    ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }], structuredContent: { sum: a + b } }),
  );
  server.registerTool("fail", { description: "Always fails", inputSchema: z.object({}) }, () => ({
    content: [{ type: "text", text: "it failed" }],
    isError: true,
  }));
  server.registerTool("grow", { description: "Adds the tool `grown`" }, () => {
    server.registerTool("grown", { description: "Was not there before" }, () => ({ content: [] }));
    return { content: [{ type: "text", text: "grew" }] };
  });
  return server;
};

const legacy = process.env.LEGACY === "reject" ? "reject" : undefined;
if (process.env.HTTP === undefined) serveStdio(build, { legacy: legacy ?? "serve" });
else {
  const handler = createMcpHandler(build, { legacy: legacy ?? "stateless" });
  const http = createServer(toNodeHandler(handler));
  http.listen(0, "127.0.0.1", () => process.stdout.write(`listening ${http.address().port}\n`));
}
