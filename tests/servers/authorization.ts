/**
 * A small authorization server and the MCP server it protects, each at an origin of its own, in the test's process:
 * what was asked is counted and kept, and what goes wrong is chosen while they run. Checks what a strict server
 * checks (PKCE, redirect, client authentication, resource, single use) and refuses with OAuth's own errors.
 * `approve` and `browse` are the person at the browser.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { Clients, OAuthError } from "./authorization/clients.ts";
import { type Answer, resourceDocument, serverDocument } from "./authorization/metadata.ts";
import { protectedServer } from "./authorization/protected.ts";
import type { AuthorizationOptions, Faults, Seen } from "./authorization/setup.ts";
import { Tokens } from "./authorization/tokens.ts";

export type { AuthorizationOptions, Client, Faults, Seen } from "./authorization/setup.ts";

export interface AuthorizationServer {
  /** Address of the MCP server. */
  readonly url: string;
  readonly issuer: string;
  /** Address of the authorization server's metadata, for `authServerMetadataUrl`. */
  readonly metadataUrl: string;
  readonly faults: Faults;
  readonly tokens: Tokens;
  readonly clients: Clients;
  /** Every request so far, in order. */
  readonly seen: readonly Seen[];
  /** How many requests of an endpoint, or of the token endpoint with this grant type (`refresh_token`), there were. */
  count(what: string): number;
  /** What a person does who agrees: the redirect URL that the browser is sent to. */
  approve(authorizationUrl: string | URL): Promise<URL>;
  /** `approve`, and the browser follows: the page that it ends up with. */
  browse(
    authorizationUrl: string | URL,
  ): Promise<{ readonly status: number; readonly text: string; readonly url: URL }>;
  /** Stops both; a test's end does too. */
  stop(): Promise<void>;
}

/** Starts both on free ports of 127.0.0.1; they end with the test. */
export async function startAuthorization(options: AuthorizationOptions = {}): Promise<AuthorizationServer> {
  const authorization = new Authorization(options);
  await authorization.listen();
  onTestFinished(() => authorization.stop());
  return authorization;
}

class Authorization implements AuthorizationServer {
  readonly faults: Faults = {};
  readonly seen: Seen[] = [];
  readonly tokens: Tokens;
  readonly clients: Clients;
  url = "";
  issuer = "";
  metadataUrl = "";
  readonly #options: AuthorizationOptions;
  readonly #servers: Server[] = [];

  constructor(options: AuthorizationOptions) {
    this.#options = options;
    this.tokens = new Tokens(options);
    this.clients = new Clients(options);
  }

  async listen(): Promise<void> {
    const { issuerPath = "", metadata = "oauth" } = this.#options;
    const origin = await this.#serve((request, response, body) => this.#authorization(request, response, body));
    this.issuer = `${origin}${issuerPath}`;
    const document = metadata === "oidc" ? "openid-configuration" : "oauth-authorization-server";
    this.metadataUrl =
      metadata === "oidc" ? `${this.issuer}/.well-known/${document}` : `${origin}/.well-known/${document}${issuerPath}`;
    const protect = protectedServer(() => ({
      options: this.#options,
      faults: this.faults,
      tokens: this.tokens,
      resource: this.url,
      resourceMetadata: this.#resourceMetadataUrl(),
    }));
    const resource = await this.#serve((request, response, body) => this.#resource(protect, request, response, body));
    this.url = `${resource}/mcp`;
  }

  count(what: string): number {
    return this.seen.filter(({ endpoint, params }) => endpoint === what || params["grant_type"] === what).length;
  }

  async approve(authorizationUrl: string | URL): Promise<URL> {
    const response = await fetch(authorizationUrl, { redirect: "manual" });
    const location = response.headers.get("location");
    if (location === null) throw new Error(`not approved: ${response.status} ${await response.text()}`);
    return new URL(location);
  }

