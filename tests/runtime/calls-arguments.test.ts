import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { prepareArguments } from "../../runtime/calls/arguments.ts";

const D04 = "http://json-schema.org/draft-04/schema#";
const D07 = "http://json-schema.org/draft-07/schema#";
const D19 = "https://json-schema.org/draft/2019-09/schema";
const D20 = "https://json-schema.org/draft/2020-12/schema";

const object = (properties: object, rest: object = {}) => ({ type: "object", properties, ...rest });
const message = async (schema: unknown, args: unknown) => {
  const prepared = await prepareArguments(schema, args);
  return prepared.ok ? "ok" : prepared.message;
};

describe("what is wrong is said with its path and what was expected", () => {
  const weather = object(
    {
      location: { type: "string", minLength: 1 },
      days: { type: "integer", minimum: 1, maximum: 7 },
      units: { enum: ["c", "f"] },
      places: { type: "array", items: object({ "post code": { type: "string" } }) },
      when: {
        anyOf: [{ type: "string", format: "date" }, object({ from: { type: "string" } }, { required: ["from"] })],
      },
    },
    { required: ["location"], additionalProperties: false },
  );
  const rows: [args: unknown, want: string][] = [
    [{ location: "Oslo", days: 3, units: "c", places: [{ "post code": "1" }], when: "2026-01-01" }, "ok"],
    [{ location: "Oslo", days: "three" }, 'arguments.days: expected integer from 1 to 7, got "three"'],
    [{ location: "Oslo", days: 0 }, "arguments.days: expected integer from 1 to 7, got 0"],
    [{ location: "Oslo", days: 1.5 }, "arguments.days: expected integer from 1 to 7, got 1.5"],
    [{}, "arguments.location: expected string with at least 1 character, got nothing"],
    [{ location: "Oslo", dayz: 3 }, 'arguments.dayz: unknown property; did you mean "days"?'],
    [
      { location: "Oslo", zzzzzzz: 3 },
      "arguments.zzzzzzz: expected only the properties location, days, units, places, when, got 3",
    ],
    [{ location: "Oslo", units: "k" }, 'arguments.units: expected "c" or "f", got "k"'],
    [{ location: "Oslo", places: [{ "post code": 1 }] }, 'arguments.places[0]["post code"]: expected string, got 1'],
    [{ location: "Oslo", when: "soon" }, 'arguments.when: expected string in format date, got "soon"'],
    [{ location: "Oslo", when: {} }, "arguments.when.from: expected string, got nothing"],
    [{ location: "Oslo", when: 3 }, "arguments.when: expected string in format date or object, got 3"],
    [
      { days: "x", units: 1 },
      'arguments.location: expected string with at least 1 character, got nothing\narguments.days: expected integer from 1 to 7, got "x"\narguments.units: expected "c" or "f", got 1',
    ],
    [[1, 2], "arguments: expected object, got an array of 2 items"],
    [7, "arguments: expected object, got 7"],
  ];
  test.each(rows)("%j", async (args, want) => {
    expect(await message(weather, args)).toBe(want);
  });

  test("a union of definitions doesn't swallow what stands beside it", async () => {
    const $defs = { A: object({ kind: { const: "a" } }, { required: ["kind"] }), B: object({ kind: { const: "b" } }) };
    const union = { anyOf: [{ $ref: "#/$defs/A" }, { $ref: "#/$defs/B" }] };
    const schema = object({ n: { type: "integer" }, u: union }, { allOf: [{ required: ["x"] }, union], $defs });
    expect(await message(schema, { n: "1", u: { kind: "c" }, kind: "c" })).toBe(
      'arguments.x: expected a value, got nothing\narguments: expected A or B, got an object with n, u, kind\narguments.n: expected integer, got "1"\narguments.u: expected A or B, got an object with kind',
    );
  });

  test("no more than ten, and short whatever the value", async () => {
    const properties = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`p${n}`, { type: "integer" }]));
    const args = Object.fromEntries(Object.keys(properties).map((name) => [name, "x".repeat(1e6)]));
    const lines = (await message(object(properties), args)).split("\n");
    expect(lines).toHaveLength(11);
    expect(lines.at(-1)).toBe("… and more");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(200);
  });
});

