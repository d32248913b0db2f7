/** An MCP server over HTTP whose private tool list depends on the bearer token: one tool called `for_red` for
 * the token `red-…`. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface TokenServer {
  readonly url: string;
  /** The token of each `tools/list` so far. */
  readonly lists: string[];
}

export async function startTokenServer(ttlMs: number): Promise<TokenServer> {
  const lists: string[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const message = body === "" ? {} : (JSON.parse(body) as { id?: number; method?: string });
    if (request.method !== "POST") return void response.writeHead(405).end();
    if (message.id === undefined) return void response.writeHead(202).end();
    const token = (request.headers.authorization ?? "").replace("Bearer ", "");
    if (message.method === "tools/list") lists.push(token);
    const reply = replyTo(message.method, token, ttlMs);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...reply }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, lists };
}

function replyTo(method: string | undefined, token: string, ttlMs: number): object {
  if (method === "initialize") {
    const serverInfo = { name: "tokens", version: "1.0.0" };
    return { result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo } };
  }
  if (method !== "tools/list") return { error: { code: -32601, message: "Method not found" } };
  const tools = [{ name: `for_${token.split("-")[0]}`, inputSchema: { type: "object" } }];
  return { result: { tools, ttlMs, cacheScope: "private" } };
}
