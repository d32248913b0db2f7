/**
 * Pi's switch `autoEnableCodemode` in mcp.json. Nearly nobody sets it, so the configuration is parsed only where a file has
 * the word in it.
 */
import { readFileSync } from "node:fs";
import type { ConfigurationFiles } from "../connect/configuration-files.ts";

const KEY = "autoEnableCodemode";

/** True unless a file says false; a project's value wins. */
export async function autoEnablesCodemode(files: ConfigurationFiles): Promise<boolean> {
  if (!files.candidates.some(({ path }) => mentions(path))) return true;
  const { loadConfiguration } = await import("../connect/configuration.ts");
  return (await loadConfiguration(files)).value.autoEnableCodemode ?? true;
}

function mentions(path: string): boolean {
  try {
    return readFileSync(path, "utf8").includes(KEY);
  } catch {
    return false; // most candidates don't exist, and one that can't be read is reported where it is needed
  }
}
