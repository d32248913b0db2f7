/**
 * The `oauth` object of an HTTP server: the same fields and rules as in Pi's `docs/mcp.md`, and those of the flows that
 * Pi doesn't know.
 */
import { FieldReader, optional, type Report } from "./fields.ts";
import { isLoopback, isSecureAddress } from "./secure-address.ts";
import { OAUTH_GRANTS, type OAuthSettings } from "./server-config.ts";

const OAUTH_KEYS = [
  "clientId",
  "clientSecret",
  "clientName",
  "clientRegistration",
  "scope",
  "callbackPort",
  "callbackUrl",
  "authServerMetadataUrl",
  "grant",
  "issuer",
  "clientMetadataUrl",
  "privateKey",
  "privateKeyAlgorithm",
  "assertion",
  "idToken",
  "idpIssuer",
  "idpTokenEndpoint",
  "idpClientId",
  "idpClientSecret",
  "dpop",
] as const;
/** What RFC 7518 and the MCP client know of: asymmetric ones. */
const KEY_ALGORITHMS = ["ES256", "ES384", "ES512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512"] as const;
const REGISTRATIONS = ["auto", "dcr", "cimd"] as const;

/** Undefined when there is none; mistakes make `entry` invalid. */
export function readOAuth(entry: FieldReader, report: Report, consequence: string): OAuthSettings | undefined {
  const node = entry.value("oauth");
  if (node === undefined) return undefined;
  if (node.kind !== "object") return entry.reject("oauth", "must be an object");
  const fields = new FieldReader(node, report, { prefix: "oauth.", consequence });
  const settings: OAuthSettings = {
    ...optional("clientId", fields.string("clientId")),
    ...optional("clientSecret", fields.string("clientSecret")),
    ...optional(
      "clientName",
      fields.string("clientName", "be a string that is not empty", (name) => /\S/.test(name)),
    ),
    ...optional("clientRegistration", fields.oneOf("clientRegistration", REGISTRATIONS)),
    ...optional("scope", fields.string("scope")),
    ...optional("callbackPort", fields.number("callbackPort", "a port number, 1 to 65535", isPort)),
    ...optional(
      "callbackUrl",
      fields.string(
        "callbackUrl",
        "be an http URL on localhost, 127.0.0.1 or [::1] without query or fragment",
        isLoopbackUrl,
      ),
    ),
    ...optional(
      "authServerMetadataUrl",
      fields.string(
        "authServerMetadataUrl",
        "be an https URL, or http on localhost, 127.0.0.1 or [::1]",
        isMetadataUrl,
      ),
    ),
    ...readGrant(fields),
  };
  fields.warnUnknown(OAUTH_KEYS);
  checkTogether(fields, settings);
  checkGrant(fields, settings);
  warnUnpinned(fields, report, settings);
  if (!fields.valid) entry.valid = false;
  return settings;
}

/** The fields that Pi doesn't know. */
function readGrant(fields: FieldReader): OAuthSettings {
  const url = "be an https URL, or http on localhost, 127.0.0.1 or [::1]";
  return {
    ...optional("grant", fields.oneOf("grant", OAUTH_GRANTS)),
    ...optional("issuer", fields.string("issuer", url, isMetadataUrl)),
    ...optional("clientMetadataUrl", fields.string("clientMetadataUrl", "be an https URL with a path", isDocumentUrl)),
    ...optional("privateKey", fields.string("privateKey")),
    ...optional("privateKeyAlgorithm", fields.oneOf("privateKeyAlgorithm", KEY_ALGORITHMS)),
    ...optional("assertion", fields.string("assertion")),
    ...optional("idToken", fields.string("idToken")),
    ...optional("idpIssuer", fields.string("idpIssuer", url, isMetadataUrl)),
    ...optional("idpTokenEndpoint", fields.string("idpTokenEndpoint", url, isMetadataUrl)),
    ...optional("idpClientId", fields.string("idpClientId")),
    ...optional("idpClientSecret", fields.string("idpClientSecret")),
    ...optional("dpop", fields.boolean("dpop")),
  };
}

/** What each way of getting a token can't do without. */
const NEEDED = {
  "authorization-code": [],
  "client-credentials": ["clientId"],
  "workload-identity": ["clientId", "assertion"],
  "enterprise-managed": ["clientId", "idToken", "idpIssuer", "idpClientId"],
} as const;

function checkGrant(fields: FieldReader, { grant = "authorization-code" }: OAuthSettings): void {
  const missing = NEEDED[grant].filter((name) => !fields.has(name));
  if (missing.length > 0) fields.reject("grant", `"${grant}" needs oauth.${missing.join(", oauth.")}`);
  if (grant === "client-credentials" && !fields.has("clientSecret") && !fields.has("privateKey")) {
    fields.reject("grant", `"${grant}" needs oauth.clientSecret or oauth.privateKey`);
  }
}

/** Where no person looks on, nobody but the server would say who is sent what proves the client. */
function warnUnpinned(fields: FieldReader, report: Report, settings: OAuthSettings): void {
  const { grant = "authorization-code", issuer, authServerMetadataUrl } = settings;
  if (!fields.valid || grant === "authorization-code" || issuer !== undefined || authServerMetadataUrl !== undefined) {
    return;
  }
  const at = fields.value("grant")?.at ?? fields.node.at;
  report("issuer-unset", "the server decides which authorization server is sent the credentials of oauth", at, [
    "set oauth.issuer to the issuer that they belong to",
  ]);
}

/** Rules about fields that are fine by themselves. */
function checkTogether(fields: FieldReader, { callbackUrl, callbackPort, clientRegistration }: OAuthSettings): void {
  const callback = callbackUrl === undefined ? undefined : new URL(callbackUrl);
  if (callback && callback.port !== "" && callbackPort !== undefined && Number(callback.port) !== callbackPort) {
    fields.reject("callbackPort", "names another port than oauth.callbackUrl", "remove one of the two");
  }
  if (clientRegistration !== "cimd") return;
  if (fields.has("clientId") || fields.has("clientName")) {
    fields.reject(
      "clientRegistration",
      '"cimd" cannot be combined with oauth.clientId or oauth.clientName',
      'remove those, or use "auto"',
    );
  }
  if (callback && (callback.hostname === "[::1]" || callback.pathname !== "/callback")) {
    fields.reject(
      "callbackUrl",
      'must be on localhost or 127.0.0.1 with the path /callback when oauth.clientRegistration is "cimd"',
    );
  }
}

function isPort(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= 65535;
}

function isLoopbackUrl(value: string): boolean {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== "http:" || !isLoopback(url)) return false;
  return url.search === "" && url.hash === "";
}

function isMetadataUrl(value: string): boolean {
  return URL.canParse(value) && isSecureAddress(new URL(value));
}

function isDocumentUrl(value: string): boolean {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  return url?.protocol === "https:" && url.pathname !== "/";
}
