/** Whole stub files: their form, their names, what hostile text can't do, and what the cache spares. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ts } from "ts-morph";
import { describe, expect, test } from "vitest";
import { renderStub } from "../../compiler/stubs/stub-file.ts";
import { renderIndex, stubPaths } from "../../compiler/stubs/stub-index.ts";
import { type CachedType, createTypeSource, isCachedType, memoryCache } from "../../compiler/stubs/type-source.ts";
import type { CatalogServer, CatalogTool } from "../../schemas/catalog.schema.ts";
import { foldIdentifiers } from "../../schemas/names.ts";
import { stubErrors } from "./stubs-checker.ts";

type ToolInput = Partial<CatalogTool> & { tool: string };

function server(name: string, tools: readonly ToolInput[], more: Partial<CatalogServer> = {}): CatalogServer {
  const methods = foldIdentifiers(tools.map(({ tool }) => tool));
  return {
    name,
    namespace: `mcp__${name}`,
    client: foldIdentifiers([name])[0]!,
    capabilities: {},
    resources: false,
    prompts: false,
    tools: tools.map((tool, index) => ({ name: `mcp__${name}__${index}`, method: methods[index]!, ...tool })),
    ...more,
  };
}

async function stub(name: string, tools: readonly ToolInput[], more: Partial<CatalogServer> = {}): Promise<string> {
  return (await renderStub(server(name, tools, more), createTypeSource())).value;
}

const text = { type: "string" };
const FORECAST: ToolInput = {
  tool: "get_forecast",
  title: "Forecast",
  description: "Weather of the next days.",
  inputSchema: {
    type: "object",
    properties: { location: text, days: { type: "integer", minimum: 1 } },
    required: ["location"],
    additionalProperties: false,
  },
  outputSchema: {
    type: "object",
    properties: { days: { type: "array", items: { $ref: "#/$defs/Day" } } },
    required: ["days"],
    $defs: { Day: { type: "object", properties: { high: { type: "number" } }, required: ["high"] } },
  },
};

describe("form", () => {
  test("types, one interface, one pure call", async () => {
    expect(
      await stub("weather", [FORECAST, { tool: "list-cities" }], { description: "All the weather." }),
    ).toBe(`// Made by pimcp from the tools of "weather". Do not edit; run \`pimcp compile\`.
/* eslint-disable */

import { type CallOptions, client, type ToolResult } from "pimcp/codegen/v1";

export interface GetForecastInput {
  /** (integer, >= 1) */
  days?: number;
  location: string;
}

export interface GetForecastOutput {
  days: GetForecastOutputDay[];
}

export interface GetForecastOutputDay {
  high: number;
}

export interface ListCitiesInput {
  [k: string]: unknown;
}

/** All the weather. */
export interface Weather {
  /**
   * Forecast
   *
   * Weather of the next days.
   */
  getForecast(args: GetForecastInput, options?: CallOptions): Promise<ToolResult<GetForecastOutput>>;

  listCities(args?: ListCitiesInput, options?: CallOptions): Promise<ToolResult<unknown>>;
}

