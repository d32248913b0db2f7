/** A tool's whole declaration: comment, arguments, result, caps, hostile text. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  type DeclarableTool,
  INPUT_CHARS,
  OUTPUT_CHARS,
  renderDeclaration,
  renderDescription,
  TOOL_DESCRIPTION_CHARS,
} from "../../compiler/render/declaration.ts";
import {
  declarationTokens,
  renderDeclarationsFile,
  renderPreamble,
  serverLine,
  tokensOf,
} from "../../compiler/render/declarations-file.ts";
import { typeErrors } from "./render-typescript.ts";

function fileOf(tools: readonly DeclarableTool[], form: "compact" | "full" | "check" = "compact"): string {
  const shown = tools.map((tool) => ({ declaration: renderDeclaration(tool, { form }) }));
  const server = { namespace: "mcp__s", name: "s", total: tools.length, shown };
  return renderDeclarationsFile([server], { check: form === "check" });
}

const forecast: DeclarableTool = {
  name: "mcp__weather__get_forecast",
  description: "Get the forecast.",
  inputSchema: {
    type: "object",
    properties: {
      location: { type: "string", description: "City" },
      days: { type: "integer", minimum: 1, maximum: 14, default: 3 },
    },
    required: ["location"],
  },
  outputSchema: {
    type: "object",
    properties: { temp: { type: "number", minimum: -90 }, at: { type: "string", format: "date-time" } },
    required: ["temp"],
    additionalProperties: false,
  },
};

describe("a declaration", () => {
  test("has the description, the arguments and the result", () => {
    expect(renderDeclaration(forecast).text).toBe(`// Get the forecast.
mcp__weather__get_forecast(args: {
 days?: int // [1..14, default 3]
 location: string // City
}): R<{
 at?: string // [date-time]
 temp: number
}>;`);
  });

  test("for a check has no comments, and open objects say so", () => {
    expect(renderDeclaration(forecast, { form: "check" }).text).toBe(
      "mcp__weather__get_forecast(args: {days?: int; location: string; [k: string]: any}): R<{at?: string; temp: number}>;",
    );
  });

  test.each<[string, unknown, string, string]>([
    ["no properties", { type: "object", properties: {} }, "", "args?: {[k: string]: any}"],
    ["closed and empty", { type: "object", additionalProperties: false }, "", "args?: {}"],
    ["anything", { type: "object", additionalProperties: true }, "args?: object", "args?: {[k: string]: any}"],
    ["none declared", undefined, "args?: object", "args?: any"],
    ["all optional", { properties: { a: {} } }, "args?: {a?: unknown}", "args?: {a?: any; [k: string]: any}"],
    ["null", null, "args: unknown", "args: any"],
    [
      "a map",
      { type: "object", additionalProperties: { type: "string" } },
      "args?: {[k: string]: string}",
      "args?: {[k: string]: string}",
    ],
  ])("without arguments worth naming: %s", (_, inputSchema, compact, check) => {
    expect(renderDeclaration({ name: "t", inputSchema }).text).toBe(`t(${compact}): R;`);
    expect(renderDeclaration({ name: "t", inputSchema }, { form: "check" }).text).toBe(`t(${check}): R;`);
  });

  test("of a name that is no identifier is quoted", () => {
    expect(renderDeclaration({ name: "a-b", inputSchema: { type: "object" } }).text).toBe('"a-b"(): R;');
  });

  test("in full has whole descriptions and every constraint", () => {
    const long = "Word ".repeat(1000).trim();
    const tool = {
      name: "t",
      description: `First.\n\n${long}`,
      inputSchema: { type: "object", properties: { a: { type: "boolean", default: false, description: long } } },
    };
    expect(renderDescription(tool)).toBe(
      `// First.\n// ${long}\nt(args?: {\n a?: boolean // ${long} [default false]\n}): R;`,
    );
  });

  test("does not depend on the order of keys", () => {
    const backwards = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(backwards);
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, member]) => [key, backwards(member)]),
      );
    };
    for (const tool of recorded())
      expect(renderDeclaration(backwards(tool) as DeclarableTool)).toEqual(renderDeclaration(tool));
  });
});

describe("text of a hostile server", () => {
  const hostile =
    "a */ b\n// c\r\nd\u2028e\u2029f `${x}` </script> \u202egnp.exe\u202c \u2066z\u2069 q\u200b\u200e\u200f\ufeff \u0000\u001b[31m\u0007 \u{e0041}\u{e0042} \ud800 @deprecated";
  const tool: DeclarableTool = {
    name: "mcp__s__t",
    description: hostile,
    inputSchema: {
      type: "object",
      properties: {
        [hostile]: { enum: [hostile], description: hostile, format: hostile, pattern: hostile, default: hostile },
      },
    },
    outputSchema: { type: "object", properties: { a: { const: hostile, description: hostile } } },
  };

  test("stays inside its comment or literal, and shows what it hides", () => {
    const { text } = renderDeclaration(tool);
    expect(text.split("\n")[0]).toBe("// a */ b // c d e f `${x}` </script> gnp.exe z q [31m @deprecated");
    expect(text).not.toMatch(
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Cs}/u,
    );
    expect(text).toContain("\\u202egnp.exe");
    expect(typeErrors(fileOf([tool]))).toEqual([]);
    expect(typeErrors(fileOf([tool], "full"))).toEqual([]);
  });

  test("keeps emoji and scripts that need joiners", () => {
    const description = "👩‍💻 مرحبا नमस्ते ☎️";
    expect(renderDeclaration({ name: "t", description }).text).toBe(`// ${description}\nt(args?: object): R;`);
  });

  test("is cut after a sentence, else after a word, never inside a character", () => {
    const first = (text: string) => renderDeclaration({ name: "t", description: text }).text.split("\n")[0]!;
    const sentence = `${"Some words here. ".repeat(60)}`;
    expect(first(sentence)).toMatch(/here\. …$/);
    expect(first("word ".repeat(400))).toMatch(/word…$/);
    expect(first("😀".repeat(600))).toMatch(/^\/\/ (😀)+…$/u);
    for (const text of [sentence, "word ".repeat(400), "😀".repeat(600), "x".repeat(5000)]) {
      expect(first(text).length).toBeLessThanOrEqual(TOOL_DESCRIPTION_CHARS + "// ".length + 2);
    }
  });

  test("of megabytes costs what its shown part costs", () => {
    const time = (description: string) => {
      const start = process.hrtime.bigint();
      for (let round = 0; round < 200; round++) renderDeclaration({ name: "t", description });
      return Number(process.hrtime.bigint() - start);
    };
    const medium = "words \u200b and\n".repeat(400);
    const large = "words \u200b and\n".repeat(200_000);
    time(medium);
    // 500 times the text: linear work would show as about 500.
    expect(time(large) / time(medium)).toBeLessThan(50);
    expect(renderDeclaration({ name: "t", description: " ".repeat(3_000_000) }).text).toBe("t(args?: object): R;");
  });
});

