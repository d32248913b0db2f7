/**
 * An MCP server and an authorization server whose token endpoint is the test's own: for grants and proofs that
 * `authorization.ts` doesn't know. Tokens count when the test says so.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { onTestFinished } from "vitest";
import { z } from "zod";

export interface TokenRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage["headers"];
}

export interface TokenAnswer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body: object;
}

export interface TokenServerOptions {
  readonly metadata?: object;
  readonly onToken: (request: TokenRequest) => TokenAnswer;
  /** The answer to a request that may not pass: headers and status. */
  readonly guard: (
    request: IncomingMessage,
    url: string,
  ) => { status: number; headers: Record<string, string> } | undefined;
}

export interface TokenServer {
  readonly url: string;
  readonly origin: string;
  readonly requests: TokenRequest[];
  approve(url: string | URL): Promise<URL>;
}

export async function startTokenServer(options: TokenServerOptions): Promise<TokenServer> {
  const handle = toNodeHandler(createMcpHandler(() => adder()));
  const requests: TokenRequest[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const { pathname, searchParams } = new URL(request.url!, origin());
    switch (pathname) {
      case "/mcp": {
        const refusal = options.guard(request, `${origin()}/mcp`);
        if (refusal !== undefined) return void response.writeHead(refusal.status, refusal.headers).end("{}");
        return handle(request as never, response as never, text === "" ? undefined : JSON.parse(text));
      }
      case "/.well-known/oauth-protected-resource/mcp":
        return json(response, { resource: `${origin()}/mcp`, authorization_servers: [origin()] });
      case "/.well-known/oauth-authorization-server":
        return json(response, { ...metadataOf(origin()), ...options.metadata });
      case "/register":
        return json(response, { ...JSON.parse(text), client_id: "registered" }, 201);
      case "/authorize": {
        const back = new URL(searchParams.get("redirect_uri")!);
        for (const [name, value] of [
          ["code", "the-code"],
          ["state", searchParams.get("state")!],
        ] as const) {
          back.searchParams.set(name, value);
        }
        return void response.writeHead(302, { location: back.href }).end();
      }
      case "/token": {
        const asked = { params: Object.fromEntries(new URLSearchParams(text)), headers: request.headers };
        requests.push(asked);
        const { status = 200, headers = {}, body } = options.onToken(asked);
        for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
        return json(response, body, status);
      }
      default:
        return void response.writeHead(404).end();
    }
  });
  const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `${origin()}/mcp`,
    origin: origin(),
    requests,
    approve: async (page) => new URL((await fetch(page, { redirect: "manual" })).headers.get("location")!),
  };
}

function metadataOf(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none", "client_secret_basic", "private_key_jwt"],
  };
}

function json(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function adder(): McpServer {
  const server = new McpServer({ name: "adder", version: "1.0.0" });
  server.registerTool("add", { inputSchema: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => ({
    content: [{ type: "text", text: String(a + b) }],
  }));
  return server;
}
