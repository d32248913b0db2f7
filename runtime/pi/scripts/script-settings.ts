/**
 * What mcp.json says of scripts: whose sandbox runs them, and what type errors in them do. Read anew for each question, so that an
 * edit counts at once; files that say nothing of it are not even parsed. What is wrong with a setting is told by compile.
 */
import { SCRIPT_ENGINES, type ScriptEngine } from "../../../schemas/script-engine.ts";
import type { TypecheckMode } from "../../../schemas/script-finding.ts";
import type { ConfigurationFiles } from "../../connect/configuration-files.ts";
import { anyMentions } from "../discovery/auto-enable.ts";

export async function typecheckMode(files: ConfigurationFiles): Promise<TypecheckMode> {
  if (!anyMentions(files, ['"typecheck"'])) return "error";
  return (await configuration(files)).typecheck ?? "error";
}

export async function scriptEngine(files: ConfigurationFiles): Promise<ScriptEngine> {
  const [byDefault] = SCRIPT_ENGINES;
  if (!anyMentions(files, ['"engine"'])) return byDefault;
  return (await configuration(files)).engine ?? byDefault;
}

async function configuration(files: ConfigurationFiles) {
  const { loadConfiguration } = await import("../../connect/configuration.ts");
  return (await loadConfiguration(files)).value;
}
