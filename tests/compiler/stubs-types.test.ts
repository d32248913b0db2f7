/** Schema → TypeScript type, as given/want rows; and what `tsc` says of values against the types. */
import { describe, expect, test } from "vitest";
import { createTypeSource } from "../../compiler/stubs/type-source.ts";
import { declared, typeErrors } from "./stubs-checker.ts";

const rows: readonly (readonly [string, unknown, string])[] = [
  ["no type", {}, "unknown"],
  ["true", true, "unknown"],
  ["false", false, "never"],
  ["not anything", { not: {} }, "never"],
  ["integer", { type: "integer" }, "number"],
  ["type array", { type: ["string", "null"] }, "string | null"],
  [
    "keywords go to their type",
    { type: ["array", "null"], items: { type: "string" }, minLength: 2 },
    "string[] | null",
  ],
  ["items true", { type: "array", items: true }, "unknown[]"],
  ["items false", { type: "array", items: false }, "never[]"],
  ["items of a union", { type: "array", items: { type: ["string", "number"] } }, "(string | number)[]"],
  [
    "array bounds don't make tuples",
    { type: "array", items: { type: "string" }, minItems: 1, maxItems: 3 },
    "string[]",
  ],
  ["draft-07 tuple", { type: "array", items: [{ type: "string" }], minItems: 1, additionalItems: false }, "[string]"],
  [
    "2020-12 tuple",
    { prefixItems: [{ type: "string" }, { type: "number" }], items: false, minItems: 1 },
    "[string] | [string, number]",
  ],
  [
    "array of tuples",
    { type: "array", items: { prefixItems: [{ type: "string" }], items: false } },
    "([] | [string])[]",
  ],
  [
    "long optional tuple",
    { type: "array", prefixItems: Array(20).fill({ type: "string" }), items: { type: "number" } },
    "(string | number)[]",
  ],
  [
    "odd enum",
    { enum: ["", "9lives", 'a"b', "n\nl", null, 1, true] },
    '"" | "9lives" | "a\\"b" | "n\\nl" | null | 1 | true',
  ],
  ["enum meets type", { type: "string", enum: ["a", 1, null] }, '"a"'],
  ["empty enum", { enum: [] }, "never"],
  ["const", { const: 5 }, "5"],
  ["const outside enum", { const: "c", enum: ["a"] }, "never"],
  ["nullable", { type: "string", nullable: true }, "string | null"],
  ["constants of mixed type", { anyOf: [{ const: "a" }, { const: 1 }, { type: "null" }] }, '"a" | 1 | null'],
  ["allOf of nothing", { type: "string", allOf: [{ minLength: 2 }, { pattern: "a" }] }, "string"],
  ["contradiction", { type: "string", allOf: [{ type: "number" }] }, "never"],
  ["external reference", { $ref: "https://example.com/a.json" }, "unknown"],
  ["reference to nothing", { $ref: "#/$defs/none" }, "unknown"],
  ["reference to itself", { $ref: "#" }, "unknown"],
  ["unknown type name", { type: "file" }, "unknown"],
  ["object without members", { type: "object" }, "{\n  [k: string]: unknown;\n}"],
  ["closed and empty", { type: "object", additionalProperties: false }, "{\n  [k: string]: never;\n}"],
  ["map", { type: "object", additionalProperties: { type: "number" } }, "{\n  [k: string]: number;\n}"],
  [
    "patterns, open",
    { type: "object", patternProperties: { "^x-": { type: "number" } } },
    "{\n  [k: string]: unknown;\n}",
  ],
  [
    "patterns, closed",
    { type: "object", patternProperties: { "^x-": { type: "number" } }, additionalProperties: false },
    "{\n  [k: string]: number;\n}",
  ],
  [
    "catch-all pattern",
    { type: "object", patternProperties: { "^.*$": { type: "number" } } },
    "{\n  [k: string]: number;\n}",
  ],
  [
    "unmentioned additional properties",
    { type: "object", properties: { a: { type: "string" } } },
    "{\n  a?: string;\n}",
  ],
  [
    "open on purpose",
    { type: "object", properties: { a: { type: "string" } }, additionalProperties: true },
    "{\n  a?: string;\n  [k: string]: unknown;\n}",
  ],
  ["schema false as property", { properties: { a: false } }, "{\n  a?: never;\n}"],
  ["required but undeclared", { type: "object", required: ["b"] }, "{\n  b: unknown;\n}"],
  [
    "draft-03 required",
    { type: "object", properties: { a: { type: "string", required: true } } },
    "{\n  a: string;\n}",
  ],
  [
    "draft-04 bound",
    { properties: { n: { type: "integer", minimum: 0, exclusiveMinimum: true } } },
    "{\n  /** (integer, > 0) */\n  n?: number;\n}",
  ],
  [
    "generator's bounds",
    { properties: { n: { type: "number", minimum: -9007199254740991, maximum: 9007199254740991 } } },
    "{\n  n?: number;\n}",
  ],
  ["object with items", { type: "object", items: { type: "string" } }, "{\n  [k: string]: unknown;\n}"],
  [
    "hostile keywords",
    { type: "string", tsType: "any; evil()", tsEnumNames: ["x"], title: "Evil", $id: "Evil", extends: { $ref: "x" } },
    "string",
  ],
  ["tsType in a property", { properties: { a: { tsType: "any", goRegexpType: 1 } } }, "{\n  a?: unknown;\n}"],
];

