/**
 * A compiled tool as Pi registers tools: everything but what it does and how it is drawn. Pure, from artifacts alone, so
 * that two sessions with the same artifacts register the same bytes. Server text is passed on as data, never run.
 */
import type { ToolAnnotations, ToolDefinition, ToolNamespace } from "@earendil-works/pi-coding-agent";
import type { ServerDefinition, ServerEntry, ToolEntry } from "../../../schemas/artifacts/tool-table.ts";
import type { CatalogTool } from "../../../schemas/catalog.schema.ts";
import { isRecord } from "../../../schemas/record.ts";
import { promptText } from "../discovery/section-text.ts";
import { terminalLine } from "../terminal-text.ts";
import { callResultSchema } from "./result-schema.ts";
import { usableSchema } from "./usable-schema.ts";

/** What a tool is; `execute` and the renderers are added where it is registered. */
export type ToolFields = Pick<
  ToolDefinition,
  "name" | "label" | "description" | "parameters" | "outputSchema" | "exposure" | "namespace" | "annotations"
>;

/** Pi's type for schemas is TypeBox's, whose values are plain JSON Schemas. */
type Schema = ToolDefinition["parameters"];

export interface DescribedTool {
  readonly entry: ToolEntry;
  readonly definition: CatalogTool;
  readonly namespace: ToolNamespace;
  /** Pi's, see exposure.ts. */
  readonly exposure: NonNullable<ToolDefinition["exposure"]>;
}

export function toolFields({ entry, definition, namespace, exposure }: DescribedTool): ToolFields {
  const title = definition.title ?? stringOf(definition.annotations?.["title"]);
  const annotations = annotationsOf(definition.annotations);
  return {
    name: entry.name,
    label: terminalLine(`${entry.server}/${entry.tool}`),
    description: definition.description?.trim() || title || `MCP tool ${entry.tool} of server ${entry.server}`,
    parameters: objectSchema(definition.inputSchema),
    outputSchema: callResultSchema(definition.outputSchema) as unknown as Schema,
    exposure,
    namespace,
    ...(annotations && { annotations }),
  };
}

/** The group that a server's tools are listed under. Scripts look it up by the server's own name too. */
export function namespaceFields(server: ServerEntry, definition: ServerDefinition | undefined): ToolNamespace {
  // Pi puts it under a heading as it is: more lines could pass for tools.
  const description = promptText(definition?.description ?? "");
  const instructions = definition?.instructions?.trim();
  return {
    name: server.namespace,
    aliases: [server.name],
    ...(description && { description }),
    ...(instructions && { instructions }),
  };
}

/** `inputSchema` as the object schema that Pi and model providers need; one that is no schema takes any object. */
export function objectSchema(inputSchema: unknown): Schema {
  const schema = isRecord(inputSchema) ? usableSchema(inputSchema) : {};
  const isObject = schema["type"] === "object" && isRecord(schema["properties"]);
  // The catalog's own, which nobody changes: a copy for each tool would be a third of what a session start keeps.
  if (isObject) return schema as unknown as Schema;
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  return { ...schema, type: "object", properties } as unknown as Schema;
}

const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const;

/** The hints that the server gave as booleans; undefined where it gave none. */
function annotationsOf(declared: CatalogTool["annotations"]): ToolAnnotations | undefined {
  const hints: { [K in (typeof HINTS)[number]]?: boolean } = {};
  for (const hint of HINTS) {
    const value = declared?.[hint];
    if (typeof value === "boolean") hints[hint] = value;
  }
  return Object.keys(hints).length > 0 ? hints : undefined;
}

function stringOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
