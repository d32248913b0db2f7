/**
 * Compiled artifacts as a session uses them: a runtime over those of one folder, with the project's or without. Opening
 * one reads a few files, connects nothing and starts nothing.
 */
import { homedir } from "node:os";
import type { Diagnostic } from "../../schemas/diagnostic.ts";
import type { ClientHandlers } from "../client-features.ts";
import { type ConfigurationFiles, locateConfiguration } from "../connect/configuration-files.ts";
import { createRuntime, type Runtime } from "../runtime.ts";

export interface Place {
  /** Absolute folder the session runs in. */
  readonly cwd: string;
  /** Absolute agent folder. */
  readonly agentDir: string;
}

export interface LoadoutOptions extends Place {
  /** False: nothing of the project is read, now or later. */
  readonly project: boolean;
  /** What servers may ask of the user and of models; asked for with the first call. */
  readonly handlers: () => ClientHandlers | undefined;
  readonly onNotice: (notice: Diagnostic) => void;
}

export interface Loadout {
  readonly cwd: string;
  readonly project: boolean;
  /** The configuration files, those of the project only where it counts. */
  readonly files: ConfigurationFiles;
  readonly env: NodeJS.ProcessEnv;
  readonly runtime: Runtime;
}

export async function openLoadout(options: LoadoutOptions): Promise<Loadout> {
  const { cwd, project, onNotice } = options;
  const { env, homedir } = surroundings(options);
  const files = await locateConfiguration({ cwd, env, homedir, project });
  const runtime = await createRuntime({
    cwd,
    env,
    homedir,
    ...(!project && { projectOut: false }),
    // Read when the first call is made: the artifacts are loaded before there is anybody who could be asked.
    get handlers() {
      return options.handlers() ?? {};
    },
    onNotice,
  });
  return { cwd, project, files, env, runtime };
}

/** Where the files of `place` would be; looks at none of them but to find the project's root. */
export function locateFiles(place: Place): Promise<ConfigurationFiles> {
  return locateConfiguration({ cwd: place.cwd, ...surroundings(place) });
}

function surroundings({ agentDir }: Place): { readonly env: NodeJS.ProcessEnv; readonly homedir: string } {
  const env: NodeJS.ProcessEnv = { ...process.env, PI_CODING_AGENT_DIR: agentDir };
  return { env, homedir: env["HOME"] || homedir() };
}
