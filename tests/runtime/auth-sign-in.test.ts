/** A person signs in: who is asked for what, as whom, and what is refused on the way. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Interactive } from "../../runtime/connect/auth/interactive.ts";
import type { OAuthSettings } from "../../schemas/config/server-config.ts";
import { type AuthorizationServer, type Faults, startAuthorization } from "../servers/authorization.ts";
import { startHttpStub } from "../servers/run.ts";
import { AgentFolder, add, agreeing, connected, guarded, openGuarded, SERVER, signedIn } from "./auth-setup.ts";

/** The finding with which a sign-in fails, as one text. */
async function refusal(server: AuthorizationServer, oauth?: OAuthSettings, interactive?: Interactive) {
  const folder = new AgentFolder();
  const person = agreeing(server);
  const auth = { agentDir: folder.path, interactive: interactive ?? person };
  const outcome = await openGuarded(guarded(server.url, oauth), auth);
  if (outcome.ok) {
    await outcome.connection.close();
    throw new Error("signed in");
  }
  const { code, message, notes } = outcome.diagnostic;
  return { code, said: [message, ...notes].join("; "), visited: person.visited, folder };
}

describe("the whole way", () => {
  test("registers, asks with PKCE, resource and state, and stores what Pi can read", async () => {
    const server = await startAuthorization({ challengeScope: "read" });
    const folder = new AgentFolder();
    const person = agreeing(server);
    const connection = await connected(guarded(server.url), { agentDir: folder.path, interactive: person });
    expect(await add(connection)).toBe("5");
    expect(person.visited).toHaveLength(1);
    const asked = Object.fromEntries(person.visited[0]!.searchParams);
    expect(asked).toMatchObject({ code_challenge_method: "S256", resource: server.url, scope: "read" });
    expect(asked["state"]!.length).toBeGreaterThan(20);
    expect(server.count("register")).toBe(1);
    const entry = folder.entry(server.url);
    expect(entry.serverUrl).toBe(server.url);
    expect(entry.tokens).toMatchObject({ token_type: "Bearer", scope: "read", issuer: server.issuer });
    expect(entry.tokensExpireAt).toBeGreaterThan(Date.now() + 3_500_000);
    expect(entry.clientInformation!.redirect_uris).toEqual([asked["redirect_uri"]]);
    expect(entry.discovery!.authorizationServerUrl).toBe(server.issuer);
    // A second connection asks nobody.
    const again = await connected(guarded(server.url), { agentDir: folder.path });
    expect(await add(again)).toBe("5");
    expect(server.count("authorize")).toBe(1);
  });

  test("without a person nothing is registered, opened or sent twice", async () => {
    const server = await startAuthorization();
    const outcome = await openGuarded(guarded(server.url), { agentDir: new AgentFolder().path });
    expect(outcome).toMatchObject({ ok: false, diagnostic: { code: "sign-in-needed" } });
    if (outcome.ok) throw new Error("connected");
    expect(outcome.diagnostic.notes.join()).toContain("pimcp login guarded");
    expect(server.seen.map(({ endpoint }) => endpoint)).toEqual(["mcp"]);
  });

  test("a server with an Authorization header of its own is left alone", async () => {
    const server = await startAuthorization();
    const folder = new AgentFolder();
    await signedIn(server, folder);
    const { access_token: token } = folder.entry(server.url).tokens!;
    server.tokens.expireAll();
    const config = guarded(server.url);
    const headers = { authorization: `Bearer ${token}` };
    const own = { ...config, transport: { ...config.transport, headers } as typeof config.transport };
    const outcome = await openGuarded(own, { agentDir: folder.path, interactive: agreeing(server) });
    expect(outcome).toMatchObject({ ok: false, diagnostic: { code: "sign-in-needed" } });
    if (outcome.ok) throw new Error("connected");
    expect(outcome.diagnostic.notes.join()).toContain("check the value");
    expect(server.count("refresh_token")).toBe(0);
    expect(server.count("authorize")).toBe(1);
  });

  test("five calls that all need a sign-in share one", async () => {
    const server = await startAuthorization();
    const folder = new AgentFolder();
    const person = agreeing(server);
    const connection = await connected(guarded(server.url), { agentDir: folder.path, interactive: person });
    server.tokens.revokeAll();
    await Promise.all(Array.from({ length: 5 }, () => add(connection)));
    expect(person.visited).toHaveLength(2);
    expect(server.count("refresh_token")).toBe(1);
  });
});