describe("a schema too large to show", () => {
  const wide = (count: number, value: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`property_${n}`, value]));
  const nested = (depth: number): object =>
    depth === 0 ? { type: "string" } : { type: "object", properties: wide(5, nested(depth - 1)) };
  const diamond = (levels: number) => {
    const $defs: Record<string, unknown> = { [`L${levels}`]: { type: "string" } };
    for (let n = 0; n < levels; n++) {
      const next = { $ref: `#/$defs/L${n + 1}` };
      $defs[`L${n}`] = { type: "object", properties: { a: next, b: next } };
    }
    return { type: "object", properties: { top: { $ref: "#/$defs/L0" } }, $defs };
  };

  test.each<[string, object, RegExp]>([
    [
      "descriptions",
      { properties: wide(60, { type: "string", description: "Many words about it. ".repeat(12) }) },
      /shown with short descriptions$/,
    ],
    [
      "more descriptions",
      { properties: wide(150, { type: "string", description: "Many words about it. ".repeat(12) }) },
      /shown without descriptions$/,
    ],
    [
      "constraints",
      { properties: wide(220, { type: "string", pattern: "^[a-z]{1,20}$", minLength: 1 }) },
      /shown without descriptions and constraints$/,
    ],
    ["depth", nested(7), /levels, without descriptions and constraints$/],
    ["properties", { properties: wide(5_000, nested(2)) }, /some of its own properties only$/],
    ["names", { properties: { ["x".repeat(20_000)]: { type: "string" } } }, /as what kind of value it is$/],
  ])("loses %s first, and says so", (_, schema, says) => {
    const tool = { name: "t", inputSchema: { type: "object", ...schema } };
    const { text, types, notes } = renderDeclaration(tool);
    expect(notes).toHaveLength(1);
    expect(notes[0]).toMatchObject({ kind: "degraded", pointer: "/inputSchema", message: expect.stringMatching(says) });
    expect(text.length + types.join().length).toBeLessThanOrEqual(INPUT_CHARS + 200);
    expect(text).not.toMatch(/args\??: unknown/);
    expect(typeErrors(fileOf([tool]))).toEqual([]);
  });

  test("names required properties first and counts the rest", () => {
    const inputSchema = { type: "object", properties: wide(5_000, {}), required: ["property_4999"] };
    const { text } = renderDeclaration({ name: "t", inputSchema });
    expect(text).toContain("\n property_4999: unknown\n property_0?: unknown\n");
    expect(text).toContain("[k: string]: unknown // 4940 more");
  });

  test("cuts deep objects to a count", () => {
    const { text, notes } = renderDeclaration({ name: "t", outputSchema: nested(6) });
    expect(text).toContain("property_0?: object /* 5 properties */");
    expect(notes[0]!.message).toBe(
      `result: longer than ${OUTPUT_CHARS} characters, shown down to 2 levels, without descriptions and constraints`,
    );
  });

  test("of crossing references stays linear and whole", () => {
    const time = (levels: number) => {
      const inputSchema = diamond(levels);
      const start = process.hrtime.bigint();
      for (let round = 0; round < 50; round++) renderDeclaration({ name: "t", inputSchema });
      return Number(process.hrtime.bigint() - start);
    };
    time(5);
    // 2^25 against 2^5 would be a million; naming compares texts, which makes it quadratic at worst.
    expect(time(25) / time(5)).toBeLessThan(100);
    const declaration = renderDeclaration({ name: "t", inputSchema: diamond(25) });
    expect(declaration.notes).toEqual([]);
    expect(declarationTokens(declaration)).toBeLessThan(INPUT_CHARS / 4);
    const script = `const top = {${"a: {".repeat(24)}a: 5${"}".repeat(24)}}; await tools.t({ top });`;
    expect(typeErrors(fileOf([{ name: "t", inputSchema: diamond(25) }]), script)).toHaveLength(1);
    expect(typeErrors(fileOf([{ name: "t", inputSchema: diamond(25) }]), script.replace("5", "'x'"))).toEqual([]);
  });

  test("of nested arrays, objects, unions and merges, however deep, ends", () => {
    const deep = (wrap: (inner: unknown) => unknown, depth: number) => {
      let schema: unknown = { type: "string" };
      for (let n = 0; n < depth; n++) schema = wrap(schema);
      return schema;
    };
    for (const wrap of [
      (items: unknown) => ({ type: "array", items }),
      (a: unknown) => ({ type: "object", properties: { a } }),
      (additionalProperties: unknown) => ({ type: "object", additionalProperties }),
      (inner: unknown) => ({ anyOf: [inner, { type: "null" }] }),
      (inner: unknown) => ({ allOf: [inner, { type: "object", properties: { a: inner } }] }),
      (inner: unknown) => ({ type: "array", prefixItems: [inner, inner] }),
    ]) {
      const tool = { name: "t", inputSchema: deep(wrap, 2_000), outputSchema: deep(wrap, 2_000) };
      const { text, notes } = renderDeclaration(tool);
      expect(text.length).toBeLessThan(INPUT_CHARS + OUTPUT_CHARS + 100);
      expect(notes.length).toBeGreaterThan(0);
      expect(typeErrors(fileOf([tool]))).toEqual([]);
    }
  });
});

