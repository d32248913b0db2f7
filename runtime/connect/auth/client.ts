/**
 * As whom we ask for tokens: the client that the configuration names, the one registered earlier, a Client ID Metadata
 * Document, or one registered now; in this order, by the rules of Pi's `docs/mcp.md`, so that tokens got by either
 * tool can be refreshed by the other. A client belongs to one issuer and is never shown to another.
 */
import { createHash } from "node:crypto";
import { isLoopback } from "../../../schemas/config/secure-address.ts";
import type { OAuthSettings } from "../../../schemas/config/server-config.ts";
import type { AuthContext } from "./auth-context.ts";
import { AuthError } from "./auth-error.ts";
import { type AuthorizationServer, isSameIssuer, placeOf } from "./discover.ts";
import { oauthFailure } from "./oauth-failure.ts";
import type { Credentials, StoredClient } from "./store-file.ts";

export interface ClientIdentity {
  readonly client: StoredClient;
  /** The redirect URI that goes with it. */
  readonly redirectUrl: string;
  /** How it came about decides what becomes of it when the server no longer knows it. */
  readonly origin: "configured" | "registered" | "document";
}

/** As the SDK's functions take it. */
export function clientInformation({ redirect_uris: uris = [], ...client }: StoredClient) {
  return { ...client, redirect_uris: [...uris] };
}

const DEFAULT_CALLBACK = "http://127.0.0.1/callback";
/** The sign-in is Pi's, so is the document: credentials are shared. */
const PI_DOCUMENTS = "https://pi.dev/oauth";

/** The redirect URI before it has its port, and the port it must have. */
export function callbackSettings({ callbackUrl, callbackPort }: OAuthSettings): { url: string; port?: number } {
  const url = callbackUrl ?? DEFAULT_CALLBACK;
  const port = new URL(url).port === "" ? callbackPort : Number(new URL(url).port);
  return port === undefined ? { url } : { url, port };
}

/** The client to refresh with; undefined where the tokens' client is not known any more. Registers nothing. */
export function knownClient(
  { oauth, server }: AuthContext,
  as: AuthorizationServer,
  stored: Credentials,
): ClientIdentity | undefined {
  const redirectUrl = stored.clientInformation?.redirect_uris?.[0] ?? callbackSettings(oauth).url;
  const own = configuredClient(oauth, as) ?? registeredClient(as, stored);
  if (own !== undefined) return { ...own, redirectUrl };
  const document = documentClient(oauth, as, server, listed(redirectUrl) ? redirectUrl : DEFAULT_CALLBACK);
  return document === undefined ? undefined : { ...document, origin: "document" };
}

/** The client to sign in with at `redirectUrl`, registered where it has to be. */
export async function clientFor(
  context: AuthContext,
  as: AuthorizationServer,
  stored: Credentials | undefined,
  redirectUrl: string,
  scope: string | undefined,
): Promise<ClientIdentity> {
  const { oauth, server } = context;
  const configured = configuredClient(oauth, as);
  if (configured !== undefined) {
    if (oauth.clientSecret !== undefined) assertSameIssuer(oauth, as, stored);
    return { ...configured, redirectUrl };
  }
  const registered = stored && registeredClient(as, stored);
  const fits = registered?.client.redirect_uris?.includes(redirectUrl) === true;
  if (registered !== undefined && fits && oauth.clientRegistration !== "cimd") return { ...registered, redirectUrl };
  const document = documentClient(oauth, as, server, redirectUrl);
  if (document !== undefined) return { ...document, origin: "document" };
  if (oauth.clientRegistration === "cimd") {
    throw new AuthError("sign-in-failed", `${placeOf(as)} takes no Client ID Metadata Documents of public clients`, {
      notes: ['remove oauth.clientRegistration "cimd"'],
    });
  }
  return { client: await register(context, as, redirectUrl, scope), redirectUrl, origin: "registered" };
}

/** Throws where its secret would go to another issuer than it is meant for. */
export function configuredClient(
  { clientId, clientSecret, issuer }: OAuthSettings,
  as: AuthorizationServer,
): Omit<ClientIdentity, "redirectUrl"> | undefined {
  if (clientId === undefined) return undefined;
  if (issuer !== undefined && !isSameIssuer(issuer, as.issuer)) {
    throw new AuthError(
      "sign-in-failed",
      `the server names the authorization server ${placeOf(as)}, not oauth.issuer`,
      {
        notes: ["if the new one is right, correct oauth.issuer"],
      },
    );
  }
  const secret = clientSecret === undefined ? {} : { client_secret: clientSecret };
  return { client: { client_id: clientId, ...secret, issuer: as.issuer }, origin: "configured" };
}

