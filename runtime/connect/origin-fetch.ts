/**
 * Keeps what is meant for one server at that server. The headers of its entry and its tokens go to the origin (scheme,
 * host and port) of its `url` alone: requests to other addresses, and redirects that lead there, go without them. A
 * redirect that would turn a POST into something else, or send its body to another origin, is not followed at all.
 */
import type { Fetch } from "./http-fetch.ts";

const MAX_REDIRECTS = 5;
const KEEPS_METHOD = new Set([307, 308]);
const IS_REDIRECT = new Set([301, 302, 303, 307, 308]);

/** `headers` are those of the server's entry. */
export function originFetch(underlying: Fetch, server: URL, headers: Readonly<Record<string, string>>): Fetch {
  return async (address, init = {}) => {
    const method = (init.method ?? "GET").toUpperCase();
    let url = new URL(address);
    for (let followed = 0; ; followed++) {
      const asked = url.origin === server.origin ? init : { ...init, headers: withoutOurs(init.headers, headers) };
      const response = await underlying(url, { ...asked, redirect: "manual" });
      const target = targetOf(response, url);
      // Who asks for "manual" follows by itself, with a request for each step.
      if (target === undefined || init.redirect === "manual" || followed === MAX_REDIRECTS) return response;
      const isSafe = method === "GET" || (KEEPS_METHOD.has(response.status) && target.origin === url.origin);
      if (!isSafe || !/^https?:$/.test(target.protocol)) return response;
      await response.body?.cancel();
      url = target;
    }
  };
}

function targetOf(response: Response, from: URL): URL | undefined {
  const location = IS_REDIRECT.has(response.status) ? response.headers.get("location") : null;
  return location !== null && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
}

/** Without the entry's headers, and without a token: what authorization servers are shown is of another kind. */
function withoutOurs(sent: RequestInit["headers"], ours: Readonly<Record<string, string>>): Headers {
  const kept = new Headers(sent);
  for (const [name, value] of Object.entries(ours)) if (kept.get(name) === value.trim()) kept.delete(name);
  if (/^(?:bearer|dpop)\s/i.test(kept.get("authorization") ?? "")) kept.delete("authorization");
  for (const name of ["cookie", "mcp-session-id"]) kept.delete(name);
  return kept;
}
