/**
 * The `fetch` with which metadata is read and tokens are asked for. Where to is said by documents of strangers, so it goes
 * over https alone (plain http to the server's own origin for a document, and to this machine where the server is here or
 * the configuration says so: nobody elsewhere has us ask what only we can reach), follows no redirect that leaves an
 * origin, waits 15 s, and reads 1 MiB. Failures to reach anyone become `AuthError`s; the caller's own
 * signal ends a wait of the caller, never a request, whose answer may hold the only copy of a token.
 */
import { isLoopback, isSecureAddress } from "../../../schemas/config/secure-address.ts";
import type { OAuthSettings } from "../../../schemas/config/server-config.ts";
import { jsonIn } from "../../../schemas/json.ts";
import { isRecord } from "../../../schemas/record.ts";
import { BodyTooLongError } from "../failure.ts";
import { type Fetch, withText } from "../http-fetch.ts";
import { redirectNote, redirectOf } from "../redirect.ts";
import { AuthError, OVERRIDE_HINT } from "./auth-error.ts";

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 1024 * 1024;
const MAX_REDIRECTS = 5;

export interface AuthFetchOptions {
  readonly fetch?: Fetch | undefined;
  /** The MCP server's own address: it may be plain http because its owner said so. */
  readonly server: URL;
  readonly oauth?: OAuthSettings | undefined;
  /** Called with every secret that is sent or comes back, before anyone else sees it. */
  readonly learn: (secret: string) => void;
}

export function authFetch({ fetch: underlying = fetch, server, oauth = {}, learn }: AuthFetchOptions): Fetch {
  return async (input, init = {}) => {
    let url = new URL(input);
    const method = (init.method ?? "GET").toUpperCase();
    for (const secret of secretsSent(init)) learn(secret);
    for (let redirects = 0; ; redirects++) {
      checkAddress(url, server, oauth, method);
      const response = await ask(underlying, url, init);
      const redirect = redirectOf(response, url, method);
      if (redirect === undefined || init.redirect === "manual") return whole(response, url, learn);
      await response.body?.cancel();
      if (redirects === MAX_REDIRECTS) throw failed(`${place(url)} redirects without end`);
      if (redirect.kind === "nowhere" || redirect.url.origin !== url.origin || !redirect.keepsRequest) {
        throw failed(`${place(url)} ${redirectNote(redirect)}`);
      }
      url = redirect.url;
    }
  };
}

/** What is wrong with an address that a stranger's document gives us to send something or somebody to; undefined where nothing is. */
export function addressFault(url: URL, server: URL, oauth: OAuthSettings): string | undefined {
  if (!isSecureAddress(url)) return "is not https";
  const named = [oauth.authServerMetadataUrl, oauth.issuer, oauth.idpIssuer, oauth.idpTokenEndpoint];
  const ours = [server, ...named.filter((text) => URL.canParse(text ?? "")).map((text) => new URL(text!))];
  return isLoopback(url) && !ours.some(isLoopback) ? "is on this machine, and the server is not" : undefined;
}

function checkAddress(url: URL, server: URL, oauth: OAuthSettings, method: string): void {
  if (method === "GET" && url.protocol === "http:" && url.origin === server.origin) return;
  const fault = addressFault(url, server, oauth);
  if (fault !== undefined) throw failed(`the address ${place(url)} ${fault}`);
}

async function ask(underlying: Fetch, url: URL, init: RequestInit): Promise<Response> {
  try {
    return await underlying(url, { ...init, redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (cause) {
    throw unreachable(url, cause);
  }
}

/** The answer with its body read, so that nothing that reads it later can wait or overflow. */
async function whole(response: Response, url: URL, learn: (secret: string) => void): Promise<Response> {
  const { status, statusText, headers } = response;
  if (response.body === null) return new Response(null, { status, statusText, headers });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) throw new BodyTooLongError(MAX_BYTES);
      chunks.push(chunk);
    }
  } catch (cause) {
    if (cause instanceof BodyTooLongError) throw failed(`the answer of ${place(url)} is longer than 1 MiB`);
    throw unreachable(url, cause);
  }
  const text = Buffer.concat(chunks).toString("utf8");
  for (const secret of secretsReceived(text)) learn(secret);
  return withText(response, text);
}

const SECRET_PARAMETERS = [
  "code",
  "code_verifier",
  "refresh_token",
  "client_secret",
  "client_assertion",
  "assertion",
  "subject_token",
];
const SECRET_MEMBERS = ["access_token", "refresh_token", "id_token", "client_secret", "registration_access_token"];

function secretsSent({ body, headers }: RequestInit): string[] {
  const params = typeof body === "string" || body instanceof URLSearchParams ? new URLSearchParams(body) : undefined;
  const found = SECRET_PARAMETERS.flatMap((name) => params?.getAll(name) ?? []);
  const [, basic] = /^Basic (\S+)$/i.exec(new Headers(headers).get("authorization") ?? "") ?? [];
  if (basic === undefined) return found;
  const pair = Buffer.from(basic, "base64").toString("utf8");
  return [...found, basic, pair.slice(pair.indexOf(":") + 1)];
}

function secretsReceived(text: string): string[] {
  const answer = jsonIn(text);
  if (!isRecord(answer)) return [];
  return SECRET_MEMBERS.map((name) => answer[name]).filter((value) => typeof value === "string");
}

/** Without what an address may carry besides. */
export function place(url: URL): string {
  return url.host === "" ? `${url.protocol}…` : `${url.origin}${url.pathname}`;
}

function failed(message: string): AuthError {
  return new AuthError("sign-in-failed", message, { notes: [OVERRIDE_HINT] });
}

function unreachable(url: URL, cause: unknown): AuthError {
  const overdue = cause instanceof Error && cause.name === "TimeoutError";
  const reason = overdue ? `no answer within ${TIMEOUT_MS} ms` : codeOf(cause);
  return new AuthError("server-unavailable", `the authorization server at ${url.origin} can't be reached (${reason})`, {
    cause,
  });
}

function codeOf(error: unknown, depth = 0): string {
  if (!(error instanceof Error) || depth > 5) return "network error";
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code === "string") return code;
  return codeOf(error.cause ?? (error instanceof AggregateError ? error.errors[0] : undefined), depth + 1);
}
