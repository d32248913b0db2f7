/** Prompts of MCP servers as commands of a real Pi. */
import { expect, test } from "vitest";
import { Stub, tool } from "../cli/pimcp.ts";
import { EVERYTHING, eventually } from "../servers/run.ts";
import { compiledWorkspace, runPi, type SeenRequest } from "./pi.ts";
import { RpcPi } from "./rpc.ts";

const CAPABILITIES = { tools: {}, prompts: {} };
const DONE = { text: "done" };
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** The last message of the user in a request. */
function lastOfUser(request: SeenRequest | undefined): { readonly type: string; readonly text?: string }[] {
  const { content } = request!.context.messages.filter(({ role }) => role === "user").at(-1)!;
  return typeof content === "string" ? [{ type: "text", text: content }] : (content as { type: string }[]);
}

interface PiCommand {
  readonly name: string;
  readonly description?: string;
}

async function commandsOf(pi: RpcPi): Promise<readonly PiCommand[]> {
  const { data } = await pi.ask({ type: "get_commands" });
  return (data as { readonly commands: PiCommand[] }).commands;
}

const run = (pi: RpcPi, message: string) => pi.ask({ type: "prompt", message });

const textOf = (request: SeenRequest | undefined) =>
  lastOfUser(request)
    .map(({ text }) => text ?? "")
    .join("\n");

test("a real server's prompts are commands, and what they are filled in with reaches the model", async () => {
  const pi = new RpcPi(await compiledWorkspace({ all: EVERYTHING }), { answers: [DONE, DONE, DONE] });
  const commands = (await commandsOf(pi)).filter(({ name }) => name.startsWith("mcp__"));
  expect(commands.map(({ name, description }) => [name, description])).toEqual([
    ["mcp__all__args_prompt", "<city> [state] — A prompt with two arguments, one required and one optional"],
    ["mcp__all__completable_prompt", "<department> <name> — First argument choice narrows values for second argument."],
    [
      "mcp__all__resource_prompt",
      "<resourceType> <resourceId> — A prompt that includes an embedded resource reference",
    ],
    ["mcp__all__simple_prompt", "A prompt with no arguments"],
  ]);
  const { requests } = pi.running;
  const filled = async (message: string, nth: number) => {
    await run(pi, message);
    await eventually(() => requests().length === nth, `request ${nth}`, 20_000);
    return textOf(requests()[nth - 1]);
  };
  expect(await filled("/mcp__all__simple_prompt", 1)).toBe("This is a simple prompt without arguments.");
  expect(await filled('/mcp__all__args_prompt "New York" state=NY', 2)).toBe("What's weather in New York, NY?");
  const resource = await filled("/mcp__all__resource_prompt Text 3", 3);
  expect(resource).toContain("includes the Text resource with id: 3");
  expect(resource).toContain("[Resource demo://resource/dynamic/text/3]\nResource 3: This is a plaintext resource");
  expect(pi.notices().filter((text) => text.startsWith("/"))).toEqual([]);
  await pi.end();
});

test("what goes wrong is told, and the model isn't asked", async () => {
  const stub = new Stub({
    capabilities: CAPABILITIES,
    prompts: [{ name: "greet", arguments: [{ name: "who", required: true }] }, { name: "plain" }],
    replies: { "prompts/get": { error: { code: -32602, message: "nobody of that name" } } },
  });
  const workspace = await compiledWorkspace({ s: stub.entry, mute: { ...stub.entry, exposure: "hidden" } });
  const starts = stub.starts();
  const pi = new RpcPi(workspace, { answers: [DONE] });
  const names = (await commandsOf(pi)).map(({ name }) => name);
  expect(names).toContain("mcp__s__greet");
  expect(names.filter((name) => name.startsWith("mcp__mute"))).toEqual([]);
  await run(pi, "/mcp__s__greet");
  await run(pi, "/mcp__s__plain a b");
  expect(pi.notices()).toEqual([
    "/mcp__s__greet: who must be given\n  Usage: /mcp__s__greet <who>",
    "/mcp__s__plain: it takes no arguments\n  Usage: /mcp__s__plain",
  ]);
  // Neither was worth starting the server for.
  expect(stub.starts()).toBe(starts);
  await run(pi, "/mcp__s__greet Ada");
  expect(pi.notices().at(-1)).toMatch(/^\/mcp__s__greet: .*prompts\/get.*nobody of that name/);
  stub.set({ exitAtStart: 3 });
  workspace.servers({ s: { ...stub.entry, command: "no-such-program" } });
  await pi.end();
  const again = new RpcPi(workspace, { answers: [DONE] });
  await run(again, "/mcp__s__greet Ada");
  expect(again.notices().at(-1)).toMatch(/^\/mcp__s__greet: .*no-such-program/);
  expect([...pi.running.requests(), ...again.running.requests()]).toEqual([]);
  await again.end();
});

