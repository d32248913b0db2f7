/** What is refused on the way of a sign-in: authorization servers that lie or are lost, and answers that aren't to it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import type { AuthContext } from "../../runtime/connect/auth/auth-context.ts";
import { authFetch } from "../../runtime/connect/auth/auth-fetch.ts";
import { discover } from "../../runtime/connect/auth/discover.ts";
import type { Interactive } from "../../runtime/connect/auth/interactive.ts";
import { credentialStore } from "../../runtime/connect/auth/store-keyring.ts";
import type { Fetch } from "../../runtime/connect/http-fetch.ts";
import type { OAuthSettings } from "../../schemas/config/server-config.ts";
import { type Faults, startAuthorization } from "../servers/authorization.ts";
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
    ["the endpoints are files", { metadata: "file" }, /can't be used|is not https/],
    ["the metadata redirects to itself", { metadata: "redirect-loop" }, /has no metadata|redirects/],
    ["the metadata is a web page", { metadata: "not-json" }, /can't be used while reading its metadata/],
    ["the metadata is broken", { metadata: 500 }, /can't be used while reading its metadata/],
    ["the challenge points to a file", { challenge: "file" }, /is not https/],
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
    expect(said).toContain("token_endpoint is not https");
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

/** A server elsewhere has nothing to say about what listens on this machine. */
describe("a server elsewhere that points at this machine", () => {
  const server = new URL("https://mcp.test/mcp");
  const answering = (documents: Record<string, object>) => {
    const asked: string[] = [];
    const fetch = async (url: string | URL) => {
      asked.push(String(url));
      const document = documents[String(url)];
      return document === undefined ? new Response("", { status: 404 }) : Response.json(document);
    };
    return { asked, fetch };
  };
  const context = async (fetch: Fetch, oauth: OAuthSettings = {}): Promise<AuthContext> => ({
    sdk: await import("@modelcontextprotocol/client"),
    key: { server: SERVER, url: server.href },
    server,
    oauth,
    store: credentialStore(new AgentFolder().path),
    fetch: authFetch({ fetch, server, oauth, learn: () => {} }),
    now: Date.now,
  });
  const RESOURCE = "https://mcp.test/.well-known/oauth-protected-resource/mcp";
  const metadata = (issuer: string, endpoints = issuer) => ({
    issuer,
    authorization_endpoint: `${endpoints}/authorize`,
    token_endpoint: `${endpoints}/token`,
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
  });

  test.each(["http://127.0.0.1:9/admin", "http://localhost:9/admin", "https://[::1]:9/admin"])(
    "in its challenge: %s is not asked",
    async (address) => {
      const { asked, fetch } = answering({});
      const found = discover(await context(fetch), new URL(address));
      await expect(found).rejects.toThrow("is on this machine, and the server is not");
      expect(asked).toEqual([]);
    },
  );

  test("as its authorization server", async () => {
    const { asked, fetch } = answering({
      [RESOURCE]: { resource: server.href, authorization_servers: ["http://127.0.0.1:9"] },
    });
    await expect(discover(await context(fetch))).rejects.toThrow("is on this machine, and the server is not");
    expect(asked).toEqual([RESOURCE]);
  });

  test("as the place of its endpoints", async () => {
    const { fetch } = answering({
      [RESOURCE]: { resource: server.href, authorization_servers: ["https://as.test"] },
      "https://as.test/.well-known/oauth-authorization-server": metadata("https://as.test", "http://localhost:9"),
    });
    await expect(discover(await context(fetch))).rejects.toThrow("authorization_endpoint is on this machine");
  });

  test("unless the configuration says that it is here", async () => {
    const here = "http://127.0.0.1:9/metadata";
    const { fetch } = answering({ [here]: metadata("http://127.0.0.1:9") });
    const found = await discover(await context(fetch, { authServerMetadataUrl: here }));
    expect(found.issuer).toBe("http://127.0.0.1:9");
  });
});