/** The server says who is sent the configured secret: where the configuration doesn't, the first sign-in settled it. */
function assertSameIssuer(
  { issuer, authServerMetadataUrl }: OAuthSettings,
  as: AuthorizationServer,
  stored: Credentials | undefined,
): void {
  const before = stored?.tokens?.issuer ?? issuerOf(stored?.discovery);
  if (before === undefined || issuer !== undefined || authServerMetadataUrl !== undefined) return;
  if (isSameIssuer(before, as.issuer)) return;
  const message = `the server now names the authorization server ${placeOf(as)}, which oauth.clientSecret was never sent to`;
  throw new AuthError("sign-in-failed", message, {
    notes: ["if that is right, set oauth.issuer to it, or sign out first"],
  });
}

function registeredClient(
  as: AuthorizationServer,
  { clientInformation, discovery }: Credentials,
): Omit<ClientIdentity, "redirectUrl"> | undefined {
  if (clientInformation === undefined) return undefined;
  const issuer = clientInformation.issuer ?? issuerOf(discovery) ?? as.issuer;
  if (!isSameIssuer(issuer, as.issuer)) return undefined;
  return { client: { ...clientInformation, issuer: as.issuer }, origin: "registered" };
}

/** Whom stored credentials come from, where it was noted. */
export function issuerOf(discovery: Credentials["discovery"]): string | undefined {
  const issuer = discovery?.authorizationServerMetadata?.["issuer"];
  return typeof issuer === "string" ? issuer : discovery?.authorizationServerUrl;
}

/** Undefined where the configuration or the server wants none. */
function documentClient(
  oauth: OAuthSettings,
  { metadata, issuer }: AuthorizationServer,
  server: URL,
  redirectUrl: string,
): Omit<ClientIdentity, "origin"> | undefined {
  const mode = oauth.clientRegistration ?? "auto";
  if (mode === "dcr" || oauth.clientId !== undefined || metadata?.client_id_metadata_document_supported !== true) {
    return undefined;
  }
  if (oauth.clientMetadataUrl !== undefined) {
    return { client: { client_id: oauth.clientMetadataUrl, issuer }, redirectUrl };
  }
  if (oauth.clientName !== undefined || !listed(redirectUrl)) return undefined;
  if (metadata.token_endpoint_auth_methods_supported?.includes("none") !== true) return undefined;
  if (metadata.authorization_response_iss_parameter_supported === true) {
    return { client: { client_id: `${PI_DOCUMENTS}/client.json`, issuer }, redirectUrl };
  }
  // Without `iss` in its answers, only an address of its own tells one authorization server's from another's.
  const own = new URL(redirectUrl);
  own.pathname = ownCallbackPath(server);
  return { client: { client_id: `${PI_DOCUMENTS}/${callbackId(server)}/client.json`, issuer }, redirectUrl: own.href };
}

/** Whether Pi's documents list a redirect URI. */
function listed(redirectUrl: string): boolean {
  const { hostname, pathname } = new URL(redirectUrl);
  return (hostname === "localhost" || hostname === "127.0.0.1") && pathname === "/callback";
}

/** The path of the redirect URI that belongs to one MCP server alone. */
export function ownCallbackPath(server: URL): string {
  return `/callback/${callbackId(server)}`;
}

function callbackId(server: URL): string {
  const url = new URL(server);
  url.hash = "";
  return createHash("sha256").update(url.href).digest().subarray(0, 9).toString("base64url");
}

async function register(
  { sdk, oauth, fetch }: AuthContext,
  as: AuthorizationServer,
  redirectUrl: string,
  scope: string | undefined,
): Promise<StoredClient> {
  const { metadata } = as;
  if (metadata !== undefined && metadata.registration_endpoint === undefined) {
    throw new AuthError("sign-in-failed", `${placeOf(as)} registers no clients by itself`, {
      notes: ["register one with it and set oauth.clientId"],
    });
  }
  const methods = metadata?.token_endpoint_auth_methods_supported ?? ["none"];
  const method = ["none", "client_secret_basic", "client_secret_post"].find((one) => methods.includes(one)) ?? "none";
  try {
    const registered = await sdk.registerClient(as.url, {
      ...(metadata && { metadata }),
      clientMetadata: {
        client_name: oauth.clientName ?? "pimcp",
        redirect_uris: [redirectUrl],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: method,
        application_type: isLoopback(new URL(redirectUrl)) ? "native" : "web",
      },
      ...(scope !== undefined && { scope }),
      fetchFn: fetch,
    });
    const { redirect_uris: uris } = registered;
    return { ...registered, redirect_uris: uris.length > 0 ? uris : [redirectUrl], issuer: as.issuer } as StoredClient;
  } catch (error) {
    if (metadata === undefined && sdk.RegistrationRejectedError.isInstance(error)) {
      throw new AuthError("sign-in-failed", "the server names no authorization server, and is none itself", {
        cause: error,
        notes: ["set oauth.authServerMetadataUrl to the metadata document of its authorization server"],
      });
    }
    throw oauthFailure(sdk, error, "registering a client");
  }
}
