/** Schemas that Pi could not compile lose what keeps it from doing so, and nothing else. */
import { compile } from "@earendil-works/pi-schema";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { usableSchema } from "../../runtime/pi/tools/usable-schema.ts";

const withText = (text: unknown, more: object = {}) => ({ type: "object", properties: { text }, ...more });

describe("what stands in the way is taken out", () => {
  const rows: [what: string, given: object, wanted: object][] = [
    ["a pattern of another language", withText({ type: "string", pattern: "(?i)a(" }), withText({ type: "string" })],
    ["a pattern that is none", withText({ type: "string", pattern: 5 }), withText({ type: "string" })],
    ["a reference to nothing", withText({ $ref: "#/$defs/no", title: "T" }), withText({ title: "T" })],
    ["a reference to another file", withText({ $ref: "http://example.com/x.json" }), withText({})],
    ["a reference to itself", withText({ $ref: "#/properties/text" }), withText({})],
    ["a reference of the whole to itself", { type: "object", $ref: "#" }, { type: "object" }],
    ["one that comes back by another way", withText(1, { allOf: [{ $ref: "#" }] }), withText({}, { allOf: [{}] })],
    ["a property without a schema", withText(null), withText({})],
    ["a list where names belong", { type: "object", properties: [] }, { type: "object" }],
    [
      "a choice that is no schema",
      withText({ anyOf: [{ type: "string" }, 7] }),
      withText({ anyOf: [{ type: "string" }, {}] }),
    ],
    ["deep inside", withText({ items: { not: { pattern: "(" } } }), withText({ items: { not: {} } })],
    [
      "a pattern for names, with what would refuse those names",
      { patternProperties: { "(": {}, "^a": {} }, additionalProperties: false },
      { patternProperties: { "^a": {} } },
    ],
  ];
  test.each(rows)("%s", (_, given, wanted) => {
    const before = JSON.stringify(given);
    const usable = usableSchema(given as Record<string, unknown>);
    expect(usable).toEqual(wanted);
    expect(JSON.stringify(given)).toBe(before);
    expect(() => compile(usable, { coerce: true, unresolvedRefs: "reject" }).parse({ text: "hi" })).not.toThrow();
  });
});

describe("whatever Pi can use is given back as it is", () => {
  test.each([
    ["a tree", { $ref: "#/$defs/node", $defs: { node: withText({ $ref: "#/$defs/node" }) } }],
    ["escaped names", withText({ $ref: "#/$defs/a~1b~0c%20d" }, { $defs: { "a/b~c d": true } })],
    [
      "schemas with names of their own",
      withText({ $ref: "node" }, { $defs: { node: { $id: "node", type: "string" } } }),
    ],
    ["a pattern that is one only without Unicode rules", withText({ pattern: "^[\\w-.]+$" })],
    [
      "names that mean something elsewhere",
      JSON.parse('{"properties":{"__proto__":{"type":"string"},"pattern":{},"$ref":{}}}'),
    ],
    [
      "values that look like schemas",
      withText({ const: { pattern: "(" }, default: { $ref: "#/no" }, enum: [{ items: 5 }] }),
    ],
  ])("%s", (_, schema) => {
    expect(usableSchema(schema)).toBe(schema);
  });
});

test("whatever it is given, Pi can use what comes back, and it comes back the same the second time", () => {
  const leaf = fc.constantFrom<unknown>(
    true,
    null,
    5,
    "x",
    [],
    {},
    { type: "string" },
    { pattern: "(" },
    { $ref: "#" },
    { $ref: "#/$defs/a" },
  );
  const { schema } = fc.letrec((tie) => {
    const inner = fc.oneof({ depthSize: "small" }, leaf, tie("schema"));
    const some = fc.dictionary(fc.constantFrom("a", "b", "__proto__", "("), inner, { maxKeys: 2 });
    const parts = {
      properties: some,
      patternProperties: some,
      $defs: some,
      items: inner,
      allOf: fc.array(inner, { maxLength: 2 }),
      anyOf: fc.array(inner, { maxLength: 2 }),
      not: inner,
      additionalProperties: inner,
      $ref: fc.constantFrom("#", "#/$defs/a", "#/properties/b", "x"),
    };
    return { schema: fc.record(parts, { requiredKeys: [] }) };
  });
  fc.assert(
    fc.property(schema, (given) => {
      const usable = usableSchema(given as Record<string, unknown>);
      compile(usable, { coerce: true, unresolvedRefs: "reject" }).parse({ a: { b: 1 } });
      expect(usableSchema(usable)).toBe(usable);
    }),
  );
});