describe("every draft is read as what it says", () => {
  const tuple = { type: "array", items: [{ type: "string" }], additionalItems: false };
  const rows: [what: string, schema: object, good: unknown, bad: unknown][] = [
    [
      "draft-04 exclusiveMinimum",
      { $schema: D04, ...object({ n: { type: "integer", minimum: 0, exclusiveMinimum: true } }) },
      { n: 1 },
      { n: 0 },
    ],
    [
      "the same without $schema (Dokploy #74)",
      object({ n: { type: "integer", minimum: 0, exclusiveMinimum: true } }),
      { n: 1 },
      { n: 0 },
    ],
    [
      "exclusiveMinimum false",
      object({ n: { type: "integer", minimum: 0, exclusiveMinimum: false } }),
      { n: 0 },
      { n: -1 },
    ],
    [
      "draft-04 id",
      { $schema: D04, id: "http://x.test/a", ...object({ id: { type: "string" } }) },
      { id: "a" },
      { id: 1 },
    ],
    ["draft-07 tuple", { $schema: D07, ...object({ t: tuple }) }, { t: ["a"] }, { t: ["a", 1] }],
    ["a tuple of the old spelling without $schema", object({ t: tuple }), { t: ["a"] }, { t: ["a", 1] }],
    [
      "definitions",
      object({ a: { $ref: "#/definitions/A" } }, { definitions: { A: { type: "string" } } }),
      { a: "" },
      { a: 1 },
    ],
    [
      "draft-07 dependencies",
      { $schema: D07, ...object({ a: {}, b: {} }, { dependencies: { a: ["b"] } }) },
      { a: 1, b: 1 },
      { a: 1 },
    ],
    [
      "2019-09 dependentRequired",
      { $schema: D19, ...object({}, { dependentRequired: { a: ["b"] } }) },
      { b: 1 },
      { a: 1 },
    ],
    [
      "2020-12 prefixItems",
      { $schema: D20, ...object({ t: { prefixItems: [{ type: "string" }], items: false } }) },
      { t: ["a"] },
      { t: ["a", 1] },
    ],
    [
      "unevaluatedProperties",
      object({ a: {} }, { allOf: [{ properties: { b: {} } }], unevaluatedProperties: false }),
      { a: 1, b: 1 },
      { c: 1 },
    ],
    ["a property schema false", object({ a: false }), {}, { a: 1 }],
    ["items true", object({ a: { type: "array", items: true } }), { a: [1, "b"] }, { a: 1 }],
    ["an unknown type excludes nothing", object({ a: { type: "any" }, b: { type: "string" } }), { a: 1 }, { b: 1 }],
    ["OpenAPI nullable", object({ a: { type: "string", nullable: true } }), { a: null }, { a: 1 }],
    [
      "a property named like a keyword",
      object({ $ref: { type: "string" }, properties: { type: "object" } }),
      { $ref: "a", properties: {} },
      { $ref: 1 },
    ],
    ["an inherited name isn't present", object({}, { required: ["toString"] }), JSON.parse('{"toString":1}'), {}],
    [
      "an unknown $schema is 2020-12",
      { $schema: "https://x.test/mine", ...object({ a: { type: "string" } }) },
      { a: "" },
      { a: 1 },
    ],
    [
      "a recursive schema",
      object({ a: { $ref: "#" } }, { additionalProperties: false }),
      { a: { a: {} } },
      { a: { b: 1 } },
    ],
    [
      "a pattern of the looser grammar",
      object({ a: { type: "string", pattern: "^[\\w-.]+$" } }),
      { a: "a-b" },
      { a: "!" },
    ],
  ];
  test.each(rows)("%s", async (_what, schema, good, bad) => {
    expect(await prepareArguments(schema, good)).toEqual({ ok: true, args: good });
    expect(await prepareArguments(schema, bad)).toMatchObject({ ok: false });
  });
});

