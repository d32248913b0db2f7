/**
 * Compiled artifacts as a session uses them: a runtime over those of one folder, with the project's or without. Opening
 * one reads a few files, connects nothing and starts nothing.
 */
import type { Diagnostic } from "../../schemas/diagnostic.ts";
import type { ClientHandlers } from "../client-features.ts";
import { type ConfigurationFiles, homeFolder, locateConfiguration } from "../connect/configuration-files.ts";
import { createRuntime, type Runtime } from "../runtime.ts";
import type { RegistrationPlace, Registrations } from "./registered/registered-servers.ts";

export interface LoadoutOptions {
  /** Absolute folder the session runs in. */
  readonly cwd: string;
  /** False: nothing of the project is read, now or later. */
  readonly project: boolean;
  /** What servers may ask of the user and of models; asked for with the first call. */
  readonly handlers: () => ClientHandlers | undefined;
  /** Tokens of logins to Pi's providers, renewed by Pi. */
  readonly providerToken?: ((provider: string) => Promise<string | undefined>) | undefined;
  readonly onNotice: (notice: Diagnostic) => void;
  /** Servers that other extensions bring. */
  readonly registrations: (place: RegistrationPlace) => Promise<Registrations>;
}

export interface Loadout {
  readonly cwd: string;
  readonly project: boolean;
  /** The configuration files, those of the project only where it counts. */
  readonly files: ConfigurationFiles;
  readonly env: NodeJS.ProcessEnv;
  readonly runtime: Runtime;
  readonly registrations: Registrations;
}

export async function openLoadout(options: LoadoutOptions): Promise<Loadout> {
  const { cwd, project, onNotice } = options;
  const { env, homedir } = surroundings();
  const files = await locateConfiguration({ cwd, env, homedir, project });
  const registrations = await options.registrations({ files, env, homedir });
  for (const found of registrations.diagnostics) onNotice(found);
  const runtime = await createRuntime({
    cwd,
    env,
    homedir,
    ...(!project && { projectOut: false }),
    servers: registrations.servers,
    // Read when the first call is made: the artifacts are loaded before there is anybody who could be asked.
    get handlers() {
      return options.handlers() ?? {};
    },
    onNotice,
    ...(options.providerToken && { providerToken: options.providerToken }),
    // Loaded with the first notice: most servers never log.
    onServerLog: (server, params) =>
      void import("./servers/server-log.ts").then(({ serverLog }) => serverLog(files.agentDir).write(server, params)),
  });
  return { cwd, project, files, env, runtime, registrations };
}

/** Where the files of a session in `cwd` would be; looks at none of them but to find the project's root. */
export function locateFiles(cwd: string): Promise<ConfigurationFiles> {
  return locateConfiguration({ cwd, ...surroundings() });
}

function surroundings(): { readonly env: NodeJS.ProcessEnv; readonly homedir: string } {
  const env: NodeJS.ProcessEnv = { ...process.env };
  return { env, homedir: homeFolder(env) };
}
