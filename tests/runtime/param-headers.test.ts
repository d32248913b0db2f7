import { expect, test } from "vitest";
import { paramHeaders } from "../../runtime/connect/param-headers.ts";

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
