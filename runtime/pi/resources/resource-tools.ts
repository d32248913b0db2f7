/**
 * `list_mcp_resources`, `list_mcp_resource_templates` and `read_mcp_resource`, over every server that had resources when it was
 * compiled and isn't hidden. Listings are JSON; what is read reaches the model as text, images or the path of a file.
 * Interfaces of MCP Apps, icons and `_meta` are left out. Registered only where there is a server for them.
 */
import type { ServerEntry, ToolTable } from "../../../schemas/artifacts/tool-table.ts";
import type { Exposure } from "../../../schemas/config/server-config.ts";
import { type PiExposure, piExposure } from "../discovery/exposure.ts";
import type { PiToolResult } from "../tools/call-tool.ts";
import { callRenderers, type PiTui } from "../tools/renderers.ts";
import type { ToolSurroundings } from "../tools/session-tools.ts";
import type { Registrable } from "../tools/tool-registry.ts";
import { LIST_RESOURCES_TOOL, LIST_TEMPLATES_TOOL, READ_RESOURCE_TOOL } from "./resource-names.ts";
import {
  LIST_PARAMETERS,
  LISTED_RESOURCE,
  LISTED_TEMPLATE,
  listSchema,
  READ_PARAMETERS,
  READ_RESULT,
} from "./resource-schemas.ts";

/** Servers that the resource tools reach, sorted by name. */
export function resourceServers(table: ToolTable): readonly ServerEntry[] {
  return table.servers().filter((server) => {
    const definition = table.serverDefinition(server.name);
    return server.exposure !== "hidden" && definition.ok && definition.value?.resources === true;
  });
}

/** The tool that reads a server's resources, where there is one. */
export function readResourceTool(table: ToolTable, server: string): string | undefined {
  return resourceServers(table).some(({ name }) => name === server) ? READ_RESOURCE_TOOL : undefined;
}

export function resourceTools(table: ToolTable, { tui, session }: ToolSurroundings): readonly Registrable[] {
  const exposure = widestExposure(resourceServers(table).map((server) => server.exposure));
  if (exposure === undefined) return [];
  const actions = () => import("./resource-calls.ts");
  return [
    resourceTool(exposure, tui, {
      name: LIST_RESOURCES_TOOL,
      description:
        "Lists the resources of MCP servers: data that servers offer as context, such as files, database schemas or " +
        "information of an application. With `server` one server's, without it those of all servers.",
      parameters: LIST_PARAMETERS,
      outputSchema: listSchema("resources", LISTED_RESOURCE),
      run: async (args, signal) => (await actions()).listResources(session(), args, signal),
    }),
    resourceTool(exposure, tui, {
      name: LIST_TEMPLATES_TOOL,
      description:
        "Lists the resource templates of MCP servers: URI templates (RFC 6570) of resources that are not listed one by " +
        "one. With `server` one server's, without it those of all servers.",
      parameters: LIST_PARAMETERS,
      outputSchema: listSchema("resourceTemplates", LISTED_TEMPLATE),
      run: async (args, signal) => (await actions()).listTemplates(session(), args, signal),
    }),
    resourceTool(exposure, tui, {
      name: READ_RESOURCE_TOOL,
      description: "Reads one resource of an MCP server by its URI.",
      parameters: READ_PARAMETERS,
      outputSchema: READ_RESULT,
      run: async (args, signal) => (await actions()).readResource(session(), args, signal),
    }),
  ];
}

interface ResourceTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: object;
  readonly outputSchema: object;
  readonly run: (args: unknown, signal: AbortSignal | undefined) => Promise<PiToolResult>;
}

function resourceTool(exposure: PiExposure, tui: PiTui, { run, ...fields }: ResourceTool): Registrable {
  const tool = {
    ...fields,
    label: fields.name,
    exposure,
    annotations: { readOnlyHint: true },
    ...callRenderers(tui, fields.name),
    execute: (_id: string, args: unknown, signal: AbortSignal | undefined) => run(args, signal),
  } as Registrable["tool"];
  return { tool, digest: () => JSON.stringify([fields, exposure]) };
}

/** `direct`, then what scripts or a search reach; the tools are few, but nobody asked for them to be declared. */
function widestExposure(exposures: readonly Exposure[]): PiExposure | undefined {
  if (exposures.length === 0) return undefined;
  return piExposure(exposures.includes("direct") ? "direct" : "codemode-deferred", false);
}
