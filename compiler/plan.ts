/**
 * Decides, for every tool of a catalog, how it reaches the model, whether it is declared, and how
 * much of its output a model may read. A pure function of the catalog and the configuration: the
 * same inputs give the same plan in whatever order servers answered.
 */
import { byCodeUnit } from "../schemas/canonical.ts";
import type { CatalogServer, CatalogTool } from "../schemas/catalog.schema.ts";
import {
  DEFAULT_MAX_OUTPUT_BYTES,
  type Exposure,
  type ScopeSettings,
  type ServerConfig,
} from "../schemas/config/server-config.ts";
import { type Diagnostic, diagnostic, type Outcome } from "../schemas/diagnostic.ts";
import { decideExposure, unmatchedRules } from "../schemas/exposure.ts";
import { type Declaration, renderDeclaration } from "./render/declaration.ts";

export interface ToolPlan {
  readonly server: string;
  readonly tool: CatalogTool;
  readonly exposure: Exposure;
  /** What decided the exposure: see exposure.schema.json. */
  readonly rule: string;
  /** Present where the tool or its server sets a limit of its own. */
  readonly limit?: { readonly maxOutputBytes: number; readonly source: "tool" | "server" };
  /** The tool's declaration; absent for a hidden tool. */
  readonly declaration?: Declaration;
}

export interface ServerPlan {
  readonly config: ServerConfig;
  readonly catalog: CatalogServer;
  readonly tools: readonly ToolPlan[];
}

export interface ScopePlan {
  readonly servers: readonly ServerPlan[];
  readonly defaultLimit: { readonly maxOutputBytes: number; readonly source: "project" | "user" | "default" };
}

/** Plans every tool of one scope. `catalog` and `configs` hold the same servers. */
export function planScope(
  catalog: readonly CatalogServer[],
  configs: readonly ServerConfig[],
  settings: ScopeSettings,
  scope: "project" | "user",
): Outcome<ScopePlan> {
  const diagnostics: Diagnostic[] = [];
  const byName = new Map(configs.map((config) => [config.name, config]));
  const servers = [...catalog]
    .sort((a, b) => byCodeUnit(a.name, b.name))
    .map((server): ServerPlan => {
      const config = byName.get(server.name)!;
      diagnostics.push(...ruleWarnings(config, server));
      return { config, catalog: server, tools: server.tools.map((tool) => planTool(config, tool, diagnostics)) };
    });
  const defaultLimit =
    settings.maxOutputBytes === undefined
      ? ({ maxOutputBytes: DEFAULT_MAX_OUTPUT_BYTES, source: "default" } as const)
      : { maxOutputBytes: settings.maxOutputBytes, source: scope };
  return { value: { servers, defaultLimit }, diagnostics };
}

function planTool(config: ServerConfig, tool: CatalogTool, diagnostics: Diagnostic[]): ToolPlan {
  const { exposure, rule } = decideExposure(config, {
    name: tool.tool,
    ...(tool._meta && { _meta: tool._meta }),
  });
  const limit = limitOf(config, tool);
  const plan: ToolPlan = { server: config.name, tool, exposure, rule, ...(limit && { limit }) };
  if (exposure === "hidden") return plan;
  const declaration = renderDeclaration(tool);
  for (const note of declaration.notes) {
    diagnostics.push(
      diagnostic(
        note.kind === "degraded" ? "declaration-degraded" : "schema-external-ref",
        `${config.name}/${tool.tool}: ${note.message}`,
        {
          server: config.name,
          tool: tool.tool,
          pointer: note.pointer,
        },
      ),
    );
  }
  return { ...plan, declaration };
}

/** A tool's own limit in `_meta`, ignored when it is not a positive integer, else its server's (DESIGN section 5). */
function limitOf(config: ServerConfig, tool: CatalogTool): ToolPlan["limit"] {
  const own =
    tool._meta && Object.hasOwn(tool._meta, "pi/maxOutputBytes") ? tool._meta["pi/maxOutputBytes"] : undefined;
  if (typeof own === "number" && Number.isSafeInteger(own) && own > 0) return { maxOutputBytes: own, source: "tool" };
  if (config.maxOutputBytes !== undefined) return { maxOutputBytes: config.maxOutputBytes, source: "server" };
  return undefined;
}

function ruleWarnings(config: ServerConfig, server: CatalogServer): Diagnostic[] {
  const tools = server.tools.map((tool) => tool.tool);
  return unmatchedRules(config, tools).map((rule) =>
    diagnostic(
      "unmatched-tool-exposure",
      `toolExposure "${rule.pattern}" of "${config.name}" matches none of its ${tools.length} tools`,
      { server: config.name, ...config.location, notes: ["`pimcp list --all` names them"] },
    ),
  );
}
