/**
 * catalog.json, read for as little as is asked of it: a session that wants thirty definitions of six hundred parses thirty. Its text
 * is cut where tools begin and end, by the layout that the compiler writes: no line of a tool but its first and its last stands
 * as far left as those, and JSON has no line ends within strings. A text of any other layout is parsed whole. Pure.
 */
import type { CatalogServer, CatalogTool } from "../catalog.schema.ts";
import * as shape from "./shape.ts";

export type ServerDefinition = Omit<CatalogServer, "tools">;

export interface Catalog {
  /** A server as it described itself; its tools are not in it, since some may be hidden. */
  server(name: string): ServerDefinition | undefined;
  /** By folded name. "unreadable": it is there, and is no tool. */
  tool(name: string): CatalogTool | "unreadable" | undefined;
}

/** No value where `text` is JSON of another shape; throws a SyntaxError where it is none. */
export function readCatalog(text: string): { readonly version: unknown; readonly value: Catalog | undefined } {
  const cut = cutAtTools(text);
  const frame: unknown = JSON.parse(cut?.frame ?? text);
  const value = shape.isCatalog(frame) ? catalogOf(frame.servers, cut?.tools ?? new Map()) : undefined;
  return { version: shape.formatVersionOf(frame), value };
}

function catalogOf(listed: readonly CatalogServer[], tools: Map<string, string | CatalogTool>): Catalog {
  const servers = new Map<string, ServerDefinition>();
  for (const { tools: parsed, ...definition } of listed) {
    if (!servers.has(definition.name)) servers.set(definition.name, definition);
    for (const tool of parsed) tools.set(tool.name, tool);
  }
  return {
    server: (name) => servers.get(name),
    tool(name) {
      const found = tools.get(name);
      if (typeof found !== "string") return found;
      const tool = parsedTool(found, name);
      if (tool !== "unreadable") tools.set(name, tool);
      return tool;
    },
  };
}

function parsedTool(text: string, name: string): CatalogTool | "unreadable" {
  try {
    const tool: unknown = JSON.parse(text);
    return shape.isCatalogTool(tool) && tool.name === name ? tool : "unreadable";
  } catch {
    return "unreadable";
  }
}

interface CutCatalog {
  /** The text without the tools that were cut out of it. */
  readonly frame: string;
  /** Text of each of those, by its folded name. */
  readonly tools: Map<string, string | CatalogTool>;
}

const LIST = '\n      "tools": [\n';
const LIST_END = "\n      ]";
const TOOL_BLOCK = "        {\n";
const TOOL_END = "\n        }";
const NAME = /^ {8}\{\s+"name": "(\w+)"/;

function cutAtTools(text: string): CutCatalog | undefined {
  const tools = new Map<string, string>();
  let frame = "";
  let from = 0;
  for (let list = text.indexOf(LIST); list >= 0; list = text.indexOf(LIST, from)) {
    const begin = list + LIST.length;
    const end = cutList(text, begin, tools);
    if (end === undefined) return undefined;
    frame += text.slice(from, begin);
    from = end;
  }
  return { frame: frame + text.slice(from), tools };
}

/** Takes the tools of a list that begins at `at`; gives back where it ends. Undefined where it is laid out in another way. */
function cutList(text: string, begin: number, tools: Map<string, string>): number | undefined {
  let at = begin;
  while (true) {
    const name = NAME.exec(text.slice(at, at + 120))?.[1];
    const end = toolEnd(text, at);
    if (name === undefined || end === undefined || tools.has(name)) return undefined;
    tools.set(name, text.slice(at, end));
    if (text.startsWith(LIST_END, end)) return end + 1;
    if (!text.startsWith(",\n", end)) return undefined;
    at = end + 2;
  }
}

/** Behind the closing brace of the tool that begins at `at`, on one line or on several. */
function toolEnd(text: string, at: number): number | undefined {
  if (text.startsWith(TOOL_BLOCK, at)) {
    const end = text.indexOf(TOOL_END, at);
    return end < 0 ? undefined : end + TOOL_END.length;
  }
  const end = text.indexOf("\n", at);
  return end < 0 ? undefined : end - (text[end - 1] === "," ? 1 : 0);
}
