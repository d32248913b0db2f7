/**
 * Every tool that the loaded artifacts offer, by folded name and by server and own name. A hidden tool is
 * found by no lookup that doesn't ask for hidden ones in so many words. What only some need (definitions, tokens, the
 * search index) is read from the artifacts when it is first asked for.
 */
import type { BudgetFile } from "../budget.schema.ts";
import type { CatalogTool } from "../catalog.schema.ts";
import type { Exposure, Scope } from "../config/server-config.ts";
import type { Manifest } from "../manifest.schema.ts";
import type { ServerDefinition } from "./catalog.ts";
import type { ArtifactFolder, Loaded } from "./read.ts";

export interface ToolEntry {
  /** Folded name, unique in the table. */
  readonly name: string;
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  readonly scope: Scope;
  readonly exposure: Exposure;
  /** What decided the exposure: see exposure.schema.json. */
  readonly rule: string;
  /** Bytes of its text output that a model may read. */
  readonly maxOutputBytes: number;
  readonly limitSource: "tool" | "server" | "project" | "user" | "default";
}

export interface ServerEntry {
  readonly name: string;
  readonly scope: Scope;
  /** `mcp__<server>`, folded. */
  readonly namespace: string;
  /** What the configuration says for all its tools, an override of the project included. */
  readonly exposure: Exposure;
  /** How it was reached when it was compiled. */
  readonly compiled: Manifest["servers"][string];
}

export interface Lookup {
  /** Find hidden tools too: for `list --all` and for saying why a tool can't be called, never for calling it. */
  readonly includeHidden?: boolean;
}

export type { ServerDefinition } from "./catalog.ts";
export type TokenCount = BudgetFile["tools"][string];

/** What a table is made of; `layer.ts` puts it together. */
export interface TableContents {
  /** Sorted by name. */
  readonly servers: readonly ServerEntry[];
  /** Sorted by server, then by own name. */
  readonly tools: readonly ToolEntry[];
  readonly folders: { readonly [S in Scope]?: ArtifactFolder };
  /** Artifacts of servers that a program brought itself, by the server's name; their scope is the user's. */
  readonly own?: ReadonlyMap<string, ArtifactFolder>;
}

export class ToolTable {
  readonly #contents: TableContents;
  readonly #byName = new Map<string, ToolEntry>();
  readonly #byServer = new Map<string, Map<string, ToolEntry>>();
  readonly #servers: Map<string, ServerEntry>;

  constructor(contents: TableContents) {
    this.#contents = contents;
    this.#servers = new Map(contents.servers.map((server) => [server.name, server]));
    for (const entry of contents.tools) {
      this.#byName.set(entry.name, entry);
      const tools = this.#byServer.get(entry.server) ?? new Map<string, ToolEntry>();
      if (tools.size === 0) this.#byServer.set(entry.server, tools);
      tools.set(entry.tool, entry);
    }
  }

  /** The tool with this folded name. */
  byName(name: string, lookup: Lookup = {}): ToolEntry | undefined {
    return seen(this.#byName.get(name), lookup);
  }

  /** The tool that `server` calls `tool`. */
  byTool(server: string, tool: string, lookup: Lookup = {}): ToolEntry | undefined {
    return seen(this.#byServer.get(server)?.get(tool), lookup);
  }

  /** All tools, or those of one server, sorted by server and own name. */
  tools(lookup: Lookup & { readonly server?: string } = {}): readonly ToolEntry[] {
    const { server } = lookup;
    const tools = server === undefined ? this.#contents.tools : [...(this.#byServer.get(server)?.values() ?? [])];
    return tools.filter((entry) => seen(entry, lookup) !== undefined);
  }

  /** All servers, sorted by name, those with nothing but hidden tools included. */
  servers(): readonly ServerEntry[] {
    return this.#contents.servers;
  }

  server(name: string): ServerEntry | undefined {
    return this.#servers.get(name);
  }

  /** False for a server that is hidden; one that is hidden as a whole may still show single tools. */
  isReachable(server: ServerEntry): boolean {
    return server.exposure !== "hidden" || this.tools({ server: server.name }).length > 0;
  }

  /** A tool as its server declared it; undefined for a tool that this lookup doesn't find. */
  definition(name: string, lookup: Lookup = {}): Loaded<CatalogTool | undefined> {
    const entry = this.byName(name, lookup);
    if (!entry) return { ok: true, value: undefined };
    return this.#folder(entry.server, entry.scope).tool(name);
  }

  /** A server as it described itself; its tools are not in it, since some may be hidden. */
  serverDefinition(name: string): Loaded<ServerDefinition | undefined> {
    const server = this.#servers.get(name);
    if (!server) return { ok: true, value: undefined };
    const catalog = this.#folder(server.name, server.scope).catalog();
    return catalog.ok ? { ok: true, value: catalog.value.server(name) } : catalog;
  }

  /** Tokens of a tool's declaration and whether it is declared; undefined for a tool that was hidden when compiled. */
  tokens(entry: ToolEntry): Loaded<TokenCount | undefined> {
    const budget = this.#folder(entry.server, entry.scope).json("budget.json");
    if (!budget.ok) return budget;
    const { tools } = budget.value;
    const count = Object.hasOwn(tools, entry.name) ? tools[entry.name] : undefined;
    if (count === undefined || entry.exposure === "hidden") return { ok: true, value: undefined };
    // An override of the project may have taken the tool out of the declarations.
    return { ok: true, value: { ...count, declared: count.declared && entry.exposure === "codemode" } };
  }

  /** The artifacts of a scope, for what the table has no words for (search.json, codemode.d.ts). */
  folder(scope: Scope): ArtifactFolder | undefined {
    return this.#contents.folders[scope];
  }

  #folder(server: string, scope: Scope): ArtifactFolder {
    // Every entry comes from a folder that was opened: see layer.ts.
    return this.#contents.own?.get(server) ?? this.#contents.folders[scope]!;
  }
}

function seen(entry: ToolEntry | undefined, lookup: Lookup): ToolEntry | undefined {
  return entry?.exposure === "hidden" && lookup.includeHidden !== true ? undefined : entry;
}
