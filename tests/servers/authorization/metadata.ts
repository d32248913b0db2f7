/** The documents by which a client finds its way, as they should be and in every way they are wrong in the world. */
import type { AuthorizationOptions, Faults } from "./setup.ts";

/** A document, text that is none, or another answer. */
export type Answer =
  | { readonly json: unknown }
  | { readonly text: string }
  | { readonly status: number }
  | { readonly redirect: string };

/** RFC 9728, of the MCP server at `resource`. */
export function resourceDocument(
  resource: string,
  issuer: string,
  at: string,
  options: AuthorizationOptions,
  fault: Faults["resourceMetadata"],
): Answer {
  const document = {
    resource,
    authorization_servers: [issuer],
    bearer_methods_supported: ["header"],
    ...(options.scopesSupported && { scopes_supported: options.scopesSupported }),
  };
  switch (fault) {
    case undefined:
      return { json: document };
    case "missing":
      return { status: 404 };
    case "no-servers":
      return { json: { resource } };
    case "wrong-server":
      return { json: { ...document, authorization_servers: [new URL("/nobody-here", issuer).href] } };
    case "other-resource":
      return { json: { ...document, resource: "https://elsewhere.test/mcp" } };
    case "file":
      return { json: { ...document, authorization_servers: ["file:///etc/passwd"] } };
    case "redirect-loop":
      return { redirect: at };
    case "not-json":
      return { text: "<html>not what you look for</html>" };
  }
}

const EVERY_METHOD = ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"];

/** RFC 8414 or OpenID Connect discovery. */
export function serverDocument(
  issuer: string,
  at: string,
  options: AuthorizationOptions,
  fault: Faults["metadata"],
): Answer {
  const base = new URL(issuer).origin;
  const { registration = true, iss = true, revocation = true, cimd = false } = options;
  const document = {
    issuer,
    authorization_endpoint: `${base}/authorize`,
    token_endpoint: `${base}/token`,
    response_types_supported: ["code"],
    grant_types_supported: ["authorization_code", "refresh_token", "client_credentials"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: options.authMethods ?? EVERY_METHOD,
    token_endpoint_auth_signing_alg_values_supported: ["ES256", "RS256"],
    ...(registration && { registration_endpoint: `${base}/register` }),
    ...(revocation && { revocation_endpoint: `${base}/revoke` }),
    ...(iss && { authorization_response_iss_parameter_supported: true }),
    ...(cimd && { client_id_metadata_document_supported: true }),
    ...(options.metadata === "oidc" && {
      jwks_uri: `${base}/jwks`,
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
    }),
  };
  const { code_challenge_methods_supported: _, ...withoutPkce } = document;
  switch (fault) {
    case undefined:
      return { json: document };
    case "missing":
      return { status: 404 };
    case 500:
      return { status: 500 };
    case "issuer-mismatch":
      return { json: { ...document, issuer: "https://elsewhere.test" } };
    case "file":
      return { json: { ...document, authorization_endpoint: "file:///bin/sh", token_endpoint: "file:///etc/passwd" } };
    case "redirect-loop":
      return { redirect: at };
    case "not-json":
      return { text: "<html>not what you look for</html>" };
    case "no-pkce":
      return { json: withoutPkce };
  }
}
