/**
 * The address that a server wants somebody to open, looked at before anybody does: whose it is, and what may mislead. Only
 * http and https addresses are ones. Pure; it fetches nothing.
 */
import { domainToUnicode } from "node:url";
import { printable } from "../../schemas/printable.ts";

export type Address =
  /** `host` in ASCII, with what a browser may show instead; `href` in ASCII. */
  | { readonly ok: true; readonly host: string; readonly href: string; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly reason: string };

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;
/** What begins with `::` is this machine, or an address of IPv4 in other clothes. */
const PRIVATE =
  /^(?:0|10|127|192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01]))\.|^\[(?:::|f[cd]|fe[89ab])|^localhost\.?$|\.(?:local|internal|localhost)\.?$/i;

/** Longer ones nobody reads, and what stands around them would be out of sight. */
const MAX_LENGTH = 4096;

/** What is to be known of an address before it is opened. */
export function readAddress(text: string): Address {
  if (text.length > MAX_LENGTH) return { ok: false, reason: `the address has ${text.length} characters` };
  if (!URL.canParse(text)) return { ok: false, reason: "the address is not a URL" };
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    return { ok: false, reason: `only http and https pages are opened, not ${printable(url.protocol.slice(0, 40))}` };
  }
  if (url.href.length > MAX_LENGTH) return { ok: false, reason: `the address has ${url.href.length} characters` };
  const unicode = domainToUnicode(url.hostname);
  const foreign = unicode !== url.hostname;
  const warnings = [
    ...(url.username === "" && url.password === ""
      ? []
      : ["the text before @ is no host; the page is the host's above"]),
    ...(foreign ? ["its letters may look like others; compare the host's xn-- form"] : []),
    ...(url.protocol === "http:" && !LOOPBACK.test(url.hostname) ? ["the connection is not encrypted (http)"] : []),
    ...(PRIVATE.test(url.hostname) ? ["the host is on this machine or in your own network"] : []),
  ];
  const host = foreign ? `${url.host} (shown as ${printable(unicode)})` : url.host;
  return { ok: true, host, href: url.href, warnings };
}
