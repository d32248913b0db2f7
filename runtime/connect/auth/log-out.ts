/**
 * `pimcp logout`: removes what is stored of one server's sign-in, and of no other's. Where the authorization server takes
 * revocations (RFC 7009) it is told first, so that the tokens are worth nothing to whoever may have copied them; that it
 * can't be told keeps nobody signed in, and neither does a keyring that is gone or locked.
 */
import { isSecureAddress } from "../../../schemas/config/secure-address.ts";
import type { ServerConfig } from "../../../schemas/config/server-config.ts";
import type { Diagnostic } from "../../../schemas/diagnostic.ts";
import { failureDiagnostic, failureOf } from "../failure.ts";
import type { Fetch } from "../http-fetch.ts";
import { printableLine, redact } from "../redact.ts";
import type { ResolvedHttp } from "../resolve.ts";
import type { AuthContext } from "./auth-context.ts";
import { AuthError, orAuthError } from "./auth-error.ts";
import { knownClient } from "./client.ts";
import { type ClientProof, provingClient } from "./client-proof.ts";
import { type AuthOptions, authContext } from "./create-auth.ts";
import { type AuthorizationServer, rediscover } from "./discover.ts";
import type { Credentials } from "./store-file.ts";

export type LogOutOutcome =
  | {
      readonly kind: "signed-out";
      /** `not-offered` where the authorization server has no such endpoint or there was no token to revoke. */
      readonly revoked: "yes" | "not-offered" | "failed";
      /** Why not, where that failed. */
      readonly reason?: string;
      /** Why tokens that nobody uses any more are still in the system's keyring, where they are. */
      readonly leftInKeyring?: string;
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
        const stored = await orAuthError(store.read(key));
        if (stored === undefined) return { kind: "not-signed-in" };
        const said = (error: AuthError) => printableLine(redact(error.message, resolved.secrets));
        const revocation: Revocation =
          stored instanceof AuthError
            ? { revoked: "failed", reason: said(stored) }
            : await revoke(context, stored, resolved.secrets);
        // Where it was the file that couldn't be read, this rejects.
        const left = await store.remove(key);
        return { kind: "signed-out", ...revocation, ...(left && { leftInKeyring: said(left) }) };
      },
      async () => undefined,
    );
  } catch (error) {
    const failure = failureOf(error, { sdk, secrets: resolved.secrets });
    return { kind: "failed", diagnostic: failureDiagnostic(config, failure, { doing: "signing out" }) };
  }
}

type Revocation = Pick<Extract<LogOutOutcome, { kind: "signed-out" }>, "revoked" | "reason">;

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
  if (as === undefined) return undefined;
  const url = endpointOf(as);
  const client = knownClient(context, as, stored)?.client;
  if (url === undefined || client === undefined) return undefined;
  const params = new URLSearchParams({ token, token_type_hint: hint });
  const { sdk, fetch } = context;
  const ask = async (proof: ClientProof) => {
    const headers = new Headers({ "content-type": "application/x-www-form-urlencoded" });
    await proof(headers, params, url, as.metadata);
    const response = await fetch(url, { method: "POST", headers, body: params.toString() });
    if (response.status === 401) throw new sdk.OAuthError(sdk.OAuthErrorCode.InvalidClient, "the client is unknown");
    return response.status;
  };
  try {
    return await provingClient({ sdk, client, as }, ask);
  } catch (error) {
    if (sdk.OAuthError.isInstance(error)) return 401;
    throw error;
  }
}

/** Metadata as it came: the SDK's types have no revocation in OpenID's. */
function endpointOf({ metadata }: AuthorizationServer): URL | undefined {
  const { revocation_endpoint: endpoint } = (metadata ?? {}) as { revocation_endpoint?: unknown };
  if (typeof endpoint !== "string" || !URL.canParse(endpoint)) return undefined;
  const url = new URL(endpoint);
  return isSecureAddress(url) ? url : undefined;
}
