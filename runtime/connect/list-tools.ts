/**
 * Every page of a server's `tools/list`. Entries are kept as sent, but for credentials of ours that a server repeats;
 * only those that no name can be told of, or that could not be called as the specification demands, are left out.
 */
import type { Diagnostic } from "../../schemas/diagnostic.ts";
import type { Connection } from "./connection.ts";
import { discreetEntries, distinctEntries, type Entry, type NamedEntry, namedEntries } from "./list-entries.ts";
import {
  type Freshness,
  freshnessOf,
  type ListedServer,
  type ListKind,
  type ListOptions,
  listPages,
  listReport,
  type Pages,
  type Report,
} from "./list-pages.ts";
import { headerFault } from "./param-headers.ts";
import { printableLine } from "./redact.ts";

/** The largest public server has some 200 tools in 500 kB. */
const TOOLS: ListKind = {
  method: "tools/list",
  member: "tools",
  noun: "tool",
  caps: { pages: 1000, entries: 20_000, bytes: 64 * 1024 * 1024, levels: 500 },
};

export interface ToolList extends Freshness {
  readonly tools: readonly NamedEntry[];
}

export type Listing =
  | { readonly ok: true; readonly list: ToolList; readonly diagnostics: readonly Diagnostic[] }
  | Extract<Pages, { ok: false }>;

export async function listTools(connection: Connection, server: ListedServer, options: ListOptions): Promise<Listing> {
  const report = listReport(server);
  const listed = await listPages(connection, TOOLS, options, report);
  if (!listed.ok) return listed;
  const kept = discreetEntries(namedEntries(listed.entries, TOOLS, report), connection, TOOLS, report);
  const tools = distinctEntries(mirrorable(kept, connection, report), TOOLS, report);
  return { ok: true, list: { tools, ...freshnessOf(listed.pages) }, diagnostics: report.diagnostics };
}

/**
 * Without tools whose `x-mcp-header` declarations are invalid, as the specification demands of clients over Streamable
 * HTTP. Elsewhere no header is ever made of an argument, and the tool is as good as any.
 */
function mirrorable(entries: readonly Entry[], { verdict }: Connection, report: Report): readonly Entry[] {
  if (verdict.era !== "modern" || verdict.transport !== "streamable-http") return entries;
  return entries.filter(({ item, index }) => {
    const fault = headerFault(item["inputSchema"]);
    if (fault === undefined) return true;
    const name = printableLine(item.name, 80);
    report("invalid-tool", `tool "${name}" is left out: its ${printableLine(fault, 200)}`, {
      pointer: `/tools/${index}/inputSchema`,
      tool: item.name,
    });
    return false;
  });
}
