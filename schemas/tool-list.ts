/**
 * The part of a `tools/list` answer that pimcp keeps, compares and digests. The compiler writes it
 * to the catalog and the runtime compares a live list with it, so both must agree on what a tool's
 * definition is: name, title, description, schemas, annotations, execution and `_meta`; any other key
 * a server invents is no part of it.
 */
import { byCodeUnit, digestOf } from "./canonical.ts";
import { isRecord } from "./record.ts";

/** One tool's definition as declared, ill-typed members left out. */
export interface ToolDefinition {
  readonly tool: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly execution?: Readonly<Record<string, unknown>>;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** A member of a tool entry that has the wrong kind and was left out; `pointer` is relative to the entry. */
export interface IllTypedMember {
  readonly member: string;
  readonly expected: string;
}

/** Keeps what is well-typed of a tool entry and names what is not. */
export function defineTool(entry: { readonly name: string; readonly [key: string]: unknown }): {
  readonly definition: ToolDefinition;
  readonly illTyped: readonly IllTypedMember[];
} {
  const illTyped: IllTypedMember[] = [];
  const kept: Record<string, unknown> = { tool: entry.name };
  for (const [member, expected, accepts] of MEMBERS) {
    const value = Object.hasOwn(entry, member) ? entry[member] : undefined;
    if (value === undefined || value === null) continue;
    if (accepts(value)) kept[member] = member.endsWith("Schema") ? withSortedRequired(value) : value;
    else illTyped.push({ member, expected });
  }
  return { definition: kept as unknown as ToolDefinition, illTyped };
}

/** Keywords whose values are data, in which the order of a list may mean something. */
const DATA_KEYWORDS = new Set(["const", "default", "enum", "examples"]);

/** `required` is a set: servers that keep it in one send it in any order, and that is no change of the tool. */
function withSortedRequired(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withSortedRequired);
  if (typeof schema !== "object" || schema === null) return schema;
  const entries = Object.entries(schema).map(([key, value]): [string, unknown] => {
    if (DATA_KEYWORDS.has(key)) return [key, value];
    if (key === "required" && Array.isArray(value)) return [key, [...value].sort(byText)];
    return [key, withSortedRequired(value)];
  });
  // fromEntries defines members, so one named `__proto__` stays an ordinary one.
  return Object.fromEntries(entries);
}

const byText = (a: unknown, b: unknown): number => byCodeUnit(String(a), String(b));

const isSchema = (value: unknown): boolean => isRecord(value) || typeof value === "boolean";
const isString = (value: unknown): boolean => typeof value === "string";

const MEMBERS: readonly (readonly [string, string, (value: unknown) => boolean])[] = [
  ["title", "a string", isString],
  ["description", "a string", isString],
  ["inputSchema", "a JSON Schema", isSchema],
  ["outputSchema", "a JSON Schema", isSchema],
  ["annotations", "an object", isRecord],
  ["execution", "an object", isRecord],
  ["_meta", "an object", isRecord],
];

/** sha256 of a tool list, independent of the order of tools and of keys. */
export function toolListDigest(tools: readonly ToolDefinition[]): string {
  return digestOf([...tools].sort((a, b) => byCodeUnit(a.tool, b.tool)).map(definitionOf));
}

/** The members of a tool that make its definition; a catalog tool has names of ours besides. */
export function definitionOf(tool: ToolDefinition): ToolDefinition {
  const { title, description, inputSchema, outputSchema, annotations, execution, _meta } = tool;
  const definition = { tool: tool.tool, title, description, inputSchema, outputSchema, annotations, execution, _meta };
  return Object.fromEntries(
    Object.entries(definition).filter(([, value]) => value !== undefined),
  ) as unknown as ToolDefinition;
}
