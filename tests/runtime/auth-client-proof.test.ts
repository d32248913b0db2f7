/** How a client with a secret proves itself: form-encoded as RFC 6749 has it, and plain where a server takes only that. */
import { describe, expect, test } from "vitest";
import { logOut } from "../../runtime/connect/auth/log-out.ts";
import type { OAuthSettings } from "../../schemas/config/server-config.ts";
import { type AuthorizationOptions, type AuthorizationServer, startAuthorization } from "../servers/authorization.ts";
import { AgentFolder, add, connected, guarded, signedIn } from "./auth-setup.ts";

/** Every character that one form writes otherwise than the other. */
const CLIENT = {
  client_id: "client/1 a",
  client_secret: "s3cret+of/the=client:%41 é~",
  token_endpoint_auth_method: "client_secret_basic",
} as const;
const OAUTH: OAuthSettings = { clientId: CLIENT.client_id, clientSecret: CLIENT.client_secret };

const start = (options: AuthorizationOptions) =>
  startAuthorization({ clients: [CLIENT], registration: false, authMethods: ["client_secret_basic"], ...options });

/** Pairs as they were sent, before anybody decodes them. */
function sent(server: AuthorizationServer, endpoint: string): string[] {
  return server.seen
    .filter((request) => request.endpoint === endpoint)
    .map(({ headers }) => String(headers["authorization"]).replace(/^Basic /, ""))
    .map((pair) => Buffer.from(pair, "base64").toString("utf8"));
}

const ENCODED = "client%2F1+a:s3cret%2Bof%2Fthe%3Dclient%3A%2541+%C3%A9%7E";
const PLAIN = `${CLIENT.client_id}:${CLIENT.client_secret}`;

describe.each<["encoded" | "plain", string[]]>([
  ["encoded", [ENCODED]],
  ["plain", [ENCODED, PLAIN]],
])("an authorization server that takes the %s form", (basicForm, want) => {
  test("for a code, a refresh and a revocation", async () => {
    const server = await start({ basicForm });
    const folder = new AgentFolder();
    await signedIn(server, folder, OAUTH);
    const connection = await connected(guarded(server.url, OAUTH), { agentDir: folder.path });
    server.tokens.expireAll();
    expect(await add(connection)).toBe("5");
    expect(sent(server, "token")).toEqual([...want, ...want]);
    const resolved = {
      kind: "http",
      url: new URL(server.url),
      headers: {},
      oauth: OAUTH,
      secrets: [],
      credentials: [],
    } as const;
    const outcome = await logOut(guarded(server.url, OAUTH), resolved, { agentDir: folder.path }, fetch);
    expect(outcome).toEqual({ kind: "signed-out", revoked: "yes" });
    expect(sent(server, "revoke")).toEqual(want);
  });

  test("for client credentials", async () => {
    const client = { ...CLIENT, grant_types: ["client_credentials"] };
    const server = await start({ basicForm, clients: [client] });
    const oauth = { ...OAUTH, grant: "client-credentials", issuer: server.issuer } as const;
    const connection = await connected(guarded(server.url, oauth), { agentDir: new AgentFolder().path });
    expect(await add(connection)).toBe("5");
    expect(sent(server, "token")).toEqual(want);
  });
});

test("a client that is unknown in both forms is refused after both, and stays configured", async () => {
  const server = await start({ clients: [] });
  const oauth = { ...OAUTH, grant: "client-credentials", issuer: server.issuer } as const;
  const opening = connected(guarded(server.url, oauth), { agentDir: new AgentFolder().path });
  await expect(opening).rejects.toThrow("invalid_client");
  expect(sent(server, "token")).toEqual([ENCODED, PLAIN]);
});

test("a secret that both forms write alike is sent once", async () => {
  const server = await start({ clients: [] });
  const plain = { clientId: "mine", clientSecret: "s3cret-of_mine.1" };
  const oauth = { ...plain, grant: "client-credentials", issuer: server.issuer } as const;
  const opening = connected(guarded(server.url, oauth), { agentDir: new AgentFolder().path });
  await expect(opening).rejects.toThrow("invalid_client");
  expect(sent(server, "token")).toEqual(["mine:s3cret-of_mine.1"]);
});
