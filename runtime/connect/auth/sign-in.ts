/**
 * A person signs in: authorization code with PKCE, `state`, `iss` (RFC 9207) and the resource indicator. Everything is
 * found out afresh, and nothing of what is stored is touched before new tokens are there. The code's verifier and
 * `state` live in memory alone. The code is sent once, to the issuer that the answer came from.
 */
import { randomBytes } from "node:crypto";
import { printableLine } from "../redact.ts";
import type { AuthContext, Challenge } from "./auth-context.ts";
import { AuthError } from "./auth-error.ts";
import { addressFault, place } from "./auth-fetch.ts";
import { type ClientIdentity, callbackSettings, clientFor, clientInformation, ownCallbackPath } from "./client.ts";
import { provingClient } from "./client-proof.ts";
import { type AuthorizationServer, discover } from "./discover.ts";
import { type DpopKey, newDpopKey, wantsDpop } from "./dpop.ts";
import type { Callback, Interactive } from "./interactive.ts";
import { oauthFailure } from "./oauth-failure.ts";
import type { Credentials, StoredTokens } from "./store-file.ts";

export interface SignInRequest {
  readonly challenge: Challenge;
  readonly interactive: Interactive;
  /** Scopes to ask for besides those that the server and the configuration name. */
  readonly scope?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Resolves with what has been stored. Rejects with `AuthError`. */
export async function signIn(context: AuthContext, request: SignInRequest): Promise<Credentials> {
  const { key, oauth, server, store } = context;
  const stored = await store.read(key);
  // Before a person is asked for anything.
  await store.assertWritable(key);
  const as = await discover(context, request.challenge.resourceMetadataUrl);
  const { url, port } = callbackSettings(oauth);
  const callback = await open(request.interactive, {
    server: key.server,
    url,
    port,
    preferredPort: portOf(stored?.clientInformation?.redirect_uris?.[0]),
    paths: [new URL(url).pathname, ownCallbackPath(server)],
    signal: request.signal,
  });
  try {
    const scope = scopeOf(context, as, request, stored?.wantedScope);
    const client = await clientFor(context, as, stored, callback.redirectUrl, scope);
    const dpop = wantsDpop(context, as, request.challenge) ? await newDpopKey(context.sdk) : undefined;
    const tokens = await authorize(context, as, client, callback, { scope, dpop, signal: request.signal });
    return await save(context, as, client, tokens, dpop);
  } finally {
    await callback.close();
  }
}

async function open(interactive: Interactive, request: Parameters<Interactive["open"]>[0]): Promise<Callback> {
  try {
    return await interactive.open(request);
  } catch (cause) {
    throw personFailure(cause);
  }
}

/** What the other side of `Interactive` says went wrong: ours, so its words are shown. */
function personFailure(cause: unknown): AuthError {
  if (cause instanceof AuthError) return cause;
  const message = cause instanceof Error ? printableLine(cause.message, 300) : "the sign-in was not completed";
  return new AuthError("sign-in-failed", message, { cause });
}

function portOf(redirectUrl: string | undefined): number | undefined {
  if (redirectUrl === undefined || !URL.canParse(redirectUrl)) return undefined;
  return Number(new URL(redirectUrl).port) || undefined;
}

/** What the server asks for, else what it says it has, and whatever the configuration adds. */
function scopeOf(
  { sdk, oauth }: AuthContext,
  { metadata, resourceMetadata }: AuthorizationServer,
  { challenge, scope: more }: SignInRequest,
  wanted: string | undefined,
): string | undefined {
  const asked = sdk.computeScopeUnion(oauth.scope, more, wanted, challenge.scope);
  const scope = asked ?? sdk.computeScopeUnion(resourceMetadata?.scopes_supported?.join(" "));
  if (scope === undefined || metadata?.scopes_supported?.includes("offline_access") !== true) return scope;
  return sdk.computeScopeUnion(scope, "offline_access");
}

interface Asked {
  readonly scope: string | undefined;
  readonly dpop: DpopKey | undefined;
  readonly signal: AbortSignal | undefined;
}

async function authorize(
  { sdk, server, oauth, fetch }: AuthContext,
  as: AuthorizationServer,
  { client, redirectUrl }: ClientIdentity,
  callback: Callback,
  { scope, dpop, signal }: Asked,
): Promise<StoredTokens> {
  const known = {
    ...(as.metadata && { metadata: as.metadata }),
    clientInformation: clientInformation(client),
    ...(as.resource !== undefined && { resource: as.resource }),
  };
  const state = randomBytes(32).toString("base64url");
  const request = { ...known, redirectUrl, state, ...(scope !== undefined && { scope }) };
  const { authorizationUrl, codeVerifier } = await orFailure(sdk.startAuthorization(as.url, request), sdk, "preparing");
  const fault = addressFault(authorizationUrl, server, oauth);
  if (fault !== undefined) {
    throw new AuthError("sign-in-failed", `the sign-in page ${place(authorizationUrl)} ${fault}`);
  }
  const answer = await callback.authorize(authorizationUrl, { state, redirectUrl, signal }).catch((cause: unknown) => {
    throw personFailure(cause);
  });
  const { code, iss } = readAnswer(sdk, as, answer, state);
  const exchange = provingClient({ sdk, client, as }, (proof) =>
    sdk.exchangeAuthorization(as.url, {
      ...known,
      authorizationCode: code,
      ...(iss !== undefined && { iss }),
      codeVerifier,
      redirectUri: redirectUrl,
      addClientAuthentication: proof,
      ...(dpop && { dpop: dpop.session }),
      fetchFn: fetch,
    }),
  );
  const tokens = await orFailure(exchange, sdk, "exchanging the code");
  // An answer without a scope grants what was asked for (RFC 6749, section 5.1); noted, so that a step-up can keep it.
  return { ...tokens, ...(!tokens.scope && scope !== undefined && { scope }), ...noted(as) } as StoredTokens;
}

function noted({ issuer }: AuthorizationServer): Pick<StoredTokens, "issuer" | "grant"> {
  return { issuer, grant: randomBytes(12).toString("base64url") };
}

async function orFailure<T>(step: Promise<T>, sdk: AuthContext["sdk"], doing: string): Promise<T> {
  try {
    return await step;
  } catch (error) {
    throw oauthFailure(sdk, error, doing);
  }
}

/** Its words are read only once it is known to come from the issuer that was asked. */
function readAnswer(
  sdk: AuthContext["sdk"],
  { metadata }: AuthorizationServer,
  answer: URL,
  state: string,
): { code: string; iss: string | undefined } {
  const params = answer.searchParams;
  if (params.get("state") !== state) {
    throw new AuthError("sign-in-failed", "the answer belongs to another sign-in", { notes: ["sign in again"] });
  }
  const iss = params.get("iss") ?? undefined;
  try {
    sdk.validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: metadata?.issuer,
      issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
    });
  } catch (error) {
    throw oauthFailure(sdk, error, "signing in");
  }
  const error = params.get("error");
  if (error !== null) {
    const said = printableLine(params.get("error_description") ?? "", 200);
    const refusal = `${printableLine(error, 60)}${said === "" ? "" : `: ${said}`}`;
    throw new AuthError("sign-in-failed", `the sign-in was refused (${refusal})`);
  }
  const code = params.get("code");
  if (code === null) throw new AuthError("sign-in-failed", "the answer to the sign-in holds no code");
  return { code, iss };
}

async function save(
  { key, store, now }: AuthContext,
  { discovery }: AuthorizationServer,
  { client, origin }: ClientIdentity,
  tokens: StoredTokens,
  dpop: DpopKey | undefined,
): Promise<Credentials> {
  let saved: Credentials = { serverUrl: key.url };
  await store.update(key, (stored) => {
    const { clientInformation: _, discovery: __, dpopKey: ___, wantedScope: ____, ...rest } = stored ?? saved;
    // Pi takes tokens without a stored client for those of its document or of the configured client.
    saved = {
      ...withTokens({ ...rest, serverUrl: key.url }, tokens, now()),
      ...(origin === "registered" && { clientInformation: client }),
      ...(discovery && { discovery }),
      ...(dpop && { dpopKey: dpop.jwk }),
    };
    return saved;
  });
  return saved;
}

/** Credentials with other tokens, which were issued at `now`. */
export function withTokens(stored: Credentials, tokens: StoredTokens, now: number): Credentials {
  const { tokensExpireAt: _, ...rest } = stored;
  const { expires_in: lifetimeS } = tokens;
  return { ...rest, tokens, ...(lifetimeS !== undefined && { tokensExpireAt: now + lifetimeS * 1000 }) };
}
