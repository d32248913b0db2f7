/**
 * What tool search knows of a tool: its name, title and description, the names and descriptions of its parameters,
 * those of nested objects and behind local `$ref`s included, and what its server says of itself. Definitions that
 * nothing refers to are not searchable, nor is anything else a schema says. Linear in the size of what a server
 * sent, recursive and diamond-shaped references included, and bounded where a server sends far too much.
 */

import type { CatalogServer, CatalogTool } from "./catalog.schema.ts";
import { isRecord } from "./record.ts";

/** Text per searchable field. */
export interface SearchDocument {
  readonly name: string;
  readonly server: string;
  readonly tool: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: readonly string[];
  /** What the schema says of them. */
  readonly parameterTexts: readonly string[];
  /** The server's name, then what it says of itself in a line. */
  readonly serverText: string;
  /** How the server wants to be used. */
  readonly instructions: string;
}

/** Characters of a description that are indexed. */
const MAX_DESCRIPTION_CHARS = 8_000;
const MAX_SUMMARY_CHARS = 120;
const MAX_SERVER_LINE_CHARS = 400;
const MAX_PARAMETERS = 1_000;
/** Characters of one parameter's description, and of all of a tool's, that are indexed. */
const MAX_PARAMETER_CHARS = 500;
const MAX_PARAMETERS_CHARS = 8_000;
const MAX_INSTRUCTIONS_CHARS = 4_000;

export function searchDocument(
  server: Pick<CatalogServer, "name" | "description" | "instructions">,
  tool: Pick<CatalogTool, "name" | "tool" | "title" | "description" | "inputSchema">,
): SearchDocument {
  const { names, texts } = parametersOf(tool.inputSchema);
  const { description, instructions } = server;
  return {
    name: tool.name,
    server: server.name,
    tool: tool.tool,
    title: tool.title ?? "",
    description: (tool.description ?? "").slice(0, MAX_DESCRIPTION_CHARS),
    parameters: names,
    parameterTexts: texts,
    serverText: firstLine(description ?? instructions ?? "", MAX_SERVER_LINE_CHARS),
    instructions: (instructions ?? "").slice(0, MAX_INSTRUCTIONS_CHARS),
  };
}

/** The first line of a description with something on it, at most 120 characters of it. */
export function summaryOf(description: string): string {
  return firstLine(description, MAX_SUMMARY_CHARS);
}

function firstLine(text: string, maxChars: number): string {
  const line = /[^\s].*/.exec(text)?.[0].trimEnd() ?? "";
  if (line.length <= maxChars) return line;
  const cut = line.slice(0, maxChars - 1);
  // Never half of a surrogate pair.
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

/** Distinct names of properties that `schema` reaches, in the order they are met. */
export function parameterNames(schema: unknown): string[] {
  return parametersOf(schema).names;
}

/** The properties that `schema` reaches: their distinct names, and what it says of them, in the order they are met. */
function parametersOf(schema: unknown): { readonly names: string[]; readonly texts: string[] } {
  const names = new Set<string>();
  const texts: string[] = [];
  let room = MAX_PARAMETERS_CHARS;
  const seen = new Set<object>();
  const pending: unknown[] = [schema];
  while (pending.length > 0 && names.size < MAX_PARAMETERS) {
    const next = pending.pop();
    if (typeof next !== "object" || next === null || seen.has(next)) continue;
    seen.add(next);
    // What the schema says of itself as a whole is the tool's description over again.
    const text = next === schema || Array.isArray(next) ? undefined : member(next, "description");
    if (typeof text === "string" && room > 0) {
      const indexed = text.slice(0, Math.min(room, MAX_PARAMETER_CHARS));
      room -= indexed.length;
      texts.push(indexed);
    }
    const found: unknown[] = Array.isArray(next) ? [...next] : subschemas(next, schema, names);
    pending.push(...found.reverse());
  }
  return { names: [...names], texts };
}

const SCHEMA_KEYWORDS = [
  "items",
  "prefixItems",
  "additionalItems",
  "additionalProperties",
  "unevaluatedProperties",
  "contains",
  "allOf",
  "anyOf",
  "oneOf",
  "if",
  "then",
  "else",
] as const;

function subschemas(schema: object, root: unknown, names: Set<string>): unknown[] {
  const found: unknown[] = [];
  const properties = member(schema, "properties");
  if (isRecord(properties)) {
    for (const [name, property] of Object.entries(properties)) {
      names.add(name);
      found.push(property);
    }
  }
  for (const keyword of ["patternProperties", "dependentSchemas"] as const) {
    const schemas = member(schema, keyword);
    if (isRecord(schemas)) found.push(...Object.values(schemas));
  }
  for (const keyword of SCHEMA_KEYWORDS) found.push(member(schema, keyword));
  for (const keyword of ["$ref", "$dynamicRef"] as const) {
    const reference = member(schema, keyword);
    if (typeof reference === "string") found.push(resolve(root, reference));
  }
  return found;
}

/** What a local reference (`#`, `#/…`) points at; undefined for any other. */
function resolve(root: unknown, reference: string): unknown {
  if (reference !== "#" && !reference.startsWith("#/")) return undefined;
  let target = root;
  for (const token of reference.split("/").slice(1)) {
    if (typeof target !== "object" || target === null) return undefined;
    target = member(target, decodeToken(token));
  }
  return target;
}

function decodeToken(token: string): string {
  const plain = /%(?![0-9A-Fa-f]{2})/.test(token) ? token : decodeOrKeep(token);
  return plain.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Percent-encoding that is no UTF-8 stands for itself. */
function decodeOrKeep(token: string): string {
  try {
    return decodeURIComponent(token);
  } catch {
    return token;
  }
}

function member(value: object, key: string): unknown {
  return Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
}