test("values nested a hundred thousand levels deep end nothing but themselves", () => {
  const deep = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`);
  const inputSchema = {
    type: "object",
    properties: {
      a: { default: deep },
      b: { const: deep },
      c: { allOf: [{ enum: [deep] }, { enum: [deep, 1] }] },
      d: deep,
    },
    $defs: { e: deep },
    required: deep,
  };
  const { text } = renderDeclaration({
    name: "t",
    inputSchema: { ...inputSchema, properties: { ...inputSchema.properties, e: { $ref: "#x" } } },
  });
  expect(text).toMatch(/ e\?: unknown \/\* missing \$ref \*\/\n\}\): R;$/);
});

describe("codemode.d.ts", () => {
  test("names every server, counts its tools, and says what is missing", () => {
    const shown = [{ declaration: renderDeclaration(forecast) }];
    const server = { namespace: "mcp__weather", name: "weather", total: 1, shown };
    expect(serverLine(server)).toBe("// mcp__weather: 1 tool");
    expect(serverLine({ ...server, total: 3, summary: " Forecasts\u202e for \tanywhere.\nMore." })).toBe(
      "// mcp__weather: PARTIAL - 1 of 3 shown. Forecasts for anywhere.",
    );
    expect(serverLine({ namespace: "mcp__a_b", name: "a-b", total: 2, shown: [] })).toBe(
      "// mcp__a_b (a-b): PARTIAL - 0 of 2 shown",
    );
    const file = renderDeclarationsFile([{ namespace: "mcp__x", name: "x", total: 0, shown: [] }, server]);
    expect(file).toBe(
      `${renderPreamble()}declare const tools: {\n// mcp__x: 0 tools\n// mcp__weather: 1 tool\n${shown[0]!.declaration.text}\n};\n`,
    );
    expect(typeErrors(renderDeclarationsFile([]))).toEqual([]);
  });

  test("types results as scripts get them", () => {
    const file = fileOf([forecast, { name: "mcp__s__plain" }]);
    const good = `
      const r = await tools.mcp__weather__get_forecast({ location: "Oslo" });
      const t: number = r.structuredContent.temp;
      const plain = await tools.mcp__s__plain({ any: 1 });
      const text: string = plain.content[0].text;
      if (!plain.isError) return [t, text, plain.content.map((block) => block.type), plain.structuredContent];`;
    expect(typeErrors(file, good)).toEqual([]);
    expect(typeErrors(file, "await tools.mcp__weather__get_forecast({ location: 1 });")).toHaveLength(1);
    expect(typeErrors(file, "await tools.mcp__weather__get_forecast({});")).toHaveLength(1);
    expect(
      typeErrors(file, '(await tools.mcp__weather__get_forecast({ location: "" })).structuredContent.nope;'),
    ).toHaveLength(1);
  });

  test("shares equal named types and keeps different ones of one name apart", () => {
    const node = (property: string) => ({
      $ref: "#/$defs/Node",
      $defs: { Node: { type: "object", properties: { [property]: { $ref: "#/$defs/Node" } } } },
    });
    const tools = [
      { name: "a", inputSchema: node("x") },
      { name: "b", outputSchema: node("x") },
      { name: "c", inputSchema: node("y") },
    ];
    const file = fileOf(tools);
    expect(file.match(/^type Node_/gm)).toHaveLength(2);
    expect(typeErrors(file)).toEqual([]);
    // Should two texts ever share a name, the file still tells them apart.
    const forged = [
      { text: "a(args: N_1): R;", types: [{ name: "N_1", text: "type N_1 = {x: N_1};" }], notes: [] },
      { text: "b(args: N_1): R;", types: [{ name: "N_1", text: "type N_1 = {y: N_1};" }], notes: [] },
    ].map((declaration) => ({ declaration }));
    const both = renderDeclarationsFile([{ namespace: "mcp__s", name: "s", total: 2, shown: forged }]);
    expect(both).toContain("b(args: N_1_2): R;");
    expect(both).toContain("type N_1_2 = {y: N_1_2};");
    expect(typeErrors(both)).toEqual([]);
  });

  test("of recorded servers type-checks in every form, without notes, and is far shorter than their JSON", () => {
    const tools = recorded();
    for (const form of ["compact", "full", "check"] as const) expect(typeErrors(fileOf(tools, form))).toEqual([]);
    for (const tool of tools) {
      const declaration = renderDeclaration(tool);
      expect(declaration.notes).toEqual([]);
      expect(declarationTokens(declaration)).toBeLessThan(tokensOf(JSON.stringify(tool)));
    }
  });
});

function recorded(): DeclarableTool[] {
  return ["everything", "filesystem", "memory"].flatMap((server) => {
    const file = new URL(`../fixtures/tools/${server}.json`, import.meta.url);
    const { tools } = JSON.parse(readFileSync(file, "utf8")) as { tools: DeclarableTool[] };
    return tools.map((tool) => ({ ...tool, name: `mcp__${server}__${tool.name.replaceAll("-", "_")}` }));
  });
}
