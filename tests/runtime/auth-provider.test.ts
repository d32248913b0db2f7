/** `"auth": { "provider": … }`: requests signed by a login of Pi's, as its session gives it or its `auth.json` holds it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type AuthOptions, createAuth } from "../../runtime/connect/auth/create-auth.ts";
import { loadConfiguration } from "../../runtime/connect/configuration.ts";
import { locateConfiguration } from "../../runtime/connect/configuration-files.ts";
import { openConnection } from "../../runtime/connect/open.ts";
import { resolveServer } from "../../runtime/connect/resolve.ts";
import { scratchFolder } from "../scratch.ts";
import { startHere } from "../servers/here.ts";
import { serverConfig, surroundings } from "../servers/run.ts";

/** A server that takes one token, which may change. */
async function made() {
  const state = { token: "t0ken-of-radius" };
  const server = await startHere({
    before: (request, response) => {
      if (request.headers.authorization === `Bearer ${state.token}`) return false;
      response.writeHead(401, { "www-authenticate": "Bearer" }).end();
      return true;
    },
  });
  const agentDir = scratchFolder();
  const write = (logins: unknown) => writeFileSync(join(agentDir, "auth.json"), JSON.stringify(logins));
  const config = (url = server.url, headers = {}) =>
    serverConfig({ kind: "http", url, headers, authProvider: "radius" }, { scope: "user" });
  const open = async (auth: Partial<AuthOptions> = {}, entry = config()) => {
    const outcome = await openConnection(entry, { ...surroundings, auth: createAuth({ agentDir, ...auth }) });
    if (outcome.ok) onTestFinished(() => outcome.connection.close());
    return outcome;
  };
  return { server, state, write, open, config };
}

const inAnHour = Date.now() + 3_600_000;

describe("a login that Pi stored", () => {
  test.each([
    ["with an account", { type: "oauth", access: "t0ken-of-radius", refresh: "r", expires: inAnHour }],
    ["with a key", { type: "api_key", key: "t0ken-of-radius" }],
  ])("%s signs requests", async (_, login) => {
    const { write, open } = await made();
    write({ radius: login });
    expect(await open()).toMatchObject({ ok: true });
  });

  test.each<[string, unknown, RegExp]>([
    ["of another provider", { other: { type: "api_key", key: "t0ken-of-radius" } }, /there is none/],
    ["that has expired", { radius: { type: "oauth", access: "t0ken-of-radius", expires: 1 } }, /or it has expired/],
    ["that is a command of Pi's", { radius: { type: "api_key", key: "!echo t0ken-of-radius" } }, /there is none/],
    ["that the server rejects", { radius: { type: "api_key", key: "s3cret-other" } }, /the server rejects its token/],
    ["in a file that is torn", "{", /there is none/],
  ])("%s is none, and the remedy is Pi's", async (_, logins, want) => {
    const { write, open } = await made();
    write(logins);
    const outcome = await open();
    expect(outcome).toMatchObject({ ok: false, diagnostic: { code: "sign-in-needed" } });
    const { message, notes } = (outcome as Extract<typeof outcome, { ok: false }>).diagnostic;
    expect(message).toMatch(want);
    expect(notes.join()).toContain("pi auth login radius");
    expect(JSON.stringify(outcome)).not.toContain("s3cret-other");
  });
});

describe("a session of Pi's", () => {
  test("is asked with each request, so that what it renewed counts at once", async () => {
    const { state, open, write } = await made();
    write({ radius: { type: "api_key", key: "stale" } });
    const asked: string[] = [];
    const providerToken = async (provider: string) => {
      asked.push(provider);
      return state.token;
    };
    const outcome = await open({ providerToken });
    if (!outcome.ok) throw new Error(outcome.diagnostic.message);
    const before = asked.length;
    state.token = "t0ken-2";
    expect(await outcome.connection.request("tools/list")).toMatchObject({ ok: true });
    expect(asked.length).toBeGreaterThan(before);
    expect(new Set(asked)).toEqual(new Set(["radius"]));
  });

  test("a token goes before an Authorization header of the entry, and to no other origin", async () => {
    const other = await startHere();
    const { open, server, config } = await made();
    const providerToken = async () => "t0ken-of-radius";
    expect(await open({ providerToken }, config(server.url, { Authorization: "Basic x" }))).toMatchObject({ ok: true });
    const away = await startHere({
      before: (_, response) => {
        response.writeHead(307, { location: other.url }).end();
        return true;
      },
    });
    expect(await open({ providerToken }, config(away.url))).toMatchObject({ ok: false });
    expect(other.seen).toEqual([]);
  });
});

describe("who may ask for it", () => {
  async function read(user: object, project: object) {
    const root = scratchFolder();
    const [agentDir, cwd] = [join(root, "agent"), join(root, "project")];

    for (const [folder, entry] of [
      [agentDir, user],
      [cwd, project],
    ] as const) {
      mkdirSync(folder);
      writeFileSync(join(folder, "mcp.json"), JSON.stringify({ mcpServers: entry }));
    }
    const env = { PI_CODING_AGENT_DIR: agentDir };
    return loadConfiguration(await locateConfiguration({ cwd, env, homedir: root }));
  }
  const auth = { provider: "radius" };

  test("the user's file", async () => {
    const { value, diagnostics } = await read({ s: { url: "https://mcp.test/", auth } }, {});
    expect(value.servers[0]!.transport).toMatchObject({ authProvider: "radius" });
    expect(diagnostics).toEqual([]);
  });

  test("no file of a project: neither in a server of its own nor by taking over one of the user's", async () => {
    const { value, diagnostics } = await read(
      { mine: { url: "https://mcp.test/", auth }, taken: { url: "https://mcp.test/", auth } },
      { own: { url: "https://evil.test/", auth }, mine: { auth }, taken: { url: "https://evil.test/" } },
    );
    const signed = value.servers.filter(({ transport }) => "authProvider" in transport);
    expect(signed.map(({ name }) => name)).toEqual(["mine"]);
    expect(signed[0]!.transport).toMatchObject({ url: "https://mcp.test/" });
    expect(diagnostics.map(({ message }) => message).join("\n")).toContain(
      "auth is only allowed in the user's mcp.json",
    );
  });

  test.each<[object, string]>([
    [{ url: "https://mcp.test/", auth: 5 }, "auth must be an object"],
    [{ url: "https://mcp.test/", auth: {} }, "auth must name a provider of Pi"],
    [{ url: "https://mcp.test/", auth: { provider: " " } }, "auth.provider must be the name of a provider of Pi"],
    [{ url: "http://mcp.test/", auth }, "auth needs an https url, or http on localhost, 127.0.0.1 or [::1]"],
    [{ url: "http://x.localhost/", auth }, "auth needs an https url, or http on localhost, 127.0.0.1 or [::1]"],
  ])("%j is a mistake", async (entry, want) => {
    const { value, diagnostics } = await read({ s: entry }, {});
    expect(value.servers).toEqual([]);
    expect(diagnostics.map(({ message }) => message)).toEqual([expect.stringContaining(want)]);
  });

  test("an address that turns out to be an open line once its variables are replaced", async () => {
    const { value } = await read({ s: { url: "${SCHEME}://mcp.test/", auth } }, {});
    const env = (SCHEME: string) => ({ ...surroundings, env: { SCHEME } });
    expect(await resolveServer(value.servers[0]!, env("http"))).toMatchObject({
      ok: false,
      diagnostic: { code: "invalid-value", message: expect.stringContaining("auth needs an https url") },
    });
    expect(await resolveServer(value.servers[0]!, env("https"))).toMatchObject({ ok: true });
  });
});
