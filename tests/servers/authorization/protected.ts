/**
 * The MCP server behind the sign-in, built on @modelcontextprotocol/server: `add`, `whoami` (client and scope of the
 * token) and `write`. Speaks both eras.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { AuthorizationOptions, Faults } from "./setup.ts";
import type { Grant, Tokens } from "./tokens.ts";

export interface Protection {
  readonly options: AuthorizationOptions;
  readonly faults: Faults;
  readonly tokens: Tokens;
  /** Of the MCP server. */
  readonly resource: string;
  readonly resourceMetadata: string;
}

/** Answers one request to the MCP server, whose body has been read. */
export type ProtectedHandler = (request: IncomingMessage, response: ServerResponse, body: string) => Promise<void>;

export function protectedServer(protection: () => Protection): ProtectedHandler {
  const handle = toNodeHandler(createMcpHandler(({ authInfo }) => build(authInfo)));
  return async (request, response, body) => {
    const { options, faults, tokens, resource, resourceMetadata } = protection();
    const token = /^Bearer (.+)$/i.exec(request.headers.authorization ?? "")?.[1];
    const grant = faults.rejectsEveryToken ? undefined : tokens.check(token);
    const isOurs = options.checksResource === false || grant?.resource === resource;
    const challenge = (status: number, fields: Record<string, string | undefined>) => {
      const said = Object.entries(fields).flatMap(([name, value]) =>
        value === undefined ? [] : [`${name}="${value}"`],
      );
      const header = faults.challenge === "none" ? {} : { "www-authenticate": `Bearer ${said.join(", ")}` };
      response.writeHead(status, { "content-type": "application/json", ...header });
      response.end(JSON.stringify({ error: fields["error"] ?? "unauthorized" }));
    };
    const metadata = faults.challenge === "file" ? "file:///etc/passwd" : resourceMetadata;
    if (grant === undefined || !isOurs) {
      const error = token === undefined ? undefined : "invalid_token";
      return challenge(401, { error, scope: options.challengeScope, resource_metadata: metadata });
    }
    const message = body === "" ? undefined : (JSON.parse(body) as { method?: string; params?: { name?: string } });
    const needed = message?.method === "tools/call" ? options.toolScopes?.[message.params?.name ?? ""] : undefined;
    if (needed !== undefined && !grant.scope.split(" ").includes(needed)) {
      return challenge(403, { error: "insufficient_scope", scope: needed, resource_metadata: metadata });
    }
    await handle(Object.assign(request, { auth: authInfo(token!, grant) }) as never, response as never, message);
  };
}

function authInfo(token: string, { client, scope }: Grant) {
  return { token, clientId: client, scopes: scope.split(" ").filter((one) => one !== "") };
}

function build(auth: { clientId: string; scopes: string[] } | undefined): McpServer {
  const server = new McpServer({ name: "protected", version: "1.0.0" });
  server.registerTool(
    "add",
    { description: "Adds two numbers", inputSchema: z.object({ a: z.number(), b: z.number() }) },
    ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }),
  );
  server.registerTool("whoami", { description: "Says who is signed in" }, () => ({
    content: [{ type: "text", text: JSON.stringify({ client: auth?.clientId, scopes: auth?.scopes }) }],
  }));
  server.registerTool("write", { description: "Needs more than reading" }, () => ({
    content: [{ type: "text", text: "written" }],
  }));
  return server;
}
