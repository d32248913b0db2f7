/** Who asks: clients known, registered or described by a document, and the proof each brings to the token endpoint. */
import { createPublicKey, randomUUID, verify } from "node:crypto";
import type { AuthorizationOptions, Client } from "./setup.ts";

/** An OAuth error answer. */
export class OAuthError extends Error {
  readonly status: number;
  readonly error: string;
  constructor(error: string, description: string, status = 400) {
    super(description);
    this.error = error;
    this.status = status;
  }
}

export class Clients {
  readonly #options: AuthorizationOptions;
  readonly #known = new Map<string, Client>();
  readonly #spentAssertions = new Set<string>();

  constructor(options: AuthorizationOptions) {
    this.#options = options;
    for (const client of options.clients ?? []) this.#known.set(client.client_id, client);
  }

  get ids(): string[] {
    return [...this.#known.keys()];
  }

  forget(id: string): void {
    this.#known.delete(id);
  }

  find(id: string | undefined): Client {
    const known = id === undefined ? undefined : this.#known.get(id);
    if (known) return known;
    if (id?.startsWith("https://") && this.#options.cimd) {
      return { client_id: id, token_endpoint_auth_method: "none" };
    }
    throw new OAuthError("invalid_client", `no client ${id}`, 401);
  }

  register(body: string): object {
    const asked = JSON.parse(body) as Record<string, unknown>;
    const redirects = asked["redirect_uris"];
    if (!Array.isArray(redirects) || redirects.length === 0) {
      throw new OAuthError("invalid_redirect_uri", "redirect_uris is missing");
    }
    const method = this.#options.registersAs ?? "none";
    const client: Client = {
      client_id: `client-${randomUUID()}`,
      token_endpoint_auth_method: method,
      redirect_uris: redirects as string[],
      ...(method !== "none" && { client_secret: `secret-${randomUUID()}` }),
      ...(typeof asked["client_name"] === "string" && { client_name: asked["client_name"] }),
    };
    this.#known.set(client.client_id, client);
    return {
      ...asked,
      ...client,
      client_id_issued_at: Math.floor(Date.now() / 1000),
      ...(method !== "none" && { client_secret_expires_at: 0 }),
    };
  }

  /** A loopback redirect may have any port where the registered one has none, or another (RFC 8252, 7.3). */
  checkRedirect(client: Client, redirect: string | undefined): URL {
    if (redirect === undefined || !URL.canParse(redirect)) throw new OAuthError("invalid_request", "no redirect_uri");
    const asked = new URL(redirect);
    const registered = client.redirect_uris;
    const isLoopback = asked.hostname === "127.0.0.1" || asked.hostname === "localhost" || asked.hostname === "[::1]";
    const fits = (uri: string) => {
      if (uri === redirect) return true;
      const one = new URL(uri);
      return isLoopback && one.hostname === asked.hostname && one.pathname === asked.pathname;
    };
    if (registered ? !registered.some(fits) : !isLoopback) {
      throw new OAuthError("invalid_request", "redirect_uri is not registered");
    }
    return asked;
  }

  /** The client of a token request, once it has proved who it is in the way it was registered with. */
  authenticate(
    params: Record<string, string>,
    authorization: string | undefined,
    audiences: readonly string[],
  ): Client {
    if (authorization?.startsWith("Basic ")) {
      const pair = Buffer.from(authorization.slice(6), "base64").toString("utf8");
      const colon = pair.indexOf(":");
      const secret = pair.slice(colon + 1);
      const { basicForm } = this.#options;
      const forms = [...(basicForm === "encoded" ? [] : [secret]), ...(basicForm === "plain" ? [] : [decode(secret)])];
      const holds = (client: Client) => forms.includes(client.client_secret ?? "");
      const id = pair.slice(0, colon);
      return this.#proved(this.find(basicForm === "plain" ? id : decode(id)), "client_secret_basic", holds);
    }
    if (params["client_assertion"] !== undefined) return this.#byAssertion(params["client_assertion"], audiences);
    const client = this.find(params["client_id"]);
    if (params["client_secret"] !== undefined) {
      return this.#proved(client, "client_secret_post", () => client.client_secret === params["client_secret"]);
    }
    return this.#proved(client, "none", () => true);
  }

  #proved(client: Client, method: Client["token_endpoint_auth_method"], holds: (client: Client) => boolean): Client {
    if (client.token_endpoint_auth_method !== method) {
      throw new OAuthError("invalid_client", `expected ${client.token_endpoint_auth_method}, got ${method}`, 401);
    }
    if (!holds(client)) throw new OAuthError("invalid_client", "wrong secret", 401);
    return client;
  }

  #byAssertion(assertion: string, audiences: readonly string[]): Client {
    const [head, claims, signature] = assertion.split(".") as [string, string, string];
    const { alg } = JSON.parse(Buffer.from(head, "base64url").toString()) as { alg: string };
    const said = JSON.parse(Buffer.from(claims, "base64url").toString()) as Record<string, unknown>;
    const client = this.find(String(said["sub"]));
    return this.#proved(client, "private_key_jwt", () => {
      const key = createPublicKey({ key: client.jwk!, format: "jwk" });
      const signed = verify(
        "sha256",
        Buffer.from(`${head}.${claims}`),
        alg.startsWith("ES") ? { key, dsaEncoding: "ieee-p1363" } : key,
        Buffer.from(signature, "base64url"),
      );
      const isFresh = typeof said["exp"] === "number" && said["exp"] > Date.now() / 1000;
      const isForUs = [said["aud"]].flat().some((one) => audiences.includes(String(one)));
      const isNew = !this.#spentAssertions.has(String(said["jti"]));
      this.#spentAssertions.add(String(said["jti"]));
      return signed && isFresh && isForUs && isNew && said["iss"] === client.client_id;
    });
  }
}

function decode(text: string): string {
  return new URLSearchParams(`=${text}`).get("") ?? "";
}
