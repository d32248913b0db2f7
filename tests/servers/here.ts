/**
 * An MCP server in the test's own process (both eras, one tool `add`), over HTTP or HTTPS, which keeps the headers of
 * what it is asked, and may be told to answer first.
 */

import { readFileSync } from "node:fs";
import {
  createServer as createHttp,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { createServer as createHttps } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { serversDir } from "./run.ts";

export const tlsFixtures = join(serversDir, "..", "fixtures", "tls");
/** The authority that signed the certificate of an HTTPS server here: valid for localhost, 127.0.0.1 and secure.test. */
export const caFile = join(tlsFixtures, "ca.pem");

export interface Here {
  readonly url: string;
  readonly origin: string;
  readonly port: number;
  readonly seen: readonly { readonly method: string; readonly path: string; readonly headers: IncomingHttpHeaders }[];
}

export interface HereOptions {
  readonly https?: boolean;
  /** Answers a request itself and says so, before the MCP server sees it. */
  readonly before?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

export async function startHere({ https = false, before }: HereOptions = {}): Promise<Here> {
  const handle = toNodeHandler(createMcpHandler(build));
  const seen: { method: string; path: string; headers: IncomingHttpHeaders }[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    seen.push({ method: request.method!, path: request.url!, headers: request.headers });
    if (!before?.(request, response)) void handle(request as never, response as never);
  };
  const read = (name: string) => readFileSync(join(tlsFixtures, name));
  const server = https
    ? createHttps({ key: read("server-key.pem"), cert: read("server.pem") }, answer)
    : createHttp(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const origin = `${https ? "https" : "http"}://127.0.0.1:${port}`;
  return { url: `${origin}/mcp`, origin, port, seen };
}

function build(): McpServer {
  const server = new McpServer({ name: "here", version: "1.0.0" });
  server.registerTool(
    "add",
    { description: "Adds two numbers", inputSchema: z.object({ a: z.number(), b: z.number() }) },
    ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }),
  );
  return server;
}
