/** Calls through a runtime: what comes back, over every kind of server. */
import { describe, expect, test } from "vitest";
import { type RefusedError, ServerError, ToolError } from "../../runtime/errors.ts";
import { Stub, tool } from "../cli/pimcp.ts";
import { compiled, declared, httpStub, REAL_SERVERS, rejection } from "./runtime-project.ts";

describe("real servers", () => {
  test.each(REAL_SERVERS)(
    "%s: a call, a tool's error, an argument that doesn't fit, all on one connection",
    async (_, entryOf) => {
      const project = await compiled({ calc: await entryOf() });
      const runtime = await project.runtime();
      const { structured, text, content, result } = await runtime.call("calc", "add", { a: 20, b: 22 });
      expect({ structured, text }).toEqual({ structured: { sum: 42 }, text: "42" });
      expect(content).toEqual([{ type: "text", text: "42" }]);
      expect(result).toMatchObject({ content, structuredContent: { sum: 42 } });

      const failed = await rejection<ToolError>(runtime.call("calc", "fail"));
      expect(failed).toBeInstanceOf(ToolError);
      expect(failed).not.toBeInstanceOf(ServerError);
      expect(failed).toMatchObject({ message: "it failed", server: "calc", tool: "fail" });
      expect(failed.result).toMatchObject({ isError: true, content: [{ type: "text", text: "it failed" }] });

      const refused = await rejection<RefusedError>(runtime.call("calc", "add", { a: "x" }));
      expect(refused).toMatchObject({ name: "RefusedError", reason: "invalid-arguments", server: "calc", tool: "add" });
      expect(await runtime.drift()).toEqual([{ server: "calc", tools: [] }]);
      expect(project.notices).toEqual([]);
    },
  );

  test.each(REAL_SERVERS)("%s: by folded name, and an error as a plain result", async (_, entryOf) => {
    const runtime = await (await compiled({ calc: await entryOf() })).runtime();
    expect(await runtime.call("calc", "mcp__calc__add", { a: 1, b: 2 })).toMatchObject({ text: "3" });
    const entry = runtime.table.byName("mcp__calc__fail")!;
    expect(await runtime.callEntry(entry, {})).toMatchObject({ text: "it failed", result: { isError: true } });
  });
});

/** A runtime over a stub whose every `tools/call` is answered with `result`. */
async function answering(result: unknown, tools: readonly object[] = [tool("t")]) {
  const project = await compiled({ s: new Stub({ tools, replies: { "tools/call": { result } } }).entry });
  return { project, runtime: await project.runtime() };
}

