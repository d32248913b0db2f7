import { afterEach, describe, expect, test } from "vitest";
import type { Connection } from "../../runtime/connect/connection.ts";
import { type OpenOptions, openConnection } from "../../runtime/connect/open.ts";
import type { ServerConfig } from "../../schemas/config/server-config.ts";
import { eventually, serverConfig, serversDir, startHttp, stub, surroundings } from "../servers/run.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function connect(config: ServerConfig, options: Partial<OpenOptions> = {}): Promise<Connection> {
  const outcome = await openConnection(config, { ...surroundings, ...options });
  if (!outcome.ok) throw new Error(`${outcome.diagnostic.message} ${outcome.diagnostic.notes.join("; ")}`);
  closing.push(() => outcome.connection.close());
  return outcome.connection;
}

async function toolNames(connection: Connection): Promise<string[]> {
  const outcome = await connection.request("tools/list");
  if (!outcome.ok) throw new Error(outcome.failure.message);
  return (outcome.result["tools"] as { name: string }[]).map(({ name }) => name);
}

const overStdio = (script: string) => async () =>
  serverConfig({ kind: "stdio", command: process.execPath, args: [`${serversDir}${script}`], env: {} });

async function overHttp(): Promise<ServerConfig> {
  const server = await startHttp("legacy.mjs", { HTTP: "streamable" });
  closing.push(() => server.stop());
  return server.config;
}

describe("a tool list that changes", () => {
  test.each([
    ["legacy over stdio", overStdio("legacy.mjs")],
    ["modern over stdio", overStdio("modern.mjs")],
    ["legacy over HTTP", overHttp],
  ])("is noticed: %s", async (_, configOf) => {
    const connection = await connect(await configOf(), { listen: true });
    let notices = 0;
    const stop = connection.onToolsListChanged(() => notices++);
    expect(await toolNames(connection)).not.toContain("grown");
    // The subscription of a modern server, or the notice stream over HTTP, is being opened meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 300));
    await connection.request("tools/call", { name: "grow", arguments: {} });
    await eventually(() => notices > 0, "the change is noticed");
    expect(await toolNames(connection)).toContain("grown");
    stop();
    const before = notices;
    await connection.request("tools/call", { name: "add", arguments: { a: 1, b: 1 } });
    expect(notices).toBe(before);
  });

  test("notices that come before anyone asked are heard, and a flood of them hurts nobody", async () => {
    const connection = await connect(stub({ earlyNotification: true, listChangedBurst: 5000 }).config);
    let notices = 0;
    connection.onToolsListChanged(() => notices++);
    expect(await toolNames(connection)).toEqual(["echo"]);
    // One call for all of them.
    await eventually(() => notices > 0, "the burst is heard");
    expect(notices).toBeLessThan(5);
  });
});

describe("what a server asks of its client", () => {
  test("a legacy server's requests reach the handlers that were configured", async () => {
    const config = serverConfig({
      kind: "stdio",
      command: process.execPath,
      args: [`${serversDir}asking.mjs`],
      env: {},
    });
    const connection = await connect(config, {
      capabilities: { roots: {} },
      configure: (client) => client.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///here" }] })),
    });
    const outcome = await connection.request("tools/call", { name: "roots", arguments: {} });
    expect(outcome).toMatchObject({ ok: true, result: { content: [{ text: '[{"uri":"file:///here"}]' }] } });
  });

  test("without a handler the server gets an error and goes on", async () => {
    const config = serverConfig({
      kind: "stdio",
      command: process.execPath,
      args: [`${serversDir}asking.mjs`],
      env: {},
    });
    const connection = await connect(config);
    const outcome = await connection.request("tools/call", { name: "roots", arguments: {} });
    expect(outcome).toMatchObject({ ok: true, result: { isError: true } });
  });

  test("a modern server's questions are answered and the call is completed", async () => {
    const config = serverConfig({
      kind: "stdio",
      command: process.execPath,
      args: [`${serversDir}asking.mjs`],
      env: { ERA: "modern" },
    });
    const connection = await connect(config, {
      capabilities: { elicitation: { form: {} } },
      configure: (client) =>
        client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Ada" } })),
    });
    const outcome = await connection.request("tools/call", { name: "greet", arguments: {} });
    expect(outcome).toMatchObject({ ok: true, result: { content: [{ text: "hello Ada" }] } });
  });
});
