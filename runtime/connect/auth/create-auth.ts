/**
 * Signs requests to HTTP servers that take OAuth: the hook that `openConnection` asks once a connection. A server with an
 * `Authorization` header of its own is left alone, and so is one that asks for no token. Nothing is read before the
 * first request, nothing loaded before a token has to be got, and a person is asked only with `interactive`.
 */
import { hasAuthorization, type ServerConfig } from "../../../schemas/config/server-config.ts";
import type { Fetch } from "../http-fetch.ts";
import { learnSecret } from "../known-secrets.ts";
import type { ResolvedHttp, ResolvedServer } from "../resolve.ts";
import type { AuthContext, TokenSource } from "./auth-context.ts";
import { AuthError } from "./auth-error.ts";
import { authFetch } from "./auth-fetch.ts";
import { authorizedFetch } from "./authorized-fetch.ts";
import type { Interactive } from "./interactive.ts";
import { MachineSource } from "./machine-source.ts";
import { PiLoginSource, type ProviderToken, storedLogins } from "./pi-login.ts";
import type { CredentialStore } from "./store.ts";
import { credentialKey } from "./store-file.ts";
import { credentialStore } from "./store-keyring.ts";
import { StoredSource } from "./stored-source.ts";

export interface AuthOptions {
  /** Where `mcp-auth.json` is, Pi's and ours. */
  readonly agentDir: string;
  /** How a person signs in. Without it a server that wants that fails with `sign-in-needed`. */
  readonly interactive?: Interactive | undefined;
  /** Where new sign-ins are kept; default where the last one to that server was, else the file. */
  readonly signIns?: "file" | "keyring" | undefined;
  readonly store?: CredentialStore | undefined;
  /** Tokens of Pi's logins; default those that its `auth.json` holds. */
  readonly providerToken?: ProviderToken | undefined;
  /** Milliseconds since the epoch. */
  readonly now?: (() => number) | undefined;
}

/** Wraps the `fetch` of a connection's transport. */
export interface ConnectionAuth {
  readonly wrapFetch: (next: Fetch, sdk: AuthContext["sdk"]) => Fetch;
  /** Why the last request could not be signed, for transports that hand on no more than a text of it. */
  readonly refusal: () => AuthError | undefined;
  /** Resolves once nobody is asked to sign in any more; undefined where nobody is. */
  readonly asking: () => Promise<void> | undefined;
  /** Resolves once no token is being got any more; undefined where none is. */
  readonly busy: () => Promise<void> | undefined;
}

export interface Auth {
  /** `fetch` reaches authorization servers, default the platform's. */
  (config: ServerConfig, resolved: ResolvedServer, fetch?: Fetch): Promise<ConnectionAuth | undefined>;
  /** Resolves when no refresh is under way whose tokens would be lost with the process. */
  settled(): Promise<void>;
}

export function createAuth(options: AuthOptions): Auth {
  const sources = new Set<TokenSource>();
  /** A connection that is renewed keeps its tokens. */
  const bySettings = new WeakMap<ResolvedServer, TokenSource>();
  const hook = async (config: ServerConfig, resolved: ResolvedServer, fetch?: Fetch) => {
    if (resolved.kind !== "http" || (hasAuthorization(resolved.headers) && resolved.authProvider === undefined))
      return undefined;
    const source = bySettings.get(resolved) ?? sourceFor(config, resolved, options, fetch);
    bySettings.set(resolved, source);
    // Only those that are at work are waited for; the others are forgotten with their connections.
    for (const other of sources) if (!other.busy) sources.delete(other);
    sources.add(source);
    let refusal: AuthError | undefined;
    return {
      wrapFetch: (next, sdk) => {
        const signed = authorizedFetch(next, source, { server: resolved.url, sdk });
        return async (url, init) => {
          refusal = undefined;
          try {
            return await signed(url, init);
          } catch (error) {
            if (error instanceof AuthError) refusal = error;
            throw error;
          }
        };
      },
      refusal: () => refusal,
      asking: () => source.asking,
      busy: () => (source.busy ? source.settled() : undefined),
    } satisfies ConnectionAuth;
  };
  const settled = async () => {
    await Promise.all([...sources].map((source) => source.settled()));
  };
  return Object.assign(hook, { settled });
}

function openStore({ agentDir, signIns, store }: AuthOptions): CredentialStore {
  return store ?? credentialStore(agentDir, signIns);
}

export async function authContext(
  config: ServerConfig,
  resolved: ResolvedHttp,
  options: AuthOptions,
  fetch?: Fetch,
): Promise<AuthContext> {
  const sdk = await import("@modelcontextprotocol/client");
  const { url: server, oauth = {} } = resolved;
  return {
    sdk,
    key: credentialKey(config.name, server),
    server,
    oauth,
    store: openStore(options),
    fetch: authFetch({ fetch, server, oauth, learn: (secret) => learnSecret(resolved, secret) }),
    now: options.now ?? Date.now,
  };
}

function sourceFor(config: ServerConfig, resolved: ResolvedHttp, options: AuthOptions, fetch?: Fetch): TokenSource {
  let loading: Promise<AuthContext> | undefined;
  const context = () => {
    loading ??= authContext(config, resolved, options, fetch);
    return loading;
  };
  const learn = (secret: string) => learnSecret(resolved, secret);
  if (resolved.authProvider !== undefined) {
    const { providerToken = storedLogins(options.agentDir, options.now) } = options;
    return new PiLoginSource(resolved.authProvider, providerToken, learn);
  }
  const { grant = "authorization-code" } = resolved.oauth ?? {};
  if (grant !== "authorization-code") return new MachineSource(context);
  return new StoredSource({
    key: credentialKey(config.name, resolved.url),
    store: openStore(options),
    now: options.now ?? Date.now,
    learn,
    interactive: options.interactive,
    context,
  });
}
