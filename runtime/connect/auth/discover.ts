/**
 * Finds the authorization server of an MCP server: through its protected resource metadata (RFC 9728) and the
 * authorization server's own (RFC 8414, OpenID Connect), or in the document that the configuration names. Whatever
 * these documents say is a stranger's word: a document of another resource or issuer, and an endpoint that is not
 * https, are refused before anything is sent anywhere.
 */
import type * as Sdk from "@modelcontextprotocol/client";
import { isRecord } from "../../../schemas/record.ts";
import type { Fetch } from "../http-fetch.ts";
import { printableLine } from "../redact.ts";
import { redirectOf } from "../redirect.ts";
import type { AuthContext } from "./auth-context.ts";
import { AuthError } from "./auth-error.ts";
import { addressFault, place } from "./auth-fetch.ts";
import { oauthFailure } from "./oauth-failure.ts";
import type { StoredDiscovery } from "./store-file.ts";

export interface AuthorizationServer {
  readonly url: string;
  /** Absent for servers from before metadata, whose endpoints have fixed names. */
  readonly metadata: Sdk.AuthorizationServerMetadata | undefined;
  readonly issuer: string;
  /** The resource indicator (RFC 8707), as published. */
  readonly resource: string | undefined;
  readonly resourceMetadata: Sdk.OAuthProtectedResourceMetadata | undefined;
  /** What is stored of it; nothing where the configuration decides. */
  readonly discovery: StoredDiscovery | undefined;
}

const OVERRIDE = "set oauth.authServerMetadataUrl to the metadata document of the right authorization server";

/** Asks afresh: a server may have moved to another authorization server. */
export async function discover(context: AuthContext, resourceMetadataUrl?: URL): Promise<AuthorizationServer> {
  const { oauth, server } = context;
  const resourceMetadata = await readResourceMetadata(context, resourceMetadataUrl);
  if (oauth.authServerMetadataUrl !== undefined)
    return configured(context, oauth.authServerMetadataUrl, resourceMetadata);
  const named = resourceMetadata?.authorization_servers?.[0];
  const url = named ?? String(new URL("/", server));
  const metadata = await readMetadata(context, url);
  if (named !== undefined && metadata === undefined) {
    throw failed(`the authorization server that the server names, ${printableLine(named)}, has no metadata`);
  }
  const discovery = {
    authorizationServerUrl: url,
    ...(metadata && { authorizationServerMetadata: metadata }),
    ...(resourceMetadata && { resourceMetadata }),
    ...(resourceMetadataUrl && { resourceMetadataUrl: resourceMetadataUrl.href }),
  } as StoredDiscovery;
  return checked(context, { url, metadata, resourceMetadata, discovery });
}

/** The authorization server that stored tokens came from; undefined where that isn't known. Asks only what isn't stored. */
export async function rediscover(
  context: AuthContext,
  stored: StoredDiscovery | undefined,
): Promise<AuthorizationServer | undefined> {
  const { oauth } = context;
  const resourceMetadata = stored?.resourceMetadata as Sdk.OAuthProtectedResourceMetadata | undefined;
  if (oauth.authServerMetadataUrl !== undefined)
    return configured(context, oauth.authServerMetadataUrl, resourceMetadata);
  if (stored === undefined) return undefined;
  const url = stored.authorizationServerUrl;
  const known = stored.authorizationServerMetadata as Sdk.AuthorizationServerMetadata | undefined;
  const metadata = known ?? (await readMetadata(context, url));
  return checked(context, { url, metadata, resourceMetadata, discovery: stored });
}

async function configured(
  context: AuthContext,
  url: string,
  resourceMetadata: Sdk.OAuthProtectedResourceMetadata | undefined,
): Promise<AuthorizationServer> {
  const response = await context.fetch(url, { headers: { accept: "application/json" } });
  const document: unknown = response.ok ? await response.json().catch(() => undefined) : undefined;
  if (!isServerMetadata(document)) {
    throw new AuthError(
      "sign-in-failed",
      `oauth.authServerMetadataUrl leads to no metadata (HTTP ${response.status})`,
      {
        notes: ["correct oauth.authServerMetadataUrl"],
      },
    );
  }
  const found = { url: document.issuer, metadata: document, resourceMetadata, discovery: undefined };
  return checked(context, found);
}

