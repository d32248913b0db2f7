/**
 * Keeps what is meant for one server at that server. The headers of its entry and its tokens go to the origin (scheme,
 * host and port) of its `url` alone: requests to other addresses, and redirects that lead there, go without them. A
 * redirect that would turn a POST into something else, or send its body to another origin, is not followed at all.
 *
 * From http to https of the same host is another origin too, as the fetch standard has it for credentials: another port is
 * another program, and who redirects over http need not be the server. Following it would also go on showing the headers to
 * the network with each new request, where writing https into `url` ends that; so the address is named and not followed.
 */
import type { Fetch } from "./http-fetch.ts";
import { redirectOf } from "./redirect.ts";

const MAX_REDIRECTS = 5;

/** `headers` are those of the server's entry. */
export function originFetch(underlying: Fetch, server: URL, headers: Readonly<Record<string, string>>): Fetch {
  return async (address, init = {}) => {
    const method = (init.method ?? "GET").toUpperCase();
    let url = new URL(address);
    for (let followed = 0; ; followed++) {
      const asked = url.origin === server.origin ? init : { ...init, headers: withoutOurs(init.headers, headers) };
      const response = await underlying(url, { ...asked, redirect: "manual" });
      const redirect = redirectOf(response, url, method);
      // Who asks for "manual" follows by itself, with a request for each step.
      if (redirect?.kind !== "to" || init.redirect === "manual" || followed === MAX_REDIRECTS) return response;
      const isSafe = method === "GET" || (redirect.keepsRequest && redirect.url.origin === url.origin);
      if (!isSafe) return response;
      await response.body?.cancel();
      url = redirect.url;
    }
  };
}

/** Without the entry's headers, and without a token: what authorization servers are shown is of another kind. */
function withoutOurs(sent: RequestInit["headers"], ours: Readonly<Record<string, string>>): Headers {
  const kept = new Headers(sent);
  for (const [name, value] of Object.entries(ours)) if (kept.get(name) === value.trim()) kept.delete(name);
  if (/^(?:bearer|dpop)\s/i.test(kept.get("authorization") ?? "")) kept.delete("authorization");
  for (const name of ["cookie", "mcp-session-id"]) kept.delete(name);
  return kept;
}