export const weather: Weather = /* @__PURE__ */ client<Weather>(import.meta.url, "weather", {
  getForecast: "get_forecast",
  listCities: "list-cities",
});
`);
  });

  test("a program that uses it: right calls check, wrong ones don't", { timeout: 60_000 }, async () => {
    const files = {
      "servers/weather.ts": await stub("weather", [FORECAST, { tool: "list-cities" }]),
      "index.ts": renderIndex([{ name: "weather", client: "weather" }]),
    };
    const program = (body: string) =>
      stubErrors({
        ...files,
        "main.ts": `import { weather } from "./index.js";\nexport async function main(): Promise<void> {\n${body}\n}\n`,
      });
    expect(
      program(`
        const { structured, text, content, result } = await weather.getForecast({ location: "Oslo", days: 3 });
        const high: number | undefined = structured.days[0]?.high;
        await weather.listCities();
        await weather.listCities({}, { signal: AbortSignal.timeout(5), timeoutMs: 100, onProgress: ({ progress, total }) => console.log(progress, total) });
        const first = content[0];
        if (first?.type === "text") console.log(first.text, high, text, result.isError);
      `),
    ).toEqual([]);
    expect(program(`await weather.getForecast({ location: "Oslo", dayz: 3 });`)).toEqual([
      expect.stringContaining("dayz"),
    ]);
    expect(program(`await weather.getForecast({ days: 3 });`)).toEqual([expect.stringContaining("location")]);
    expect(program(`await weather.getForecast();`)).toEqual([expect.stringContaining("Expected 1-2 arguments")]);
    expect(program(`(await weather.getForecast({ location: "" })).structured.nights;`)).toEqual([
      expect.stringContaining("nights"),
    ]);
  });

  test("the order of tools makes no difference", async () => {
    const tools = [
      FORECAST,
      { tool: "a-b", inputSchema: { properties: { x: text } } },
      { tool: "a_b", inputSchema: { properties: { y: text } } },
    ];
    expect(await stub("s", [...tools].reverse())).toBe(await stub("s", tools));
  });

  test("a server without tools", { timeout: 60_000 }, async () => {
    expect(stubErrors({ "servers/empty.ts": await stub("empty", []), "index.ts": renderIndex([]) })).toEqual([]);
  });
});

describe("names", () => {
  test.each([
    ["client", "get"],
    ["promise", "get"],
    ["object", "get"],
    ["call-options", "get"],
    ["tool-result", "get"],
    ["get-input", "get"],
    ["9", "9"],
    ["class", "class"],
  ])("server %s with tool %s checks", { timeout: 60_000 }, async (name, tool) => {
    const source = await stub(name, [
      {
        tool,
        inputSchema: {
          type: "object",
          properties: { constructor: text, a: { $ref: "#/$defs/d" } },
          $defs: { d: { enum: [1] } },
        },
      },
    ]);
    expect(stubErrors({ "servers/x.ts": source })).toEqual([]);
  });

  test("tools with names of the language or of objects check, and keep their own names on the wire", {
    timeout: 60_000,
  }, async () => {
    const names = [
      "constructor",
      "then",
      "__proto__",
      "toString",
      "export",
      "await",
      "hasOwnProperty",
      "a.b/c",
      "天気",
      "get",
      "set",
      "",
      "\u202ex",
      "x'\"`${y}",
      "get_input",
      "get-input",
      "getInput",
    ];
    const source = await stub(
      "s",
      names.map((tool) => ({
        tool,
        inputSchema: {
          type: "object",
          properties: { a: { $ref: "#/$defs/Input" } },
          $defs: { Input: { type: "object", properties: {} } },
        },
      })),
    );
    expect(stubErrors({ "servers/s.ts": source })).toEqual([]);
    const table = callTable(source);
    expect([...table.values()].sort()).toEqual([...names].sort());
    expect(table.get("export_")).toBe("export");
    expect(table.get("then_")).toBe("then");
  });

  test("stub paths that a disk might merge get a hash", () => {
    expect([...stubPaths(["Weather", "weather", "docs", "con"]).values()]).toEqual([
      expect.stringMatching(/^servers\/Weather\.[0-9a-f]{6}\.ts$/),
      expect.stringMatching(/^servers\/weather\.[0-9a-f]{6}\.ts$/),
      "servers/docs.ts",
      expect.stringMatching(/^servers\/_con\.[0-9a-f]{6}\.ts$/),
    ]);
    const folded = [...stubPaths(["Weather", "weather"]).values()].map((path) => path.toLowerCase());
    expect(new Set(folded).size).toBe(2);
    expect(
      renderIndex([
        { name: "b", client: "b" },
        { name: "a-a", client: "aA" },
      ]),
    ).toBe(
      '// Made by pimcp. Do not edit; run `pimcp compile`.\nexport { aA } from "./servers/a-a.js";\nexport { b } from "./servers/b.js";\n',
    );
  });
});