describe("a schema that can't be used never keeps a call back", () => {
  const nested = (depth: number) => JSON.parse(`${'{"allOf":['.repeat(depth)}true${"]}".repeat(depth)}`) as unknown;
  const rows: [what: string, schema: unknown, args: unknown, reason: RegExp][] = [
    [
      "an external reference",
      object({ a: { $ref: "https://x.test/a.json" } }),
      { a: 1 },
      /refers to "https:\/\/x\.test\/a\.json"/,
    ],
    ["a file reference", object({ a: { $ref: "file:///etc/passwd" } }), { a: 1 }, /refers to "file:/],
    ["a reference to nothing", object({ a: { $ref: "#/$defs/Gone" } }), { a: 1 }, /refers to "#\/\$defs\/Gone"/],
    ["a malformed keyword", object({ a: { minLength: "3" } }), { a: "" }, /can't be compiled/],
    ["no schema at all", 7, { a: 1 }, /neither an object nor a boolean/],
    ["nesting without end", nested(20_000), { a: 1 }, /not checked/],
    ["a reference to itself", { $ref: "#" }, { a: 1 }, /not checked/],
    [
      "more parts than anyone wrote",
      object(Object.fromEntries(Array.from({ length: 20_001 }, (_, n) => [`p${n}`, {}]))),
      {},
      /more than 20,000/,
    ],
    [
      "a pattern that backtracks",
      object({ a: { type: "string", pattern: "^(a+)+$" } }),
      { a: `${"a".repeat(60)}!` },
      /longer than 500 ms/,
    ],
    [
      "branches that double at each level",
      object(
        { a: { $ref: "#/$defs/L0" } },
        {
          $defs: Object.fromEntries([
            ...Array.from({ length: 30 }, (_, n) => [
              `L${n}`,
              { anyOf: [{ $ref: `#/$defs/L${n + 1}` }, { $ref: `#/$defs/L${n + 1}` }] },
            ]),
            ["L30", { type: "string" }],
          ]),
        },
      ),
      { a: 1 },
      /longer than 500 ms/,
    ],
  ];
  test.each(rows)("%s", async (_what, schema, args, reason) => {
    const prepared = await prepareArguments(schema, args);
    expect(prepared).toMatchObject({ ok: true, args, notice: expect.stringMatching(reason) });
  });

  test("a pattern nobody can read excludes nothing, and the rest is checked", async () => {
    const schema = object(
      { a: { type: "string", pattern: "(?P<x>a" } },
      { patternProperties: { "(": { type: "string" } }, additionalProperties: false },
    );
    expect(await message(schema, { a: "anything", b: 1 })).toBe("ok");
    expect(await message(schema, { a: 1 })).toContain("arguments.a: expected string");
  });

  test("a pattern isn't tried on a long string", async () => {
    const schema = object({ a: { type: "string", pattern: "^b+$" } });
    expect(await message(schema, { a: "a".repeat(10_001) })).toBe("ok");
    expect(await message(schema, { a: "a".repeat(10_000) })).not.toBe("ok");
  });

  test("no schema, no check", async () => {
    expect(await prepareArguments(undefined, { a: 1 })).toEqual({ ok: true, args: { a: 1 } });
    expect(await prepareArguments(true, undefined)).toEqual({ ok: true, args: {} });
  });
});

describe("JSON sent as a string is undone one layer deep", () => {
  const schema = object(
    {
      list: { type: "array", items: {} },
      one: { $ref: "#/$defs/One" },
      either: { type: ["string", "array"] },
      text: { type: "string" },
      any: {},
      nullable: { anyOf: [{ type: "object" }, { type: "null" }] },
    },
    { $defs: { One: object({ inner: { type: "array" } }) } },
  );
  const rows: [args: unknown, want: unknown][] = [
    [{ list: "[1,2]" }, { list: [1, 2] }],
    [{ list: " [1]\n" }, { list: [1] }],
    [{ one: '{"inner":[]}' }, { one: { inner: [] } }],
    [{ nullable: '{"a":1}' }, { nullable: { a: 1 } }],
    [
      { either: "[1]", text: "[1]", any: "[1]", other: "[1]" },
      { either: "[1]", text: "[1]", any: "[1]", other: "[1]" },
    ],
    ['{"list":[1]}', { list: [1] }],
    ['{"list":"[1]"}', { list: [1] }],
    [undefined, {}],
    [null, {}],
  ];
  test.each(rows)("%j", async (args, want) => {
    expect(await prepareArguments(schema, args)).toEqual({ ok: true, args: want });
  });

  test.each([
    [{ list: '{"a":1}' }, 'arguments.list: expected array, got "{\\"a\\":1}"'],
    [{ list: "[1" }, 'arguments.list: expected array, got "[1"'],
    [{ one: { inner: "[1]" } }, 'arguments.one.inner: expected array, got "[1]"'],
    ["[1]", 'arguments: expected object, got "[1]"'],
  ])("not where it isn't what is wanted: %j", async (args, want) => {
    expect(await message(schema, args)).toBe(want);
  });

  test("arguments that need nothing are the same object", async () => {
    const args = { list: [1], text: "[1]" };
    const prepared = await prepareArguments(schema, args);
    expect(prepared.ok && prepared.args).toBe(args);
  });
});

describe("null for what is left open means that it isn't given", () => {
  const schema = object(
    {
      text: { type: "string" },
      nullable: { type: ["string", "null"] },
      open: { nullable: true, type: "string" },
      any: {},
      must: { type: "integer" },
      list: { type: "array", items: { type: "string" } },
    },
    { required: ["must"], additionalProperties: { type: "integer" } },
  );
  const rows: [args: object, want: object][] = [
    [{ must: 1, text: null, list: null }, { must: 1 }],
    [{ must: 1, other: null }, { must: 1 }],
    [
      { must: 1, nullable: null, open: null, any: null },
      { must: 1, nullable: null, open: null, any: null },
    ],
  ];
  test.each(rows)("%j becomes %j", async (args, want) => {
    expect(await prepareArguments(schema, args)).toEqual({ ok: true, args: want });
  });

  test("what is required is not left out, nor is anything inside another value", async () => {
    expect(await message(schema, { must: null })).toBe("arguments.must: expected integer, got null");
    expect(await message(schema, { must: 1, list: [null] })).toBe("arguments.list[0]: expected string, got null");
  });

  test("the arguments that were given stay as they are", async () => {
    const args = { must: 1, text: null };
    await prepareArguments(schema, args);
    expect(args).toEqual({ must: 1, text: null });
  });
});

describe("names that JavaScript gives a meaning", () => {
  const parse = (text: string) => JSON.parse(text) as unknown;
  const schema = parse(
    '{"type":"object","properties":{"__proto__":{"type":"integer"},"constructor":{"type":"array"}},"additionalProperties":false}',
  );

  test("are checked and sent like any other", async () => {
    const args = parse('{"__proto__":3,"constructor":"[1]"}');
    const prepared = await prepareArguments(schema, args);
    expect(JSON.stringify(prepared)).toBe('{"ok":true,"args":{"__proto__":3,"constructor":[1]}}');
    expect(await message(schema, parse('{"__proto__":"x"}'))).toBe('arguments.__proto__: expected integer, got "x"');
  });

  test("any argument object comes out as it went in where the schema asks for nothing", async () => {
    const names = fc.constantFrom("__proto__", "constructor", "toString", "a", "");
    await fc.assert(
      fc.asyncProperty(fc.dictionary(names, fc.jsonValue()), async (dictionary) => {
        const args = parse(JSON.stringify(dictionary));
        const prepared = await prepareArguments({ type: "object" }, args);
        expect(prepared.ok && prepared.args).toBe(args);
      }),
    );
  });
});