function isServerMetadata(document: unknown): document is Sdk.AuthorizationServerMetadata {
  if (!isRecord(document) || !Array.isArray(document["response_types_supported"])) return false;
  return ["issuer", "authorization_endpoint", "token_endpoint"].every((name) => {
    const value = document[name];
    return typeof value === "string" && URL.canParse(value);
  });
}

/** Undefined where the server publishes none, and where the configuration says who the authorization server is. */
async function readResourceMetadata(
  { sdk, server, fetch, oauth }: AuthContext,
  resourceMetadataUrl: URL | undefined,
): Promise<Sdk.OAuthProtectedResourceMetadata | undefined> {
  let redirects = false;
  const noting: Fetch = async (url, init) => {
    const response = await fetch(url, init);
    redirects = redirectOf(response, url, "GET") !== undefined;
    return response;
  };
  try {
    const options = resourceMetadataUrl && { resourceMetadataUrl };
    return await sdk.discoverOAuthProtectedResourceMetadata(server, options, noting);
  } catch (error) {
    if (isMissing(error) && !redirects) return undefined;
    const failure = oauthFailure(sdk, error, "reading the server's protected resource metadata");
    if (oauth.authServerMetadataUrl !== undefined && failure.code !== "server-unavailable") return undefined;
    throw isMissing(error)
      ? failed("the server's protected resource metadata redirects elsewhere or without end")
      : failure;
  }
}

/** A plain Error says that there is no such document; anything else that there is one, and what is wrong with it. */
function isMissing(error: unknown): boolean {
  return error instanceof Error && error.constructor === Error;
}

async function readMetadata(
  { sdk, fetch }: AuthContext,
  url: string,
): Promise<Sdk.AuthorizationServerMetadata | undefined> {
  try {
    return await sdk.discoverAuthorizationServerMetadata(url, { fetchFn: fetch });
  } catch (error) {
    throw oauthFailure(sdk, error, "reading its metadata");
  }
}

type Found = Pick<AuthorizationServer, "url" | "metadata" | "resourceMetadata" | "discovery">;

function checked({ sdk, server, oauth }: AuthContext, found: Found): AuthorizationServer {
  const { metadata, resourceMetadata, url } = found;
  for (const name of ["authorization_endpoint", "token_endpoint", "registration_endpoint"] as const) {
    const endpoint = metadata?.[name];
    if (endpoint === undefined) continue;
    const text = String(endpoint);
    const fault = URL.canParse(text) ? addressFault(new URL(text), server, oauth) : "is not https";
    if (fault !== undefined) throw failed(`the authorization server's ${name} ${fault}`);
  }
  const resource = resourceMetadata?.resource;
  if (resource !== undefined && !isOwnResource(sdk, server, resource)) {
    throw failed(`the server's protected resource metadata is that of another resource, ${printableLine(resource)}`);
  }
  return { ...found, issuer: metadata?.issuer ?? url, resource };
}

function isOwnResource(sdk: typeof Sdk, server: URL, resource: string): boolean {
  if (!URL.canParse(resource)) return false;
  return sdk.checkResourceAllowed({
    requestedResource: sdk.resourceUrlFromServerUrl(server),
    configuredResource: resource,
  });
}

/** Issuers that differ in a final slash alone are one: URL parsing adds it. */
export function isSameIssuer(a: string, b: string): boolean {
  const bare = (issuer: string) => (issuer.endsWith("/") ? issuer.slice(0, -1) : issuer);
  return bare(a) === bare(b);
}

function failed(message: string): AuthError {
  return new AuthError("sign-in-failed", message, { notes: [OVERRIDE] });
}

/** For messages: the authorization server without what its address may carry. */
export function placeOf({ issuer }: AuthorizationServer): string {
  return URL.canParse(issuer) ? place(new URL(issuer)) : printableLine(issuer);
}
