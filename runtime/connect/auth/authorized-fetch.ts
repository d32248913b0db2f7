/**
 * The `fetch` that signs requests to one MCP server. A token goes to the server's own origin alone. A 401 is answered
 * with one other token and a 403 for want of a scope with one wider one, and then the request is sent once more; the
 * first answer to it is the last. A request whose caller has given up by then is not sent.
 */
import type * as Sdk from "@modelcontextprotocol/client";
import type { Fetch } from "../http-fetch.ts";
import type { AccessToken, Challenge, TokenSource } from "./auth-context.ts";
import { AuthError } from "./auth-error.ts";

export function authorizedFetch(
  next: Fetch,
  source: TokenSource,
  { server, sdk }: { server: URL; sdk: typeof Sdk },
): Fetch {
  return async (url, init = {}) => {
    if (new URL(url).origin !== server.origin) return next(url, init);
    const signal = init.signal ?? undefined;
    let token = await unlessAborted(source.token(), signal);
    let renewed = false;
    let steppedUp = false;
    for (;;) {
      signal?.throwIfAborted();
      const response = await send(next, url, init, token, sdk);
      // Saying goodbye is worth nobody's sign-in.
      if (init.method === "DELETE") return response;
      if (response.status === 401) {
        if (renewed) throw rejectedAgain(response);
        // Its body is of no use and would keep the connection busy.
        await response.body?.cancel();
        const challenge = challengeOf(sdk, response);
        token = await unlessAborted(source.renew(token, challenge), signal);
        renewed = true;
      } else if (
        response.status === 403 &&
        !steppedUp &&
        sdk.extractWWWAuthenticateParams(response).error === INSUFFICIENT
      ) {
        // Its body stays unread: it is the answer where no wider token is to be had.
        const wider = await unlessAborted(source.stepUp(token, challengeOf(sdk, response)), signal);
        if (wider === undefined) return response;
        await response.body?.cancel();
        token = wider;
        steppedUp = true;
      } else return response;
    }
  };
}

const INSUFFICIENT = "insufficient_scope";

function challengeOf(sdk: typeof Sdk, response: Response): Challenge {
  const { scope, error, resourceMetadataUrl } = sdk.extractWWWAuthenticateParams(response);
  const dpop = /(?:^|,)\s*dpop(?:\s|$|,)/i.test(response.headers.get("www-authenticate") ?? "");
  return { scope, error, resourceMetadataUrl, dpop };
}

function send(
  next: Fetch,
  url: string | URL,
  init: RequestInit,
  token: AccessToken | undefined,
  sdk: typeof Sdk,
): Promise<Response> {
  if (token === undefined) return next(url, init);
  const { dpop, value } = token;
  // Proves possession, and answers a demand for a nonce by itself.
  if (dpop !== undefined) return sdk.withDpop(dpop, () => value)(next)(url, init);
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${value}`);
  return next(url, { ...init, headers });
}

function rejectedAgain(response: Response): AuthError {
  void response.body?.cancel();
  return new AuthError("sign-in-failed", "the server rejects the access token that was issued to it a moment ago", {
    notes: ["ask whoever runs the server; signing in again will hardly help"],
  });
}

/** Ends the caller's wait; what is under way goes on, since its outcome must be saved. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
