// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the notation of mcp.json
/** The fields of `oauth` for the flows that Pi doesn't know: what goes with what, and secrets written out. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfiguration } from "../../runtime/connect/configuration.ts";
import { locateConfiguration } from "../../runtime/connect/configuration-files.ts";
import { resolveServer } from "../../runtime/connect/resolve.ts";
import { scratchFolder } from "../scratch.ts";

async function load(oauth: object) {
  const folder = scratchFolder();
  mkdirSync(join(folder, "agent"));
  writeFileSync(
    join(folder, "mcp.json"),
    JSON.stringify({ mcpServers: { s: { url: "https://mcp.example.com/mcp", oauth } } }),
  );
  const env = { PI_CODING_AGENT_DIR: join(folder, "agent") };
  const { value, diagnostics } = await loadConfiguration(
    await locateConfiguration({ cwd: folder, env, homedir: folder }),
  );
  return { server: value.servers[0], said: diagnostics.map(({ code, message }) => `${code}: ${message}`) };
}

const wrong: [string, object, string][] = [
  ["an unknown grant", { grant: "password" }, "oauth.grant"],
  ["no client", { grant: "client-credentials", clientSecret: "${S}" }, "needs oauth.clientId"],
  ["no proof", { grant: "client-credentials", clientId: "a" }, "needs oauth.clientSecret or oauth.privateKey"],
  ["no assertion", { grant: "workload-identity", clientId: "a" }, "needs oauth.assertion"],
  [
    "no identity",
    { grant: "enterprise-managed", clientId: "a" },
    "needs oauth.idToken, oauth.idpIssuer, oauth.idpClientId",
  ],
  ["an issuer that is no address", { issuer: "auth.example.com" }, "oauth.issuer must be an https URL"],
  [
    "a document at the root",
    { clientMetadataUrl: "https://example.com" },
    "oauth.clientMetadataUrl must be an https URL",
  ],
  ["a symmetric algorithm", { privateKeyAlgorithm: "HS256" }, "oauth.privateKeyAlgorithm"],
  ["a switch in quotes", { dpop: "true" }, "oauth.dpop must be true or false"],
];
test.each(wrong)("%s is an error", async (_, oauth, said) => {
  const found = await load(oauth);
  expect(found.said.join("\n")).toContain(said);
  expect(found.server).toBeUndefined();
});

const ISSUER = "https://auth.example.com/";
const right: object[] = [
  { grant: "client-credentials", clientId: "a", clientSecret: "${S}", issuer: ISSUER },
  {
    grant: "client-credentials",
    clientId: "a",
    privateKey: "!cat key.pem",
    privateKeyAlgorithm: "RS256",
    issuer: ISSUER,
  },
  { grant: "workload-identity", clientId: "a", assertion: "${JWT}", authServerMetadataUrl: ISSUER },
  {
    grant: "enterprise-managed",
    clientId: "a",
    idToken: "${ID}",
    idpIssuer: "https://idp.example.com",
    idpClientId: "b",
    issuer: ISSUER,
  },
  { grant: "authorization-code", dpop: true, clientMetadataUrl: "https://me.example.com/client.json" },
];
test.each(right)("%j is fine", async (oauth) => {
  const found = await load(oauth);
  expect(found.said).toEqual([]);
  expect(found.server!.transport).toMatchObject({ oauth });
});

test.each([
  { grant: "client-credentials", clientId: "a", clientSecret: "${S}" },
  { grant: "workload-identity", clientId: "a", assertion: "${JWT}" },
])("%j leaves it to the server who is sent the secret, which is warned about", async (oauth) => {
  const found = await load(oauth);
  expect(found.said).toEqual([
    "issuer-unset: the server decides which authorization server is sent the credentials of oauth",
  ]);
  expect(found.server).toBeDefined();
  expect((await load({ clientId: "a", clientSecret: "${S}" })).said).toEqual([]);
});

test.each(["clientSecret", "privateKey", "assertion", "idToken", "idpClientSecret"])(
  "%s written out is warned about; taken from elsewhere it is resolved, and kept out of messages",
  async (field) => {
    expect((await load({ [field]: "s3cret-4711-canary" })).said.join()).toContain(`literal-secret: oauth.${field}`);
    const { server, said } = await load({ [field]: "${PLACE}", scope: "a ${SCOPE}" });
    expect(said).toEqual([]);
    const env = { PLACE: "s3cret-4711-canary", SCOPE: "b" };
    const resolution = await resolveServer(server!, { env, homedir: "/" });
    if (!resolution.ok || resolution.resolved.kind !== "http") throw new Error("unresolved");
    expect(resolution.resolved.oauth).toMatchObject({ [field]: "s3cret-4711-canary", scope: "a b" });
    expect(resolution.resolved.secrets).toContain("s3cret-4711-canary");
    expect(resolution.resolved.credentials).toContain("s3cret-4711-canary");
    expect(resolution.resolved.secrets).not.toContain("b");
  },
);
