/** A server of 2025 over HTTP that asks on its own stream, and not on that of the call. */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ElicitResultSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, onTestFinished, test } from "vitest";
import { compiled } from "./runtime-project.ts";

const requestedSchema = { type: "object" as const, properties: { name: { type: "string" as const } } };

function build(): Server {
  const server = new Server({ name: "asking", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [{ name: "greet", inputSchema: { type: "object" as const } }],
  }));
  server.setRequestHandler(CallToolRequestSchema, async () => {
    const params = { message: "Who is there?", requestedSchema };
    // Without the call it belongs to, so it goes to the stream that the client opened with GET.
    const asked = server.request({ method: "elicitation/create", params }, ElicitResultSchema, { timeout: 5000 });
    const { content } = await asked;
    return { content: [{ type: "text", text: `hello ${content?.["name"]}` }] };
  });
  return server;
}

/** Its URL, and how often a stream of its own was asked for. */
async function start() {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  let streams = 0;
  const http = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    if (request.method === "GET") streams++;
    let transport = sessions.get(String(request.headers["mcp-session-id"]));
    if (transport === undefined) {
      const made = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void sessions.set(id, made),
      });
      await build().connect(made as Parameters<Server["connect"]>[0]);
      transport = made;
    }
    await transport.handleRequest(request, response, text === "" ? undefined : JSON.parse(text));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, streams: () => streams };
}

test("what it asks in the first call is answered", async () => {
  const { url } = await start();
  const project = await compiled({ s: { url, protocolVersion: "legacy" } });
  const runtime = await project.runtime({
    handlers: { elicitation: async () => ({ action: "accept", content: { name: "Ada" } }) },
  });
  expect((await runtime.call("s", "greet")).text).toBe("hello Ada");
});

test("without handlers no stream is opened: nobody would answer, and it would keep a program from ending", async () => {
  const { url, streams } = await start();
  const project = await compiled({ s: { url, protocolVersion: "legacy" } });
  await (await project.runtime()).compareWithServer("s");
  expect(streams()).toBe(0);
});
