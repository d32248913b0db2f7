/** The `oauth` object of an HTTP server: the same fields and rules as in Pi's `docs/mcp.md`. */
import { FieldReader, optional, type Report } from "./fields.ts";
import type { OAuthSettings } from "./server-config.ts";

const OAUTH_KEYS = [
  "clientId",
  "clientSecret",
  "clientName",
  "clientRegistration",
  "scope",
  "callbackPort",
  "callbackUrl",
  "authServerMetadataUrl",
] as const;
const REGISTRATIONS = ["auto", "dcr", "cimd"] as const;
const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

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
  };
  fields.warnUnknown(OAUTH_KEYS);
  checkTogether(fields, settings);
  if (!fields.valid) entry.valid = false;
  return settings;
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
  if (url?.protocol !== "http:" || !LOOPBACK.includes(url.hostname)) return false;
  return url.search === "" && url.hash === "";
}

function isMetadataUrl(value: string): boolean {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  return url?.protocol === "https:" || (url?.protocol === "http:" && LOOPBACK.includes(url.hostname));
}
