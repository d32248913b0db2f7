/** (a) Schema to TypeScript: each reported fault, from a real server's list to what a model, a stub and the wire get. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { Stub } from "../cli/pimcp.ts";
import { readTree } from "../golden.ts";
import { declared } from "../runtime/runtime-project.ts";
import { declarationErrors, stubErrors } from "../type-check.ts";
import { call, callsOf, compiledProduct } from "./product.ts";

/** A compiled project of one server `s` with these tools. */
async function serverWith(...tools: object[]) {
  const stub = new Stub({ tools });
  const work = await compiledProduct({ s: stub.entry });
  const files = readTree(join(work.project, "generated"));
  return { stub, work, files, declarations: files["codemode.d.ts"]! };
}

/** Errors in the stubs and in a program that uses the client `s`. */
function programErrors(files: Readonly<Record<string, string>>, body: string): string[] {
  return stubErrors({ ...files, "program.ts": `import { s } from "./index.js";\n${body}\n` });
}

test("json2ts #482, #376: a recursive $ref with a description beside it is finite, and the same each time", async () => {
  const node = {
    type: "object",
    required: ["name"],
    properties: { name: { type: "string" }, inverse: { $ref: "#/$defs/Node", description: "The other way round" } },
  };
  const tool = declared(
    "link",
    { type: "object", properties: { node: { $ref: "#/$defs/Node" } }, $defs: { Node: node } },
    { outputSchema: { $ref: "#/definitions/Node", definitions: { Node: inDefinitions(node) }, type: "object" } },
  );
  const { work, files, declarations } = await serverWith(tool);
  // Twice more in this process, on lists that the server sends anew.
  for (let n = 0; n < 2; n++) {
    await work.compileInProcess();
    expect(readTree(join(work.project, "generated"))).toEqual(files);
  }
  const deep = `s.link({ node: { name: "a", inverse: { name: "b", inverse: { name: "c" } } } });`;
  expect(
    programErrors(files, `const { structured } = await ${deep}\nstructured.inverse?.inverse?.name.trim();`),
  ).toEqual([]);
  expect(programErrors(files, deep.replace(`name: "c"`, "name: 1"))).toHaveLength(1);
  const script = `await tools.mcp__s__link({ node: { name: "a", inverse: { name: "b", inverse: { name: "c" } } } });`;
  expect(declarationErrors(declarations, script)).toEqual([]);
  expect(declarationErrors(declarations, script.replace(`name: "c"`, "name: 1"))).toHaveLength(1);
  expect(declarations).toContain("The other way round");
});

function inDefinitions(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll("#/$defs/", "#/definitions/"));
}

test("router #199, SDK #1563: 25 levels of diamond refs stay small, in types, declarations and calls", async () => {
  const level = (n: number) => {
    const next = { $ref: `#/$defs/L${n + 1}` };
    return n === 24 ? { type: "string" } : { type: "object", properties: { a: next, b: next } };
  };
  const $defs = Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`L${n}`, level(n)]));
  const schema = { type: "object", properties: { top: { $ref: "#/$defs/L0" } }, $defs };
  const { work, stub, files, declarations } = await serverWith(declared("deep", schema, { outputSchema: schema }));
  const budget = JSON.parse(files["budget.json"]!);
  expect(budget.tools["mcp__s__deep"].declared).toBe(true);
  expect(declarations.length).toBeLessThanOrEqual(budget.inlineBudget * budget.charsPerToken);
  expect(files["servers/s.ts"]!.length).toBeLessThan(20_000);
  const deep = (leaf: string) => `{ top: ${"{ b: { a: ".repeat(12)}${leaf}${" } }".repeat(12)} }`;
  expect(programErrors(files, `await s.deep(${deep('"leaf"')});`)).toEqual([]);
  expect(declarationErrors(declarations, `await tools.mcp__s__deep(${deep('"leaf"')});`)).toEqual([]);
  // No type is lost at the bottom, and the call checks every level.
  expect(programErrors(files, `await s.deep(${deep("5")});`)).toHaveLength(1);
  const asJson = (leaf: string) => deep(leaf).replace(/(\w+):/g, '"$1":');
  expect((await call(work, ["s", "deep"], asJson('"leaf"'))).code).toBe(0);
  const refused = await call(work, ["s", "deep"], asJson("5"));
  expect(refused.code).toBe(1);
  expect(refused.json.error.message).toMatch(/expected string, got 5/);
  expect(callsOf(stub)).toHaveLength(1);
});

