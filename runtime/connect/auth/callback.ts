/**
 * The receiving end of a sign-in: a server on a loopback address that the browser is sent back to. It takes one
 * redirect, the one with the path and the `state` of the authorization that was asked for, and answers everything with
 * pages of fixed text: nothing that a request says stands in them. It logs nothing, is closed by whoever opened it, and
 * listens on 127.0.0.1 (or ::1 where the redirect URI says so) and nowhere else.
 */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface CallbackOptions {
  /** As written in the redirect URI; default `127.0.0.1`. */
  readonly host?: "127.0.0.1" | "localhost" | "[::1]" | undefined;
  /** Default `/callback`. */
  readonly path?: string | undefined;
  /** The port a client is registered with: one in use is a failure. */
  readonly port?: number | undefined;
  /** A port that would be good to have; another one is taken where it is in use. */
  readonly preferredPort?: number | undefined;
}

export type CallbackOutcome =
  | { readonly ok: true; readonly callback: CallbackServer }
  /** `code` is the system's: `EADDRINUSE`, `EACCES`, …. */
  | { readonly ok: false; readonly port: number; readonly code: string };

/** How an authorization came back: `isRefusal` where it carries an error and no code. */
export interface Redirect {
  readonly kind: "redirected";
  readonly url: URL;
  readonly isRefusal: boolean;
}

/** A URL that is not the redirect that is waited for; `message` follows "it". */
export interface NoRedirect {
  readonly kind: "foreign";
  readonly message: string;
}

/** Starts to listen. */
export async function listenForCallback(options: CallbackOptions = {}): Promise<CallbackOutcome> {
  const { port, preferredPort, host = "127.0.0.1", path = "/callback" } = options;
  const attempts = port !== undefined ? [port] : preferredPort !== undefined ? [preferredPort, 0] : [0];
  let code = "";
  for (const attempt of attempts) {
    const server = createServer();
    const failed = await listen(server, attempt, host === "[::1]" ? "::1" : "127.0.0.1");
    if (failed === undefined) return { ok: true, callback: new CallbackServer(server, host, path) };
    code = failed;
  }
  return { ok: false, port: attempts.at(-1)!, code };
}

/** Undefined once it listens, else the system's code. */
function listen(server: Server, port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, host, exclusive: true }, () => resolve(undefined));
  });
}

export class CallbackServer {
  /** What the authorization server is told to send the browser to. */
  readonly redirectUrl: string;
  readonly port: number;
  readonly #server: Server;
  #waiting: { readonly authorizationUrl: URL; readonly settle: (redirect: Redirect) => void } | undefined;

  constructor(server: Server, host: string, path: string) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    this.redirectUrl = `http://${host}:${this.port}${path}`;
    server.on("request", (request, response) => {
      const { status, page, redirect } = this.#judge(request.method, request.url ?? "/");
      reply(response, status, page);
      if (redirect) this.#waiting?.settle(redirect);
      if (redirect) this.#waiting = undefined;
    });
  }

  /** The redirect that answers `authorizationUrl`; of several waits only the last is served. Never rejects. */
  receive(authorizationUrl: URL): Promise<Redirect> {
    return new Promise((settle) => {
      this.#waiting = { authorizationUrl, settle };
    });
  }

  /** Stops listening and drops connections that a browser keeps open in reserve. */
  close(): Promise<void> {
    this.#waiting = undefined;
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      // Pages are a few hundred bytes and on their way by now; an unused connection would be held for minutes.
      setImmediate(() => this.#server.closeAllConnections());
    });
  }

  #judge(method: string | undefined, target: string): Judgement {
    const waiting = this.#waiting;
    if (method !== "GET") return { status: 405, page: PAGES.method };
    if (waiting === undefined) return { status: 404, page: PAGES.nothing };
    const expected = waiting.authorizationUrl.searchParams.get("redirect_uri") ?? this.redirectUrl;
    const url = target.startsWith("/") && URL.canParse(target, expected) ? new URL(target, expected) : undefined;
    if (url?.pathname !== new URL(expected).pathname) return { status: 404, page: PAGES.nothing };
    const redirect = readRedirect(url, waiting.authorizationUrl);
    // A page elsewhere that guesses the port can't guess the state, and ends nothing.
    if (redirect.kind === "foreign") return { status: 400, page: PAGES.foreign };
    return { status: 200, page: redirect.isRefusal ? PAGES.refused : PAGES.done, redirect };
  }
}

interface Judgement {
  readonly status: number;
  readonly page: Page;
  /** The redirect that was waited for. */
  readonly redirect?: Redirect;
}

/** What `url` says about the authorization that `authorizationUrl` asked for. */
export function readRedirect(url: URL, authorizationUrl: URL): Redirect | NoRedirect {
  const asked = authorizationUrl.searchParams;
  const expected = asked.get("redirect_uri");
  if (expected !== null) {
    const { origin, pathname } = new URL(expected);
    if (url.origin !== origin || url.pathname !== pathname) {
      return { kind: "foreign", message: `doesn't begin with ${origin}${pathname}` };
    }
  }
  const state = asked.get("state");
  if (state === null || url.searchParams.get("state") !== state) {
    return { kind: "foreign", message: "belongs to another sign-in" };
  }
  const isRefusal = url.searchParams.has("error");
  if (!isRefusal && !url.searchParams.get("code")) return { kind: "foreign", message: "carries no authorization code" };
  return { kind: "redirected", url, isRefusal };
}

type Page = readonly [title: string, text: string];

const PAGES = {
  done: ["Signed in", "You can close this window and go back to the terminal."],
  refused: ["Not signed in", "The authorization server refused. The terminal says why; you can close this window."],
  foreign: ["Not expected", "This answer doesn't belong to the sign-in that is under way. Nothing was changed."],
  nothing: ["Nothing here", "No sign-in is waiting at this address."],
  method: ["Nothing here", "This address only takes what a browser is sent back with."],
} as const satisfies Record<string, Page>;

function reply(response: ServerResponse, status: number, [title, text]: Page): void {
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>
:root { color-scheme: light dark }
body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 20vh auto 0; padding: 0 1rem }
</style>
</head>
<body>
<h1>${title}</h1>
<p>${text}</p>
</body>
</html>
`;
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    connection: "close",
  });
  response.end(body);
}