/** Method → tool of the constant's table. */
function callTable(source: string): Map<string, string> {
  const file = ts.createSourceFile("s.ts", source, ts.ScriptTarget.ESNext, true);
  const table = new Map<string, string>();
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node))
      table.set((node.name as ts.Identifier).text, (node.initializer as ts.StringLiteral).text);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return table;
}

/** Kinds of statements, and every comment, of a stub. */
function anatomy(source: string): { statements: string[]; comments: string[]; errors: number } {
  const file = ts.createSourceFile("s.ts", source, ts.ScriptTarget.ESNext, true);
  const comments: string[] = [];
  const scanner = ts.createScanner(ts.ScriptTarget.ESNext, false, ts.LanguageVariant.Standard, source);
  for (let token = scanner.scan(); token !== ts.SyntaxKind.EndOfFileToken; token = scanner.scan())
    if (token === ts.SyntaxKind.MultiLineCommentTrivia || token === ts.SyntaxKind.SingleLineCommentTrivia)
      comments.push(scanner.getTokenText());
  const { parseDiagnostics } = file as unknown as { parseDiagnostics: unknown[] };
  return {
    statements: file.statements.map((statement) => ts.SyntaxKind[statement.kind]),
    comments,
    errors: parseDiagnostics.length,
  };
}

describe("hostile text", () => {
  const hostile = [
    "*/ evil() /*",
    "* /\u200b*\u200b/ evil() //",
    "${evil()} `; evil(); `",
    '"; evil(); "',
    "\u2028evil()\u2029evil()\rnext\nline",
    "\u202e}\u2066evil\u2069 \u200f",
    "\0\u0001Root\u0002\u001b[31m",
    "$$0 $$1 $$$ $& $1",
    "@ts-ignore\n@deprecated user@example.com {@link x}",
    "\ud800 lone",
    "// @ts-nocheck\n/// <reference path='x' />",
    "]; evil(); type X = [",
    "x".repeat(2_000_000),
  ];

  test.each(hostile.map((value) => [JSON.stringify(value).slice(0, 40), value]))(
    "%s",
    { timeout: 60_000 },
    async (_name, value) => {
      const inner = {
        type: "object",
        title: value,
        description: value,
        properties: Object.fromEntries([
          [value.slice(0, 500), { type: "string", description: value, default: value, pattern: value, format: value }],
          ["choice", { enum: [value.slice(0, 500), { [value.slice(0, 500)]: value.slice(0, 500) }], title: value }],
          ["ref", { $ref: `#/$defs/${value.slice(0, 500).replace(/~/g, "~0").replace(/\//g, "~1")}` }],
        ]),
        $defs: Object.fromEntries([
          [value.slice(0, 500), { type: "object", description: value, properties: { a: text } }],
        ]),
      };
      const source = await stub(
        "s",
        [{ tool: value.slice(0, 500), title: value, description: value, inputSchema: inner, outputSchema: inner }],
        { description: value },
      );
      const { statements, comments, errors } = anatomy(source);
      expect(errors).toBe(0);
      expect(statements.filter((kind) => kind !== "InterfaceDeclaration")).toEqual([
        "ImportDeclaration",
        "FirstStatement",
      ]);
      // Only the template's pure call runs.
      expect(callTable(source).size).toBe(1);
      expect([...callTable(source).values()]).toEqual([value.slice(0, 500)]);
      // Nothing invisible, no direction marks, no controls, nothing that isn't UTF-8.
      expect(source).not.toMatch(
        /[\0-\x09\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Cs}/u,
      );
      for (const comment of comments) expect(comment).not.toMatch(/(^|[^\\])@(?!__PURE__)/);
      expect(source.length).toBeLessThan(60_000);
      expect(stubErrors({ "servers/s.ts": source })).toEqual([]);
    },
  );
});

