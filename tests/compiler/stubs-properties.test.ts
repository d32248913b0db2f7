/**
 * Random schemas: whatever they are, the type parses and type-checks, and a value that ajv says the schema accepts is
 * assignable to it. Values are made from the schema, and their types aren't fresh, so extra properties are no error.
 */
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { ts } from "ts-morph";
import { expect, test } from "vitest";
import { declared, typeErrors, valueType } from "./stubs-checker.ts";

type Schema = boolean | { [keyword: string]: unknown };

// Without `__proto__`, which ajv doesn't look at.
const NAMES = ["a", "b", "two words", "constructor", "toString", "description", "$ref", "type", "9", "é"];
const name = fc.constantFrom(...NAMES);
const literal = fc.constantFrom<unknown>(
  "",
  "x",
  'q"`${y}',
  "*/",
  "\u2028",
  "\u202e",
  0,
  -1,
  1.5,
  true,
  false,
  null,
  [],
  [1],
  { k: "v" },
);

function record(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const [key, value] of entries)
    Object.defineProperty(made, key, { value, enumerable: true, writable: true, configurable: true });
  return made;
}

const members = (schema: fc.Arbitrary<Schema>) =>
  fc.uniqueArray(fc.tuple(name, schema), { maxLength: 4, selector: ([key]) => key }).map(record);

const { schema: schemas } = fc.letrec<{ schema: Schema }>((tie) => {
  const inner = tie("schema");
  const types = fc.constantFrom("string", "number", "integer", "boolean", "null", "object", "array");
  return {
    schema: fc.oneof(
      { maxDepth: 4, depthIdentifier: "schema" },
      fc.record<Record<string, unknown>>({ type: types }),
      fc.record({ type: fc.uniqueArray(types, { minLength: 1, maxLength: 3 }) }),
      fc.record({ enum: fc.uniqueArray(literal, { minLength: 1, maxLength: 4 }) }),
      fc.record({ const: literal }),
      fc.record({ $ref: fc.constantFrom("#/$defs/D0", "#/$defs/D1", "#") }),
      fc.record({ type: fc.constant("string"), minLength: fc.nat(3), format: fc.constant("*/") }),
      fc.record(
        {
          type: fc.constantFrom("object", ["object", "null"]),
          properties: members(inner),
          required: fc.uniqueArray(name, { maxLength: 2 }),
          additionalProperties: fc.oneof(fc.boolean(), inner),
          patternProperties: fc.record({ "^x": inner }),
          minProperties: fc.nat(2),
          allOf: fc.array(inner, { minLength: 1, maxLength: 2 }),
          anyOf: fc.array(inner, { minLength: 1, maxLength: 3 }),
          description: fc.constant("*/ evil() /* @deprecated"),
        },
        { requiredKeys: ["type"] },
      ),
      fc.record({ type: fc.constant("object"), oneOf: fc.array(inner, { minLength: 1, maxLength: 3 }) }),
      fc.record(
        {
          type: fc.constant("array"),
          items: inner,
          prefixItems: fc.array(inner, { minLength: 1, maxLength: 3 }),
          minItems: fc.nat(3),
          maxItems: fc.nat(4),
        },
        { requiredKeys: ["type"] },
      ),
      fc.record({ anyOf: fc.array(inner, { minLength: 1, maxLength: 3 }) }),
      fc.record(
        { allOf: fc.array(inner, { minLength: 1, maxLength: 2 }), if: inner, not: inner },
        { requiredKeys: ["allOf"] },
      ),
      fc.boolean(),
    ) as fc.Arbitrary<Schema>,
  };
});

const documents = fc.tuple(schemas, schemas, schemas).map(([root, D0, D1]) => {
  const $defs = { D0, D1 };
  return typeof root === "boolean" ? { allOf: [root], $defs } : { ...root, $defs };
});

/** A value that has a fair chance to satisfy the schema; `pick` chooses below a bound. */
function valueFor(schema: unknown, root: Record<string, unknown>, pick: (bound: number) => number, depth = 0): unknown {
  if (typeof schema !== "object" || schema === null) return ["x", 1, null, {}][pick(4)];
  const node = schema as Record<string, unknown>;
  const again = (member: unknown) => valueFor(member, root, pick, depth + 1);
  if (depth > 5) return [null, "x", 1, {}, []][pick(5)];
  if (Array.isArray(node["enum"])) return node["enum"][pick(node["enum"].length)];
  if ("const" in node) return node["const"];
  if (typeof node["$ref"] === "string") {
    const target = node["$ref"] === "#" ? root : (root["$defs"] as Record<string, unknown>)[node["$ref"].slice(8)];
    return again(target);
  }
  const type = Array.isArray(node["type"]) ? node["type"][pick(node["type"].length)] : node["type"];
  if (type === "string") return "xyz".slice(0, pick(4));
  if (type === "number" || type === "integer") return pick(3);
  if (type === "boolean") return pick(2) === 1;
  if (type === "null") return null;
  if (type === "array") return arrayFor(node, again, pick);
  const branch = [node["allOf"], node["anyOf"], node["oneOf"]]
    .filter(Array.isArray)
    .map((list) => again(list[pick(list.length)]));
  if (type !== "object") return branch[0] ?? null;
  return objectFor(node, branch, again, pick);
}

