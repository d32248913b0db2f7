/** One row a schema: what a model reads of it. */
import { describe, expect, test } from "vitest";
import { renderDeclaration } from "../../compiler/render/declaration.ts";
import { renderPreamble } from "../../compiler/render/declarations-file.ts";
import { typeErrors } from "./render-typescript.ts";

/** The text of one property `p` with the given schema: its type, then its comment. */
function property(schema: unknown, root: object = {}): string {
  const { text, types } = renderDeclaration({
    name: "t",
    inputSchema: { type: "object", properties: { p: schema }, ...root },
  });
  const line = text.replace(/^t\(args\?: \{\n? ?p\?: /, "").replace(/\n?\}\): R;$/, "");
  return [line, ...types.map((type) => type.text)].join("\n");
}

const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });

const ROWS: readonly (readonly [what: string, schema: unknown, want: string])[] = [
  ["string", { type: "string" }, "string"],
  ["integer", { type: "integer" }, "int"],
  ["schema true", true, "unknown"],
  ["no keyword", {}, "unknown"],
  ["description", { type: "string", description: "Where to\n\n  look." }, "string // Where to look."],
  ["description that repeats the name", { type: "string", description: "The P" }, "string"],
  ["title is noise", { type: "string", title: "P" }, "string"],
  ["range", { type: "integer", minimum: 1, maximum: 14, default: 3 }, "int // [1..14, default 3]"],
  ["lower bound", { type: "number", minimum: 0 }, "number // [>= 0]"],
  ["exclusive bound", { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 }, "number // [> 0 < 1]"],
  ["draft-04 exclusive bound", { type: "integer", minimum: 0, exclusiveMinimum: true }, "int // [> 0]"],
  ["draft-04 inclusive bound", { type: "integer", minimum: 0, exclusiveMinimum: false }, "int // [>= 0]"],
  ["both bounds, the tighter one", { type: "number", minimum: 5, exclusiveMinimum: 0 }, "number // [>= 5]"],
  ["safe-integer noise", { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 }, "int"],
  ["half noise", { type: "integer", exclusiveMinimum: 0, maximum: 9007199254740991 }, "int // [> 0]"],
  ["multipleOf", { type: "number", multipleOf: 0.5 }, "number // [multiple of 0.5]"],
  ["length", { type: "string", minLength: 2, maxLength: 9 }, "string // [2..9 chars]"],
  ["non-empty", { type: "string", minLength: 1 }, "string // [non-empty]"],
  ["format", { type: "string", format: "date-time" }, "string // [date-time]"],
  ["pattern", { type: "string", pattern: "^[a-z]+$" }, "string // [/^[a-z]+$/]"],
  ["deprecated", { type: "string", deprecated: true }, "string // [deprecated]"],
  [
    "default the description tells",
    { type: "integer", description: "Limit (default: 20)", default: 20 },
    "int // Limit (default: 20)",
  ],
  [
    "defaults that say nothing",
    object({ a: { type: "boolean", default: false }, b: { default: null }, c: { type: "array", default: [] } }),
    "{a?: boolean; b?: unknown; c?: unknown[]}",
  ],
  [
    "items",
    { type: "array", items: { type: "string" }, minItems: 1, maxItems: 5, uniqueItems: true },
    "string[] // [1..5 items, unique]",
  ],
  ["constraints of items", { type: "array", items: { type: "integer", minimum: 1 } }, "int[] // [each >= 1]"],
  ["items: true", { type: "array", items: true }, "unknown[]"],
  ["items: false", { type: "array", items: false }, "never[]"],
  ["union items", { items: { type: ["string", "null"] } }, "(string|null)[]"],
  [
    "draft-07 tuple",
    { type: "array", items: [{ type: "string" }, { type: "integer" }], additionalItems: false },
    "[string, int]",
  ],
  [
    "2020-12 tuple",
    { type: "array", prefixItems: [{ type: "string" }], items: { type: "number" } },
    "[string, ...number[]]",
  ],
  ["empty tuple", { type: "array", items: [] }, "unknown[]"],
  ["const", { const: "a" }, '"a"'],
  ["const null", { const: null }, "null"],
  ["odd enum", { enum: ["", "9lives", 'say "x"', "a\nb", null] }, '""|"9lives"|"say \\"x\\""|"a\\nb"|null'],
  ["enum of mixed types", { enum: [1, -1, true, { a: [1] }] }, "1|-1|true|{a: [1]}"],
  ["enum with hidden characters", { enum: ["a\u202eb\u2028\u200b"] }, '"a\\u202eb\\u2028\\u200b"'],
  ["true and false", { enum: [true, false] }, "boolean"],
  ["nullable by type", { type: ["string", "null"] }, "string|null"],
  [
    "nullable by anyOf keeps constraints",
    { anyOf: [{ type: "integer", minimum: 1 }, { type: "null" }], default: null },
    "int|null // [>= 1]",
  ],
  ["nullable by keyword", { type: "string", nullable: true }, "string|null"],
  ["anyOf", { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] }, "string|string[]"],
  ["anyOf with an open variant", { anyOf: [{ type: "string" }, {}] }, "unknown"],
  [
    "anyOf of formats keeps the type",
    { type: "string", anyOf: [{ format: "uri" }, { format: "email" }] },
    "string // [uri, email]",
  ],
  ["integer or number", { type: ["integer", "number"] }, "number"],
  ["object", object({ b: { type: "string" }, a: { type: "integer" } }, { required: ["b"] }), "{a?: int; b: string}"],
  ["required but undeclared", object({}, { required: ["x"] }), "{x: unknown}"],
  ["missing type", { properties: { a: { type: "string" } } }, "{a?: string}"],
  ["object with items", object({ a: { type: "string" } }, { items: { type: "string" } }), "{a?: string}"],
  ["open object", { type: "object" }, "object"],
  ["closed empty object", object({}, { additionalProperties: false }), "{}"],
  ["generator noise", object({}, { additionalProperties: {}, propertyNames: { type: "string" } }), "object"],
  ["map", { type: "object", additionalProperties: { type: "integer" } }, "{[k: string]: int}"],
  ["map by pattern", { type: "object", patternProperties: { "^x-": { type: "string" } } }, "{[k: string]: string}"],
  [
    "properties and others",
    object({ a: { type: "integer" } }, { additionalProperties: { type: "string" } }),
    "{\n a?: int\n [k: string]: unknown // others: string\n}",
  ],
  ["property false", object({ a: false, b: false }, { required: ["b"] }), "{b: never}"],
  [
    "a property called properties",
    object({ properties: object({ type: { type: "string" } }) }),
    "{properties?: {type?: string}}",
  ],
  ["not is left out", { type: "string", not: { const: "x" } }, "string"],
  [
    "allOf merges objects",
    { allOf: [object({ a: { type: "string" } }, { required: ["a"] }), object({ b: { type: "integer" } })] },
    "{a: string; b?: int}",
  ],
  [
    "allOf narrows scalars",
    {
      allOf: [
        { type: "number", minimum: 0 },
        { type: "integer", maximum: 9 },
      ],
    },
    "int // [0..9]",
  ],
  [
    "allOf narrows a property of both",
    { allOf: [object({ a: { type: "string" } }), object({ a: { enum: ["x"] } })] },
    '{a?: "x"}',
  ],
  [
    "allOf and anyOf",
    object(
      { a: { type: "string" } },
      { anyOf: [object({ b: { type: "string" } }), object({ c: { type: "string" } })] },
    ),
    "({a?: string}&({b?: string}|{c?: string}))",
  ],
  [
    "anyOf of required lists",
    object({ a: {}, b: {}, c: {} }, { anyOf: [{ required: ["a"] }, { required: ["b", "c"] }] }),
    "{a?: unknown; b?: unknown; c?: unknown} // [needs a or b+c]",
  ],
];

