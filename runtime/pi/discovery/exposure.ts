/**
 * How tools reach the model: what an exposure of ours is called in Pi, and which of Pi's tools have to be active so that
 * tools which are not declared can be reached at all. Pure but for `activateDiscovery`, which asks and tells Pi.
 */
import type { ExtensionAPI, ToolDefinition } from "@earendil-works/pi-coding-agent";
import type { ToolEntry, ToolTable } from "../../../schemas/artifacts/tool-table.ts";
import type { Exposure } from "../../../schemas/config/server-config.ts";

export type PiExposure = NonNullable<ToolDefinition["exposure"]>;

/**
 * Pi lists `codemode` tools with their types in the description of its codemode tool: those that the compiled budget
 * declares. The others are found by search.
 */
export function piExposure(exposure: Exposure, declared: boolean): PiExposure {
  switch (exposure) {
    case "codemode":
      return declared ? "codemode" : "deferred";
    case "codemode-deferred":
      return "deferred";
    default:
      return exposure;
  }
}

/** Pi's exposure of a tool in the table; a budget that can't be read declares nothing. */
export function exposureOf(table: ToolTable, entry: ToolEntry): PiExposure {
  if (entry.exposure !== "codemode") return piExposure(entry.exposure, false);
  const tokens = table.tokens(entry);
  return piExposure(entry.exposure, tokens.ok && tokens.value?.declared === true);
}

/** Which of Pi's tools the exposures ask for; `direct` and `hidden` ask for none. */
export interface Discovery {
  readonly codemode: boolean;
  readonly toolSearch: boolean;
}

export function neededDiscovery(exposures: Iterable<Exposure>): Discovery {
  const all = new Set(exposures);
  return { codemode: all.has("codemode") || all.has("codemode-deferred"), toolSearch: all.has("deferred") };
}

/** Pi's tools that reach others, by name. */
export const CODEMODE = "codemode";
const TOOL_SEARCH = "tool_search";

/**
 * Activates `codemode` and `tool_search` where they are needed, as Pi's own MCP support does: only tools of these names that
 * say they reach other tools. Gives back a warning when neither is active and the tools can't be reached.
 */
export function activateDiscovery(
  pi: Pick<ExtensionAPI, "getAllTools" | "getActiveTools" | "setActiveTools">,
  needed: Discovery,
  autoEnableCodemode: boolean,
): string | undefined {
  if (!needed.codemode && !needed.toolSearch) return undefined;
  const reaching = new Set(pi.getAllTools().flatMap((tool) => (tool.reachesTools ? [tool.name] : [])));
  const active = pi.getActiveTools();
  const wanted = [
    ...(needed.codemode && autoEnableCodemode ? [CODEMODE] : []),
    ...(needed.toolSearch ? [TOOL_SEARCH] : []),
  ].filter((name) => reaching.has(name) && !active.includes(name));
  if (wanted.length > 0) pi.setActiveTools([...active, ...wanted]);
  const usable = [...active, ...wanted].filter((name) => reaching.has(name));
  if (usable.includes(CODEMODE) || usable.includes(TOOL_SEARCH)) return undefined;
  const isSwitchedOff = needed.codemode && reaching.has(CODEMODE) && !autoEnableCodemode;
  const why = isSwitchedOff ? " (autoEnableCodemode is false)" : "";
  return `MCP tools can only be reached through codemode or tool_search, and neither is active${why}: they can't be called.`;
}