function arrayFor(
  node: Record<string, unknown>,
  again: (member: unknown) => unknown,
  pick: (bound: number) => number,
): unknown[] {
  const prefix = Array.isArray(node["prefixItems"]) ? node["prefixItems"] : [];
  const items = "items" in node ? node["items"] : true;
  return Array.from({ length: pick(5) }, (_, index) => again(index < prefix.length ? prefix[index] : items));
}

function objectFor(
  node: Record<string, unknown>,
  branches: readonly unknown[],
  again: (member: unknown) => unknown,
  pick: (bound: number) => number,
): unknown {
  const required = Array.isArray(node["required"]) ? node["required"] : [];
  const declaredNames = Object.entries(node["properties"] ?? {});
  const entries: [string, unknown][] = branches.flatMap((branch) =>
    typeof branch === "object" && branch !== null ? Object.entries(branch) : [],
  );
  for (const [key, member] of declaredNames) if (required.includes(key) || pick(2)) entries.push([key, again(member)]);
  for (const key of required)
    if (!declaredNames.some(([known]) => known === key)) entries.push([key, again(node["additionalProperties"])]);
  if (pick(3) === 0) entries.push([["extra", "xray"][pick(2)]!, again(node["additionalProperties"])]);
  return record(entries);
}

const documentsWithValues = fc
  .tuple(documents, fc.array(fc.nat(1 << 20), { minLength: 400, maxLength: 400 }))
  .map(([schema, numbers]) => {
    let next = 0;
    const pick = (bound: number) => numbers[next++ % numbers.length]! % bound;
    // Without its meta-schema, which each of these would compile anew: the schemas are made to be valid.
    const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false });
    const validate = compiled(ajv, schema);
    const values = Array.from({ length: 12 }, () => valueFor(schema, schema, pick)).filter(validate);
    return { schema, values };
  });

/** What ajv says; nothing is accepted where it throws: at references in a circle, or comparing an object with a `toString`. */
function compiled(ajv: Ajv2020, schema: object): (value: unknown) => boolean {
  const unless = <T>(run: () => T, otherwise: T): T => {
    try {
      return run();
    } catch (error) {
      if (error instanceof RangeError || error instanceof TypeError) return otherwise;
      throw error;
    }
  };
  const validate = unless(() => ajv.compile(schema), undefined);
  return (value) => validate !== undefined && unless(() => validate(value) === true, false);
}

/**
 * TypeScript refuses an object that shares no name with a type whose names are all optional. That is a lint, not
 * assignability: here every object has one more member, `shared`, whose type in values fits everything.
 */
function withShared(types: string): string {
  const file = ts.createSourceFile("types.ts", types, ts.ScriptTarget.ESNext, true);
  const starts: number[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTypeLiteralNode(node) && !node.members.some(ts.isIndexSignatureDeclaration))
      starts.push(node.getStart() + 1);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return [0, ...starts].map((start, index) => types.slice(start, starts[index])).join(" shared?: unknown; ");
}

test("types of random schemas check, and accept what ajv accepts", { timeout: 1_200_000 }, async () => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(documentsWithValues, { minLength: 25, maxLength: 25 }), async (cases) => {
      const parts = await Promise.all(
        cases.map(async ({ schema, values }, index) => {
          const type = await declared(schema, "output", `T${index}_`);
          const uses = values.map(
            (value, each) =>
              `declare const v${index}_${each}: ${valueType(value, "shared: never; ")}; export const t${index}_${each}: T${index}_ = v${index}_${each};`,
          );
          accepted += values.length;
          return [withShared(type), ...uses].join("\n");
        }),
      );
      const errors = typeErrors(parts.join("\n"));
      const guilty = /T(\d+)_/.exec(errors[0] ?? "")?.[1];
      expect(
        errors.slice(0, 3),
        guilty === undefined ? "" : `${JSON.stringify(cases[Number(guilty)]!.schema)}\n${parts[Number(guilty)]}`,
      ).toEqual([]);
    }),
    { numRuns: Number(process.env["FC_RUNS"] ?? 12), endOnFailure: true },
  );
  // The property says nothing about values that were never made.
  expect(accepted).toBeGreaterThan(300);
});
