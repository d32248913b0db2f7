/** Tokens that end: who renews them, what is kept when that fails, and what a call that gave up does not do. */
import { chmodSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { AuthError } from "../../runtime/connect/auth/auth-error.ts";
import { createAuth } from "../../runtime/connect/auth/create-auth.ts";
import { fileStore } from "../../runtime/connect/auth/store.ts";
import type { OAuthSettings } from "../../schemas/config/server-config.ts";
import { type AuthorizationOptions, type AuthorizationServer, startAuthorization } from "../servers/authorization.ts";
import { AgentFolder, add, connected, guarded, openGuarded, signedIn } from "./auth-setup.ts";

/** Signed in, and connected with nobody there to ask. */
async function atWork(options: AuthorizationOptions = {}, oauth?: OAuthSettings) {
  const server = await startAuthorization(options);
  const folder = new AgentFolder();
  await signedIn(server, folder, oauth);
  const connection = await connected(guarded(server.url, oauth), { agentDir: folder.path });
  return { server, folder, connection };
}

/** By our clock as well as by the server's. */
function expire(server: AuthorizationServer, folder: AgentFolder): void {
  server.tokens.expireAll();
  folder.edit(server.url, (entry) => ({ ...entry, tokensExpireAt: Date.now() - 1000 }));
}

describe("one refresh an expiry", () => {
  test("five calls at once", async () => {
    const { server, folder, connection } = await atWork();
    expire(server, folder);
    expect(await Promise.all(Array.from({ length: 5 }, () => add(connection)))).toEqual(["5", "5", "5", "5", "5"]);
    expect(server.count("refresh_token")).toBe(1);
    expect(server.tokens.reuses).toBe(0);
  });

  test("five calls at once that learn of it by 401s alone", async () => {
    const { server, connection } = await atWork();
    server.tokens.expireAll();
    expect(await Promise.all(Array.from({ length: 5 }, () => add(connection)))).toEqual(["5", "5", "5", "5", "5"]);
    expect(server.count("refresh_token")).toBe(1);
    expect(server.tokens.reuses).toBe(0);
  });

  test("before it ends: nothing is sent with a token that has 20 seconds left", async () => {
    const { server, folder, connection } = await atWork();
    folder.edit(server.url, (entry) => ({ ...entry, tokensExpireAt: Date.now() + 20_000 }));
    const before = folder.entry(server.url).tokens!.access_token;
    await add(connection);
    expect(server.seen.at(-1)!.headers["authorization"]).not.toBe(`Bearer ${before}`);
    expect(server.count("refresh_token")).toBe(1);
  });

  test("a token that lives ten seconds is not renewed for each request", async () => {
    const { server, connection } = await atWork({ accessTokenSeconds: 10 });
    for (let call = 0; call < 5; call++) await add(connection);
    expect(server.count("refresh_token")).toBe(0);
  });

  test("a clock that is hours ahead costs one refresh, one that is behind none", async () => {
    const { server, folder } = await atWork();
    for (const [skewMs, refreshes] of [
      [7_200_000, 1],
      [-7_200_000, 1],
    ] as const) {
      const auth = { agentDir: folder.path, now: () => Date.now() + skewMs };
      const connection = await connected(guarded(server.url), auth);
      for (let call = 0; call < 3; call++) expect(await add(connection)).toBe("5");
      expect(server.count("refresh_token")).toBe(refreshes);
    }
  });
});

describe("what is kept", () => {
  test.each([500, 503, 400])("everything, when the token endpoint answers %i without a reason", async (status) => {
    const { server, folder, connection } = await atWork();
    expire(server, folder);
    const before = folder.content();
    server.faults.refreshStatuses = [status, status];
    server.faults.errorBody = "<html>no";
    await expect(add(connection)).rejects.toThrow("the authorization server failed while renewing the sign-in");
    expect(folder.content()).toBe(before);
    expect(await add(connection)).toBe("5");
  });

  test("everything, when the network is down, and a token that is still good is used", async () => {
    const { server, folder } = await atWork();
    const down: typeof fetch = async (url, init) => {
      if (String(url).includes("/token"))
        throw new TypeError("fetch failed", { cause: Object.assign(new Error("no"), { code: "ECONNREFUSED" }) });
      return fetch(url, init);
    };
    folder.edit(server.url, (entry) => ({ ...entry, tokensExpireAt: Date.now() - 1000 }));
    const before = folder.content();
    const connection = await connected(guarded(server.url), { agentDir: folder.path }, { fetch: down as never });
    expect(await add(connection)).toBe("5");
    server.tokens.expireAll();
    await expect(add(connection)).rejects.toThrow(
      /unsigned: the authorization server at http.* can't be reached \(ECONNREFUSED\)/,
    );
    expect(folder.content()).toBe(before);
  });

  test("a grant that the server declares dead is removed, and a person is needed", async () => {
    const { server, folder, connection } = await atWork();
    server.tokens.revokeAll();
    await expect(add(connection)).rejects.toThrow("sign-in-needed: the sign-in has expired or was revoked");
    const { tokens, clientInformation } = folder.entry(server.url);
    expect(tokens).toBeUndefined();
    expect(clientInformation!.client_id).toMatch(/^client-/);
    expect(server.count("refresh_token")).toBe(1);
    expect(server.count("register")).toBe(1);
  });

  test("how it ended is told to the requests after it too", async () => {
    const { server, connection } = await atWork();
    server.tokens.revokeAll();
    for (let call = 0; call < 2; call++) {
      await expect(add(connection)).rejects.toThrow("sign-in-needed: the sign-in has expired or was revoked");
    }
  });

  test("a sign-in of somebody else in the meantime survives the death of the one before", async () => {
    const { server, folder, connection } = await atWork();
    const other = await startAuthorization();
    server.tokens.revokeAll();
    server.faults.tokenDelayMs = 300;
    const call = add(connection);
    while (server.count("refresh_token") === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    folder.edit(server.url, (entry) => ({
      ...entry,
      tokens: { ...entry.tokens, access_token: "a", refresh_token: "newer" },
    }));
    await expect(call).rejects.toThrow();
    expect(folder.entry(server.url).tokens!.refresh_token).toBe("newer");
    await other.stop();
  });

  test("a registered client that the server forgot goes with its tokens; one that is configured stays", async () => {
    const registered = await atWork();
    for (const id of registered.server.clients.ids) registered.server.clients.forget(id);
    registered.server.tokens.expireAll();
    await expect(add(registered.connection)).rejects.toThrow("sign-in-needed: the registered client is gone");
    expect(registered.folder.entry(registered.server.url).clientInformation).toBeUndefined();

    const client = {
      client_id: "mine",
      client_secret: "s3cret-of-mine",
      token_endpoint_auth_method: "client_secret_basic",
    } as const;
    const own = await atWork({ clients: [client] }, { clientId: "mine", clientSecret: "s3cret-of-mine" });
    own.server.clients.forget("mine");
    own.server.tokens.expireAll();
    const before = own.folder.content();
    await expect(add(own.connection)).rejects.toThrow(
      "unsigned: the authorization server refused while renewing the sign-in (invalid_client",
    );
    expect(own.folder.content()).toBe(before);
  });
});

describe("what can't be saved", () => {
  test("a store that can't be written is an error before the token is spent", async () => {
    const { server, folder, connection } = await atWork();
    expire(server, folder);
    // As root may write anywhere, the place of the lock is taken by a file instead: nobody can lock there.
    writeFileSync(`${folder.file}.lock`, "");
    utimesSync(`${folder.file}.lock`, 1, 1);
    await expect(add(connection)).rejects.toThrow(/unsigned: (the credentials can't be stored|another process keeps)/);
    expect(server.count("refresh_token")).toBe(0);
    rmSync(`${folder.file}.lock`);
    expect(await add(connection)).toBe("5");
  }, 40_000);

  test("a save that fails after a refresh is an error that the caller sees", async () => {
    const { server, folder } = await atWork();
    expire(server, folder);
    const real = fileStore(folder.path);
    const store = {
      ...real,
      read: real.read.bind(real),
      assertWritable: real.assertWritable.bind(real),
      withRefreshLock: real.withRefreshLock.bind(real),
      update: async () => {
        throw new AuthError("credentials-unwritable", "the credentials can't be stored in mcp-auth.json (ENOSPC)");
      },
    };
    const outcome = await openGuarded(guarded(server.url), { agentDir: folder.path, store });
    expect(outcome).toMatchObject({ ok: false, diagnostic: { code: "credentials-unwritable" } });
  });
});

describe("calls that gave up", () => {
  test.each(["auto", "legacy"] as const)(
    "a call cancelled during a refresh is never sent (%s)",
    async (protocolVersion) => {
      const server = await startAuthorization();
      const folder = new AgentFolder();
      await signedIn(server, folder);
      const config = { ...guarded(server.url), protocolVersion };
      const auth = createAuth({ agentDir: folder.path });
      const connection = await connected(config, { agentDir: folder.path }, { auth });
      expire(server, folder);
      server.faults.tokenDelayMs = 1000;
      const calls = () =>
        server.seen.filter(({ endpoint, body }) => endpoint === "mcp" && body.includes("tools/call")).length;
      const outcome = await connection.request(
        "tools/call",
        { name: "add", arguments: { a: 2, b: 3 } },
        { timeoutMs: 200 },
      );
      expect(outcome).toMatchObject({ ok: false, failure: { kind: "timeout" } });
      await auth.settled();
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(calls()).toBe(0);
      // The refresh itself went through and is not lost.
      server.faults.tokenDelayMs = 0;
      expect(await add(connection)).toBe("5");
      expect(server.count("refresh_token")).toBe(1);
    },
  );

  test("a server that rejects the fresh token is asked once more and then believed", async () => {
    const { server, connection } = await atWork();
    server.faults.rejectsEveryToken = true;
    const before = server.count("mcp");
    await expect(add(connection)).rejects.toThrow("unsigned: the server rejects the access token that was issued");
    expect(server.count("mcp") - before).toBe(2);
    expect(server.count("refresh_token")).toBe(1);
  });
});

test("the file and its folder are their owner's", async () => {
  const server = await startAuthorization();
  const parent = new AgentFolder();
  const folder = new AgentFolder(`${parent.path}/agent`);
  await signedIn(server, folder);
  expect(statSync(folder.file).mode & 0o777).toBe(0o600);
  expect(statSync(folder.path).mode & 0o777).toBe(0o700);
  chmodSync(folder.file, 0o644);
  server.tokens.expireAll();
  await add(await connected(guarded(server.url), { agentDir: folder.path }));
  expect(statSync(folder.file).mode & 0o777).toBe(0o600);
});
