/**
 * Under what name the artifacts of a registered server are kept in the user's cache. Settings count as the compiler's digest has
 * them, credentials by a keyed hash: another token, written out or in a variable, may get other tools, and the name says
 * nothing of it. No `!command` is run for it.
 */
import { join } from "node:path";
import { digestOf } from "../../../schemas/canonical.ts";
import { settingsDigest } from "../../../schemas/config/digest.ts";
import { type Configuration, type ServerConfig, textsOf } from "../../../schemas/config/server-config.ts";
import { type Environment, variablesOf } from "../../../schemas/expand.ts";
import { cacheFolder } from "../../../schemas/user-folders.ts";
import { keyedHash } from "../../connect/keyed-hash.ts";
import { registeredFolder } from "./tidy-registered.ts";

/** The absolute folder of a server that is alone in its configuration. */
export type FolderOf = (server: ServerConfig, configuration: Configuration) => string;

export async function registeredFolders(env: Environment, homedir: string): Promise<FolderOf> {
  const cache = cacheFolder(env, homedir);
  const hash = await keyedHash(cache);
  return (server, configuration) => {
    const variables = textsOf(server).flatMap(variablesOf);
    const credentials = hash([server.transport, variables.map((name) => env[name] ?? null)]);
    const digest = digestOf({ name: server.name, settings: settingsDigest(configuration, "user"), credentials });
    return join(registeredFolder(cache), digest.slice(0, 32));
  };
}
