/**
 * Compares what a server offers now with what was compiled. Servers change silently; a session goes on with
 * the pinned definitions and says so, because a tool whose description or schema changed under a running
 * agent is how a server could make it do something nobody reviewed.
 */
import { byCodeUnit, canonicalJson } from "../schemas/canonical.ts";
import { printable } from "../schemas/printable.ts";
import { defineTool, definitionOf, type ToolDefinition } from "../schemas/tool-list.ts";

export interface ToolDrift {
  /** The server's own name of the tool. */
  readonly tool: string;
  readonly change: "added" | "removed" | "changed";
  /** Members of the definition that differ, for a changed tool: `description`, `inputSchema`, … */
  readonly members: readonly string[];
}

export interface Drift {
  readonly server: string;
  /** Sorted by tool. Empty when nothing changed. */
  readonly tools: readonly ToolDrift[];
  /** All of it may come from what this client can be asked and a compile can't, or the other way round: compiling may not help. */
  readonly isOfClient?: true;
}

/** `compiled` are the catalog's tools of the server, `live` the entries of its `tools/list` as they came. */
export function compareTools(server: string, compiled: readonly ToolDefinition[], live: readonly unknown[]): Drift {
  const before = new Map(compiled.map((tool) => [tool.tool, definitionOf(tool)]));
  const now = new Map(live.filter(isNamed).map((entry) => [entry.name, defineTool(entry).definition]));
  const names = [...new Set([...before.keys(), ...now.keys()])].sort(byCodeUnit);
  const tools = names.flatMap((tool): ToolDrift[] => {
    const [old, current] = [before.get(tool), now.get(tool)];
    if (!old) return [{ tool, change: "added", members: [] }];
    if (!current) return [{ tool, change: "removed", members: [] }];
    const members = MEMBERS.filter((member) => canonicalJson(old[member]) !== canonicalJson(current[member]));
    return members.length > 0 ? [{ tool, change: "changed", members }] : [];
  });
  return { server, tools };
}

/** `2 tools changed (a, b), 1 added (c)`. */
export function driftText({ tools }: Drift): string {
  const parts = (["changed", "removed", "added"] as const).flatMap((change) => {
    const names = tools.filter((tool) => tool.change === change).map((tool) => shortName(tool.tool));
    return names.length > 0
      ? [`${names.length} ${change} (${names.slice(0, 5).join(", ")}${names.length > 5 ? ", …" : ""})`]
      : [];
  });
  return parts.join(", ");
}

/** UTF-16 units of a name as it is shown. */
const MAX_NAME_LENGTH = 80;

/** Names are the server's, and of any length. */
function shortName(name: string): string {
  return printable(name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH - 1)}…` : name);
}

const MEMBERS = ["title", "description", "inputSchema", "outputSchema", "annotations", "execution", "_meta"] as const;

function isNamed(entry: unknown): entry is { readonly name: string; readonly [key: string]: unknown } {
  return typeof entry === "object" && entry !== null && "name" in entry && typeof entry.name === "string";
}
