/**
 * An MCP server over HTTP, in the test's process, that repeats what it was sent wherever a server can put text: its address
 * and all headers stand in its list, in what it says of itself, in errors of every kind, in redirects and log messages.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface EchoingServer {
  readonly port: number;
  /** Everything it was sent in headers and addresses, one text a request. */
  readonly heard: readonly string[];
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly name?: string };
}

/** `quiet` repeats nothing and `loud` all in its result; the others fail: `rpc`, `status`, `page`, `away`. */
const TOOLS = ["quiet", "loud", "rpc", "status", "page", "away"];

export async function startEchoing(): Promise<EchoingServer> {
  const heard: string[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const echo = JSON.stringify([request.url, request.headers]).replaceAll('\\"', "'");
    heard.push(echo);
    answer(request, response, body, echo);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, heard };
}

function answer(request: IncomingMessage, response: ServerResponse, body: string, echo: string): void {
  if (request.method !== "POST") {
    response.writeHead(405).end(echo);
    return;
  }
  const { id, method, params } = JSON.parse(body) as Message;
  if (id === undefined) response.writeHead(202).end();
  else if (params?.name === "status") response.writeHead(500, echo).end(`broken by ${echo}`);
  else if (params?.name === "page")
    response.writeHead(200, { "content-type": "text/html" }).end(`<html>${echo}</html>`);
  else if (params?.name === "away") {
    response.writeHead(307, { location: `https://elsewhere.test/?${encodeURIComponent(echo)}` }).end(echo);
  } else stream(response, id, replyTo(method, params?.name, echo), echo);
}

/** The answer as an event stream, after a log message. */
function stream(response: ServerResponse, id: number, reply: object, echo: string): void {
  const log = { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: echo } };
  response.writeHead(200, { "content-type": "text/event-stream", "x-echo": encodeURIComponent(echo) });
  for (const event of [log, { jsonrpc: "2.0", id, ...reply }]) {
    response.write(`event: message\ndata: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
}

function replyTo(method: string | undefined, tool: string | undefined, echo: string): object {
  if (method === "initialize") return { result: initialized(echo) };
  if (method === "tools/list") return { result: { tools: TOOLS.map((name) => declared(name, echo)) } };
  if (method !== "tools/call") return { error: { code: -32601, message: `no ${method} for ${echo}`, data: { echo } } };
  if (tool === "rpc") {
    return { error: { code: -32050, message: `refused: ${echo}`, data: { deep: [{ echo }], [echo]: echo } } };
  }
  return { result: { content: [{ type: "text", text: tool === "loud" ? echo : "nothing to repeat" }] } };
}

function initialized(echo: string): object {
  return {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, logging: {} },
    serverInfo: { name: `echo ${echo}`, version: echo, title: echo },
    instructions: `You sent ${echo}`,
  };
}

function declared(name: string, echo: string): object {
  return {
    name,
    title: echo,
    description: `${name}, for ${echo}`,
    inputSchema: { type: "object", properties: { text: { type: "string", default: echo, description: echo } } },
    _meta: { [echo]: echo },
  };
}
