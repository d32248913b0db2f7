/**
 * One refresh an expiry, however many calls and processes ask: the store's lock is held from reading the tokens to
 * saving the next ones, and whoever waits for it takes what the holder got. A refresh token may be good for one use,
 * so it is spent only where its successor can be saved; and what is removed is only what the server declared dead, and
 * only while it is still what is stored. A network error removes nothing. Registers nothing, asks nobody.
 */
import type * as Sdk from "@modelcontextprotocol/client";
import type { AuthContext } from "./auth-context.ts";
import { AuthError } from "./auth-error.ts";
import { type ClientIdentity, clientInformation, issuerOf, knownClient } from "./client.ts";
import { provingClient } from "./client-proof.ts";
import { type AuthorizationServer, isSameIssuer, rediscover } from "./discover.ts";
import { dpopSession } from "./dpop.ts";
import { oauthFailure } from "./oauth-failure.ts";
import { withTokens } from "./sign-in.ts";
import type { Credentials, StoredTokens } from "./store-file.ts";

/** What there is in place of the access token `stale`. Rejects with `AuthError`, `sign-in-needed` where a person is needed. */
export async function refresh(context: AuthContext, stale: string): Promise<Credentials> {
  const { key, store } = context;
  const replaced = async () => {
    const stored = await store.read(key);
    return stored?.tokens !== undefined && stored.tokens.access_token !== stale ? stored : undefined;
  };
  return store.withRefreshLock(
    key,
    async () => {
      const stored = await store.read(key);
      if (stored?.tokens === undefined) throw signInNeeded("nobody is signed in");
      if (stored.tokens.access_token !== stale) return stored;
      return refreshNow(context, stored, stored.tokens);
    },
    replaced,
  );
}

async function refreshNow(context: AuthContext, stored: Credentials, tokens: StoredTokens): Promise<Credentials> {
  const { key, store } = context;
  const { refresh_token: refreshToken } = tokens;
  if (refreshToken === undefined) throw signInNeeded("the sign-in has expired and can't be renewed");
  const as = await rediscover(context, stored.discovery);
  const issuer = tokens.issuer ?? issuerOf(stored.discovery);
  if (as === undefined || (issuer !== undefined && !isSameIssuer(issuer, as.issuer))) {
    throw signInNeeded("the sign-in was with another authorization server");
  }
  const client = knownClient(context, as, stored);
  if (client === undefined) throw signInNeeded("the client that signed in is not known any more");
  await store.assertWritable(key);
  const next = await ask(context, as, client, stored, refreshToken);
  let saved = stored;
  await store.update(key, (current) => {
    // Somebody signed in meanwhile: theirs is the newer grant.
    if (current?.tokens?.refresh_token !== refreshToken) saved = current ?? stored;
    else saved = withTokens(current, continued(tokens, { ...next, issuer: as.issuer }), context.now());
    return current && saved;
  });
  if (saved.tokens?.access_token === tokens.access_token) throw signInNeeded("somebody signed out");
  return saved;
}

/** A refresh without a scope keeps that of the grant (RFC 6749, section 6). */
function continued({ scope, grant }: StoredTokens, next: StoredTokens): StoredTokens {
  return { ...next, ...(!next.scope && scope !== undefined && { scope }), ...(grant !== undefined && { grant }) };
}

async function ask(
  context: AuthContext,
  as: AuthorizationServer,
  identity: ClientIdentity,
  stored: Credentials,
  refreshToken: string,
): Promise<StoredTokens> {
  const { sdk, fetch } = context;
  const { client } = identity;
  const dpop = stored.dpopKey && (await dpopSession(sdk, stored.dpopKey));
  try {
    const request = {
      ...(as.metadata && { metadata: as.metadata }),
      clientInformation: clientInformation(client),
      refreshToken,
      ...(as.resource !== undefined && { resource: as.resource }),
      ...(dpop && { dpop }),
      fetchFn: fetch,
    };
    return (await provingClient({ sdk, client, as }, (proof) =>
      sdk.refreshAuthorization(as.url, { ...request, addClientAuthentication: proof }),
    )) as StoredTokens;
  } catch (error) {
    const dead = deathOf(sdk, error, identity);
    if (dead === undefined) throw oauthFailure(sdk, error, "renewing the sign-in");
    await removeDead(context, refreshToken, dead === "client" ? client.client_id : undefined);
    const why = dead === "client" ? "the registered client is gone" : "the sign-in has expired or was revoked";
    throw signInNeeded(why, error);
  }
}

/** What the server's refusal says is of no more use. A client that the configuration names is its owner's matter. */
function deathOf(sdk: typeof Sdk, error: unknown, { origin }: ClientIdentity): "grant" | "client" | undefined {
  if (!sdk.OAuthError.isInstance(error)) return undefined;
  const { InvalidGrant, InvalidClient, UnauthorizedClient } = sdk.OAuthErrorCode;
  if (error.code === InvalidGrant) return "grant";
  const isClient = error.code === InvalidClient || error.code === UnauthorizedClient;
  return isClient && origin === "registered" ? "client" : undefined;
}

/** The tokens of that refresh token, and that client; nothing that replaced them meanwhile. */
async function removeDead({ key, store }: AuthContext, refreshToken: string, clientId?: string): Promise<void> {
  await store.update(key, (stored) => {
    if (stored === undefined) return stored;
    const { tokens, tokensExpireAt, clientInformation, ...rest } = stored;
    const tokensDead = tokens?.refresh_token === refreshToken;
    const clientDead = clientId !== undefined && clientInformation?.client_id === clientId;
    if (!tokensDead && !clientDead) return stored;
    return {
      ...rest,
      ...(!tokensDead && tokens && { tokens, ...(tokensExpireAt !== undefined && { tokensExpireAt }) }),
      ...(!clientDead && clientInformation && { clientInformation }),
    };
  });
}

/** What helps is the same for all of them, and said where failures are described. */
export function signInNeeded(why: string, cause?: unknown): AuthError {
  return new AuthError("sign-in-needed", why, { cause });
}
