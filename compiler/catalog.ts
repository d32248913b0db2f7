/**
 * Snapshots in, catalog out: every tool and prompt of every server under the names that models, scripts and
 * stubs will use. Sorted by server and tool, so the order in which servers answered or listed leaves no
 * trace. Nothing a server says can fail this stage; what can't be used is left out and reported.
 */
import { byCodeUnit } from "../schemas/canonical.ts";
import type { CatalogServer, CatalogTool } from "../schemas/catalog.schema.ts";
import type { ServerConfig } from "../schemas/config/server-config.ts";
import { type Diagnostic, diagnostic, type Outcome } from "../schemas/diagnostic.ts";
import { foldIdentifiers, foldToolNames, namespaceOf, type ToolRef } from "../schemas/names.ts";
import { defineTool, type ToolDefinition } from "../schemas/tool-list.ts";
import { catalogPrompts } from "./catalog-prompts.ts";
import { nameCollisions } from "./name-collisions.ts";
import type { ServerSnapshot } from "./snapshot.ts";

/** A server with something to say of itself. */
export interface CompiledServer {
  readonly config: ServerConfig;
  readonly snapshot: ServerSnapshot;
}

/** Builds the catalog of one scope. */
export function buildCatalog(servers: readonly CompiledServer[]): Outcome<readonly CatalogServer[]> {
  const diagnostics: Diagnostic[] = [];
  const sorted = [...servers].sort((a, b) => byCodeUnit(a.config.name, b.config.name));
  const definitions = sorted.map((server) => toolDefinitions(server.snapshot, diagnostics));
  const refs = sorted.flatMap((server, index) =>
    definitions[index]!.map((tool): ToolRef => ({ server: server.config.name, tool: tool.tool })),
  );
  const names = foldToolNames(refs);
  diagnostics.push(...nameCollisions("tool", refs, names, sorted));
  const prompts = catalogPrompts(sorted);
  diagnostics.push(...prompts.diagnostics);
  const clients = foldIdentifiers(sorted.map((server) => server.config.name));
  let next = 0;
  const catalog = sorted.map((server, index): CatalogServer => {
    const tools = definitions[index]!;
    const methods = foldIdentifiers(tools.map((tool) => tool.tool));
    return {
      ...describeServer(server, clients[index]!),
      ...(prompts.value[index]!.length > 0 && { promptList: [...prompts.value[index]!] }),
      tools: tools.map(
        (tool, position) => ({ name: names[next++]!, method: methods[position]!, ...tool }) as CatalogTool,
      ),
    };
  });
  return { value: catalog, diagnostics };
}

function describeServer({ config, snapshot }: CompiledServer, client: string): Omit<CatalogServer, "tools"> {
  return {
    name: config.name,
    namespace: namespaceOf(config.name),
    client,
    ...(config.description !== undefined && { description: config.description }),
    ...(snapshot.serverInfo && { serverInfo: { ...snapshot.serverInfo } }),
    ...(snapshot.instructions !== undefined && { instructions: snapshot.instructions }),
    capabilities: { ...snapshot.capabilities },
    resources: snapshot.resources,
    prompts: snapshot.prompts,
  };
}

/** The well-typed definitions of a snapshot, sorted by name; ill-typed members are reported and left out. */
function toolDefinitions(snapshot: ServerSnapshot, diagnostics: Diagnostic[]): ToolDefinition[] {
  const definitions = snapshot.tools.map((entry, index) => {
    const { definition, illTyped } = defineTool(entry);
    for (const { member, expected } of illTyped) {
      diagnostics.push(
        diagnostic("invalid-tool", `${member} of tool "${entry.name}" is not ${expected} and was left out`, {
          server: snapshot.server,
          tool: entry.name,
          notes: [`tools/list of "${snapshot.server}", /tools/${index}/${member}`],
        }),
      );
    }
    return definition;
  });
  return definitions.sort((a, b) => byCodeUnit(a.tool, b.tool));
}