describe("a schema as a model reads it", () => {
  test.each(ROWS)("%s", (_, schema, want) => {
    expect(property(schema)).toBe(want);
    expect(typeErrors(`${renderPreamble()}declare const v: {p?: ${want}\n}; void v;`)).toEqual([]);
  });
});

test("allOf holding only if/then leaves a closed object closed", () => {
  const schema = {
    type: "object",
    additionalProperties: false,
    properties: { on: { type: "boolean" }, host: { type: "string" } },
    required: ["on"],
    // biome-ignore lint/suspicious/noThenProperty: the keyword
    allOf: [{ if: { properties: { on: { const: true } } }, then: { required: ["host"] } }],
  };
  const { text } = renderDeclaration({ name: "t", inputSchema: schema }, { form: "check" });
  expect(text).toBe("t(args: {host?: string; on: boolean}): R;");
  const file = `${renderPreamble({ check: true })}declare const tools: {\n${text}\n};`;
  expect(typeErrors(file, "tools.t({ on: true });")).toEqual([]);
  expect(typeErrors(file, "tools.t({ on: true, extra: 1 });")).toHaveLength(1);
});

test("property names of every kind", () => {
  const properties = JSON.parse(
    '{"__proto__":{"type":"string"},"constructor":{"type":"string"},"description":{"type":"string"},"$ref":{"type":"string"},' +
      '"(default)":{"type":"string"},"If-Match":{"type":"string"},"delete":{"type":"string"},"":{"type":"string"},"a\\"\\n":{"type":"string"}}',
  );
  const { text } = renderDeclaration({ name: "t", inputSchema: { type: "object", properties } });
  expect(text).toBe(
    't(args?: {""?: string; $ref?: string; "(default)"?: string; "If-Match"?: string; __proto__?: string; "a\\"\\n"?: string; ' +
      "constructor?: string; delete?: string; description?: string}): R;",
  );
  expect(typeErrors(`${renderPreamble()}declare const tools: {\n${text}\n};`)).toEqual([]);
});