describe("as whom", () => {
  const secret = "s3cret-4711-of-the-client";
  const rows: [string, Parameters<typeof startAuthorization>[0], OAuthSettings | undefined, string][] = [
    [
      "a client of one's own with Basic",
      {
        registration: false,
        clients: [{ client_id: "mine", client_secret: secret, token_endpoint_auth_method: "client_secret_basic" }],
      },
      { clientId: "mine", clientSecret: secret },
      "mine",
    ],
    [
      "a public client of one's own",
      { registration: false, clients: [{ client_id: "mine", token_endpoint_auth_method: "none" }] },
      { clientId: "mine" },
      "mine",
    ],
    ["a registered client with a secret", { registersAs: "client_secret_basic" }, undefined, "client-"],
    ["a registered client that posts its secret", { registersAs: "client_secret_post" }, undefined, "client-"],
    ["Pi's document", { cimd: true }, undefined, "https://pi.dev/oauth/client.json"],
    [
      "Pi's document for this server, where answers don't say from whom",
      { cimd: true, iss: false },
      undefined,
      "https://pi.dev/oauth/",
    ],
    [
      "a document of one's own",
      { cimd: true },
      { clientMetadataUrl: "https://me.example/client.json" },
      "https://me.example/client.json",
    ],
    ["a registered client, when asked to register", { cimd: true }, { clientRegistration: "dcr" }, "client-"],
    ["a registered client, under another name", { cimd: true }, { clientName: "Another" }, "client-"],
  ];
  test.each(rows)("%s, and the refresh too", async (_, options, oauth, id) => {
    const server = await startAuthorization(options);
    const folder = new AgentFolder();
    const person = agreeing(server);
    const connection = await connected(guarded(server.url, oauth), { agentDir: folder.path, interactive: person });
    expect(person.visited[0]!.searchParams.get("client_id")).toContain(id);
    server.tokens.expireAll();
    expect(await add(connection)).toBe("5");
    expect(server.count("refresh_token")).toBe(1);
    expect(person.visited).toHaveLength(1);
    expect(server.count("register")).toBe(id === "client-" ? 1 : 0);
    expect(folder.entry(server.url).clientInformation === undefined).toBe(id !== "client-");
  });

  test("the name to register under", async () => {
    const server = await startAuthorization();
    await signedIn(server, new AgentFolder(), { clientName: "Known To Them" });
    const { body } = server.seen.find(({ endpoint }) => endpoint === "register")!;
    expect(JSON.parse(body)).toMatchObject({ client_name: "Known To Them", application_type: "native" });
  });

  test("the redirect URI is as configured, and the client registered for it is used again", async () => {
    const server = await startAuthorization();
    const folder = new AgentFolder();
    const oauth = { callbackUrl: "http://localhost/done", callbackPort: 4711 };
    await signedIn(server, folder, oauth);
    server.tokens.revokeAll();
    await signedIn(server, folder, oauth);
    const asked = server.seen
      .filter(({ endpoint }) => endpoint === "authorize")
      .map(({ params }) => params["redirect_uri"]);
    expect(asked).toEqual(["http://localhost:4711/done", "http://localhost:4711/done"]);
    expect(server.count("register")).toBe(1);
    // Another port is another redirect URI, for which another client is registered.
    server.tokens.revokeAll();
    await signedIn(server, folder, { ...oauth, callbackPort: 4712 });
    expect(server.count("register")).toBe(2);
  });

  test("no document where only one is wanted and none is taken", async () => {
    const { code, said } = await refusal(await startAuthorization(), { clientRegistration: "cimd" });
    expect(code).toBe("sign-in-failed");
    expect(said).toContain("takes no Client ID Metadata Documents");
  });

  test("no way to register", async () => {
    const { said, visited } = await refusal(await startAuthorization({ registration: false }));
    expect(said).toContain("registers no clients by itself; register one with it and set oauth.clientId");
    expect(visited).toEqual([]);
    const server = await startAuthorization();
    server.faults.registration = "refused";
    expect((await refusal(server)).said).toContain("refused to register a client (HTTP 403");
  });

  test("the secret of a client goes to its own issuer alone", async () => {
    const client = {
      client_id: "mine",
      client_secret: secret,
      token_endpoint_auth_method: "client_secret_basic",
    } as const;
    const server = await startAuthorization({ clients: [client] });
    const oauth = { clientId: "mine", clientSecret: secret };
    const { said, visited } = await refusal(server, { ...oauth, issuer: "https://auth.example.com" });
    expect(said).toContain("not oauth.issuer");
    expect(visited).toEqual([]);
    await signedIn(server, new AgentFolder(), { ...oauth, issuer: `${server.issuer}/` });
  });
});

