import { describe, expect, onTestFinished, test } from "vitest";
import type { OAuthSettings } from "../../schemas/config/server-config.ts";
import { startAuthorization } from "../servers/authorization.ts";
import { startHttpStub } from "../servers/run.ts";
import {
  AgentFolder,
  add,
  agreeing,
  connected,
  guarded,
  openGuarded,
  refusal,
  SERVER,
  signedIn,
} from "./auth-setup.ts";

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
  const basic = {
    client_id: "mine",
    client_secret: secret,
    token_endpoint_auth_method: "client_secret_basic",
  } as const;
  const withSecret = { clientId: "mine", clientSecret: secret };
  const rows: [string, Parameters<typeof startAuthorization>[0], OAuthSettings | undefined, string][] = [
    ["a client of one's own with Basic", { registration: false, clients: [basic] }, withSecret, "mine"],
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

  test("the secret of a client goes to the issuer of the first sign-in, until the configuration says another", async () => {
    const server = await startAuthorization({ clients: [basic] });
    const folder = new AgentFolder();
    // Signed in to with another authorization server, before the server named this one.
    const tokens = { access_token: "gone", issuer: "https://auth.example.com" };
    folder.write({ [`mcp__${SERVER}|${server.url}`]: { serverUrl: server.url, tokens } });
    const person = agreeing(server);
    const auth = { agentDir: folder.path, interactive: person };
    const outcome = await openGuarded(guarded(server.url, withSecret), auth);
    expect(outcome).toMatchObject({
      ok: false,
      diagnostic: { message: expect.stringContaining("which oauth.clientSecret was never sent to") },
    });
    expect(person.visited).toEqual([]);
    await connected(guarded(server.url, { ...withSecret, issuer: server.issuer }), auth);
    expect(person.visited).toHaveLength(1);
  });

  test("the secret of a client goes to its own issuer alone", async () => {
    const server = await startAuthorization({ clients: [basic] });
    const { said, visited } = await refusal(server, { ...withSecret, issuer: "https://auth.example.com" });
    expect(said).toContain("not oauth.issuer");
    expect(visited).toEqual([]);
    await signedIn(server, new AgentFolder(), { ...withSecret, issuer: `${server.issuer}/` });
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
