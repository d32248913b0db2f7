/**
 * Where a runtime finds its artifacts and the configuration they were compiled from. Looks at a few paths and reads
 * `mcp.json` only when the artifacts are not where they usually are. Writes nothing.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Scope } from "../schemas/config/server-config.ts";
import { type ConfigurationFiles, locateConfiguration } from "./connect/configuration-files.ts";

export interface LocateRuntimeOptions {
  /** Absolute folder to look from, upwards. */
  readonly cwd: string;
  /** This configuration file alone. */
  readonly config?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly homedir: string;
  /** Absolute output folder that is known already. False leaves the project out: none of its files is looked at. */
  readonly projectOut?: string | false | undefined;
  /** False leaves the user's own servers out. */
  readonly userOut?: string | false | undefined;
}

export interface RuntimeLocations {
  readonly files: ConfigurationFiles;
  readonly projectOut?: string;
  readonly userOut?: string;
}

/** The folders of `options`, or those of the configuration found from `cwd`. */
export async function locateRuntime(options: LocateRuntimeOptions): Promise<RuntimeLocations> {
  const { cwd, env, homedir, config } = options;
  const project = options.projectOut !== false;
  const files = await locateConfiguration({ cwd, env, homedir, project, ...(config !== undefined && { config }) });
  const projectOut = project ? options.projectOut || (await projectFolder(files)) : undefined;
  const wantsUser = options.userOut !== false && config === undefined;
  return {
    files,
    ...(projectOut !== undefined && { projectOut }),
    ...(wantsUser && { userOut: options.userOut || files.defaultOut.user }),
  };
}

/** The usual folder, unless `mcp.json` names another one: only then is it read. */
async function projectFolder(files: ConfigurationFiles): Promise<string> {
  if (existsSync(join(files.defaultOut.project, "manifest.json"))) return files.defaultOut.project;
  const { loadConfiguration } = await import("./connect/configuration.ts");
  return (await loadConfiguration(files)).value.project.out;
}

/** The artifacts that lie beside a stub, if it is where it was generated. `base` is the URL of the stub. */
export function artifactsBeside(base: string): { readonly folder: string; readonly scope: Scope } | undefined {
  if (!base.startsWith("file:")) return undefined;
  const folder = dirname(fileURLToPath(base));
  for (const candidate of [dirname(folder), folder]) {
    const scope = scopeOf(candidate);
    if (scope !== undefined) return { folder: candidate, scope };
  }
  return undefined;
}

/** The scope that a manifest of ours names; undefined for any other folder. */
function scopeOf(folder: string): Scope | undefined {
  try {
    const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as {
      scope?: unknown;
      files?: object;
    };
    return manifest.files && (manifest.scope === "project" || manifest.scope === "user") ? manifest.scope : undefined;
  } catch {
    return undefined; // not there, or somebody else's manifest.json: not our folder
  }
}
