/** The authorization server of these tests, with the SDK's own client: what it must take, and what it must refuse. */
import { generateKeyPairSync } from "node:crypto";
import {
  auth,
  Client,
  ClientCredentialsProvider,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthTokens,
  PrivateKeyJwtProvider,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { type AuthorizationServer, startAuthorization } from "../servers/authorization.ts";

class Provider implements OAuthClientProvider {
  readonly redirectUrl = "http://127.0.0.1:7/callback";
  readonly clientMetadata = { redirect_uris: [this.redirectUrl], client_name: "a test" };
  held: OAuthTokens | undefined;
  asked: URL | undefined;
  #client: OAuthClientInformationMixed | undefined;
  #verifier = "";
  constructor(client?: OAuthClientInformationMixed) {
    this.#client = client;
  }
  clientInformation = () => this.#client;
  saveClientInformation(client: OAuthClientInformationMixed) {
    this.#client = client;
  }
  tokens = () => this.held;
  saveTokens(tokens: OAuthTokens) {
    this.held = tokens;
  }
  redirectToAuthorization(url: URL) {
    this.asked = url;
  }
  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier;
  }
  codeVerifier = () => this.#verifier;
}

async function signIn(server: AuthorizationServer, provider = new Provider()): Promise<Provider> {
  expect(await auth(provider, { serverUrl: server.url })).toBe("REDIRECT");
  const redirect = await server.approve(provider.asked!);
  const iss = redirect.searchParams.get("iss");
  const authorizationCode = redirect.searchParams.get("code")!;
  await auth(provider, { serverUrl: server.url, authorizationCode, ...(iss && { iss }) });
  return provider;
}

async function call(server: AuthorizationServer, provider: OAuthClientProvider, name: string): Promise<unknown> {
  const client = new Client({ name: "a test", version: "0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { authProvider: provider }));
  const { content } = await client.callTool({ name, arguments: {} });
  await client.close();
  return (content as { text: string }[])[0]!.text;
}

test("a client registers, signs in and calls", async () => {
  const server = await startAuthorization({ scopesSupported: ["read"] });
  const provider = await signIn(server);
  expect(JSON.parse((await call(server, provider, "whoami")) as string)).toMatchObject({ scopes: ["read"] });
  expect(["register", "authorize", "token", "authorization_code"].map((what) => server.count(what))).toEqual([
    1, 1, 1, 1,
  ]);
});

test.each(["none", "client_secret_basic", "client_secret_post"] as const)(
  "a known client proves itself by %s",
  async (method) => {
    const known = { client_id: "known", ...(method !== "none" && { client_secret: "s3:cr et" }) };
    const server = await startAuthorization({
      registration: false,
      clients: [{ ...known, token_endpoint_auth_method: method }],
    });
    await signIn(server, new Provider({ ...known, redirect_uris: [], token_endpoint_auth_method: method }));
    expect(server.count("authorization_code")).toBe(1);
  },
);

test("a spent refresh token revokes all that came of it", async () => {
  const server = await startAuthorization({ accessTokenSeconds: 0 });
  const provider = await signIn(server);
  const first = provider.held!;
  expect(await auth(provider, { serverUrl: server.url })).toBe("AUTHORIZED");
  const second = provider.held!;
  expect(second.refresh_token).not.toBe(first.refresh_token);
  for (const tokens of [first, second]) {
    provider.held = tokens;
    await expect(auth(provider, { serverUrl: server.url })).rejects.toThrow("was revoked");
  }
  expect(server.tokens.reuses).toBeGreaterThan(0);
});

test("clients without a person: a secret, and a signed assertion", async () => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const server = await startAuthorization({
    clients: [
      { client_id: "robot", client_secret: "s", token_endpoint_auth_method: "client_secret_basic" },
      { client_id: "signer", token_endpoint_auth_method: "private_key_jwt", jwk: publicKey.export({ format: "jwk" }) },
    ],
  });
  const robot = new ClientCredentialsProvider({ clientId: "robot", clientSecret: "s" });
  expect(await call(server, robot, "whoami")).toContain("robot");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const signer = new PrivateKeyJwtProvider({ clientId: "signer", privateKey: pem, algorithm: "ES256" });
  expect(await call(server, signer, "whoami")).toContain("signer");
});

test("a tool that needs more answers 403 and says what", async () => {
  const server = await startAuthorization({ challengeScope: "read", toolScopes: { write: "write" } });
  const provider = await signIn(server);
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "write", arguments: {} } };
  const refused = await fetch(server.url, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { authorization: `Bearer ${provider.held!.access_token}` },
  });
  expect(refused.status).toBe(403);
  expect(refused.headers.get("www-authenticate")).toMatch(/error="insufficient_scope", scope="write"/);
});

test.each<[string, (url: URL) => void, RegExp]>([
  ["no PKCE", (url) => url.searchParams.delete("code_challenge"), /error=invalid_request/],
  ["another resource", (url) => url.searchParams.set("resource", "https://elsewhere.test/"), /error=invalid_target/],
])("refuses %s", async (_, change, want) => {
  const server = await startAuthorization();
  const provider = new Provider();
  await auth(provider, { serverUrl: server.url });
  change(provider.asked!);
  expect((await server.approve(provider.asked!)).href).toMatch(want);
});
