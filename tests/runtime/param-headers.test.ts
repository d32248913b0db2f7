import { describe, expect, test } from "vitest";
import { headerFault, paramHeaders } from "../../runtime/connect/param-headers.ts";
import { Stub } from "../cli/pimcp.ts";
import { compiled, httpStub, RuntimeProject } from "./runtime-project.ts";

const schema = {
  type: "object",
  properties: {
    region: { type: "string", "x-mcp-header": "Region" },
    limit: { type: "integer", "x-mcp-header": "Limit" },
    dry: { type: "boolean", "x-mcp-header": "Dry-Run" },
    nested: { type: "object", properties: { tenant: { type: "string", "x-mcp-header": "Tenant" } } },
    bad: { type: "string", "x-mcp-header": "two words" },
    plain: { type: "string" },
  },
};

test.each([
  [
    { region: "eu-1", limit: 3, dry: false },
    { "Mcp-Param-Region": "eu-1", "Mcp-Param-Limit": "3", "Mcp-Param-Dry-Run": "false" },
  ],
  [{ nested: { tenant: "a" }, plain: "x", bad: "y" }, { "Mcp-Param-Tenant": "a" }],
  [{ region: "größe" }, { "Mcp-Param-Region": "=?base64?Z3LDtsOfZQ==?=" }],
  [{ region: "a\r\nX-Evil: 1" }, { "Mcp-Param-Region": "=?base64?YQ0KWC1FdmlsOiAx?=" }],
  [{ region: " padded" }, { "Mcp-Param-Region": "=?base64?IHBhZGRlZA==?=" }],
  [{ region: "" }, { "Mcp-Param-Region": "=?base64??=" }],
  [{ region: null, limit: 0.5 }, {}],
  ["not an object", {}],
])("%j gives %j", (args, want) => expect(paramHeaders(schema, args)).toEqual(want));

const of = (properties: object, rest: object = {}) => ({ type: "object", properties, ...rest });
const mirrored = (header: unknown, type: unknown = "string") => ({ type, "x-mcp-header": header });
test.each<[what: string, schema: unknown, fault: string | undefined]>([
  ["nothing declared", of({ a: { type: "object" } }), undefined],
  ["no schema at all", undefined, undefined],
  [
    "each type there may be",
    of({ a: mirrored("A"), b: mirrored("B", "integer"), c: mirrored("C", "boolean") }),
    undefined,
  ],
  ["a property of a property", of({ a: of({ b: mirrored("B") }) }), undefined],
  ["a property called like a keyword", of({ items: mirrored("I"), not: mirrored("N") }), undefined],
  ["what only looks like one", of({ a: { default: mirrored("A"), examples: [mirrored("A")] } }), undefined],
  ["no name", of({ a: mirrored("") }), 'x-mcp-header of "a" is no name of a header'],
  ["not text", of({ a: mirrored(1) }), 'x-mcp-header of "a" is no name of a header'],
  ["a space", of({ a: mirrored("A B") }), 'x-mcp-header of "a" is no name of a header'],
  ["a colon", of({ a: mirrored("A:B") }), 'x-mcp-header of "a" is no name of a header'],
  ["a line end", of({ a: mirrored("A\n") }), 'x-mcp-header of "a" is no name of a header'],
  ["beyond ASCII", of({ a: mirrored("Ä") }), 'x-mcp-header of "a" is no name of a header'],
  [
    "a number",
    of({ a: mirrored("A", "number") }),
    'x-mcp-header of "a" stands on what is no string, integer or boolean',
  ],
  [
    "two types",
    of({ a: mirrored("A", ["string"]) }),
    'x-mcp-header of "a" stands on what is no string, integer or boolean',
  ],
  [
    "twice",
    of({ a: mirrored("A"), b: of({ c: mirrored("a") }) }),
    'x-mcp-header of "b.c" names a header that another property has',
  ],
  ["an element", of({ a: { items: mirrored("A") } }), 'x-mcp-header of "a" belongs to no property of its own'],
  ["an alternative", of({ a: { anyOf: [mirrored("A")] } }), 'x-mcp-header of "a" belongs to no property of its own'],
  [
    "a definition",
    of({}, { $defs: { d: of({ x: mirrored("A") }) } }),
    'x-mcp-header of "x" belongs to no property of its own',
  ],
  ["the arguments themselves", mirrored("A", "object"), 'x-mcp-header of "" belongs to no property of its own'],
])("declared on %s", (_, inputSchema, fault) => expect(headerFault(inputSchema)).toBe(fault));

describe("a tool whose declarations are invalid", () => {
  const tools = [
    { name: "sound", inputSchema: of({ a: mirrored("A") }) },
    { name: "unsound", inputSchema: of({ a: mirrored("two words") }) },
  ];
  const names = async (project: RuntimeProject) => (await project.runtime()).table.tools().map(({ tool }) => tool);

  test("is left out over Streamable HTTP, and said to be", async () => {
    const { entry } = await httpStub({ era: "modern", tools });
    const project = new RuntimeProject();
    project.servers({ s: entry });
    const found = (await project.compileInProcess()).filter(({ code }) => code === "invalid-tool");
    expect(found.map(({ tool, message }) => [tool, message])).toEqual([
      ["unsound", 'server "s": tool "unsound" is left out: its x-mcp-header of "a" is no name of a header'],
    ]);
    expect(await names(project)).toEqual(["sound"]);
  });

  test("is a tool like any other where no headers are sent", async () => {
    const legacy = await httpStub({ tools });
    expect(await names(await compiled({ s: legacy.entry }))).toEqual(["sound", "unsound"]);
    const stdio = new Stub({ era: "modern", tools });
    expect(await names(await compiled({ s: stdio.entry }))).toEqual(["sound", "unsound"]);
  });
});