describe("schema → type", () => {
  for (const [name, schema, want] of rows)
    test(name, async () => {
      expect(await declared(schema)).toBe(`export type T = ${want};`);
    });

  test("siblings of $ref count in 2020-12 and are ignored in draft-07", async () => {
    const schema = { $defs: { S: { enum: ["a", "b"] } }, properties: { x: { $ref: "#/$defs/S", const: "a" } } };
    const row = (more: object) => declared({ ...schema, ...more });
    expect(await row({})).toContain('x?: "a";');
    expect(await row({ $schema: "http://json-schema.org/draft-07/schema#" })).toContain("x?: TS;");
  });

  test("references by anchor, id and pointer with escapes", async () => {
    const object = (name: string) => ({ type: "object", properties: { [name]: { type: "string" } } });
    const text = await declared({
      $id: "https://example.com/root.json",
      properties: {
        a: { $ref: "#addr" },
        b: { $ref: "https://example.com/root.json#/$defs/x~1y%20z" },
        c: { $ref: "other.json" },
        d: { $ref: "#/definitions/__proto__" },
      },
      definitions: { i: { $id: "other.json", ...object("byId") } },
      $defs: { i: { $anchor: "addr", ...object("byAnchor") }, "x/y z": object("byPointer") },
    });
    expect(text).toContain("a?: TAddr;\n  b?: TXYZ;\n  c?: TType;\n  d?: unknown;");
    for (const name of ["byId", "byAnchor", "byPointer"]) expect(text).toContain(`${name}?: string;`);
    expect(typeErrors(text)).toEqual([]);
  });

  test("the order of keys makes no difference", async () => {
    const a = await declared({ type: "object", required: ["x", "y"], properties: { x: { type: "string" }, y: {} } });
    const b = await declared({ properties: { y: {}, x: { type: "string" } }, required: ["y", "x"], type: "object" });
    expect(a).toBe(b);
  });
});

describe("faults of others", () => {
  test("a recursive reference with a description beside it is finite, and the same twice", async () => {
    const schema = {
      $ref: "#/$defs/Node",
      $defs: {
        Node: {
          type: "object",
          properties: { name: { type: "string" }, inverse: { $ref: "#/$defs/Node", description: "back" } },
        },
      },
    };
    const text = await declared(schema);
    expect(text).toBe(await declared(schema));
    expect(typeErrors(`${text}\nconst value: T = { name: "a", inverse: { inverse: { name: "b" } } };`)).toEqual([]);
    expect(typeErrors(`${text}\nconst value: T = { inverse: { inverse: { name: 1 } } };`)).toHaveLength(1);
  });

  test("diamonds of references stay small", async () => {
    const level = (index: number) => ({
      type: "object",
      properties: { a: { $ref: `#/$defs/L${index + 1}` }, b: { $ref: `#/$defs/L${index + 1}` } },
    });
    const levels = Object.fromEntries(
      Array.from({ length: 25 }, (_, index) => [`L${index}`, index === 24 ? { type: "string" } : level(index)]),
    );
    const text = await declared({ $ref: "#/$defs/L0", $defs: levels });
    expect(text.length).toBeLessThan(3000);
    expect(typeErrors(text)).toEqual([]);
  });

  test.each([
    ["through allOf", "allOf"],
    ["through anyOf", "anyOf"],
  ])("diamonds %s stay small", async (_name, keyword) => {
    const levels = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [
        `L${index}`,
        { [keyword]: [{ $ref: `#/$defs/L${index + 1}` }, { $ref: `#/$defs/L${index + 1}` }] },
      ]),
    );
    const text = await declared({
      $ref: "#/$defs/L0",
      $defs: { ...levels, L40: { type: "object", properties: { x: { type: "string" } } } },
    });
    expect(text.length).toBeLessThan(6000);
    expect(typeErrors(text)).toEqual([]);
  });

  test("properties called like keywords or prototype members are properties", async () => {
    const properties = JSON.parse(
      '{"__proto__":{"type":"string"},"constructor":{"type":"string"},"description":{"type":"string"},"$ref":{"type":"string"},"properties":{"type":"number"},"type":{"enum":["a"]},"If-Match":{},"(default)":{"type":"null"}}',
    );
    const text = await declared({ type: "object", properties, required: ["$ref"] });
    for (const member of [
      '"__proto__"?: string',
      "constructor?: string",
      "description?: string",
      "$ref: string",
      "properties?: number",
      'type?: "a"',
      '"If-Match"?: unknown',
      '"(default)"?: null',
    ])
      expect(text).toContain(member);
    expect(
      typeErrors(
        `${text}\nconst value: T = { $ref: "x", ["__proto__"]: "y", constructor: "z" };\nconst bare: T = { $ref: "x" };`,
      ),
    ).toEqual([]);
    expect(typeErrors(`${text}\nconst value: T = { $ref: "x", ["__proto__"]: 1 };`)).toHaveLength(1);
  });

  test("allOf with only if and then doesn't open a closed object", async () => {
    const text = await declared({
      type: "object",
      additionalProperties: false,
      required: ["on"],
      properties: { on: { type: "boolean" }, host: { type: "string" } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      allOf: [{ if: { properties: { on: { const: true } } }, then: { required: ["host"] } }],
    });
    expect(text).toBe("export type T = {\n  host?: string;\n  on: boolean;\n};");
    expect(typeErrors(`${text}\nconst value: T = { on: true };`)).toEqual([]);
    expect(typeErrors(`${text}\nconst value: T = { on: true, extra: 1 };`)).toEqual([expect.stringContaining("extra")]);
  });
});

