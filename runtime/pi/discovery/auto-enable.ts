/**
 * Pi's switch `autoEnableCodemode` in mcp.json. Nearly nobody sets it, so the configuration is parsed only where a file has
 * the word in it.
 */
import { readFileSync } from "node:fs";
import type { ConfigurationFiles } from "../../connect/configuration-files.ts";

const KEY = "autoEnableCodemode";

/** True unless a file says false; a project's value wins. */
export async function autoEnablesCodemode(files: ConfigurationFiles): Promise<boolean> {
  if (!anyMentions(files, [KEY])) return true;
  const { loadConfiguration } = await import("../../connect/configuration.ts");
  return (await loadConfiguration(files)).value.autoEnableCodemode ?? true;
}

/** Whether one of the files has one of the words in it: if none has, there is no need to parse them. */
export function anyMentions(files: ConfigurationFiles, words: readonly string[]): boolean {
  return files.candidates.some(({ path }) => mentions(path, words));
}

function mentions(path: string, words: readonly string[]): boolean {
  try {
    const text = readFileSync(path, "utf8");
    return words.some((word) => text.includes(word));
  } catch {
    return false; // most candidates don't exist, and one that can't be read is reported where it is needed
  }
}
