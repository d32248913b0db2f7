/**
 * What a person means by a name on the command line: a tool by its folded name, as `server/tool` or `server.tool`,
 * by its own name where only one server has it, or a server. Hidden tools are not meant by anything and not
 * suggested either.
 */
import { type Diagnostic, diagnostic } from "../diagnostic.ts";
import { nearestAll } from "../nearest.ts";
import { isNamespaceOf } from "../search-query.ts";
import { shellWord } from "../shell-word.ts";
import type { Loaded } from "./read.ts";
import type { ServerEntry, ToolEntry, ToolTable } from "./tool-table.ts";

export type Target =
  | { readonly kind: "tool"; readonly tool: ToolEntry }
  | { readonly kind: "server"; readonly server: ServerEntry };

const MAX_SUGGESTIONS = 3;

/** The tool or server that `name` means. Errors: `unknown-tool`, `ambiguous-tool`. */
export function findTarget(table: ToolTable, name: string): Loaded<Target> {
  const exact = table.byName(name) ?? qualified(table, name);
  if (exact) return { ok: true, value: { kind: "tool", tool: exact } };
  const own = table.tools().filter((entry) => entry.tool === name);
  if (own.length === 1) return { ok: true, value: { kind: "tool", tool: own[0]! } };
  if (own.length > 1) return refuse(ambiguous(name, own));
  const server = findServer(table, name);
  return server.ok && table.isReachable(server.value)
    ? { ok: true, value: { kind: "server", server: server.value } }
    : refuse(unknownTool(table, name));
}

/** The server that `name` means: its name or its namespace, with `-` and `_` alike. Error: `unknown-server`. */
export function findServer(table: ToolTable, name: string): Loaded<ServerEntry> {
  const server = table.server(name) ?? table.servers().find((entry) => isNamespaceOf(name, entry.name));
  return server
    ? { ok: true, value: server }
    : refuse(
        unknownServer(
          table.servers().map((one) => one.name),
          name,
          "compiled server",
        ),
      );
}

/** Server names have neither `/` nor `.`, so the first one ends the server's. */
function qualified(table: ToolTable, name: string): ToolEntry | undefined {
  const cut = name.search(/[/.]/);
  return cut > 0 ? table.byTool(name.slice(0, cut), name.slice(cut + 1)) : undefined;
}

function ambiguous(name: string, entries: readonly ToolEntry[]): Diagnostic {
  const servers = entries.map((entry) => entry.server);
  return diagnostic("ambiguous-tool", `${servers.length} servers have a tool "${name}": ${servers.join(", ")}`, {
    notes: entries
      .slice(0, MAX_SUGGESTIONS)
      .map((entry) => `one of them is ${shellWord(`${entry.server}/${entry.tool}`)}`),
  });
}

function unknownTool(table: ToolTable, name: string): Diagnostic {
  const owners = new Map<string, ToolEntry>();
  for (const entry of table.tools()) {
    for (const spelling of [entry.name, `${entry.server}/${entry.tool}`, entry.tool]) owners.set(spelling, entry);
  }
  // `server/tool` is what a person types next; several spellings of one tool are one suggestion.
  const close = nearestAll(name, owners.keys(), 3 * MAX_SUGGESTIONS).map((spelling) => owners.get(spelling)!);
  const suggested = [...new Set(close)]
    .slice(0, MAX_SUGGESTIONS)
    .map((entry) => shellWord(`${entry.server}/${entry.tool}`));
  const remedy =
    suggested.length > 0 ? `did you mean ${suggested.join(" or ")}?` : "`pimcp list` names those there are";
  return diagnostic("unknown-tool", `there is no tool "${name}"; ${remedy}`);
}

/** `names` are those that may be suggested; `what` they are, in words. */
export function unknownServer(names: readonly string[], name: string, what = "server"): Diagnostic {
  const [close] = nearestAll(name, names, 1);
  const remedy = close ? `did you mean "${close}"?` : `there are: ${names.join(", ") || "none"}`;
  return diagnostic("unknown-server", `there is no ${what} "${name}"; ${remedy}`, { server: name });
}

function refuse(found: Diagnostic): { readonly ok: false; readonly diagnostic: Diagnostic } {
  return { ok: false, diagnostic: found };
}
