/** Resources, prompts, completion, and what servers ask back, through a runtime. */
import { describe, expect, test } from "vitest";
import { ServerError, ToolError } from "../../runtime/errors.ts";
import { Stub, tool } from "../cli/pimcp.ts";
import { compiled, overHttp, rejection, script } from "./runtime-project.ts";

const CAPABILITIES = { tools: {}, resources: {}, prompts: {}, completions: {} };
const contents = (replies: object, more: object = {}) =>
  new Stub({ tools: [tool("t")], capabilities: CAPABILITIES, resources: true, prompts: true, replies, ...more });

describe("resources and prompts", () => {
  test.each([
    ["stdio", async () => script("legacy.mjs")],
    ["HTTP", () => overHttp("legacy.mjs", { HTTP: "streamable" })],
  ])("a real server's: %s", async (_, entryOf) => {
    const resources = await (await (await compiled({ s: await entryOf() })).runtime()).resources();
    expect(await resources.list("s")).toMatchObject([{ uri: "stub://greeting", mimeType: "text/plain" }]);
    expect(await resources.read("s", "stub://greeting")).toEqual([{ uri: "stub://greeting", text: "hello" }]);
    const error = await rejection(resources.read("s", "stub://nothing"));
    expect(error).toBeInstanceOf(ServerError);
    expect(error.message).toMatch(/resources\/read failed.*stub:\/\/nothing/);
  });

  test.each([["legacy"], ["modern"]])("every page of every list: %s", async (era) => {
    const complete = era === "modern" ? { resultType: "complete" } : {};
    const entry = (name: string) => ({ name, uri: `u:${name}`, uriTemplate: `u:${name}{x}` });
    const pages = (member: string) => [
      { result: { ...complete, [member]: [entry("a")], nextCursor: "x" } },
      { result: { ...complete, [member]: [], nextCursor: "y" } },
      { result: { ...complete, [member]: [entry("b")] } },
    ];
    const stub = contents({}, { era });
    const project = await compiled({ s: stub.entry });
    stub.set({
      era,
      capabilities: CAPABILITIES,
      replies: {
        "resources/list": pages("resources"),
        "resources/templates/list": pages("resourceTemplates"),
        "prompts/list": pages("prompts"),
      },
    });
    const resources = await (await project.runtime()).resources();
    const wanted = [entry("a"), entry("b")];
    expect(await resources.list("s")).toEqual(wanted);
    expect(await resources.templates("s")).toEqual(wanted);
    expect(await resources.prompts("s")).toEqual(wanted);
    const cursors = stub.log().flatMap(({ method, params }) => (method === "prompts/list" ? [params?.["cursor"]] : []));
    expect(cursors.slice(-3)).toEqual([undefined, "x", "y"]);
  });

  test("a cursor that leads in a circle ends the list", async () => {
    const stub = contents({});
    const project = await compiled({ s: stub.entry });
    const page = { result: { resources: [{ uri: "u", name: "n" }], nextCursor: "same" } };
    stub.set({ capabilities: CAPABILITIES, replies: { "resources/list": page } });
    expect(await (await (await project.runtime()).resources()).list("s")).toHaveLength(2);
  });

  test("binary contents, prompts with arguments, completion with context", async () => {
    const blob = Buffer.from([0, 255, 10]).toString("base64");
    const stub = contents({
      "resources/read": { result: { contents: [{ uri: "u", blob, mimeType: "image/png" }] } },
      "prompts/get": { result: { messages: [{ role: "user", content: { type: "text", text: "Hi" } }] } },
      "completion/complete": { result: { completion: { values: ["paris"], total: 1, hasMore: false } } },
    });
    const resources = await (await (await compiled({ s: stub.entry })).runtime()).resources();
    expect(await resources.read("s", "u")).toEqual([{ uri: "u", blob, mimeType: "image/png" }]);
    expect((await resources.prompt("s", "greet", { name: "Ada" })).messages[0]!.content).toEqual({
      type: "text",
      text: "Hi",
    });
    const subject = { type: "ref/prompt", name: "greet" } as const;
    const completion = await resources.complete("s", subject, { name: "city", value: "pa" }, { country: "FR" });
    expect(completion.values).toEqual(["paris"]);
    const sent = (method: string) => stub.log().find((entry) => entry.method === method)!.params;
    expect(sent("prompts/get")).toEqual({ name: "greet", arguments: { name: "Ada" } });
    expect(sent("completion/complete")).toEqual({
      ref: subject,
      argument: { name: "city", value: "pa" },
      context: { arguments: { country: "FR" } },
    });
  });

  test("an answer that is no list is an error, not a crash", async () => {
    const stub = contents({});
    const project = await compiled({ s: stub.entry });
    stub.set({ capabilities: CAPABILITIES, replies: { "resources/list": { result: { resources: {} } } } });
    const error = await rejection((await (await project.runtime()).resources()).list("s"));
    expect(error).toMatchObject({ name: "ServerError", server: "s" });
  });
});

describe("what a server asks back", () => {
  const accept = async () => ({ action: "accept", content: { name: "Ada" } });

  test.each([
    ["2025: a request of its own", {}],
    ["2026: input_required", { ERA: "modern" }],
  ])("an elicitation reaches its handler and completes the call: %s", async (_, env) => {
    const asked: unknown[] = [];
    const elicitation = async (params: Readonly<Record<string, unknown>>) => {
      asked.push(params);
      return accept();
    };
    const runtime = await (await compiled({ s: script("asking.mjs", env) })).runtime({ handlers: { elicitation } });
    expect((await runtime.call("s", "greet")).text).toBe("hello Ada");
    expect(asked).toMatchObject([{ message: "Who is there?", requestedSchema: { required: ["name"] } }]);
  });

  test("2025, without a handler: the tool's own error", async () => {
    const runtime = await (await compiled({ s: script("asking.mjs") })).runtime();
    const error = await rejection(runtime.call("s", "greet"));
    expect(error).toBeInstanceOf(ToolError);
    expect(error.message).toMatch(/elicit/i);
  });

  test("2026, without a handler: an error that says what was asked for", async () => {
    const runtime = await (await compiled({ s: script("asking.mjs", { ERA: "modern" }) })).runtime();
    const error = await rejection(runtime.call("s", "greet", {}, { timeoutMs: 600_000 }));
    expect(error).toBeInstanceOf(ServerError);
    expect(error.message).toMatch(/elicitation/);
  });

  test("roots come from their handler", async () => {
    const roots = async () => [{ uri: "file:///work", name: "work" }];
    const runtime = await (await compiled({ s: script("asking.mjs") })).runtime({ handlers: { roots } });
    expect(JSON.parse((await runtime.call("s", "roots")).text)).toEqual([{ uri: "file:///work", name: "work" }]);
  });

  test("a handler that throws fails the question, not the program", async () => {
    const elicitation = async () => {
      throw new Error("the user went away");
    };
    for (const env of [{}, { ERA: "modern" }]) {
      const runtime = await (await compiled({ s: script("asking.mjs", env) })).runtime({ handlers: { elicitation } });
      expect((await rejection(runtime.call("s", "greet"))).message).toContain("the user went away");
    }
  });
});