describe("schemas made to hurt", () => {
  const nest = (levels: number, wrap: (inner: unknown) => unknown) => {
    let schema: unknown = { type: "string" };
    for (let level = 0; level < levels; level++) schema = wrap(schema);
    return schema;
  };
  const remarks = async (schema: unknown) =>
    (await createTypeSource().typesOf([{ schema, role: "output" }]))[0]!.remarks;

  test.each<[string, (inner: unknown) => unknown]>([
    ["objects with an index signature", (a) => ({ properties: { a }, additionalProperties: { type: "string" } })],
    ["optional tuples", (a) => ({ prefixItems: [a, true, { type: "string" }, { type: "object" }] })],
    ["unions", (a) => ({ anyOf: [a, { type: "number" }] })],
    ["arrays", (items) => ({ type: "array", items })],
    [
      "types by array",
      (items) => ({ type: ["array", "object", "null"], items, additionalProperties: { type: "string" } }),
    ],
  ])("60 levels of %s", async (_name, wrap) => {
    const text = await declared(nest(60, wrap));
    expect(text.length).toBeLessThan(200_000);
    expect(typeErrors(text)).toEqual([]);
  });

  test("a schema too deep becomes unknown at that depth, and says so", async () => {
    const schema = nest(300, (items) => ({ type: "array", items }));
    expect(await declared(schema)).toMatch(/^export type T = unknown(\[\])+;$/);
    expect(await remarks(schema)).toEqual([expect.objectContaining({ code: "stub-type-unknown" })]);
  });

  test("a schema deeper than the stack is unknown", async () => {
    const schema = nest(100_000, (items) => ({ type: "array", items }));
    expect(await declared(schema)).toBe("export type T = unknown;");
  });

  test("a schema too large is unknown past its limit, with one remark", async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 30_000 }, (_, index) => [`p${index}`, { type: "string" }]),
    );
    expect(await declared({ type: "object", properties })).toBe("export type T = unknown;");
    expect(await remarks({ type: "object", properties })).toHaveLength(1);
  });

  test("unions that multiply are left out before TypeScript gives up", async () => {
    const oneOf = (name: string) => ({
      oneOf: Array.from({ length: 40 }, (_, index) => ({
        type: "object",
        properties: { [name]: { const: index } },
        required: [name],
      })),
    });
    const schema = { allOf: ["a", "b", "c", "d"].map(oneOf) };
    expect(typeErrors(`${await declared(schema)}\nconst value: T | undefined = undefined;`)).toEqual([]);
    expect(await remarks(schema)).toEqual([expect.objectContaining({ code: "stub-type-widened" })]);
  });

  test.each([
    [5],
    [null],
    ["string"],
    [[]],
    [{ type: { a: 1 } }],
    [{ properties: [1], required: "x", enum: 3, allOf: {}, anyOf: [] }],
    [{ properties: { a: 5 } }],
    [{ $ref: 5 }],
  ])("%j doesn't throw", async (schema) => {
    expect(typeErrors(await declared(schema))).toEqual([]);
  });

  test("a chain of ten thousand references", async () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [`d${index}`, { $ref: `#/$defs/d${index + 1}` }]),
    );
    expect(typeErrors(await declared({ $ref: "#/$defs/d0", $defs }))).toEqual([]);
  });
});
