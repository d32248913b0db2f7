/** Finds the server that a person signs in to or out of, with its values resolved, or says why it has no sign-in of ours. */
import { unknownServer } from "../../../schemas/artifacts/target.ts";
import { hasAuthorization, type ServerConfig } from "../../../schemas/config/server-config.ts";
import { type Diagnostic, diagnostic } from "../../../schemas/diagnostic.ts";
import { loadConfiguration } from "../configuration.ts";
import type { ConfigurationFiles } from "../configuration-files.ts";
import type { Fetch } from "../http-fetch.ts";
import { networkFetch } from "../network-fetch.ts";
import { type ResolvedHttp, resolveServer } from "../resolve.ts";

export type SignableServer =
  | {
      readonly ok: true;
      readonly config: ServerConfig;
      readonly resolved: ResolvedHttp;
      readonly agentDir: string;
      /** Reaches the server, through proxies and with its certificate authority. */
      readonly fetch: Fetch;
    }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

export interface SignableOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly homedir: string;
  readonly signal?: AbortSignal;
  /** Servers that stand in no file. */
  readonly others?: readonly ServerConfig[];
}

export async function findSignable(
  files: ConfigurationFiles,
  name: string,
  { env, homedir, signal, others = [] }: SignableOptions,
): Promise<SignableServer> {
  const { value, diagnostics } = await loadConfiguration(files);
  const servers = [...value.servers, ...others];
  const config = servers.find((one) => one.name === name);
  if (config === undefined) {
    // An entry that could not be used has said why.
    const why = diagnostics.find(({ server, severity }) => server === name && severity === "error");
    const names = servers.map((one) => one.name);
    return { ok: false, diagnostic: why ?? unknownServer(names, name) };
  }
  const refusal = refusalOf(config);
  if (refusal !== undefined) return { ok: false, diagnostic: refusal };
  const resolution = await resolveServer(config, { env, homedir, ...(signal && { signal }) });
  if (!resolution.ok) return resolution;
  const resolved = resolution.resolved as ResolvedHttp;
  const fetch = networkFetch({ env, ca: resolved.ca });
  return { ok: true, config, resolved, agentDir: value.agentDir, fetch };
}

/** Nothing is resolved, and so no command run, for a server that has no sign-in. */
function refusalOf(config: ServerConfig): Diagnostic | undefined {
  const { transport } = config;
  if (transport.kind === "stdio") {
    return noSignIn(config, "is started by a command; only servers that are reached by a url are signed in to");
  }
  const { authProvider } = transport;
  if (authProvider !== undefined) {
    const how = `use \`pi auth login ${authProvider}\` and \`pi auth logout ${authProvider}\``;
    return noSignIn(config, `is signed in to by Pi's login to "${authProvider}": ${how}`);
  }
  const { grant = "authorization-code" } = transport.oauth ?? {};
  if (grant !== "authorization-code") {
    return noSignIn(config, `gets its tokens by itself (oauth.grant "${grant}"); nobody signs in to it`);
  }
  if (!hasAuthorization(transport.headers)) return undefined;
  return noSignIn(config, "has an Authorization header in mcp.json, and that is its sign-in");
}

function noSignIn({ name, location }: ServerConfig, why: string): Diagnostic {
  return diagnostic("no-sign-in", `server "${name}" ${why}`, { server: name, ...location });
}