  async browse(authorizationUrl: string | URL) {
    const url = await this.approve(authorizationUrl);
    const page = await fetch(url, { redirect: "manual" });
    return { status: page.status, text: await page.text(), url };
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.#servers.splice(0).map((server) => {
        const closed = new Promise((resolve) => server.close(resolve));
        server.closeAllConnections();
        return closed;
      }),
    );
  }

  #resourceMetadataUrl(): string {
    const { origin, pathname } = new URL(this.url);
    const suffix = this.#options.resourceMetadataAt === "root" ? "" : pathname;
    return `${origin}/.well-known/oauth-protected-resource${suffix}`;
  }

  async #resource(
    protect: ReturnType<typeof protectedServer>,
    request: IncomingMessage,
    response: ServerResponse,
    body: string,
  ): Promise<void> {
    const path = new URL(request.url!, this.url).pathname;
    if (path === "/mcp") {
      this.#note("mcp", request, body);
      await protect(request, response, body);
    } else if (path === new URL(this.#resourceMetadataUrl()).pathname) {
      this.#note("resource-metadata", request, body);
      const at = this.#resourceMetadataUrl();
      send(response, resourceDocument(this.url, this.issuer, at, this.#options, this.faults.resourceMetadata));
    } else {
      this.#note("other", request, body);
      send(response, { status: 404 });
    }
  }

  async #authorization(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    const url = new URL(request.url!, this.issuer);
    const isMetadata = url.href === this.metadataUrl;
    const endpoint = isMetadata ? "metadata" : /^\/(authorize|token|register|revoke)$/.exec(url.pathname)?.[1];
    const params = this.#note(endpoint ?? "other", request, body);
    switch (endpoint) {
      case "metadata":
        return send(response, serverDocument(this.issuer, this.metadataUrl, this.#options, this.faults.metadata));
      case "authorize":
        return send(response, { redirect: this.#authorize(params) });
      case "token":
        return send(response, await this.#token(params, request.headers.authorization));
      case "register":
        if (this.#options.registration === false || this.faults.registration) {
          throw new OAuthError("access_denied", "no registration here", 403);
        }
        return send(response, { json: this.clients.register(body) }, 201);
      case "revoke": {
        const status = this.faults.revocationStatuses?.shift();
        if (status !== undefined) return send(response, { status });
        this.clients.authenticate(params, request.headers.authorization, this.#audiences());
        this.tokens.revoke(params["token"] ?? "");
        return send(response, { status: 200 });
      }
      default:
        return send(response, { status: 404 });
    }
  }

  /** Where the browser goes: everyone agrees, unless `faults.authorize` says otherwise. */
  #authorize(params: Record<string, string>): string {
    const client = this.clients.find(params["client_id"]);
    const redirect = this.clients.checkRedirect(client, params["redirect_uri"]);
    const { authorize: fault, denial } = this.faults;
    const back = (fields: Record<string, string | undefined>) => {
      const withState = { ...fields, state: fault === "wrong-state" ? "another" : params["state"] };
      for (const [name, value] of Object.entries(withState)) {
        if (value !== undefined) redirect.searchParams.set(name, value);
      }
      if (this.#options.iss !== false && fault !== "no-iss") {
        redirect.searchParams.set("iss", fault === "wrong-iss" ? "https://elsewhere.test" : this.issuer);
      }
      return redirect.href;
    };
    if (fault === "denied") return back({ error: "access_denied", error_description: denial ?? "The user said no" });
    if (params["response_type"] !== "code") return back({ error: "unsupported_response_type" });
    if (params["code_challenge_method"] !== "S256" || !params["code_challenge"]) {
      return back({ error: "invalid_request", error_description: "PKCE with S256 is required" });
    }
    const { checksResource = true } = this.#options;
    if (checksResource && params["resource"] !== this.url) return back({ error: "invalid_target" });
    return back({
      code: this.tokens.code({
        client: client.client_id,
        scope: params["scope"] ?? "",
        resource: params["resource"],
        redirect: params["redirect_uri"]!,
        challenge: params["code_challenge"],
      }),
    });
  }

  async #token(params: Record<string, string>, authorization: string | undefined): Promise<Answer> {
    const { tokenDelayMs, refreshStatuses, refreshError, errorBody } = this.faults;
    if (tokenDelayMs) await new Promise((resolve) => setTimeout(resolve, tokenDelayMs));
    const grantType = params["grant_type"];
    if (grantType === "refresh_token") {
      const status = refreshStatuses?.shift();
      if (status !== undefined) throw new Refused(status, errorBody ?? '{"error":"server_error"}');
      if (refreshError !== undefined) throw new OAuthError(refreshError, errorBody ?? refreshError);
    }
    const { client_id: client } = this.clients.authenticate(params, authorization, this.#audiences());
    if (grantType === "authorization_code") return { json: this.tokens.redeem(client, params) };
    if (grantType === "refresh_token") return { json: this.tokens.refresh(client, params) };
    if (grantType !== "client_credentials") throw new OAuthError("unsupported_grant_type", "not here");
    const { resource, scope = "" } = params;
    if (this.#options.checksResource !== false && resource !== this.url) {
      throw new OAuthError("invalid_target", "another resource");
    }
    return { json: this.tokens.forClient({ client, scope, resource }) };
  }

  #audiences(): string[] {
    return [this.issuer, new URL("/token", this.issuer).href];
  }

  #note(endpoint: string, request: IncomingMessage, body: string): Record<string, string> {
    const { method = "", url: path = "", headers } = request;
    const isForm = headers["content-type"]?.startsWith("application/x-www-form-urlencoded") === true;
    const pairs = new URLSearchParams(isForm ? body : new URL(path, this.issuer).search);
    const params = Object.fromEntries(pairs);
    this.seen.push({ endpoint, method, path, headers: { ...headers }, params, body });
    return params;
  }

  async #serve(answer: (request: IncomingMessage, response: ServerResponse, body: string) => Promise<void>) {
    const server = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      try {
        await answer(request, response, body);
      } catch (error) {
        if (error instanceof Refused) response.writeHead(error.status).end(error.message);
        else if (error instanceof OAuthError) {
          send(response, { json: { error: error.error, error_description: error.message } }, error.status);
        } else throw error;
      }
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    this.#servers.push(server);
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
}

class Refused extends Error {
  readonly status: number;
  constructor(status: number, body: string) {
    super(body);
    this.status = status;
  }
}

function send(response: ServerResponse, answer: Answer, status = 200): void {
  if ("redirect" in answer) response.writeHead(302, { location: answer.redirect }).end();
  else if ("status" in answer) response.writeHead(answer.status).end();
  else if ("text" in answer) response.writeHead(status, { "content-type": "text/html" }).end(answer.text);
  else {
    response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
    response.end(JSON.stringify(answer.json));
  }
}
