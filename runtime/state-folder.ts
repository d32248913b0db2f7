/** Where what outlives a process is kept, by the XDG Base Directory specification. Reads nothing. */
import { join } from "node:path";

/** `$PIMCP_STATE_DIR`, else `$XDG_STATE_HOME/pimcp`, else `~/.local/state/pimcp`. */
export function stateFolder(env: NodeJS.ProcessEnv, homedir: string): string {
  if (env["PIMCP_STATE_DIR"]) return env["PIMCP_STATE_DIR"];
  const xdg = env["XDG_STATE_HOME"];
  // The XDG specification has relative paths ignored.
  return join(xdg?.startsWith("/") ? xdg : join(homedir, ".local", "state"), "pimcp");
}
