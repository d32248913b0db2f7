/**
 * A runtime's tools for scripts: those that aren't hidden, under their folded names. Nothing is read before a script asks for it.
 * As in Pi, a call resolves to the whole `CallToolResult`, one with `isError` too, and rejects when the call itself failed: refused,
 * not reached, or answered with a protocol error. `structured` is added as in the runtime.
 */
import { findServer } from "../../schemas/artifacts/target.ts";
import type { CatalogTool } from "../../schemas/catalog.schema.ts";
import { summaryOf } from "../../schemas/search-document.ts";
import type { Runtime } from "../runtime.ts";
import { search } from "../search.ts";
import type { DescribedNamespace, SandboxHost, SandboxTools } from "./host.ts";

export interface RuntimeHostOptions {
  /** A tool's declaration in TypeScript, for `describeTool()`; without it the tool's input schema is shown. */
  readonly declare?: (tool: CatalogTool) => string;
  readonly globals?: SandboxHost["globals"];
}

export function runtimeHost(runtime: Runtime, options: RuntimeHostOptions = {}): SandboxHost {
  return { tools: toolsOf(runtime, options), ...(options.globals && { globals: options.globals }) };
}

function toolsOf(runtime: Runtime, options: RuntimeHostOptions): SandboxTools {
  const { table } = runtime;
  const definitionOf = (name: string): CatalogTool | undefined => {
    const definition = table.definition(name);
    if (!definition.ok) throw new Error(definition.diagnostic.message);
    return definition.value;
  };
  return {
    has: (name) => table.byName(name) !== undefined,
    names: () => table.tools().map(({ name }) => name),
    list: () => table.tools().map(({ name }) => ({ name, description: definitionOf(name)?.description ?? "" })),
    async call(name, args, { signal }) {
      const entry = table.byName(name);
      if (!entry) throw new Error(`there is no tool ${name}`);
      const { result, structured } = await runtime.callEntry(entry, args ?? {}, { signal });
      return structured === undefined ? result : { ...result, structured };
    },
    search(query, { limit, namespace }) {
      const server = namespace === undefined ? undefined : findServer(table, namespace);
      // A namespace that isn't there has no tools.
      if (server !== undefined && !server.ok) return [];
      const found = search(table, query, { limit, ...(server !== undefined && { namespace: server.value.name }) });
      if (!found.ok) throw new Error(found.diagnostic.message);
      return found.value.map(({ name, description }) => ({ name, description }));
    },
    describe(name) {
      const tool = definitionOf(name);
      if (tool === undefined) return undefined;
      const declare = options.declare ?? schemaText;
      return declare(tool);
    },
    namespace: (name) => describeNamespace(runtime, name),
  };
}

/** What stands in for a declaration where nothing renders one. */
function schemaText({ name, description, inputSchema }: CatalogTool): string {
  return `${description ? `${description}\n` : ""}${name}(args) takes ${JSON.stringify(inputSchema)}`;
}

function describeNamespace({ table }: Runtime, name: string): DescribedNamespace | undefined {
  const server = findServer(table, name);
  if (!server.ok || !table.isReachable(server.value)) return undefined;
  const definition = table.serverDefinition(server.value.name);
  if (!definition.ok) throw new Error(definition.diagnostic.message);
  const { description, instructions } = definition.value ?? {};
  return {
    name: server.value.namespace,
    ...(description && { description: summaryOf(description) }),
    ...(instructions && { instructions }),
    tools: table.tools({ server: server.value.name }).map((tool) => tool.name),
  };
}