describe("references", () => {
  const defs = (more: object) => ({ $defs: more });
  test.each([
    ["local", { $ref: "#/$defs/A" }, defs({ A: { type: "string", format: "uri" } }), "string // [uri]"],
    ["definitions", { $ref: "#/definitions/A" }, { definitions: { A: { type: "integer" } } }, "int"],
    ["escaped", { $ref: "#/$defs/a~1b%20c" }, defs({ "a/b c": { type: "integer" } }), "int"],
    ["through properties", { $ref: "#/properties/q" }, {}, "unknown /* missing $ref */"],
    ["anchor", { $ref: "#a" }, defs({ A: { $anchor: "a", type: "integer" } }), "int"],
    ["dynamic anchor", { $dynamicRef: "#a" }, defs({ A: { $dynamicAnchor: "a", type: "integer" } }), "int"],
    [
      "by relative id",
      { $ref: "other#/$defs/B" },
      { $id: "https://x.test/s", $defs: { A: { $id: "other", $defs: { B: { type: "integer" } } } } },
      "int",
    ],
    [
      "within its resource",
      { $ref: "#/$defs/A" },
      defs({
        A: { $id: "https://x.test/a", $ref: "#/$defs/B", $defs: { B: { type: "integer" } } },
        B: { type: "string" },
      }),
      "int",
    ],
    ["external", { $ref: "https://x.test/t.json" }, {}, "unknown /* external $ref */"],
    ["malformed", { $ref: "#/%E0%A4%A" }, {}, "unknown /* missing $ref */"],
    [
      "own description wins",
      { $ref: "#/$defs/A", description: "Mine" },
      defs({ A: { type: "string", description: "Theirs" } }),
      "string // Mine",
    ],
    [
      "description of the target",
      { $ref: "#/$defs/A" },
      defs({ A: { type: "string", description: "Theirs" } }),
      "string // Theirs",
    ],
    [
      "beside a default",
      { $ref: "#/$defs/A", default: "x" },
      defs({ A: { enum: ["x", "y"] } }),
      '"x"|"y" // [default "x"]',
    ],
    [
      "beside properties",
      { $ref: "#/$defs/A", properties: { b: { type: "string" } } },
      defs({ A: object({ a: { type: "string" } }) }),
      "{a?: string; b?: string}",
    ],
    [
      "wrapped in allOf",
      { allOf: [{ $ref: "#/$defs/A" }], description: "Mine" },
      defs({ A: { enum: ["x"] } }),
      '"x" // Mine',
    ],
    ["to itself", { $ref: "#/properties/p" }, {}, "unknown /* circular $ref */"],
    [
      "in a circle",
      { $ref: "#/$defs/A" },
      defs({ A: { $ref: "#/$defs/B" }, B: { anyOf: [{ $ref: "#/$defs/A" }, { $ref: "#/$defs/B" }] } }),
      "unknown /* circular $ref */",
    ],
    [
      "unused definitions",
      { type: "string" },
      defs({ A: { type: "object", properties: { a: { type: "string" } } } }),
      "string",
    ],
  ])("%s", (_, schema, root, want) => expect(property(schema, root)).toBe(want));

  test("those that lead nowhere are noted", () => {
    const { notes } = renderDeclaration({
      name: "t",
      inputSchema: object({ a: { $ref: "https://x.test/y" }, b: { $ref: "#/nope" }, c: { $ref: "#/nope" } }),
    });
    expect(notes.map(({ kind, pointer }) => `${kind} ${pointer}`)).toEqual([
      "external-ref /inputSchema",
      "unresolved-ref /inputSchema",
    ]);
  });

  test("a recursive definition whose reference has a description becomes a named type, again and again", () => {
    const inputSchema = object(
      { root: { $ref: "#/$defs/Node" } },
      {
        $defs: {
          Node: object({
            name: { type: "string" },
            inverse: { $ref: "#/$defs/Node", description: "The way back" },
          }),
        },
      },
    );
    const first = renderDeclaration({ name: "t", inputSchema });
    expect(first.types).toHaveLength(1);
    const { name, text } = first.types[0]!;
    expect(name).toMatch(/^Node_[0-9a-f]{6}$/);
    expect(text).toBe(`type ${name} = {\n inverse?: ${name} // The way back\n name?: string\n};`);
    expect(first.text).toBe(`t(args?: {root?: ${name}}): R;`);
    expect(renderDeclaration({ name: "t", inputSchema })).toEqual(first);
    // Another tool with the same definition shares the type.
    expect(renderDeclaration({ name: "u", inputSchema: { ...inputSchema, required: ["root"] } }).types).toEqual(
      first.types,
    );
  });

  test("the root refers to itself", () => {
    const { text, types } = renderDeclaration({
      name: "t",
      inputSchema: object({ children: { type: "array", items: { $ref: "#" } } }),
    });
    const name = types[0]!.name;
    expect(text).toBe(`t(args?: ${name}): R;`);
    expect(types[0]!.text).toBe(`type ${name} = {children?: ${name}[]};`);
  });

  test("recursion through allOf, maps, unions and tuples is finite and type-checks", () => {
    const inputSchema = object(
      { p: { $ref: "#/$defs/Json" }, q: { $ref: "#/$defs/Tree" } },
      {
        $defs: {
          Json: {
            anyOf: [
              { type: ["string", "number", "boolean", "null"] },
              { type: "array", items: { $ref: "#/$defs/Json" } },
              { type: "object", additionalProperties: { $ref: "#/$defs/Json" } },
            ],
          },
          Tree: {
            type: "object",
            properties: {
              kids: { allOf: [{ $ref: "#/$defs/Tree" }, object({ extra: { $ref: "#/$defs/Tree" } })] },
              pair: { type: "array", prefixItems: [{ $ref: "#/$defs/Tree" }, { $ref: "#/$defs/Json" }] },
            },
          },
        },
      },
    );
    const { text, types, notes } = renderDeclaration({ name: "t", inputSchema });
    expect(notes).toEqual([]);
    const statements = types.map((type) => type.text).join("\n");
    expect(typeErrors(`${renderPreamble()}declare const tools: {\n${text}\n};\n${statements}`)).toEqual([]);
  });

  test("a large definition used twice is named, a small one written in place", () => {
    const big = object(
      Object.fromEntries(["alpha", "beta", "gamma", "delta"].map((name) => [name, { type: "string" }])),
    );
    const inputSchema = object(
      {
        a: { $ref: "#/$defs/Big" },
        b: { $ref: "#/$defs/Big" },
        c: { $ref: "#/$defs/Small" },
        d: { $ref: "#/$defs/Small" },
      },
      { $defs: { Big: big, Small: object({ x: { type: "number" } }) } },
    );
    const { text, types } = renderDeclaration({ name: "t", inputSchema });
    const name = types[0]!.name;
    expect(text).toBe(`t(args?: {a?: ${name}; b?: ${name}; c?: {x?: number}; d?: {x?: number}}): R;`);
  });
});
