/** Tokens without a person, and tokens bound to a key. */
import { createHash, createPublicKey, generateKeyPairSync, type JsonWebKey, verify } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import type { OAuthSettings } from "../../schemas/config/server-config.ts";
import { startAuthorization } from "../servers/authorization.ts";
import { startTokenServer, type TokenAnswer, type TokenRequest, type TokenServer } from "../servers/token-server.ts";
import { AgentFolder, add, agreeing, connected, guarded, openGuarded } from "./auth-setup.ts";

describe("client credentials", () => {
  const secret = "s3cret-4711-of-the-machine";
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const jwk = publicKey.export({ format: "jwk" });
  const rows: [string, Parameters<typeof startAuthorization>[0], OAuthSettings][] = [
    [
      "a secret",
      { clients: [{ client_id: "robot", client_secret: secret, token_endpoint_auth_method: "client_secret_basic" }] },
      { clientSecret: secret },
    ],
    [
      "a private key",
      { clients: [{ client_id: "robot", token_endpoint_auth_method: "private_key_jwt", jwk }] },
      { privateKey: pem },
    ],
  ];
  test.each(rows)("with %s: one token, kept in memory alone, another when it ends", async (_, options, proof) => {
    const server = await startAuthorization({ challengeScope: "read", ...options });
    const folder = new AgentFolder();
    const oauth: OAuthSettings = { grant: "client-credentials", clientId: "robot", scope: "more", ...proof };
    const connection = await connected(guarded(server.url, oauth), { agentDir: folder.path });
    expect(await Promise.all([add(connection), add(connection)])).toEqual(["5", "5"]);
    expect(server.count("client_credentials")).toBe(1);
    const { params } = server.seen.find(({ endpoint }) => endpoint === "token")!;
    expect(params).toMatchObject({ resource: server.url, scope: "more read" });
    server.tokens.expireAll();
    expect(await Promise.all([add(connection), add(connection)])).toEqual(["5", "5"]);
    expect(server.count("client_credentials")).toBe(2);
    expect(server.count("authorize") + server.count("register")).toBe(0);
    expect(() => folder.content()).toThrow("ENOENT");
  });

  test("a refusal is final, and no person is asked instead", async () => {
    const server = await startAuthorization({ clients: [] });
    const person = agreeing(server);
    const oauth: OAuthSettings = { grant: "client-credentials", clientId: "robot", clientSecret: secret };
    const outcome = await openGuarded(guarded(server.url, oauth), {
      agentDir: new AgentFolder().path,
      interactive: person,
    });
    expect(outcome).toMatchObject({ ok: false, diagnostic: { code: "sign-in-failed" } });
    expect(server.count("token")).toBe(1);
    expect(person.visited).toEqual([]);
  });

  test("the secret goes to the issuer it belongs to, and to no other", async () => {
    const server = await startAuthorization(rows[0]![1]);
    const oauth: OAuthSettings = {
      grant: "client-credentials",
      clientId: "robot",
      clientSecret: secret,
      issuer: "https://auth.example.com",
    };
    const outcome = await openGuarded(guarded(server.url, oauth), { agentDir: new AgentFolder().path });
    expect(outcome).toMatchObject({ ok: false, diagnostic: { code: "sign-in-failed" } });
    expect(server.count("token")).toBe(0);
  });
});

/** Takes one Bearer token. */
const bearer = (token: string) => (request: IncomingMessage, url: string) =>
  request.headers.authorization === `Bearer ${token}`
    ? undefined
    : {
        status: 401,
        headers: {
          "www-authenticate": `Bearer resource_metadata="${new URL("/.well-known/oauth-protected-resource/mcp", url)}"`,
        },
      };
const granted = (token: string): TokenAnswer => ({
  body: { access_token: token, token_type: "Bearer", expires_in: 60 },
});

describe("assertions", () => {
  test("a workload's JWT is the grant, of a public client, sent once even when it is refused", async () => {
    let refuse = false;
    const server = await startTokenServer({
      onToken: () => (refuse ? { status: 400, body: { error: "invalid_grant" } } : granted("for-the-workload")),
      guard: bearer("for-the-workload"),
    });
    const oauth: OAuthSettings = { grant: "workload-identity", clientId: "pod", assertion: "eyJ.the.jwt" };
    expect(await add(await connected(guarded(server.url, oauth), { agentDir: new AgentFolder().path }))).toBe("5");
    expect(server.requests.map(({ params }) => params)).toEqual([
      {
        grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
        assertion: "eyJ.the.jwt",
        client_id: "pod",
        resource: server.url,
      },
    ]);
    refuse = true;
    const outcome = await openGuarded(guarded(server.url, oauth), { agentDir: new AgentFolder().path });
    expect(outcome).toMatchObject({ ok: false, diagnostic: { code: "sign-in-failed" } });
    expect(server.requests).toHaveLength(2);
  });

  test.each([
    ["its metadata says", (origin: string) => ({ idpIssuer: origin })],
    [
      "the configuration says",
      (origin: string) => ({ idpIssuer: "https://idp.invalid", idpTokenEndpoint: `${origin}/token` }),
    ],
  ])("an identity provider vouches for a person, where %s: token exchange there, its grant here", async (_, at) => {
    const idp = await startTokenServer({
      onToken: () => ({
        body: {
          access_token: "the-id-jag",
          issued_token_type: "urn:ietf:params:oauth:token-type:id-jag",
          token_type: "N_A",
        },
      }),
      guard: () => ({ status: 404, headers: {} }),
    });
    const server = await startTokenServer({ onToken: () => granted("for-ada"), guard: bearer("for-ada") });
    const oauth: OAuthSettings = {
      grant: "enterprise-managed",
      clientId: "app",
      clientSecret: "s3cret-4711-here",
      idToken: "eyJ.id.token",
      ...at(idp.origin),
      idpClientId: "app-there",
      idpClientSecret: "s3cret-4711-there",
    };
    expect(await add(await connected(guarded(server.url, oauth), { agentDir: new AgentFolder().path }))).toBe("5");
    expect(idp.requests[0]!.params).toMatchObject({
      subject_token: "eyJ.id.token",
      requested_token_type: "urn:ietf:params:oauth:token-type:id-jag",
      audience: server.origin,
      resource: server.url,
      client_id: "app-there",
      client_secret: "s3cret-4711-there",
    });
    expect(server.requests[0]!.params).toMatchObject({ assertion: "the-id-jag" });
    expect(server.requests[0]!.headers.authorization).toBe(
      `Basic ${Buffer.from("app:s3cret-4711-here").toString("base64")}`,
    );
  });
});

