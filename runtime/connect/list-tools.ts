/** A server's `tools/list`. Tools that could not be called as the specification demands are left out. */
import type { Connection } from "./connection.ts";
import type { Entry } from "./list-entries.ts";
import { type Listing, listNamed } from "./list-named.ts";
import type { ListedServer, ListKind, ListOptions, Report } from "./list-pages.ts";
import { headerFault } from "./param-headers.ts";
import { printableLine } from "./redact.ts";

/** The largest public server has some 200 tools in 500 kB. */
const TOOLS: ListKind = {
  method: "tools/list",
  member: "tools",
  noun: "tool",
  caps: { pages: 1000, entries: 20_000, bytes: 64 * 1024 * 1024, levels: 500 },
};

export function listTools(connection: Connection, server: ListedServer, options: ListOptions): Promise<Listing> {
  return listNamed(connection, TOOLS, server, options, (entries, report) => mirrorable(entries, connection, report));
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
