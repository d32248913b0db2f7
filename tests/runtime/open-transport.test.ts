import { InMemoryTransport } from "@modelcontextprotocol/client";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createRuntime, openTransport } from "../../runtime/index.ts";
import { buildArtifacts, writeTo } from "../artifacts-builder.ts";
import { scratchFolder } from "../scratch.ts";

/** A server in this process, and the transport that leads to it. */
async function inMemory(): Promise<InMemoryTransport> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const server = new McpServer({ name: "here", version: "1.0.0" });
  server.registerTool("double", { inputSchema: { n: z.number() } }, ({ n }) => ({
    content: [{ type: "text", text: String(2 * n) }],
  }));
  await server.connect(far as never);
  return near;
}

test("a runtime calls a server over a transport of the caller's", async () => {
  const folder = scratchFolder();
  writeTo(folder, buildArtifacts({ servers: [{ name: "here", tools: ["double"] }] }));
  const transport = await inMemory();
  const opened: string[] = [];
  const runtime = await createRuntime({
    projectOut: folder,
    userOut: false,
    cwd: folder,
    open: (server) => {
      opened.push(server);
      return openTransport(server, transport);
    },
    onNotice: () => {},
  });
  onTestFinished(() => runtime.close());
  expect((await runtime.call("here", "double", { n: 21 })).text).toBe("42");
  expect((await runtime.call("here", "double", { n: 4 })).text).toBe("8");
  expect(opened).toEqual(["here"]);
});

test("a transport that can't be started, and one nobody answers on, are findings", async () => {
  const broken = { start: () => Promise.reject(new Error("no socket")), send: async () => {}, close: async () => {} };
  expect(await openTransport("here", broken)).toMatchObject({ ok: false, diagnostic: { code: "server-unreachable" } });
  const [silent] = InMemoryTransport.createLinkedPair();
  expect(await openTransport("here", silent, { timeoutMs: 50 })).toMatchObject({
    ok: false,
    diagnostic: { code: "server-timeout" },
  });
});