test("json2ts #692, #540; pi #11308: odd enum values, and properties called __proto__, description and $ref", async () => {
  const values = ["", "9lives", 'say "hi"', "two\nlines", null];
  const properties = JSON.parse(
    `{ "__proto__": { "type": "string" }, "description": { "type": "string" }, "$ref": { "type": "string" } }`,
  );
  const tool = declared("odd", { type: "object", properties: { ...properties, kind: { enum: values } } });
  const { work, stub, files, declarations } = await serverWith(tool);
  const members = `["__proto__"]: "p", description: "d", $ref: "r"`;
  for (const value of values) {
    const args = `{ ${members}, kind: ${JSON.stringify(value)} }`;
    expect(programErrors(files, `await s.odd(${args});`)).toEqual([]);
    expect(declarationErrors(declarations, `await tools.mcp__s__odd(${args});`)).toEqual([]);
  }
  const wrong = [
    `{ kind: "other" }`,
    `{ kind: "9Lives" }`,
    `{ ["__proto__"]: 1 }`,
    `{ description: 1 }`,
    `{ $ref: 1 }`,
  ];
  for (const args of wrong) {
    expect(programErrors(files, `await s.odd(${args});`), args).toHaveLength(1);
    expect(declarationErrors(declarations, `await tools.mcp__s__odd(${args});`), args).toHaveLength(1);
  }
  const sent = `{"__proto__":"p","description":"d","$ref":"r","kind":"two\\nlines"}`;
  expect((await call(work, ["s", "odd"], sent)).code).toBe(0);
  expect(JSON.stringify(callsOf(stub)[0]!.arguments)).toBe(sent);
  const words = ["__proto__=p", "description=d", "$ref=r", "kind=9lives"];
  expect((await work.run("call", "s", "odd", ...words)).code).toBe(0);
  expect(JSON.stringify(callsOf(stub)[1]!.arguments)).toBe(sent.replace("two\\nlines", "9lives"));
  const typed = (await call(work, ["s", "odd"], `{"__proto__":1}`)).json.error.message;
  expect(typed).toMatch(/__proto__.*expected string, got 1/);
});

test("json2ts #369: an allOf that holds only if/then leaves a closed object closed", async () => {
  const { files, declarations } = await serverWith(
    declared("switch", {
      type: "object",
      additionalProperties: false,
      properties: { on: { type: "boolean" }, host: { type: "string" } },
      required: ["on"],
      // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
      allOf: [{ if: { properties: { on: { const: true } } }, then: { required: ["host"] } }],
    }),
  );
  const rows: [string, number][] = [
    [`{ on: true, host: "h" }`, 0],
    ["{ on: false }", 0],
    [`{ host: "h" }`, 1],
    [`{ on: "yes" }`, 1],
    ["{ on: false, host: 1 }", 1],
    ["{ on: false, extra: 1 }", 1],
  ];
  for (const [args, errors] of rows) {
    expect(programErrors(files, `await s.switch_(${args});`), args).toHaveLength(errors);
    expect(declarationErrors(declarations, `await tools.mcp__s__switch(${args});`), args).toHaveLength(errors);
  }
});

test("Dokploy/mcp #74, qwen-code #7782: draft-04 exclusiveMinimum, items: true and a property that is false", async () => {
  const { work, stub, files, declarations } = await serverWith(
    declared("draft", {
      type: "object",
      properties: {
        n: { type: "integer", minimum: 0, exclusiveMinimum: true },
        list: { type: "array", items: true },
        never: false,
      },
    }),
  );
  expect(declarations).toMatch(/n\?: int \/\/ .*> 0/);
  expect(files["servers/s.ts"]).toMatch(/> 0\b.*\n\s*n\?: number/);
  expect(programErrors(files, `await s.draft({ n: 1, list: [1, "two", null] });`)).toEqual([]);
  const script = (args: string) => declarationErrors(declarations, `await tools.mcp__s__draft(${args});`);
  expect(script(`{ n: 1, list: [1, "two", null] }`)).toEqual([]);
  for (const wrong of ["{ list: 1 }", "{ never: 1 }", `{ n: "1" }`]) {
    expect(programErrors(files, `await s.draft(${wrong});`), wrong).toHaveLength(1);
    expect(script(wrong), wrong).toHaveLength(1);
  }
  expect((await call(work, ["s", "draft"], { n: 1, list: [1, "two"] })).code).toBe(0);
  expect((await call(work, ["s", "draft"], { n: 0 })).json.error.message).toMatch(/expected integer > 0, got 0/);
  expect((await call(work, ["s", "draft"], { never: 1 })).code).toBe(1);
  expect(callsOf(stub)).toHaveLength(1);
});
