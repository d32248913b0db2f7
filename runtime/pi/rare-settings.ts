/**
 * What mcp.json says to a session of Pi and nearly nobody sets: whose sandbox runs scripts, what type errors in them do, whether the
 * codemode tool is made active. Read anew for each question, so that an edit counts at once; the configuration is parsed only where
 * a file has the word in it. A project's value wins. What is wrong with a setting is told by compile.
 */
import { readFileSync } from "node:fs";
import type { Configuration } from "../../schemas/config/server-config.ts";
import { SCRIPT_ENGINES, type ScriptEngine } from "../../schemas/script-engine.ts";
import type { TypecheckMode } from "../../schemas/script-finding.ts";
import type { ConfigurationFiles } from "../connect/configuration-files.ts";

/** True unless a file says false. */
export async function autoEnablesCodemode(files: ConfigurationFiles): Promise<boolean> {
  return (await configuration(files, "autoEnableCodemode")).autoEnableCodemode ?? true;
}

export async function typecheckMode(files: ConfigurationFiles): Promise<TypecheckMode> {
  return (await configuration(files, '"typecheck"')).typecheck ?? "error";
}

export async function scriptEngine(files: ConfigurationFiles): Promise<ScriptEngine> {
  return (await configuration(files, '"engine"')).engine ?? SCRIPT_ENGINES[0];
}

/** The configuration; empty, and not parsed, where no file has `word` in it. */
async function configuration(files: ConfigurationFiles, word: string): Promise<Partial<Configuration>> {
  if (!files.candidates.some(({ path }) => mentions(path, word))) return {};
  const { loadConfiguration } = await import("../connect/configuration.ts");
  return (await loadConfiguration(files)).value;
}

function mentions(path: string, word: string): boolean {
  try {
    return readFileSync(path, "utf8").includes(word);
  } catch {
    return false; // most candidates don't exist, and one that can't be read is reported where it is needed
  }
}
