/**
 * `pimcp logout`: removes what is stored of one server's sign-in, and of no other's. Where the authorization server takes
 * revocations (RFC 7009) it is told first, so that the tokens are worth nothing to whoever may have copied them; that it
 * can't be told keeps nobody signed in.
 */
import type { ServerConfig } from "../../../schemas/config/server-config.ts";
import type { Diagnostic } from "../../../schemas/diagnostic.ts";
import { failureDiagnostic, failureOf } from "../failure.ts";
import type { Fetch } from "../http-fetch.ts";
import { printableLine, redact } from "../redact.ts";
import type { ResolvedHttp } from "../resolve.ts";
import type { AuthContext } from "./auth-context.ts";
import { AuthError } from "./auth-error.ts";
import { isSecure } from "./auth-fetch.ts";
import { clientInformation, knownClient } from "./client.ts";
import { type AuthOptions, authContext } from "./create-auth.ts";
import { type AuthorizationServer, rediscover } from "./discover.ts";
import type { Credentials, StoredClient } from "./store-file.ts";

export type LogOutOutcome =
  | {
      readonly kind: "signed-out";
      /** `not-offered` where the authorization server has no such endpoint or there was no token to revoke. */
      readonly revoked: "yes" | "not-offered" | "failed";
      /** Why not, where that failed. */
      readonly reason?: string;
    }
  /** There was nothing to remove. */
  | { readonly kind: "not-signed-in" }
  | { readonly kind: "failed"; readonly diagnostic: Diagnostic };

export async function logOut(
  config: ServerConfig,
  resolved: ResolvedHttp,
  options: AuthOptions,
  fetch: Fetch,
): Promise<LogOutOutcome> {
  const context = await authContext(config, resolved, options, fetch);
  const { key, store, sdk } = context;
  try {
    // Not while somebody is being given other tokens for these.
    return await store.withRefreshLock<LogOutOutcome>(
      key,
      async () => {
        const stored = await store.read(key);
        if (stored === undefined) return { kind: "not-signed-in" };
        const revocation = await revoke(context, stored, resolved.secrets);
        await store.update(key, () => undefined);
        return { kind: "signed-out", ...revocation };
      },
      async () => undefined,
    );
  } catch (error) {
    const failure = failureOf(error, { sdk, secrets: resolved.secrets });
    return { kind: "failed", diagnostic: failureDiagnostic(config, failure, { doing: "signing out" }) };
  }
}

type Revocation = Omit<Extract<LogOutOutcome, { kind: "signed-out" }>, "kind">;

async function revoke(context: AuthContext, stored: Credentials, secrets: readonly string[]): Promise<Revocation> {
  const { tokens } = stored;
  // With the refresh token goes all that came of it.
  const [token, hint] = tokens?.refresh_token
    ? [tokens.refresh_token, "refresh_token"]
    : [tokens?.access_token, "access_token"];
  if (token === undefined) return { revoked: "not-offered" };
  try {
    const status = await askToRevoke(context, stored, token, hint);
    if (status === undefined) return { revoked: "not-offered" };
    return status < 300 ? { revoked: "yes" } : { revoked: "failed", reason: `HTTP ${status}` };
  } catch (error) {
    if (!(error instanceof AuthError)) throw error;
    return { revoked: "failed", reason: printableLine(redact(error.message, secrets)) };
  }
}

/** The answer's status; undefined where nobody takes revocations. */
async function askToRevoke(
  context: AuthContext,
  stored: Credentials,
  token: string,
  hint: string,
): Promise<number | undefined> {
  const as = await rediscover(context, stored.discovery);
  const url = as && endpointOf(as);
  const client = as && knownClient(context, as, stored)?.client;
  if (url === undefined || client === undefined) return undefined;
  const headers = new Headers({ "content-type": "application/x-www-form-urlencoded" });
  const params = new URLSearchParams({ token, token_type_hint: hint });
  const methods = as?.metadata?.token_endpoint_auth_methods_supported ?? [];
  prove(client, context.sdk.selectClientAuthMethod(clientInformation(client), methods), headers, params);
  const response = await context.fetch(url, { method: "POST", headers, body: params.toString() });
  return response.status;
}

/** Metadata as it came: the SDK's types have no revocation in OpenID's. */
function endpointOf({ metadata }: AuthorizationServer): URL | undefined {
  const { revocation_endpoint: endpoint } = (metadata ?? {}) as { revocation_endpoint?: unknown };
  if (typeof endpoint !== "string" || !URL.canParse(endpoint)) return undefined;
  const url = new URL(endpoint);
  return isSecure(url) ? url : undefined;
}

/** Client authentication as at the token endpoint (RFC 6749, section 2.3.1). */
function prove(
  { client_id: id, client_secret: secret }: StoredClient,
  method: string,
  headers: Headers,
  params: URLSearchParams,
): void {
  if (method === "client_secret_basic" && secret !== undefined) {
    headers.set("authorization", `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`);
    return;
  }
  params.set("client_id", id);
  if (method === "client_secret_post" && secret !== undefined) params.set("client_secret", secret);
}
