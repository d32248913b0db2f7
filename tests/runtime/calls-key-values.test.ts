import { describe, expect, test } from "vitest";
import { parseKeyValues } from "../../runtime/calls/key-values.ts";

const schema = {
  type: "object",
  properties: {
    name: { type: "string" },
    days: { type: "integer" },
    ratio: { type: "number" },
    dry: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    counts: { type: "array", items: { type: "integer" } },
    mixed: { type: ["string", "integer"] },
    maybe: { type: ["integer", "null"] },
    level: { enum: [1, 2] },
    where: { $ref: "#/$defs/Place" },
    "a.b": { type: "integer" },
    any: {},
    listOrText: { anyOf: [{ type: "array", items: { type: "integer" } }, { type: "string" }] },
  },
  $defs: {
    Place: {
      type: "object",
      properties: { city: { type: "string" }, at: { type: "object", properties: { lat: { type: "number" } } } },
    },
  },
};

describe("types come from the schema", () => {
  const rows: [words: string[], want: unknown][] = [
    [[], {}],
    [["name=3"], { name: "3" }],
    [["name="], { name: "" }],
    [["name=a=b"], { name: "a=b" }],
    [["name=@file"], { name: "@file" }],
    [["days=3", "ratio=2.5e1", "dry=true"], { days: 3, ratio: 25, dry: true }],
    [["ratio=-0.5"], { ratio: -0.5 }],
    [["tags=a"], { tags: ["a"] }],
    [["tags=a", "tags=1"], { tags: ["a", "1"] }],
    [["counts=1", "counts=2"], { counts: [1, 2] }],
    [['tags=["a","b"]'], { tags: ["a", "b"] }],
    [['tags:=["a"]'], { tags: ["a"] }],
    [["name:=3"], { name: 3 }],
    [["mixed=3"], { mixed: "3" }],
    [["mixed:=3"], { mixed: 3 }],
    [["maybe=null"], { maybe: null }],
    [["maybe=4"], { maybe: 4 }],
    [["level=2"], { level: 2 }],
    [['where={"city":"Oslo"}'], { where: { city: "Oslo" } }],
    [["where.city=Oslo", "where.at.lat=59.9"], { where: { city: "Oslo", at: { lat: 59.9 } } }],
    [["a.b=1"], { "a.b": 1 }],
    [["any=3"], { any: "3" }],
    [["listOrText=3"], { listOrText: "3" }],
  ];
  test.each(rows)("%j", (words, want) => {
    expect(parseKeyValues(words, schema)).toEqual({ ok: true, args: want });
  });
});

describe("mistakes", () => {
  const rows: [words: string[], want: string][] = [
    [["days"], '"days" is not key=value'],
    [["=3"], '"=3" is not key=value'],
    [["dayz=3"], "unknown argument dayz; did you mean days?"],
    [["where.citi=Oslo"], "unknown argument where.citi; did you mean city?"],
    [["days=three"], 'days: expected integer, got "three"'],
    [["days=1.5"], "days: expected integer, got 1.5"],
    [["days=0x10"], 'days: expected integer, got "0x10"'],
    [["days=12345678901234567890"], "days: 12345678901234567890 is too large to be sent exactly"],
    [["dry=yes"], 'dry: expected boolean, got "yes"'],
    [["days=1", "days=2"], "days is given twice, and is not an array"],
    [["name.x=1"], "name.x: name is string, not an object"],
    [["counts=a"], 'counts: expected integer, got "a"'],
    [["where=Oslo"], 'where: expected Place, got "Oslo"'],
  ];
  test.each(rows)("%j", (words, want) => {
    expect(parseKeyValues(words, schema)).toMatchObject({ ok: false, message: want, errors: [{ word: words.at(-1) }] });
  });

  test("JSON that isn't", () => {
    expect(parseKeyValues(["tags:=[1"], schema)).toMatchObject({
      ok: false,
      message: expect.stringMatching(/^tags: not valid JSON: /),
    });
  });

  test("all are said at once, with the suggestion as data", () => {
    const parsed = parseKeyValues(["dayz=1", "dry=2"], schema);
    expect(parsed).toMatchObject({
      errors: [{ word: "dayz=1", suggestion: "days" }, { word: "dry=2" }],
      message: 'unknown argument dayz; did you mean days?\ndry: expected boolean, got "2"',
    });
  });
});

describe("names nobody declared", () => {
  test.each([
    ["an open object takes them", { type: "object", properties: { a: {} }, additionalProperties: true }, true],
    ["typed by additionalProperties", { type: "object", additionalProperties: { type: "string" } }, true],
    ["patternProperties", { type: "object", properties: { a: {} }, patternProperties: { "^x-": {} } }, true],
    ["a schema that declares nothing", { type: "object" }, true],
    ["an absent schema", undefined, true],
    ["a closed object without properties", { type: "object", additionalProperties: false }, false],
    ["declared properties alone", { type: "object", properties: { a: {} } }, false],
  ])("%s", (_what, open, ok) => {
    expect(parseKeyValues(["zz=1"], open).ok).toBe(ok);
  });

  test("additionalProperties gives the type", () => {
    const counts = { type: "object", additionalProperties: { type: "integer" } };
    expect(parseKeyValues(["a=1"], counts)).toEqual({ ok: true, args: { a: 1 } });
  });

  test("__proto__ is a property like any other", () => {
    const parsed = parseKeyValues(["__proto__=1", "__proto__.x=1"], undefined);
    expect(JSON.stringify(parsed)).toBe('{"ok":true,"args":{"__proto__":"1","__proto__.x":"1"}}');
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });
});