describe("results", () => {
  const block = (text: string) => [{ type: "text", text }];

  test.each<[string, object, unknown]>([
    ["an array", { content: [], structuredContent: [1, 2] }, [1, 2]],
    ["null", { content: block("x"), structuredContent: null }, null],
    ["a number", { content: [], structuredContent: 5 }, 5],
    ["zero", { content: block("x"), structuredContent: 0 }, 0],
    ["false", { content: [], structuredContent: false }, false],
    ["a string", { content: [], structuredContent: "" }, ""],
    ["an object with odd keys", { content: [], structuredContent: { constructor: 1 } }, { constructor: 1 }],
    ["an object in text", { content: block(' {"a":[1]}\n') }, { a: [1] }],
    ["an array in text", { content: block("[1,2]") }, [1, 2]],
    ["a number in text stays text", { content: block("5") }, undefined],
    ["prose in braces", { content: block("{not json}") }, undefined],
    ["two texts", { content: [...block("{}"), ...block("{}")] }, undefined],
    ["structured content goes before text", { content: block('{"a":1}'), structuredContent: { b: 2 } }, { b: 2 }],
  ])("structured: %s", async (_, result, wanted) => {
    const { runtime } = await answering(result);
    const outcome = await runtime.call("s", "t");
    expect(outcome.structured).toEqual(wanted);
    expect(outcome.result).toEqual(result);
  });

  test("what departs from outputSchema is delivered and said", async () => {
    const outputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const { project, runtime } = await answering({ content: [], structuredContent: { n: "five" } }, [
      { ...tool("t"), outputSchema },
    ]);
    expect((await runtime.call("s", "t")).structured).toEqual({ n: "five" });
    expect(project.notices).toMatchObject([{ code: "call-notice", server: "s", tool: "t" }]);
    expect(project.notices[0]!.message).toMatch(/mcp__s__t.*\bn\b.*number/s);
  });

  test("what is malformed is repaired and said", async () => {
    const { project, runtime } = await answering({ content: [{ type: "text" }, { type: "image", data: "AA==" }] });
    expect((await runtime.call("s", "t")).content).toMatchObject([{ type: "text" }, { type: "text" }]);
    expect(project.codes()).toEqual(["call-notice", "call-notice"]);
  });

  test("base64, lone surrogates and every JSON escape come as they were sent", async () => {
    const text = `${Buffer.from("\0\x01 binary").toString("base64")} \ud800 \udfff é \u2028 "\\ 𝄞`;
    const { runtime } = await answering({ content: block(text), structuredContent: { text } });
    const outcome = await runtime.call("s", "t");
    expect([outcome.text, outcome.structured]).toEqual([text, { text }]);
  });

  test.each([["stdio"], ["http"]])("60 MB arrive whole: %s", async (transport) => {
    const options = { tools: [declared("big", { type: "object" })] };
    const entry = transport === "stdio" ? new Stub(options).entry : (await httpStub(options)).entry;
    const runtime = await (await compiled({ s: entry })).runtime();
    const bytes = 60 * 1024 * 1024;
    const { text } = await runtime.call("s", "big", { bytes });
    expect(text.length).toBe(bytes);
    expect(text).toMatch(/^x{100}/);
    expect(text.endsWith("x")).toBe(true);
  });

  test.each([["stdio"], ["http"]])("an answer beyond the limit fails that call at once: %s", async (transport) => {
    const options = { tools: [declared("big", { type: "object" })] };
    const entry = transport === "stdio" ? new Stub(options).entry : (await httpStub(options)).entry;
    const runtime = await (await compiled({ s: entry })).runtime({ maxMessageBytes: 1024 * 1024 });
    expect((await runtime.call("s", "big", { bytes: 1000 })).text).toHaveLength(1000);
    // A timeout would name itself, and take longer than this test may.
    const calls = [3e6, 500].map((bytes) => runtime.call("s", "big", { bytes }, { timeoutMs: 600_000 }));
    const error = await rejection<ServerError>(calls[0]!);
    expect(error).toBeInstanceOf(ServerError);
    expect(error.message).toContain("longer than 1048576 bytes");
    expect((await calls[1]!).text).toHaveLength(500);
    expect((await runtime.call("s", "big", { bytes: 7 })).text).toHaveLength(7);
  });
});

describe("arguments", () => {
  const schema = {
    type: "object",
    properties: { list: { type: "array" }, at: { type: "object" }, text: { type: "string" }, n: { type: "integer" } },
    required: ["n"],
  };
  const withSchema = async () => {
    const stub = new Stub({ tools: [declared("t", schema)] });
    return { stub, runtime: await (await compiled({ s: stub.entry })).runtime() };
  };
  const sent = (stub: Stub) =>
    stub
      .log()
      .filter(({ method }) => method === "tools/call")
      .map(({ params }) => params);

  test("all that is wrong is said at once, with paths, and nothing is sent", async () => {
    const { stub, runtime } = await withSchema();
    const starts = stub.starts();
    const error = await rejection(runtime.call("s", "t", { list: 5, at: { x: 1 }, text: [] }));
    for (const part of [/\bn\b/, /\blist\b.*array/, /\btext\b.*string/]) expect(error.message).toMatch(part);
    expect(error.message.split("\n")).toHaveLength(3);
    expect(stub.starts()).toBe(starts);
  });

  test.each<[string, unknown, unknown]>([
    [
      "an array and an object sent as JSON text",
      { n: 1, list: "[1]", at: '{"x":"[2]"}' },
      { n: 1, list: [1], at: { x: "[2]" } },
    ],
    ["text that looks like JSON where a string is wanted", { n: 1, text: "[1]" }, { n: 1, text: "[1]" }],
    ["all arguments as JSON text", '{"n":1}', { n: 1 }],
    ["keys that name prototypes", JSON.parse('{"n":1,"__proto__":{"x":1}}'), JSON.parse('{"n":1,"__proto__":{"x":1}}')],
  ])("%s", async (_, args, wanted) => {
    const { stub, runtime } = await withSchema();
    await runtime.call("s", "t", args);
    expect(JSON.stringify(sent(stub))).toBe(JSON.stringify([{ name: "t", arguments: wanted }]));
  });

  test.each([[5], ["text"], [[1]]])("%j is no set of arguments", async (args) => {
    const { runtime } = await withSchema();
    expect(await rejection(runtime.call("s", "t", args))).toMatchObject({ reason: "invalid-arguments" });
  });
});
