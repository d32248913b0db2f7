/**
 * Which proxy a request goes through, by the variables that other programs read: `HTTP_PROXY` for `http:`, `HTTPS_PROXY`
 * for `https:`, and `NO_PROXY` for hosts that are reached directly, each in lower case too, which wins. Loopback
 * addresses are hosts like any other. Pure: opens nothing, and names the variable rather than its value, which may hold a
 * password.
 */
import type { Environment } from "../../schemas/expand.ts";

export type ProxyChoice =
  | { readonly kind: "direct" }
  | { readonly kind: "proxy"; readonly url: URL }
  | { readonly kind: "unusable"; readonly message: string };

const DIRECT: ProxyChoice = { kind: "direct" };

export function chooseProxy(url: URL, env: Environment): ProxyChoice {
  const name = url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const value = variable(name, env);
  if (value === "" || isExempt(url, variable("NO_PROXY", env))) return DIRECT;
  // `proxy:3128` is how many write it.
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const proxy = URL.canParse(text) ? new URL(text) : undefined;
  if (proxy === undefined || !/^https?:$/.test(proxy.protocol)) {
    return { kind: "unusable", message: `the proxy in ${name} is not an http or https URL` };
  }
  return { kind: "proxy", url: proxy };
}

function variable(name: string, env: Environment): string {
  return (env[name.toLowerCase()] ?? env[name] ?? "").trim();
}

/** `NO_PROXY`: hosts, their subdomains too (`example.com`, `.example.com`), with a port or without; `*` is all. */
function isExempt({ protocol, hostname, port }: URL, noProxy: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const ownPort = port || (protocol === "https:" ? "443" : "80");
  return noProxy.split(/[\s,]+/).some((entry) => {
    if (entry === "*") return true;
    const [, bracketed, plain, wantedPort] =
      /^(?:\[([^\]]*)\]|((?:[^:]*:[^:]*:.*)|[^:]*))(?::(\d+))?$/.exec(entry) ?? [];
    const wanted = (bracketed ?? plain ?? "").replace(/^\*?\./, "").toLowerCase();
    if (wanted === "" || (wantedPort !== undefined && wantedPort !== ownPort)) return false;
    return host === wanted || host.endsWith(`.${wanted}`);
  });
}
