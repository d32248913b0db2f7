/** What a test may choose about the authorization server and the MCP server it protects, and what it may break while they run. */
import type { JsonWebKey } from "node:crypto";

export interface Client {
  readonly client_id: string;
  /** Without it the client is public. */
  readonly client_secret?: string;
  readonly token_endpoint_auth_method: "none" | "client_secret_basic" | "client_secret_post" | "private_key_jwt";
  readonly redirect_uris?: readonly string[];
  readonly grant_types?: readonly string[];
  /** Public key of `private_key_jwt`. */
  readonly jwk?: JsonWebKey;
  readonly client_name?: string;
}

export interface AuthorizationOptions {
  /** Path of the issuer, `/tenant` for one; metadata is then at the path-inserted address. */
  readonly issuerPath?: string;
  /** Where metadata is: RFC 8414 (default) or OpenID Connect's address alone. */
  readonly metadata?: "oauth" | "oidc";
  /** Where the MCP server's RFC 9728 document is: at the path-inserted address (default) or at the root alone. */
  readonly resourceMetadataAt?: "path" | "root";
  /** Scope that the MCP server's 401 asks for; none by default. */
  readonly challengeScope?: string;
  /** What the RFC 9728 document lists; none by default. */
  readonly scopesSupported?: readonly string[];
  /** Scope a tool needs beyond the token's being valid; 403 `insufficient_scope` without it. */
  readonly toolScopes?: Readonly<Record<string, string>>;
  /** Seconds until an access token expires (`expires_in`), default 3600; "unsaid" gives no `expires_in`. */
  readonly accessTokenSeconds?: number | "unsaid";
  /** Give refresh tokens; default true. */
  readonly refreshTokens?: boolean;
  /** A refresh token works once, and using it again revokes all that came of it; default true. */
  readonly singleUse?: boolean;
  /** Clients known beforehand. */
  readonly clients?: readonly Client[];
  /** RFC 7591; default true. */
  readonly registration?: boolean;
  /** What the token endpoint says it takes; default every kind. */
  readonly authMethods?: readonly Client["token_endpoint_auth_method"][];
  /** The one form of a Basic header that is taken: encoded as RFC 6749 wants, or as it is; default both. */
  readonly basicForm?: "encoded" | "plain";
  /** What a registering client is made: public (default), or with a secret. */
  readonly registersAs?: Client["token_endpoint_auth_method"];
  /** Advertise and take Client ID Metadata Documents; default false. The documents are not fetched. */
  readonly cimd?: boolean;
  /** Send `iss` with the code (RFC 9207); default true. */
  readonly iss?: boolean;
  /** Offer RFC 7009; default true. */
  readonly revocation?: boolean;
  /** Refuse authorization and token requests whose `resource` is not the MCP server; default true. */
  readonly checksResource?: boolean;
}

/** Changed by a test at any time. */
export interface Faults {
  /** The RFC 9728 document. `file`: it names a `file:` URL as authorization server. */
  resourceMetadata?:
    | "missing"
    | "no-servers"
    | "wrong-server"
    | "other-resource"
    | "file"
    | "redirect-loop"
    | "not-json";
  /** The RFC 8414 document. `file`: its endpoints are `file:` URLs. */
  metadata?: "missing" | "issuer-mismatch" | "file" | "redirect-loop" | "not-json" | "no-pkce" | 500;
  /** The 401: without a `WWW-Authenticate`, or with one that names a `file:` URL. */
  challenge?: "none" | "file";
  /** The authorization response. */
  authorize?: "denied" | "wrong-iss" | "wrong-state" | "no-iss";
  /** `error_description` of a denied authorization. */
  denial?: string;
  /** Milliseconds the token endpoint takes. */
  tokenDelayMs?: number;
  /** Statuses that the next refreshes are answered with, one each. */
  refreshStatuses?: number[];
  /** OAuth error that refreshes are answered with. */
  refreshError?: string;
  /** Body of those statuses, else `{"error":"server_error"}`. */
  errorBody?: string;
  /** The MCP server takes no token at all. */
  rejectsEveryToken?: boolean;
  /** The registration endpoint refuses. */
  registration?: "refused";
  /** Statuses that the next revocations are answered with, one each. */
  revocationStatuses?: number[];
}

export interface Seen {
  /** `mcp`, `resource-metadata`, `metadata`, `authorize`, `token`, `register`, `revoke`, `other`. */
  readonly endpoint: string;
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Query or form; a registration's body is under `body`. */
  readonly params: Readonly<Record<string, string>>;
  readonly body: string;
}
