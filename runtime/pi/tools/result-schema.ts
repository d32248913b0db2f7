/**
 * The JSON Schema of what a script gets from an MCP tool: the whole `CallToolResult` without `_meta`, with the tool's
 * own `outputSchema` as the schema of `structuredContent`. References of that schema are made to lead to the same places
 * from there. Pure; a schema that is no schema leaves `structuredContent` open.
 */
import { isRecord } from "../../../schemas/record.ts";

type Members = Readonly<Record<string, unknown>>;

/** Blocks in one compact form, because it stands in the declaration of every tool. */
const CONTENT_BLOCK: Members = {
  type: "object",
  properties: {
    type: { enum: ["text", "image", "audio", "resource_link", "resource"] },
    text: { type: "string" },
    data: { type: "string" },
    mimeType: { type: "string" },
  },
  required: ["type"],
  additionalProperties: true,
};

/** Of the many tools that declare no output: one object for all of them. */
const OPEN_RESULT = resultWith({});

const STRUCTURED_POINTER = "#/properties/structuredContent";

/** Keywords whose values are data: a member `$ref` in them refers to nothing. */
const DATA_KEYWORDS = new Set(["const", "enum", "default", "examples"]);
/** Keywords whose members are named by the schema's author, not by JSON Schema. */
const NAMED_KEYWORDS = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "dependencies",
  "$defs",
  "definitions",
]);

export function callResultSchema(outputSchema: unknown): Members {
  return isRecord(outputSchema) ? resultWith(moved(outputSchema)) : OPEN_RESULT;
}

function resultWith(structured: unknown): Members {
  return {
    type: "object",
    properties: {
      content: { type: "array", items: CONTENT_BLOCK },
      structuredContent: structured,
      isError: { type: "boolean" },
    },
    required: ["content"],
    additionalProperties: true,
  };
}

/** `schema` with its references to itself leading below `structuredContent`. */
function moved(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(moved);
  if (!isRecord(schema)) return schema;
  return mapMembers(schema, (keyword, value) => {
    if (keyword === "$ref") return movedReference(value);
    if (DATA_KEYWORDS.has(keyword)) return value;
    if (NAMED_KEYWORDS.has(keyword) && isRecord(value)) return mapMembers(value, (_name, member) => moved(member));
    return moved(value);
  });
}

function movedReference(reference: unknown): unknown {
  if (reference === "#") return STRUCTURED_POINTER;
  if (typeof reference !== "string" || !reference.startsWith("#/")) return reference;
  return STRUCTURED_POINTER + reference.slice(1);
}

/** `Object.fromEntries` defines members, so one named `__proto__` stays a member. */
function mapMembers(record: Members, change: (key: string, value: unknown) => unknown): Members {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(key, value)]));
}
