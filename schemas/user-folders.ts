/** Where things of a user's are kept, by the XDG Base Directory specification. Pure. */
import { join } from "node:path";
import type { Environment } from "./expand.ts";

/** `$PIMCP_CACHE_DIR`, else `$XDG_CACHE_HOME/pimcp`, else `~/.cache/pimcp`: nothing in it is needed. */
export function cacheFolder(env: Environment, homedir: string): string {
  return env["PIMCP_CACHE_DIR"] || userFolder(env["XDG_CACHE_HOME"], join(homedir, ".cache"));
}

/** `$PIMCP_STATE_DIR`, else `$XDG_STATE_HOME/pimcp`, else `~/.local/state/pimcp`: what outlives a process. */
export function stateFolder(env: Environment, homedir: string): string {
  return env["PIMCP_STATE_DIR"] || userFolder(env["XDG_STATE_HOME"], join(homedir, ".local", "state"));
}

function userFolder(base: string | undefined, usual: string): string {
  // The specification has relative paths ignored.
  return join(base?.startsWith("/") ? base : usual, "pimcp");
}