test("a dialogue says whose the words are, images are images, and resources are cut", async () => {
  const messages = [
    { role: "user", content: { type: "text", text: "Look" } },
    { role: "user", content: { type: "image", data: PIXEL, mimeType: "image/png" } },
    { role: "assistant", content: { type: "text", text: "I see" } },
    { role: "user", content: { type: "image", data: 5 } },
    { role: "user", content: { type: "resource", resource: { uri: "u:big", text: "x".repeat(50_000) } } },
  ];
  const stub = new Stub({
    capabilities: CAPABILITIES,
    prompts: [{ name: "odd" }, { name: "none" }],
    replies: {
      "prompts/get": [{ result: { messages } }, { result: { messages: [] } }, { result: { messages: "no" } }],
    },
  });
  const pi = new RpcPi(await compiledWorkspace({ s: stub.entry }), { answers: [DONE] });
  await run(pi, "/mcp__s__odd");
  await eventually(() => pi.running.requests().length === 1, "the request", 20_000);
  const [request] = pi.running.requests();
  expect(lastOfUser(request).map(({ type }) => type)).toEqual(["text", "image"]);
  const text = textOf(request);
  expect(text).toContain("[user]\nLook\n\n[assistant]\nI see\n\n[user]\n[content block");
  expect(text).toContain("chars truncated");
  expect(text.length).toBeLessThan(25_000);
  await run(pi, "/mcp__s__none");
  await run(pi, "/mcp__s__none");
  expect(pi.notices()).toEqual([
    "/mcp__s__none: the server gave an empty prompt",
    expect.stringMatching(/^\/mcp__s__none: server "s" answered prompts\/get with something else/),
  ]);
  await pi.end();
});

test("without a UI Pi answers before it exits", async () => {
  const workspace = await compiledWorkspace({ all: EVERYTHING });
  const prompts = ["/mcp__all__args_prompt Oslo", "/mcp__all__args_prompt"];
  const pi = await runPi(workspace, { mode: "print", args: ["--approve"], prompts, answers: [{ text: "Sunny" }] });
  expect(pi.requests.map(textOf)).toEqual(["What's weather in Oslo?"]);
  expect(pi.stdout).toContain("Sunny");
  expect(pi.stderr).toContain("pimcp: /mcp__all__args_prompt: city must be given");
});

test("prompts of an untrusted project are no commands", async () => {
  const stub = new Stub({ tools: [tool("t")], capabilities: CAPABILITIES, prompts: [{ name: "p" }] });
  const pi = new RpcPi(await compiledWorkspace({ s: stub.entry }), { answers: [], args: ["--no-approve"] });
  expect((await commandsOf(pi)).filter(({ name }) => name.startsWith("mcp__"))).toEqual([]);
  await pi.end();
});

test("a text that looks like a command is text", async () => {
  const stub = new Stub({
    capabilities: CAPABILITIES,
    prompts: [{ name: "sly" }],
    replies: { "prompts/get": { result: { messages: [{ role: "user", content: { type: "text", text: "/mcp" } }] } } },
  });
  const pi = new RpcPi(await compiledWorkspace({ s: stub.entry }), { answers: [DONE] });
  await run(pi, "/mcp__s__sly");
  await eventually(() => pi.running.requests().length === 1, "the request", 20_000);
  expect(textOf(pi.running.requests()[0])).toBe("/mcp");
  await pi.end();
});