describe("diagnostics and cache", () => {
  test("what has no type is named with server, tool and place", async () => {
    const { diagnostics } = await renderStub(
      server("s", [
        {
          tool: "t",
          inputSchema: { type: "object", properties: { "a/b": { $ref: "https://x.example/y" }, c: { $ref: "#/no" } } },
        },
      ]),
      createTypeSource(),
    );
    expect(diagnostics).toEqual([
      expect.objectContaining({
        code: "schema-external-ref",
        severity: "info",
        server: "s",
        tool: "t",
        pointer: "/inputSchema/properties/a~1b/$ref",
      }),
      expect.objectContaining({
        code: "stub-type-unknown",
        severity: "warning",
        pointer: "/inputSchema/properties/c/$ref",
      }),
    ]);
  });

  test("a second compile takes every type from the cache, and says the same", async () => {
    const entries = new Map<string, CachedType>();
    const subject = server("s", [FORECAST, { tool: "b", inputSchema: { properties: { c: { $ref: "#/no" } } } }]);
    const first = await renderStub(subject, createTypeSource(entries));
    expect(entries.size).toBe(3);
    const stored = JSON.parse(JSON.stringify([...entries])) as [string, unknown][];
    expect(stored.every(([key, value]) => /^[0-9a-f]{64}$/.test(key) && isCachedType(value))).toBe(true);
    const again = new Map(stored as [string, CachedType][]);
    const second = await renderStub(
      subject,
      createTypeSource({ get: (key) => again.get(key), set: () => expect.unreachable("nothing is made anew") }),
    );
    expect(second).toEqual(first);
  });

  test("input and output of one schema are cached apart", async () => {
    const cache = memoryCache();
    const [input, output] = await createTypeSource(cache).typesOf([
      { schema: {}, role: "input" },
      { schema: {}, role: "output" },
    ]);
    expect(input!.declarations[0]!.text).toBe("{\n  [k: string]: unknown;\n}");
    expect(output!.declarations[0]!.text).toBe("unknown");
  });

  test.each([
    [null],
    [{}],
    [{ acceptsEmpty: true, declarations: [], remarks: [] }],
    [{ acceptsEmpty: true, declarations: [{ name: 1 }], remarks: [] }],
    [{ acceptsEmpty: true, declarations: [{ name: "", comment: "", text: "x" }] }],
  ])("%j is no cached type", (value) => expect(isCachedType(value)).toBe(false));

  test("with everything cached, neither json-schema-to-typescript nor TypeScript is loaded", () => {
    const script = `
      const { registerHooks } = await import("node:module");
      const loaded = [];
      registerHooks({ resolve(specifier, context, next) { loaded.push(specifier); return next(specifier, context); } });
      const { renderStub } = await import("./compiler/stubs/stub-file.ts");
      const { createTypeSource } = await import("./compiler/stubs/type-source.ts");
      const type = { declarations: [{ name: "", comment: "", text: "{\\n  a: string;\\n}" }], acceptsEmpty: false, remarks: [] };
      const server = { name: "s", namespace: "", client: "s", capabilities: {}, resources: false, prompts: false, tools: [{ name: "", tool: "t", method: "t", inputSchema: {} }] };
      const { value } = await renderStub(server, createTypeSource({ get: () => type, set() {} }));
      console.log(JSON.stringify({ made: value.includes("a: string"), packages: loaded.filter((name) => !name.startsWith(".") && !name.startsWith("node:")) }));
    `;
    const node = fileURLToPath(new URL("../../node_modules/node/bin/node", import.meta.url));
    const { stdout, stderr } = spawnSync(
      node,
      ["--experimental-strip-types", "--no-warnings", "--input-type=module", "-e", script],
      {
        cwd: fileURLToPath(new URL("../../", import.meta.url)),
        encoding: "utf8",
      },
    );
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual({ made: true, packages: [] });
  });
});
