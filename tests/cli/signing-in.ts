/** What the tests of signing in share: a server that wants it, and the address that a person is shown. */
import { type AuthorizationOptions, type AuthorizationServer, startAuthorization } from "../servers/authorization.ts";
import { eventually } from "../servers/run.ts";
import { type Running, Workspace } from "./pimcp.ts";

export interface Setting {
  readonly space: Workspace;
  readonly server: AuthorizationServer;
}

/** A project whose one server, `remote`, wants a sign-in. */
export async function setting(options: AuthorizationOptions = {}, entry: object = {}): Promise<Setting> {
  const server = await startAuthorization(options);
  const space = new Workspace();
  space.servers({ remote: { url: server.url, ...entry } });
  return { space, server };
}

/** The address that a sign-in shows. */
export async function shownAddress(running: Running): Promise<string> {
  await eventually(() => /^ {2}https?:\S+$/m.test(running.stderr()), `an address in ${running.stderr()}`);
  return /^ {2}(https?:\S+)$/m.exec(running.stderr())![1]!;
}
