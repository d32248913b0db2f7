/**
 * Tokens that need no person: client credentials with a secret or a key (RFC 6749, RFC 7523), a workload's JWT, and an
 * enterprise's identity provider that vouches for a person (ID-JAG). Kept in memory for as long as the connection's
 * settings hold: asking for another is cheap. A refusal is final: it is not repeated and no other way is tried.
 */
import type * as Sdk from "@modelcontextprotocol/client";
import type { OAuthSettings } from "../../../schemas/config/server-config.ts";
import {
  type AccessToken,
  type AuthContext,
  type Challenge,
  renewalMarginMs,
  type TokenSource,
} from "./auth-context.ts";
import { AuthError } from "./auth-error.ts";
import { configuredClient } from "./client.ts";
import { type ClientProof, provingClient } from "./client-proof.ts";
import { type AuthorizationServer, discover } from "./discover.ts";
import { newDpopKey, wantsDpop } from "./dpop.ts";
import { oauthFailure } from "./oauth-failure.ts";
import type { StoredClient } from "./store-file.ts";

const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";

interface Issued {
  readonly token: AccessToken;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export class MachineSource implements TokenSource {
  readonly #context: () => Promise<AuthContext>;
  #issued: Issued | undefined;
  #asking: Promise<AccessToken> | undefined;
  /** The server's last words about what it wants. */
  #challenge: Challenge = { dpop: false };

  constructor(context: () => Promise<AuthContext>) {
    this.#context = context;
  }

  /** Nothing before the server has asked: what it says then is needed to ask for the right token. */
  async token(): Promise<AccessToken | undefined> {
    if (this.#issued === undefined) return this.#asking;
    const { now } = await this.#context();
    return this.#issued.expiresAt > now() ? this.#issued.token : this.#ask(this.#challenge);
  }

  async renew(rejected: AccessToken | undefined, challenge: Challenge): Promise<AccessToken> {
    const { token } = this.#issued ?? {};
    return token !== undefined && token.value !== rejected?.value ? token : this.#ask(challenge);
  }

  async stepUp(current: AccessToken | undefined, challenge: Challenge): Promise<AccessToken | undefined> {
    const { sdk } = await this.#context();
    const scope = sdk.computeScopeUnion(current?.scope, challenge.scope);
    if (!sdk.isStrictScopeSuperset(scope, current?.scope)) return undefined;
    return this.#ask({ ...challenge, scope });
  }

  get busy(): boolean {
    return this.#asking !== undefined;
  }

  async settled(): Promise<void> {
    await this.#asking?.catch(() => undefined);
  }

  #ask(challenge: Challenge): Promise<AccessToken> {
    this.#challenge = challenge;
    this.#asking ??= this.#askNow(challenge).finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #askNow(challenge: Challenge): Promise<AccessToken> {
    const context = await this.#context();
    const { sdk, oauth, fetch, now } = context;
    const as = await discover(context, challenge.resourceMetadataUrl);
    const dpop = wantsDpop(context, as, challenge) ? (await newDpopKey(sdk)).session : undefined;
    const { provider, client } = providerFor(context, as, dpop);
    const scope = sdk.computeScopeUnion(oauth.scope, challenge.scope);
    try {
      const request = {
        ...(as.metadata && { metadata: as.metadata }),
        ...(as.resource !== undefined && { resource: as.resource }),
        ...(scope !== undefined && { scope }),
        fetchFn: fetch,
      };
      // One that signs its proofs does so by itself.
      const own = provider.addClientAuthentication;
      const ask = (proof: ClientProof) => {
        provider.addClientAuthentication = own ?? proof;
        return sdk.fetchToken(provider, as.url, request);
      };
      const tokens = await provingClient({ sdk, client, as }, ask);
      const bound = tokens.token_type.toLowerCase() === "dpop" ? dpop : undefined;
      const token = { value: tokens.access_token, scope: tokens.scope ?? scope, dpop: bound };
      const lifetimeMs = (tokens.expires_in ?? 3600) * 1000;
      this.#issued = { token, expiresAt: now() + lifetimeMs - renewalMarginMs(lifetimeMs) };
      return token;
    } catch (error) {
      throw oauthFailure(sdk, error, "asking for a token");
    }
  }
}

function providerFor(
  context: AuthContext,
  as: AuthorizationServer,
  dpop: Sdk.DpopSession | undefined,
): { provider: Sdk.OAuthClientProvider; client: StoredClient } {
  const { sdk, oauth } = context;
  // Checks that its secrets are meant for this issuer.
  const identity = configuredClient(oauth, as);
  const { clientId, clientSecret = "", scope } = oauth;
  if (identity === undefined || clientId === undefined)
    throw new AuthError("sign-in-failed", "oauth.clientId is missing");
  const shared = { clientId, expectedIssuer: as.issuer, ...(scope !== undefined && { scope }) };
  const provider = (): Sdk.OAuthClientProvider => {
    switch (oauth.grant) {
      case "enterprise-managed":
        return enterpriseProvider(context, as, { ...shared, clientSecret });
      case "workload-identity":
        return assertionProvider(new sdk.ClientCredentialsProvider({ ...shared, clientSecret }), oauth);
      default:
        if (oauth.privateKey === undefined) return new sdk.ClientCredentialsProvider({ ...shared, clientSecret });
        return new sdk.PrivateKeyJwtProvider({
          ...shared,
          privateKey: oauth.privateKey,
          algorithm: oauth.privateKeyAlgorithm ?? "ES256",
        });
    }
  };
  const { client } = identity;
  return { provider: Object.assign(provider(), dpop && { dpop: () => dpop }), client };
}

/** The workload's JWT is the grant; where the client has no secret it is a public one. */
function assertionProvider(provider: Sdk.ClientCredentialsProvider, oauth: OAuthSettings): Sdk.OAuthClientProvider {
  const { client_secret: secret, ...client } = provider.clientInformation() as {
    client_id: string;
    client_secret?: string;
  };
  return Object.assign(provider, {
    clientInformation: () => (secret ? { ...client, client_secret: secret } : client),
    prepareTokenRequest(scope?: string) {
      const params = new URLSearchParams({ grant_type: JWT_BEARER, assertion: oauth.assertion ?? "" });
      if (scope) params.set("scope", scope);
      return params;
    },
  });
}

/** The identity provider exchanges the ID token for a grant at the server's own authorization server. */
function enterpriseProvider(
  { sdk, oauth, fetch, server }: AuthContext,
  as: AuthorizationServer,
  client: { clientId: string; clientSecret: string; expectedIssuer: string },
): Sdk.OAuthClientProvider {
  const provider = new sdk.CrossAppAccessProvider({
    ...client,
    fetchFn: fetch,
    assertion: async ({ authorizationServerUrl, resourceUrl, scope }) => {
      const exchange = {
        audience: authorizationServerUrl,
        resource: resourceUrl,
        idToken: oauth.idToken ?? "",
        clientId: oauth.idpClientId ?? "",
        ...(oauth.idpClientSecret !== undefined && { clientSecret: oauth.idpClientSecret }),
        ...(scope !== undefined && { scope }),
        fetchFn: fetch,
      };
      const { idpIssuer = "", idpTokenEndpoint: tokenEndpoint } = oauth;
      const { jwtAuthGrant } =
        tokenEndpoint === undefined
          ? await sdk.discoverAndRequestJwtAuthGrant({ ...exchange, idpUrl: idpIssuer })
          : await sdk.requestJwtAuthorizationGrant({ ...exchange, tokenEndpoint });
      return jwtAuthGrant;
    },
  });
  provider.saveAuthorizationServerUrl?.(as.issuer);
  provider.saveResourceUrl?.(as.resource ?? String(sdk.resourceUrlFromServerUrl(server)));
  return provider;
}
