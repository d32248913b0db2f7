/**
 * What can be reached through a runtime. What is hidden, or was never compiled, is refused in the words used for
 * what doesn't exist, and is never suggested. Every call, read and comparison passes here, and nothing is sent before.
 */
import type { ServerEntry, ToolEntry, ToolTable } from "../schemas/artifacts/tool-table.ts";
import type { Diagnostic } from "../schemas/diagnostic.ts";
import { nearestAll } from "../schemas/nearest.ts";
import { RefusedError } from "./errors.ts";

const MAX_SUGGESTIONS = 3;

export class Gate {
  readonly #table: ToolTable;
  /** Why the table may lack what was asked for. */
  readonly #problem: Diagnostic | undefined;

  /** `problems` are what loading the artifacts had to say. */
  constructor(table: ToolTable, problems: readonly Diagnostic[]) {
    this.#table = table;
    this.#problem = problems.find(({ severity }) => severity === "error");
  }

  /** The tool that `server` calls `tool`, or that has this folded name. Throws `RefusedError`. */
  tool(server: string, tool: string): ToolEntry {
    const entry = this.#table.byTool(server, tool) ?? this.#table.byName(tool);
    if (entry?.server === server) return entry;
    this.server(server, tool);
    const names = this.#table.tools({ server }).map((one) => one.tool);
    const message = `server "${server}" has no tool "${tool}"${suggestion(nearestAll(tool, names, MAX_SUGGESTIONS))}`;
    throw new RefusedError(message, { server, tool, reason: "unknown-tool" });
  }

  /** A server that is hidden only as a whole still has the tools that are not. `asked` is for the error. */
  server(server: string, asked: string): ServerEntry {
    const entry = this.#table.server(server);
    if (entry && this.#table.isReachable(entry)) return entry;
    throw this.#noServer(server, asked);
  }

  /** The server whose resources and prompts are asked for: they go by its own exposure (Pi's rule). */
  contents(server: string, asked: string): ServerEntry {
    const entry = this.#table.server(server);
    if (entry && entry.exposure !== "hidden") return entry;
    throw this.#noServer(server, asked);
  }

  #noServer(server: string, tool: string): RefusedError {
    const known = this.#table.servers().filter((entry) => this.#table.isReachable(entry));
    const close = nearestAll(
      server,
      known.map(({ name }) => name),
      MAX_SUGGESTIONS,
    );
    const remedy = close.length > 0 ? suggestion(close) : this.#remedy(known.length === 0);
    return new RefusedError(`there is no server "${server}"${remedy}`, { server, tool, reason: "unknown-server" });
  }

  #remedy(isEmpty: boolean): string {
    if (this.#problem) return `: ${[this.#problem.message, ...this.#problem.notes].join("; ")}`;
    return isEmpty ? "; no servers are compiled here: run `pimcp compile`" : "";
  }
}

function suggestion(names: readonly string[]): string {
  return names.length > 0 ? `; did you mean ${names.map((name) => `"${name}"`).join(" or ")}?` : "";
}
