import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { interpretResult } from "../../runtime/calls/results.ts";

const text = (...texts: string[]) => texts.map((value) => ({ type: "text", text: value }));
const image = { type: "image", data: "AAAA", mimeType: "image/png" };

describe("structured content", () => {
  const rows: [what: string, raw: unknown, want: unknown][] = [
    ["an array", { content: [], structuredContent: [1, 2] }, [1, 2]],
    ["null", { content: [], structuredContent: null }, null],
    ["false", { content: [], structuredContent: false }, false],
    ["an object beats its text", { content: text('{"a":2}'), structuredContent: { a: 1 } }, { a: 1 }],
    ["the only text, an object", { content: text(' {"a":[1]}\n') }, { a: [1] }],
    ["the only text, an array", { content: text("[1]") }, [1]],
    ["the only text beside an image", { content: [...text("[1]"), image] }, [1]],
    ["null beats text", { content: text("[1]"), structuredContent: null }, null],
    ["two texts are prose", { content: text("[1]", "[2]") }, undefined],
    ["a number is prose", { content: text("3") }, undefined],
    ["a JSON string is prose", { content: text('"a"') }, undefined],
    ["prose in braces", { content: text("{see below}") }, undefined],
    ["an error's text is no value", { content: text("[1]"), isError: true }, undefined],
    ["nothing", { content: [] }, undefined],
  ];
  test.each(rows)("%s", async (_what, raw, want) => {
    const interpreted = await interpretResult(raw);
    expect(interpreted.structured).toEqual(want);
    expect(interpreted.notices).toEqual([]);
    expect(interpreted.mismatch).toBeUndefined();
    expect(interpreted.result).toBe(raw);
  });

  test("text is its blocks, a line each", async () => {
    expect((await interpretResult({ content: [...text("a"), image, ...text("b")] })).text).toBe("a\nb");
  });

  test("text beyond 16 Mi characters isn't parsed", async () => {
    const long = `[${"1,".repeat(9 * 1024 * 1024)}1]`;
    expect((await interpretResult({ content: text(long) })).structured).toBeUndefined();
  });
});

describe("a tool with an outputSchema", () => {
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  test("a fitting result has no mismatch", async () => {
    const interpreted = await interpretResult({ content: [], structuredContent: { n: 1 } }, schema);
    expect(interpreted).toEqual({
      result: { content: [], structuredContent: { n: 1 } },
      structured: { n: 1 },
      text: "",
      notices: [],
    });
  });

  test("a mismatch is said, and the result delivered", async () => {
    const raw = { content: text("x"), structuredContent: { n: "one" } };
    const interpreted = await interpretResult(raw, schema);
    expect(interpreted.mismatch).toBe(
      'structuredContent does not match the tool\'s outputSchema: structuredContent.n: expected integer, got "one"',
    );
    expect(interpreted.structured).toEqual({ n: "one" });
    expect(interpreted.result).toBe(raw);
  });

  test.each([
    ['{"n":1}', { n: 1 }],
    ['{"m":1}', undefined],
    ["done", undefined],
  ])("without structured content, the text %s gives %j and a mismatch", async (value, want) => {
    const interpreted = await interpretResult({ content: text(value) }, schema);
    expect(interpreted.structured).toEqual(want);
    expect(interpreted.mismatch).toMatch(/has no structuredContent/);
  });

  test("an error owes no structured content", async () => {
    const interpreted = await interpretResult({ content: text("no"), isError: true }, schema);
    expect(interpreted.mismatch).toBeUndefined();
  });

  test("a schema that can't be compiled is a notice", async () => {
    const interpreted = await interpretResult({ content: [], structuredContent: [1] }, { $ref: "https://x.test/a" });
    expect(interpreted.structured).toEqual([1]);
    expect(interpreted.notices).toEqual([expect.stringMatching(/^structuredContent was not checked: .*x\.test/)]);
  });
});

describe("malformed results are repaired", () => {
  const rows: [raw: unknown, content: unknown, notice: string][] = [
    [null, [], "the result is null, not an object"],
    [undefined, [], "the result is undefined, not an object"],
    ["done", text("done"), "the result is string, not an object"],
    [[1], text("[1]"), "the result is an array, not an object"],
    [{}, [], "the result has no content array"],
    [{ toolResult: 3 }, [], "the result has no content array"],
    [{ content: null }, [], "the result's content is null, not an array"],
    [{ content: "done" }, text("done"), "the result's content is string, not an array"],
    [{ content: text("a")[0] }, text("a"), "the result's content is object, not an array"],
    [{ content: ["a"] }, text("a"), "content block 0 is string, not an object"],
    [
      { content: [null] },
      text("[content block that is null, not an object]"),
      "content block 0 is null, not an object",
    ],
    [{ content: [{ text: "a" }] }, text("a"), 'content block 0 has no string "type"'],
    [{ content: [{ type: "text", text: { a: 1 } }] }, text('{"a":1}'), 'content block 0 has no string "text"'],
    [
      { content: [{ type: "image", mimeType: "image/png" }] },
      text('[content block that has no string "data"]'),
      'content block 0 has no string "data"',
    ],
    [
      { content: [{ type: "resource" }] },
      text("[content block that has no resource object]"),
      "content block 0 has no resource object",
    ],
  ];
  test.each(rows)("%j", async (raw, content, notice) => {
    const interpreted = await interpretResult(raw);
    expect(interpreted.result.content).toEqual(content);
    expect(interpreted.notices).toEqual([notice]);
  });

  test.each([
    ["true", true],
    [1, true],
    ["no", false],
    [null, false],
  ])("isError %j is read as %s", async (isError, want) => {
    const interpreted = await interpretResult({ content: [], isError });
    expect(interpreted.result.isError).toBe(want);
    expect(interpreted.notices).toHaveLength(1);
  });

  test("the rest of a repaired result stays", async () => {
    const raw = { content: [7, ...text("a")], structuredContent: { a: 1 }, _meta: { x: 1 } };
    const { result, structured } = await interpretResult(raw);
    expect(result).toMatchObject({ structuredContent: { a: 1 }, _meta: { x: 1 } });
    expect(result.content[1]).toBe(raw.content[1]);
    expect(structured).toEqual({ a: 1 });
  });

  test("blocks of a kind yet to be invented are kept without a word", async () => {
    const raw = { content: [{ type: "hologram", rays: 3 }] };
    const { result, notices } = await interpretResult(raw);
    expect(result).toBe(raw);
    expect(notices).toEqual([]);
  });

  test("whatever JSON a server sends, a valid result comes out", async () => {
    const block = fc.record(
      {
        type: fc.oneof(fc.constantFrom("text", "image", "audio", "resource", "resource_link"), fc.jsonValue()),
        text: fc.jsonValue(),
        data: fc.jsonValue(),
        resource: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    const result = fc.record(
      { content: fc.oneof(fc.jsonValue(), fc.array(fc.oneof(block, fc.jsonValue()))), isError: fc.jsonValue() },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof(result, fc.jsonValue()), async (raw) => {
        const { result, text, notices } = await interpretResult(raw);
        expect(Array.isArray(result.content)).toBe(true);
        for (const { type } of result.content) expect(typeof type).toBe("string");
        expect(["boolean", "undefined"]).toContain(typeof result.isError);
        expect(typeof text).toBe("string");
        // Repaired once, it needs no further repair.
        const again = await interpretResult(result);
        expect(again.notices).toEqual([]);
        expect(notices.length === 0).toBe(result === raw);
      }),
    );
  });
});