describe("scopes", () => {
  test("what is configured comes on top of what is asked for", async () => {
    const server = await startAuthorization({ challengeScope: "read", scopesSupported: ["all"] });
    await signedIn(server, new AgentFolder(), { scope: "mine" });
    expect(server.seen.find(({ endpoint }) => endpoint === "authorize")!.params["scope"]).toBe("mine read");
  });

  test("a step up keeps what was granted, once, and the call goes on", async () => {
    const server = await startAuthorization({ challengeScope: "read", toolScopes: { write: "write" } });
    const folder = new AgentFolder();
    const person = agreeing(server);
    const connection = await connected(guarded(server.url), { agentDir: folder.path, interactive: person });
    const outcome = await connection.request("tools/call", { name: "write", arguments: {} });
    expect(outcome).toMatchObject({ ok: true, result: { content: [{ text: "written" }] } });
    expect(person.visited.map((url) => url.searchParams.get("scope"))).toEqual(["read", "read write"]);
    expect(folder.entry(server.url).tokens!.scope).toBe("read write");
    expect(server.count("register")).toBe(1);
  });

  test("with nobody to ask, the call fails once, and the next sign-in asks for it", async () => {
    const server = await startAuthorization({ challengeScope: "read", toolScopes: { write: "write" } });
    const folder = new AgentFolder();
    await signedIn(server, folder);
    const connection = await connected(guarded(server.url), { agentDir: folder.path });
    const outcome = await connection.request("tools/call", { name: "write", arguments: {} });
    expect(outcome).toMatchObject({
      ok: false,
      failure: { kind: "sign-in-needed", message: expect.stringContaining("read write") },
    });
    expect(await add(connection)).toBe("5");
    server.tokens.revokeAll();
    await signedIn(server, folder);
    expect(server.seen.filter(({ endpoint }) => endpoint === "authorize").at(-1)!.params["scope"]).toBe("read write");
    expect(folder.entry(server.url).wantedScope).toBeUndefined();
  });

  test("a scope that was granted and is asked for again is a refusal, not a loop", async () => {
    const server = await startAuthorization({ challengeScope: "write", toolScopes: { write: "write" } });
    const folder = new AgentFolder();
    const person = agreeing(server);
    const connection = await connected(guarded(server.url), { agentDir: folder.path, interactive: person });
    // The server thinks otherwise about what it granted.
    folder.edit(server.url, (entry) => ({ ...entry, tokens: { ...entry.tokens, scope: "write" } }));
    const grant = server.tokens.check(folder.entry(server.url).tokens!.access_token)! as { scope: string };
    grant.scope = "read";
    const outcome = await connection.request("tools/call", { name: "write", arguments: {} });
    expect(outcome).toMatchObject({ ok: false, failure: { kind: "access-denied" } });
    expect(person.visited).toHaveLength(1);
  });
});