interface Proof {
  readonly jkt: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** The proof of a request, once its signature holds. */
function proofOf(header: string | string[] | undefined): Proof | undefined {
  if (typeof header !== "string") return undefined;
  const [head, body, signature] = header.split(".") as [string, string, string];
  const decode = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>;
  const jwk = decode(head)["jwk"] as JsonWebKey;
  const key = createPublicKey({ key: jwk, format: "jwk" });
  const holds = verify(
    "sha256",
    Buffer.from(`${head}.${body}`),
    { key, dsaEncoding: "ieee-p1363" },
    Buffer.from(signature, "base64url"),
  );
  if (!holds || jwk.d !== undefined) return undefined;
  const { crv, kty, x, y } = jwk;
  const jkt = createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest("base64url");
  return { jkt, claims: decode(body) };
}

/** Binds tokens to the key of the proof they were asked for with; wants a nonce of both ends. */
async function startBinding(): Promise<TokenServer & { expireAll(): void; readonly proofs: Proof[] }> {
  const bound = new Map<string, string>();
  const refreshKeys = new Map<string, string>();
  const proofs: Proof[] = [];
  let issued = 0;
  const server = await startTokenServer({
    metadata: { dpop_signing_alg_values_supported: ["ES256"], authorization_response_iss_parameter_supported: false },
    onToken: ({ params, headers }: TokenRequest) => {
      const proof = proofOf(headers["dpop"]);
      if (proof === undefined) return { status: 400, body: { error: "invalid_dpop_proof" } };
      if (proof.claims["nonce"] !== "of-the-issuer") {
        return { status: 400, headers: { "dpop-nonce": "of-the-issuer" }, body: { error: "use_dpop_nonce" } };
      }
      const { refresh_token: refresh } = params;
      if (refresh !== undefined && refreshKeys.get(refresh) !== proof.jkt)
        return { status: 400, body: { error: "invalid_grant" } };
      const [access, next] = [`bound-${++issued}`, `refresh-${issued}`];
      bound.set(access, proof.jkt);
      refreshKeys.set(next, proof.jkt);
      return { body: { access_token: access, token_type: "DPoP", expires_in: 3600, refresh_token: next } };
    },
    guard: (request, url) => {
      const { authorization = "", dpop } = request.headers;
      const token = /^DPoP (.+)$/.exec(authorization)?.[1] ?? "";
      const proof = proofOf(dpop);
      const metadata = new URL("/.well-known/oauth-protected-resource/mcp", url);
      const refused = (error: string, more = {}) => ({
        status: 401,
        headers: { "www-authenticate": `DPoP error="${error}", resource_metadata="${metadata}"`, ...more },
      });
      if (proof === undefined || bound.get(token) !== proof.jkt) return refused("invalid_token");
      if (proof.claims["nonce"] !== "of-the-server")
        return refused("use_dpop_nonce", { "dpop-nonce": "of-the-server" });
      const ath = createHash("sha256").update(token).digest("base64url");
      if (proof.claims["ath"] !== ath || proof.claims["htu"] !== url) return refused("invalid_dpop_proof");
      proofs.push(proof);
      return undefined;
    },
  });
  return Object.assign(server, { expireAll: () => bound.clear(), proofs });
}

describe("tokens bound to a key", () => {
  test("the key outlives the process: used, renewed and proven by the next, with a fresh proof each time", async () => {
    const server = await startBinding();
    const folder = new AgentFolder();
    const first = await connected(guarded(server.url), { agentDir: folder.path, interactive: agreeing(server) });
    expect(await add(first)).toBe("5");
    expect(folder.entry(server.url).tokens!.token_type).toBe("DPoP");
    const second = await connected(guarded(server.url), { agentDir: folder.path });
    expect(await add(second)).toBe("5");
    server.expireAll();
    expect(await add(second)).toBe("5");
    expect(server.requests.filter(({ params }) => params["grant_type"] === "refresh_token").length).toBeGreaterThan(0);
    const ids = server.proofs.map(({ claims }) => claims["jti"]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(server.proofs.map(({ jkt }) => jkt)).size).toBe(1);
  });

  test("a machine's tokens are bound too", async () => {
    const server = await startBinding();
    const oauth: OAuthSettings = { grant: "client-credentials", clientId: "robot", clientSecret: "s3cret-4711" };
    expect(await add(await connected(guarded(server.url, oauth), { agentDir: new AgentFolder().path }))).toBe("5");
  });

  test("where the configuration wants it and the server can't, that is said", async () => {
    const server = await startAuthorization();
    const auth = { agentDir: new AgentFolder().path, interactive: agreeing(server) };
    const outcome = await openGuarded(guarded(server.url, { dpop: true }), auth);
    expect(outcome).toMatchObject({
      ok: false,
      diagnostic: { code: "sign-in-failed", message: expect.stringContaining("oauth.dpop") },
    });
  });
});
