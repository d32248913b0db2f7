/**
 * Notices a configuration that is newer than its artifacts. Nearly free when nothing changed: a look at the files'
 * times; only where a configuration file is not older than the manifest is the configuration itself
 * read and compared, by a function that the caller imports then.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { ToolTable } from "../../schemas/artifacts/tool-table.ts";
import type { Scope } from "../../schemas/config/server-config.ts";
import { type Diagnostic, diagnostic } from "../../schemas/diagnostic.ts";
import { lookAt } from "../connect/configuration-files.ts";

export interface FreshnessQuestion {
  readonly table: ToolTable;
  /** Absolute output folder of each scope whose artifacts are loaded. */
  readonly folders: { readonly [S in Scope]?: string };
  /** Absolute paths of the configuration files, those that don't exist included. */
  readonly configFiles: readonly string[];
  /** The settings digest of the configuration as it is now; undefined where it can't be told. */
  readonly settingsDigest: (scope: Scope) => Promise<string | undefined>;
}

/** One `config-newer` warning for every scope whose artifacts were compiled from other settings. */
export async function findNewerConfig(question: FreshnessQuestion): Promise<readonly Diagnostic[]> {
  const found: Diagnostic[] = [];
  const changed = Math.max(0, ...question.configFiles.map(changedAt));
  for (const scope of ["project", "user"] as const) {
    const folder = question.folders[scope];
    const compiled = question.table.folder(scope)?.manifest.settings;
    if (folder === undefined || compiled === undefined || changed < changedAt(join(folder, "manifest.json"))) continue;
    const current = await question.settingsDigest(scope);
    if (current === undefined || current === compiled) continue;
    found.push(configNewer(scope));
  }
  return found;
}

/** The finding that a scope's artifacts were compiled from other settings. */
export function configNewer(scope: Scope): Diagnostic {
  return diagnostic("config-newer", `mcp.json of the ${scope} changed after the last compile; run \`pimcp compile\``);
}

/** Milliseconds of the last change, of the link or of what it leads to; 0 for a file that isn't there. */
function changedAt(path: string): number {
  return Math.max(lookAt(path)?.mtimeMs ?? 0, lookAt(path, statSync)?.mtimeMs ?? 0);
}