describe("authorization servers that lie or are lost", () => {
  const rows: [string, Faults, RegExp][] = [
    [
      "the resource is another's",
      { resourceMetadata: "other-resource" },
      /that of another resource, https:\/\/elsewhere\.test\/mcp/,
    ],
    [
      "the authorization server named isn't there",
      { resourceMetadata: "wrong-server" },
      /has no metadata.*authServerMetadataUrl/,
    ],
    ["it is a file", { resourceMetadata: "file" }, /can't be used while reading.*authServerMetadataUrl/],
    [
      "the document redirects to itself",
      { resourceMetadata: "redirect-loop" },
      /protected resource metadata redirects/,
    ],
    ["the document is a web page", { resourceMetadata: "not-json" }, /can't be used while reading/],
    [
      "the metadata is another issuer's",
      { metadata: "issuer-mismatch" },
      /metadata names the issuer .* not .*authServerMetadataUrl/,
    ],
    ["the endpoints are files", { metadata: "file" }, /can't be used|is not an https address/],
    ["the metadata redirects to itself", { metadata: "redirect-loop" }, /has no metadata|redirects/],
    ["the metadata is a web page", { metadata: "not-json" }, /can't be used while reading its metadata/],
    ["the metadata is broken", { metadata: 500 }, /can't be used while reading its metadata/],
    ["the challenge points to a file", { challenge: "file" }, /neither https nor on this machine/],
  ];
  test.each(rows)("%s: nobody is sent anywhere, nothing is stored", async (_, faults, said) => {
    const server = await startAuthorization();
    Object.assign(server.faults, faults);
    const found = await refusal(server);
    expect(found.code).toBe("sign-in-failed");
    expect(found.said).toMatch(said);
    expect(found.visited).toEqual([]);
    expect(server.count("register")).toBe(0);
    expect(server.count("token")).toBe(0);
  });

  test("it names none, and is none itself", async () => {
    const server = await startAuthorization();
    server.faults.resourceMetadata = "missing";
    const { said, visited } = await refusal(server);
    expect(said).toContain("names no authorization server, and is none itself; set oauth.authServerMetadataUrl");
    expect(visited).toEqual([]);
  });

  test.each(["wrong-server", "file", "redirect-loop", "not-json", "no-servers"] as const)(
    "authServerMetadataUrl puts right what the server gets wrong: %s",
    async (fault) => {
      const server = await startAuthorization({ checksResource: false });
      server.faults.resourceMetadata = fault;
      const folder = new AgentFolder();
      // The wrong document has the right resource: only the authorization server is another.
      const oauth = { authServerMetadataUrl: server.metadataUrl };
      await signedIn(server, folder, oauth);
      const connection = await connected(guarded(server.url, oauth), { agentDir: folder.path });
      expect(folder.entry(server.url).discovery).toBeUndefined();
      expect(await add(connection)).toBe("5");
    },
  );

  test.each([
    ["http", "http://auth.elsewhere.test"],
    ["ftp", "ftp://auth.elsewhere.test"],
  ])("tokens are asked for over https alone, not %s", async (_, origin) => {
    const server = await startAuthorization();
    const documents = createServer((__, response) => {
      const issuer = `http://127.0.0.1:${(documents.address() as AddressInfo).port}`;
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${issuer}/register`,
          response_types_supported: ["code"],
        }),
      );
    });
    await new Promise<void>((resolve) => documents.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void documents.close());
    const authServerMetadataUrl = `http://127.0.0.1:${(documents.address() as AddressInfo).port}/metadata`;
    const { said, visited } = await refusal(server, { authServerMetadataUrl });
    expect(said).toContain("token_endpoint is not an https address");
    expect(visited).toEqual([]);
  });

  test("an answer without an end is not read to it", async () => {
    const server = await startAuthorization();
    const flood = createServer((_, response) => {
      response.setHeader("content-type", "application/json");
      const more = () => {
        while (response.write(" ".repeat(65_536)));
        response.once("drain", more);
      };
      more();
    });
    await new Promise<void>((resolve) => flood.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      flood.closeAllConnections();
      flood.close();
    });
    const authServerMetadataUrl = `http://127.0.0.1:${(flood.address() as AddressInfo).port}/metadata`;
    expect((await refusal(server, { authServerMetadataUrl })).said).toContain("is longer than 1 MiB");
  });
});

describe("answers of the browser", () => {
  const rows: [string, Faults, RegExp][] = [
    ["the person said no", { authorize: "denied" }, /the sign-in was refused \(access_denied: The user said no\)/],
    ["it comes from another issuer", { authorize: "wrong-iss" }, /came from the issuer https:\/\/elsewhere\.test, not/],
    ["it doesn't say from whom, though it should", { authorize: "no-iss" }, /came from no issuer/],
    ["it belongs to another sign-in", { authorize: "wrong-state" }, /belongs to another sign-in/],
    [
      "its words carry control characters",
      { authorize: "denied", denial: "no\u001b[31m\u202e\nway" },
      /access_denied: no way\)/,
    ],
  ];
  test.each(rows)("%s: no code is redeemed", async (_, faults, said) => {
    const server = await startAuthorization();
    Object.assign(server.faults, faults);
    const found = await refusal(server);
    expect(found.code).toBe("sign-in-failed");
    expect(found.said).toMatch(said);
    expect(server.count("token")).toBe(0);
  });

  test("nobody completes it", async () => {
    const server = await startAuthorization();
    const person: Interactive = {
      open: async () => ({
        redirectUrl: "http://127.0.0.1:7777/callback",
        authorize: () => Promise.reject(new Error("the sign-in was not completed within 5 minutes")),
        close: async () => {},
      }),
    };
    const found = await refusal(server, undefined, person);
    expect(found.said).toContain("not completed within 5 minutes");
  });

  test("a port that must be is in use", async () => {
    const server = await startAuthorization();
    const person: Interactive = { open: () => Promise.reject(new Error("port 4711 is in use")) };
    const found = await refusal(server, { callbackPort: 4711 }, person);
    expect(found).toMatchObject({ code: "sign-in-failed", said: expect.stringContaining("port 4711 is in use") });
    expect(server.count("register")).toBe(0);
  });

  test("what was stored stays when a new sign-in fails", async () => {
    const server = await startAuthorization();
    const folder = new AgentFolder();
    await signedIn(server, folder);
    const before = folder.content();
    server.faults.authorize = "denied";
    server.faults.rejectsEveryToken = true;
    server.faults.refreshStatuses = [500, 500, 500];
    await openGuarded(guarded(server.url), { agentDir: folder.path, interactive: agreeing(server) });
    expect(folder.content()).toBe(before);
  });

  test("a person who takes longer than a probe is waited for", async () => {
    const server = await startAuthorization();
    const folder = new AgentFolder();
    const prompt = agreeing(server);
    const slow: Interactive = {
      open: async (request) => {
        const callback = await prompt.open(request);
        return {
          ...callback,
          authorize: async (url, expected) => {
            await new Promise((resolve) => setTimeout(resolve, 1500));
            return callback.authorize(url, expected);
          },
        };
      },
    };
    const config = { ...guarded(server.url), probeTimeoutMs: 300, requestTimeoutMs: 300 };
    const connection = await connected(config, { agentDir: folder.path, interactive: slow }, { timeoutMs: 1200 });
    expect(connection.verdict.era).toBe("modern");
    expect(prompt.visited).toHaveLength(1);
  });
});

describe("between requests", () => {
  test("a farewell asks nobody to sign in", async () => {
    const server = await startAuthorization();
    const folder = new AgentFolder();
    const person = agreeing(server);
    const config = { ...guarded(server.url), protocolVersion: "legacy" as const };
    const connection = await connected(config, { agentDir: folder.path, interactive: person });
    server.tokens.revokeAll();
    await connection.close();
    expect(person.visited).toHaveLength(1);
    expect(server.count("refresh_token")).toBe(0);
  });

  test("an older event stream that needs a sign-in says so", async () => {
    const server = await startHttpStub({ http: { status: { GET: 401 } } });
    onTestFinished(() => server.stop());
    const prior = { era: "legacy", verdict: "answered", protocolVersion: "2024-11-05", transport: "sse" } as const;
    const auth = { agentDir: new AgentFolder().path };
    const outcome = await openGuarded({ ...server.config, name: SERVER }, auth, { prior });
    expect(outcome).toMatchObject({ ok: false, diagnostic: { code: "sign-in-needed" } });
  });
});
