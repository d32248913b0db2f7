/**
 * `pimcp list`: every server with its tools, how each reaches the model and what it costs. From the artifacts
 * alone. Hidden tools are in it with `--all` and not otherwise.
 */
import type { Loaded } from "../schemas/artifacts/read.ts";
import { findServer } from "../schemas/artifacts/target.ts";
import type { ServerEntry, ToolEntry, ToolTable } from "../schemas/artifacts/tool-table.ts";
import type { Exposure, Scope } from "../schemas/config/server-config.ts";
import { cell, cut, widthOf, wrap } from "./columns.ts";
import type { Invocation } from "./commands.ts";
import type { Io } from "./io.ts";
import { type Look, paint, printable } from "./print.ts";
import { showArtifacts } from "./show-artifacts.ts";

/** What `--json` prints (DESIGN section 4). */
export interface ListData {
  readonly servers: readonly ListedServer[];
}

export interface ListedServer {
  readonly name: string;
  readonly scope: Scope;
  readonly exposure: Exposure;
  readonly tools: readonly ListedTool[];
}

export interface ListedTool {
  readonly name: string;
  readonly tool: string;
  readonly exposure: Exposure;
  readonly maxOutputBytes: number;
  readonly declared: boolean;
  /** Of its declaration; 0 for a tool that was hidden when compiled and so has none. */
  readonly tokens: number;
}

export interface ListOptions {
  readonly server?: string;
  /** Hidden tools too. */
  readonly all?: boolean;
}

/** Errors: `unknown-server`, and those of the artifacts. */
export function listData(table: ToolTable, options: ListOptions = {}): Loaded<ListData> {
  let servers: readonly ServerEntry[] = table.servers();
  if (options.server !== undefined) {
    const found = findServer(table, options.server);
    if (!found.ok) return found;
    servers = [found.value];
  }
  const listed: ListedServer[] = [];
  for (const { name, scope, exposure } of servers) {
    const tools: ListedTool[] = [];
    for (const entry of table.tools({ server: name, includeHidden: options.all === true })) {
      const tool = listedTool(table, entry);
      if (!tool.ok) return tool;
      tools.push(tool.value);
    }
    listed.push({ name, scope, exposure, tools });
  }
  return { ok: true, value: { servers: listed } };
}

function listedTool(table: ToolTable, entry: ToolEntry): Loaded<ListedTool> {
  const count = table.tokens(entry);
  if (!count.ok) return count;
  const { name, tool, exposure, maxOutputBytes } = entry;
  const { declared, tokens } = count.value ?? { declared: false, tokens: 0 };
  return { ok: true, value: { name, tool, exposure, maxOutputBytes, declared, tokens } };
}

/** Columns from which tokens and limits fit beside a name. */
const ROOMY = 64;
const EXPOSURE_WIDTH = "codemode-deferred".length;

/** The table a person reads, one line an element, none wider than `look.width` columns. */
export function listLines(data: ListData, look: Look): string[] {
  if (data.servers.length === 0) return ["no servers"];
  const names = data.servers.flatMap((server) => server.tools.map((tool) => widthOf(printable(tool.tool))));
  const columns = columnsFor(look.width, Math.max(4, ...names));
  return data.servers.flatMap((server, index) => [
    ...(index > 0 ? [""] : []),
    ...headLines(server, look),
    ...(server.tools.length > 0
      ? [paint(look, "dim", row(["TOOL", "EXPOSURE", "TOKENS", "DECLARED", "LIMIT"], columns))]
      : []),
    ...server.tools.map((tool) => row(cellsOf(tool), columns)),
  ]);
}

function headLines(server: ListedServer, look: Look): string[] {
  const { scope, exposure, tools } = server;
  const declared = tools.filter((tool) => tool.declared);
  const outside = tools.filter(isOutside);
  const more = outside.length === 0 ? "" : `, ${outside.length} outside the budget (${tokensOf(outside)} tokens)`;
  const counted = `${tools.length} tool${tools.length === 1 ? "" : "s"}, ${declared.length} declared in ${tokensOf(declared)} tokens${more}`;
  const [first, ...rest] = wrap(`${printable(server.name)} (${scope}, ${exposure}): ${counted}`, look.width);
  return [paint(look, "bold", first ?? ""), ...rest];
}

/** To be declared, and not: the budget had no room. Scripts reach it, a model finds it by searching. */
function isOutside({ exposure, declared }: ListedTool): boolean {
  return exposure === "codemode" && !declared;
}

function tokensOf(tools: readonly ListedTool[]): number {
  return tools.reduce((sum, tool) => sum + tool.tokens, 0);
}

/** Widths of the columns; a narrow terminal gets the first two. */
function columnsFor(width: number, longestName: number): number[] {
  const rest = width >= ROOMY ? [EXPOSURE_WIDTH, 6, 8, 10] : [EXPOSURE_WIDTH];
  const taken = rest.reduce((sum, column) => sum + column + 1, 2);
  return [Math.max(6, Math.min(longestName, width - taken)), ...rest];
}

function cellsOf(tool: ListedTool): string[] {
  const { exposure, tokens, declared, maxOutputBytes } = tool;
  const shown = declared ? "yes" : isOutside(tool) ? "no room" : "-";
  return [printable(tool.tool), exposure, String(tokens), shown, String(maxOutputBytes)];
}

function row(cells: readonly string[], columns: readonly number[]): string {
  const shown = columns.map((width, index) =>
    index === 2 ? cut(cells[index]!, width).padStart(width) : cell(cells[index]!, width),
  );
  return `  ${shown.join(" ")}`.trimEnd();
}

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const [server] = invocation.operands;
  const options: ListOptions = { ...(server !== undefined && { server }), all: invocation.flags["all"] === true };
  return showArtifacts(invocation, io, (table) => listData(table, options), listLines);
}
