/** What holds for every schema: rendering ends in valid, stable, bounded TypeScript that takes what the schema takes. */
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { INPUT_CHARS, OUTPUT_CHARS, renderDeclaration } from "../../compiler/render/declaration.ts";
import { renderDeclarationsFile } from "../../compiler/render/declarations-file.ts";
import { syntaxErrors, typeErrors } from "./render-typescript.ts";

const names = fc.oneof(
  fc.constantFrom("a", "b", "type", "properties", "$ref", "__proto__", "constructor", "If-Match", "delete", "", "*/"),
  fc.string({ unit: "binary", maxLength: 6 }),
);
const leafValue = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, 1, -1, 1.5, "", "a", "9lives", 'q"', "\n", "\u2028", "*/"),
  fc.string({ unit: "binary", maxLength: 5 }),
);
const value = fc.oneof(
  leafValue,
  fc.array(leafValue, { maxLength: 3 }),
  fc.dictionary(names, leafValue, { maxKeys: 3 }),
);
const refs = fc.constantFrom(
  "#",
  "#/$defs/A",
  "#/$defs/B",
  "#/$defs/C",
  "#/definitions/D",
  "#nowhere",
  "https://x.test/s",
  "#/$defs/A/properties/a",
);

/** Schemas as servers write them, and worse: any mixture of a few keywords, sensible or not. */
const wild = fc.letrec<{ schema: unknown; object: object }>((tie) => {
  const some = { maxLength: 3, depthIdentifier: "schema" } as const;
  const schema = tie("schema");
  const typeName = fc.constantFrom("string", "number", "integer", "boolean", "null", "array", "object", "nonsense");
  const keywords: Record<string, fc.Arbitrary<unknown>> = {
    type: fc.oneof(typeName, fc.array(typeName, { maxLength: 3 })),
    properties: fc.dictionary(names, schema, { maxKeys: 3, depthIdentifier: "schema" }),
    required: fc.oneof(fc.array(names, { maxLength: 3 }), value),
    additionalProperties: schema,
    patternProperties: fc.dictionary(names, schema, { maxKeys: 2, depthIdentifier: "schema" }),
    items: fc.oneof(schema, fc.array(schema, some)),
    prefixItems: fc.array(schema, some),
    additionalItems: schema,
    anyOf: fc.array(schema, some),
    oneOf: fc.array(schema, some),
    allOf: fc.array(schema, some),
    not: schema,
    enum: fc.oneof(fc.array(value, { maxLength: 4 }), value),
    const: value,
    $ref: refs,
    $dynamicRef: refs,
    $id: fc.constantFrom("https://x.test/s", "other", "#frag", "::::"),
    $anchor: fc.constantFrom("nowhere", "x"),
    description: fc.oneof(names, fc.string({ unit: "binary", maxLength: 300 })),
    default: value,
    format: names,
    pattern: names,
    minimum: fc.double(),
    exclusiveMinimum: fc.oneof(fc.double(), fc.boolean()),
    maxLength: fc.oneof(fc.integer(), value),
    nullable: fc.boolean(),
    deprecated: fc.boolean(),
  };
  const pairs = Object.entries(keywords).map(([keyword, arbitrary]) => fc.tuple(fc.constant(keyword), arbitrary));
  return {
    schema: fc.oneof(
      { maxDepth: 4, depthIdentifier: "schema" },
      { weight: 1, arbitrary: fc.oneof(fc.boolean(), value) },
      { weight: 6, arbitrary: tie("object") },
    ),
    object: fc
      .uniqueArray(fc.oneof(...pairs), { maxLength: 5, selector: ([keyword]) => keyword })
      .map((chosen) => Object.fromEntries(chosen)),
  };
});
const document = fc
  .tuple(wild.schema, fc.dictionary(fc.constantFrom("A", "B", "C"), wild.schema), wild.schema)
  .map(([schema, $defs, D]) => (isRecord(schema) ? { ...schema, $defs, definitions: { D } } : schema));

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The same JSON with the keys of every object in another order. */
function shuffled(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(shuffled);
  if (!isRecord(json)) return json;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(json).reverse()) {
    Object.defineProperty(copy, key, {
      value: shuffled(json[key]),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return copy;
}

function fileOf(declaration: ReturnType<typeof renderDeclaration>, check: boolean): string {
  return renderDeclarationsFile([{ namespace: "mcp__s", name: "s", total: 1, shown: [{ declaration }] }], { check });
}

test("any schema gives text that parses, within its cap, the same for any order of keys", () => {
  fc.assert(
    fc.property(
      document,
      document,
      fc.string({ unit: "binary", maxLength: 2000 }),
      (inputSchema, outputSchema, description) => {
        const tool = { name: "mcp__s__t", description, inputSchema, outputSchema };
        for (const form of ["compact", "full", "check"] as const) {
          const declaration = renderDeclaration(tool, { form });
          expect(syntaxErrors(fileOf(declaration, form === "check"))).toEqual([]);
          expect(renderDeclaration(shuffled(tool) as typeof tool, { form })).toEqual(declaration);
          if (form !== "compact") continue;
          const size = declaration.text.length + declaration.types.reduce((sum, type) => sum + type.text.length, 0);
          expect(size).toBeLessThan(INPUT_CHARS + OUTPUT_CHARS + 1_000);
        }
      },
    ),
    { numRuns: 400 },
  );
});

test("any schema gives types that type-check by themselves", () => {
  fc.assert(
    fc.property(fc.array(document, { minLength: 20, maxLength: 20 }), fc.boolean(), (schemas, check) => {
      const shown = schemas.map((outputSchema, place) => ({
        declaration: renderDeclaration(
          { name: `t${place}`, inputSchema: outputSchema, outputSchema },
          { form: check ? "check" : "compact" },
        ),
      }));
      const file = renderDeclarationsFile([{ namespace: "mcp__s", name: "s", total: 20, shown }], { check });
      expect(typeErrors(file)).toEqual([]);
    }),
    { numRuns: 12 },
  );
});

/** Schemas whose every keyword means what it says, so that a validator can tell which values they take. */
const sane = fc.letrec<{ schema: object }>((tie) => {
  const closed = fc.constantFrom<unknown>(true, false, undefined, { type: "integer" });
  const properties = fc.dictionary(fc.constantFrom("a", "b", "c"), tie("schema"), { maxKeys: 3 });
  return {
    schema: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(
        { type: "string" },
        { type: "integer" },
        { type: ["number", "null"] },
        { enum: ["x", null, 1] },
        { const: "x" },
        {},
      ),
      fc.record(
        { type: fc.constant("object"), properties, required: fc.subarray(["a", "b"]), additionalProperties: closed },
        { requiredKeys: ["type"] },
      ),
      fc.record({ type: fc.constant("array"), items: tie("schema") }),
      fc.record({
        type: fc.constant("array"),
        prefixItems: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
        items: fc.constantFrom(true, false),
      }),
      fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
      fc.record({ allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
      fc.record({
        type: fc.constant("object"),
        properties,
        anyOf: fc.array(fc.record({ type: fc.constant("object"), properties }), { minLength: 1, maxLength: 2 }),
      }),
      fc.record({ $ref: fc.constantFrom("#/$defs/A", "#/$defs/B") }),
    ),
  };
});
const simple = fc.constantFrom<unknown>("x", "y", 1, 2.5, null, true);
const candidate = fc.oneof(
  simple,
  fc.array(fc.oneof(simple, fc.dictionary(fc.constantFrom("a", "b"), simple)), { maxLength: 3 }),
  fc.dictionary(
    fc.constantFrom("a", "b", "c", "d"),
    fc.oneof(simple, fc.array(simple, { maxLength: 2 }), fc.dictionary(fc.constantFrom("a", "b"), simple)),
    { maxKeys: 3 },
  ),
);

test("the type for a check takes every value its schema takes", () => {
  let accepted = 0;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(sane.schema, sane.schema, sane.schema, fc.array(candidate, { maxLength: 25 })), {
        minLength: 25,
        maxLength: 25,
      }),
      (cases) => {
        const shown = [];
        const calls: string[] = [];
        for (const [schema, A, B, values] of cases) {
          const inputSchema = { allOf: [schema], $defs: { A, B } };
          const taken = values.filter(validator(inputSchema));
          if (taken.length === 0) continue;
          const name: string = `t${shown.length}`;
          shown.push({ declaration: renderDeclaration({ name, inputSchema }, { form: "check" }) });
          accepted += taken.length;
          for (const json of taken) calls.push(`tools.${name}(${JSON.stringify(json)});`);
        }
        const file = renderDeclarationsFile([{ namespace: "mcp__s", name: "s", total: shown.length, shown }], {
          check: true,
        });
        expect(typeErrors(file, calls.join("\n"))).toEqual([]);
      },
    ),
    { numRuns: 30 },
  );
  expect(accepted).toBeGreaterThan(100);
});

/** Which values a schema takes. A schema that goes round in circles overflows the validator's stack: it takes nothing. */
function validator(schema: object): (json: unknown) => boolean {
  const nothing = (error: unknown) => {
    if (error instanceof RangeError) return false;
    throw error;
  };
  try {
    // Without its meta-schema, which each of these would compile anew: the schemas are made to be valid.
    const valid = new Ajv2020({ strict: false, logger: false, validateSchema: false }).compile(schema);
    return (json) => {
      try {
        return valid(json);
      } catch (error) {
        return nothing(error);
      }
    };
  } catch (error) {
    nothing(error);
    return () => false;
  }
}
