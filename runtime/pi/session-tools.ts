/**
 * Compiled tools, ready to be registered: each as its artifacts describe it, calling its server through the session of the
 * moment when Pi runs it. Hidden tools are not among them. A definition that can't be read costs its own tool alone.
 */
import type { ToolNamespace } from "@earendil-works/pi-coding-agent";
import type { ToolEntry, ToolTable } from "../../schemas/artifacts/tool-table.ts";
import { callTool } from "./call-tool.ts";
import { exposureOf } from "./exposure.ts";
import { callRenderers, type PiTui } from "./renderers.ts";
import { READ_RESOURCE_TOOL } from "./resource-names.ts";
import type { PiSession } from "./session.ts";
import { namespaceFields, toolFields } from "./tool-definition.ts";
import type { Registrable } from "./tool-registry.ts";

/** What registered tools need when they are drawn and called. */
export interface ToolSurroundings {
  readonly tui: PiTui;
  /** The session there is now; throws where there is none. */
  readonly session: () => PiSession;
}

export function compiledTools(table: ToolTable, around: ToolSurroundings): readonly Registrable[] {
  return table.servers().flatMap((server) => {
    const described = table.serverDefinition(server.name);
    const namespace = namespaceFields(server, described.ok ? described.value : undefined);
    const readResourceTool = described.ok && described.value?.resources === true ? READ_RESOURCE_TOOL : undefined;
    const tools = table.tools({ server: server.name });
    return tools.flatMap((entry) => compiledTool(table, { namespace, entry, readResourceTool }, around));
  });
}

interface Compiled {
  readonly namespace: ToolNamespace;
  readonly entry: ToolEntry;
  readonly readResourceTool: string | undefined;
}

function compiledTool(
  table: ToolTable,
  { namespace, entry, readResourceTool }: Compiled,
  around: ToolSurroundings,
): readonly Registrable[] {
  const definition = table.definition(entry.name);
  if (!definition.ok || definition.value === undefined) return [];
  const fields = toolFields({ entry, definition: definition.value, namespace, exposure: exposureOf(table, entry) });
  const tool: Registrable["tool"] = {
    ...fields,
    ...callRenderers(around.tui, fields.label),
    execute: (_id, args, signal, onUpdate) => {
      const session = around.session();
      return callTool({
        // The runtime's own entry: a compile in between may have replaced the one this was made from.
        entry: session.table.byName(entry.name) ?? entry,
        args,
        runtime: session.runtime,
        store: session.store,
        signal: signal ? AbortSignal.any([signal, session.signal]) : session.signal,
        onUpdate,
        readResourceTool,
      });
    },
  };
  return [{ tool, digest: () => JSON.stringify(fields) }];
}
