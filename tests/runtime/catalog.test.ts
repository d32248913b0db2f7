/** catalog.json read tool by tool is the catalog that JSON.parse reads, in whatever layout. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { artifactJson } from "../../compiler/emit/json.ts";
import { readCatalog } from "../../schemas/artifacts/catalog.ts";
import type { CatalogFile } from "../../schemas/catalog.schema.ts";

const cases = join(import.meta.dirname, "..", "cases");

function expectSame(text: string): void {
  const whole = JSON.parse(text) as CatalogFile;
  const { version, value } = readCatalog(text);
  expect(version).toBe(whole.formatVersion);
  for (const { tools, ...definition } of whole.servers) {
    expect(value?.server(definition.name)).toEqual(definition);
    for (const tool of tools) expect(value?.tool(tool.name)).toEqual(tool);
  }
  expect(value?.tool("mcp__nobody__nothing")).toBeUndefined();
  expect(value?.server("nobody")).toBeUndefined();
}

const goldens = readdirSync(cases, { recursive: true, encoding: "utf8" }).filter((path) => /catalog\.json$/.test(path));

test("of what the compiler writes a tool is parsed when it is asked for", () => {
  const text = readFileSync(join(cases, "basic", "generated", "catalog.json"), "utf8");
  const { value } = readCatalog(text.replace('"method": ', '"method" '));
  const [first, ...others] = (JSON.parse(text) as CatalogFile).servers[0]!.tools;
  expect(value?.tool(first!.name)).toBe("unreadable");
  expect(others).not.toEqual([]);
  for (const tool of others) expect(value?.tool(tool.name)).toEqual(tool);
});

test("there are golden catalogs", () => expect(goldens.length).toBeGreaterThan(5));
test.each(goldens)("%s", (path) => expectSame(readFileSync(join(cases, path), "utf8")));

/** What a server may write where our layout has its marks. */
const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 150 }),
  fc.constantFrom("\n        }", '"tools": [\n', "\n      ]", "}", "},", '        {\n          "name": "mcp__a__b"'),
);
const schema = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 4 });
const tools = fc.uniqueArray(fc.stringMatching(/^[a-z0-9_]{1,12}$/), { maxLength: 4 }).chain((names) =>
  fc.tuple(
    ...names.map((name) =>
      fc.record(
        {
          name: fc.constant(`mcp__s__${name}`),
          method: fc.constant(name),
          tool: text,
          description: text,
          inputSchema: schema,
          _meta: schema,
        },
        { requiredKeys: ["name", "method", "tool"] },
      ),
    ),
  ),
);
const catalog = fc.tuple(fc.array(fc.tuple(text, schema), { maxLength: 3 }), tools).map(([servers, all]): unknown => ({
  formatVersion: 1,
  servers: servers.map(([description, capabilities], index) => ({
    name: `s${index}`,
    description,
    capabilities,
    tools: all.map((tool) => ({ ...tool, name: tool.name.replace("mcp__s__", `mcp__s${index}__`) })),
  })),
}));

describe("any catalog", () => {
  const layouts: [string, (value: unknown) => string][] = [
    ["as the compiler writes it", artifactJson],
    ["indented by something else", (value) => JSON.stringify(value, undefined, 2)],
    ["on one line", (value) => JSON.stringify(value)],
  ];
  test.each(layouts)("%s", (_, print) => {
    fc.assert(fc.property(catalog, (value) => expectSame(print(value))));
  });
});

describe("a catalog that nobody's compiler wrote", () => {
  const tool = (name: string, more = ""): string =>
    `        {\n          "name": "${name}",\n          "tool": "a",\n          "method": "a"${more}\n        }`;
  const file = (...tools: string[]): string =>
    `{\n  "formatVersion": 1,\n  "servers": [\n    {\n      "name": "s",\n      "tools": [\n${tools.join(",\n")}\n      ]\n    }\n  ]\n}\n`;

  test("what is no tool costs itself alone", () => {
    const { value } = readCatalog(file(tool("mcp__s__a"), tool("mcp__s__b", ", oops"), tool("mcp__s__c", ',\n"x": 1')));
    expect(value?.tool("mcp__s__a")).toMatchObject({ tool: "a" });
    expect(value?.tool("mcp__s__b")).toBe("unreadable");
    expect(value?.tool("mcp__s__c")).toMatchObject({ x: 1 });
  });

  test.each(["title", "description"])("a tool whose %s is no text is none", (member) => {
    const { value } = readCatalog(file(tool("mcp__s__a"), tool("mcp__s__b", `,\n          "${member}": 5`)));
    expect(value?.tool("mcp__s__a")).toMatchObject({ tool: "a" });
    expect(value?.tool("mcp__s__b")).toBe("unreadable");
  });

  test("a tool whose second name differs from its first is none", () => {
    const { value } = readCatalog(file(tool("mcp__s__a", ',\n          "name": "mcp__s__b"')));
    expect(value?.tool("mcp__s__a")).toBe("unreadable");
  });

  test("of two tools of one name JSON's last counts, as it does for everybody who reads the file", () => {
    const { value } = readCatalog(file(tool("mcp__s__a"), tool("mcp__s__a", ',\n          "title": "second"')));
    expect(value?.tool("mcp__s__a")).toMatchObject({ title: "second" });
  });

  test.each([
    "[]",
    "{}",
    '{"formatVersion":1,"servers":[{}]}',
    '{"formatVersion":1,"servers":[{"name":"s","tools":[1]}]}',
  ])("%s is none", (text) => expect(readCatalog(text).value).toBeUndefined());
  test("a text that breaks off is no JSON", () => {
    expect(() => readCatalog(file(tool("mcp__s__a")).slice(0, -40))).toThrow(SyntaxError);
  });
});
