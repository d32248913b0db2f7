/**
 * Compiled tools, ready to be registered: each as its artifacts describe it, calling its server through the session of the
 * moment when Pi runs it. Hidden tools are not among them. A definition that can't be read costs its own tool alone.
 */
import type { ToolEntry, ToolTable } from "../../../schemas/artifacts/tool-table.ts";
import type { Diagnostic, Outcome } from "../../../schemas/diagnostic.ts";
import { NOBODY } from "../dialogs/session-handlers.ts";
import { exposureOf, type PiExposure } from "../discovery/exposure.ts";
import { readResourceTool, resourceTools } from "../resources/resource-tools.ts";
import type { PiSession } from "../session.ts";
import { callRenderers, type PiTui } from "./renderers.ts";
import { namespaceFields, type ToolFields, toolFields } from "./tool-definition.ts";
import type { Registrable } from "./tool-registry.ts";

/** What registered tools need when they are drawn and called. */
export interface ToolSurroundings {
  readonly tui: PiTui;
  /** The session there is now; throws where there is none. */
  readonly session: () => PiSession;
}

/**
 * `told` are the tools that a model hears of in the first request; the others it has to search for. Pi's prompt is the same
 * with and without those.
 */
export type ToolSelection = "told" | "all";

/** The tools of a table with those for resources. The diagnostics are of tools that are missing. */
export function sessionTools(
  table: ToolTable,
  around: ToolSurroundings,
  selection: ToolSelection,
): Outcome<readonly Registrable[]> {
  const isWanted = (exposure: PiExposure | undefined) => selection === "all" || exposure !== "deferred";
  const diagnostics: Diagnostic[] = [];
  const compiled = table.servers().flatMap((server) => {
    const described = table.serverDefinition(server.name);
    const namespace = namespaceFields(server, described.ok ? described.value : undefined);
    return table.tools({ server: server.name }).flatMap((entry): Registrable | [] => {
      const exposure = exposureOf(table, entry);
      if (!isWanted(exposure)) return [];
      const definition = table.definition(entry.name);
      if (!definition.ok) diagnostics.push({ ...definition.diagnostic, server: server.name });
      if (!definition.ok || definition.value === undefined) return [];
      return compiledTool(toolFields({ entry, definition: definition.value, namespace, exposure }), entry, around);
    });
  });
  const forResources = resourceTools(table, around).filter(({ tool }) => isWanted(tool.exposure));
  return { value: [...compiled, ...forResources], diagnostics };
}

/** What stands in the way of files that were not looked into when the artifacts were opened: without them tools are missing. */
export function unreadableFiles(table: ToolTable): readonly Diagnostic[] {
  const folders = (["project", "user"] as const).flatMap((scope) => table.folder(scope) ?? []);
  const areDeclared = table.tools().some(({ exposure }) => exposure === "codemode");
  const files = folders.flatMap((folder) => [folder.catalog(), ...(areDeclared ? [folder.json("budget.json")] : [])]);
  return files.flatMap((file) => (file.ok ? [] : [file.diagnostic]));
}

function compiledTool(fields: ToolFields, entry: ToolEntry, around: ToolSurroundings): Registrable {
  const tool: Registrable["tool"] = {
    ...fields,
    ...callRenderers(around.tui, fields.label),
    execute: async (_id, args, signal, onUpdate) => {
      const session = around.session();
      const { callTool } = await import("./call-tool.ts");
      return callTool({
        // The runtime's own entry: a compile in between may have replaced the one this was made from.
        entry: session.table.byName(entry.name) ?? entry,
        args,
        runtime: session.runtime,
        store: session.store,
        signal,
        ended: session.signal,
        ...(!session.ctx.hasUI && { whyNobody: NOBODY }),
        onLateEnd: (message) => session.tell(message, "info"),
        onUpdate,
        readResourceTool: readResourceTool(session.table, entry.server),
      });
    },
  };
  return { tool, digest: () => JSON.stringify(fields) };
}
