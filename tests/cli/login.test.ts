/** `pimcp login` and `pimcp logout` as a person meets them: real processes, a real authorization server, a browser that obeys. */
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { filesBelow } from "../scratch.ts";
import type { AuthorizationOptions } from "../servers/authorization.ts";
import { startHere } from "../servers/here.ts";
import { startProxy } from "../servers/proxy.ts";
import { eventually } from "../servers/run.ts";
import { Workspace } from "./pimcp.ts";
import { type Setting, setting, shownAddress } from "./signing-in.ts";

/** Logs in, with this test as the person. */
async function logIn({ space, server }: Setting, ...args: string[]) {
  const login = space.start(["login", "remote", ...args]);
  const page = await server.browse(await shownAddress(login));
  return { ...(await login.finished), page };
}

const stored = ({ space }: Setting) =>
  Object.values(JSON.parse(space.read("agent/mcp-auth.json")) as Record<string, { tokens?: Record<string, string> }>);

describe("pimcp login", () => {
  test("signs in, says so, and shows no token", async () => {
    const made = await setting({ scopesSupported: ["read", "write"] });
    const { code, stdout, stderr, page } = await logIn(made);
    expect(stdout).toBe('signed in to "remote", with the scopes read write; Pi is signed in too\n');
    expect(code).toBe(0);
    expect(stderr).toContain(`Sign in to "remote" at ${new URL(made.server.issuer).host}`);
    expect(page).toMatchObject({ status: 200, text: expect.stringContaining("Signed in") });
    const [entry] = stored(made);
    expect(entry?.tokens).toMatchObject({ access_token: expect.any(String), refresh_token: expect.any(String) });
    for (const secret of Object.values(entry!.tokens!).filter((one) => /-/.test(String(one)))) {
      expect(stdout + stderr).not.toContain(secret);
    }
    expect(statSync(join(made.space.agent, "mcp-auth.json")).mode & 0o777).toBe(0o600);
  });

  test("opens the browser, which need not be touched by hand", async () => {
    const made = await setting();
    const browser = join(made.space.root, "browser.mjs");
    // It follows redirects, as browsers do.
    writeFileSync(browser, `#!${process.execPath}\nawait fetch(process.argv[2]);\n`);
    chmodSync(browser, 0o755);
    const { code, stderr } = await made.space.start(["login", "remote"], { env: { BROWSER: browser } }).finished;
    expect(stderr).toContain("in the browser that opens now");
    expect(code).toBe(0);
  });

  test("opens none with --no-browser", async () => {
    const made = await setting();
    const touched = join(made.space.root, "touched");
    const browser = join(made.space.root, "browser.sh");
    writeFileSync(browser, `#!/bin/sh\ntouch ${touched}\n`);
    chmodSync(browser, 0o755);
    const login = made.space.start(["login", "remote", "--no-browser"], { env: { BROWSER: browser } });
    await made.server.browse(await shownAddress(login));
    expect((await login.finished).code).toBe(0);
    expect(made.space.has("touched")).toBe(false);
  });

  test("--json prints one object", async () => {
    const made = await setting({ scopesSupported: ["read"] });
    const { stdout } = await logIn(made, "--json", "--scope", "more");
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      server: "remote",
      status: "signed-in",
      store: "file",
      renewable: true,
    });
    expect(stored(made)[0]!.tokens!["scope"]!.split(" ")).toContain("more");
    expect(Date.parse((JSON.parse(stdout) as { expiresAt: string }).expiresAt)).toBeGreaterThan(Date.now());
  });

  test("--scope is no scope of `compile`, whatever it is called", async () => {
    const made = await setting();
    expect((await logIn(made, "--scope", "user")).code).toBe(0);
    expect(stored(made)[0]!.tokens!["scope"]!.split(" ")).toContain("user");
  });

  test("takes the pasted address of a browser elsewhere, after others that are none", async () => {
    const made = await setting();
    const login = made.space.start(["login", "remote", "--no-browser"], { keepsInput: true });
    const asked = await shownAddress(login);
    const answer = await made.server.approve(asked);
    login.child.stdin!.write("\nyes\nhttps://elsewhere.test/callback?code=x&state=y\n");
    const other = new URL(answer);
    other.searchParams.set("state", "another");
    login.child.stdin!.write(`${other}\n`);
    await eventually(() => login.stderr().split("what was pasted").length === 4, "three refusals");
    login.child.stdin!.write(`  ${answer}  \n`);
    const { code, stderr } = await login.finished;
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /pasted is not an address;.*\n.*pasted doesn't begin with http:\/\/127.*\n.*pasted belongs to another sign-in/,
    );
  });

  test("a browser that comes back wins over a paste that never comes", async () => {
    const made = await setting();
    const login = made.space.start(["login", "remote"], { keepsInput: true });
    await made.server.browse(await shownAddress(login));
    expect((await login.finished).code).toBe(0);
  });

  test("goes through a proxy like everything else, and ends all the same", async () => {
    const made = await setting();
    const proxy = await startProxy({ credentials: "me:pr0xy-Passw0rd" });
    const env = { HTTP_PROXY: `http://me:pr0xy-Passw0rd@127.0.0.1:${proxy.port}` };
    const login = made.space.start(["login", "remote"], { env });
    await made.server.browse(await shownAddress(login));
    expect((await login.finished).code).toBe(0);
    expect(proxy.asked).toContain(`POST ${new URL("/token", made.server.issuer)}`);
    expect(proxy.asked).toContain(`POST ${made.server.url}`);
    const compiled = await made.space.start(["compile"], { env }).finished;
    expect(compiled.code).toBe(0);
    expect(made.server.seen.every(({ headers }) => headers["proxy-authorization"] === undefined)).toBe(true);
  });

  test("a second time signs in anew, with the client registered before", async () => {
    const made = await setting();
    await logIn(made);
    const [before] = stored(made);
    await logIn(made);
    expect(made.server.count("register")).toBe(1);
    expect(stored(made)[0]!.tokens!["access_token"]).not.toBe(before!.tokens!["access_token"]);
  });

  test("asks for what a call was refused for", async () => {
    const made = await setting({ challengeScope: "read", toolScopes: { write: "write" } });
    await logIn(made);
    await made.space.compile();
    const refused = await made.space.run("call", "remote", "write");
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("pimcp login remote");
    await logIn(made);
    expect(stored(made)[0]!.tokens!["scope"]!.split(" ").sort()).toEqual(["read", "write"]);
    expect((await made.space.run("call", "remote", "write")).stdout).toBe("written\n");
  });
});

describe("what keeps nobody waiting", () => {
  test.each<[string, object, RegExp]>([
    [
      "a command's server",
      { command: "node" },
      /"remote" is started by a command; only servers that are reached by a url/,
    ],
    [
      "a header",
      { url: "http://127.0.0.1:1/", headers: { authorization: "Bearer x" } },
      /has an Authorization header in mcp\.json/,
    ],
  ])("%s", async (_, entry, want) => {
    const space = new Workspace();
    space.servers({ remote: entry });
    for (const command of ["login", "logout"]) {
      const { code, stderr } = await space.run(command, "remote");
      expect([code, stderr]).toEqual([1, expect.stringMatching(want)]);
      expect(stderr).toMatch(/^mcp\.json:\d+:\d+: error: /);
    }
  });

  test("a name that nothing has, with the nearest", async () => {
    const { space } = await setting();
    for (const command of ["login", "logout"]) {
      expect(await space.run(command, "remot")).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('did you mean "remote"?'),
      });
    }
    const { stdout } = await space.run("login", "remot", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      status: "failed",
      diagnostics: [{ code: "unknown-server" }],
    });
  });

  test("a server that asks for nothing", async () => {
    const here = await startHere();
    const space = new Workspace();
    space.servers({ remote: { url: here.url } });
    expect(await space.run("login", "remote")).toMatchObject({
      code: 0,
      stdout: '"remote" asks for no sign-in; nothing was changed\n',
    });
  });

  test("a server that is not there", async () => {
    const space = new Workspace();
    const gone = createServer();
    await new Promise<void>((resolve) => gone.listen(0, "127.0.0.1", resolve));
    const { port } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    space.servers({ remote: { url: `http://127.0.0.1:${port}/mcp` } });
    expect(await space.run("login", "remote")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("ECONNREFUSED"),
    });
  });

  test("a server that redirects elsewhere, with where to", async () => {
    const moved = await startHere({
      before: (_, response) => {
        response.writeHead(301, { location: "https://elsewhere.test/mcp?token=s3cret" }).end();
        return true;
      },
    });
    const space = new Workspace();
    space.servers({ remote: { url: moved.url } });
    const { code, stderr } = await space.run("login", "remote");
    expect(code).toBe(1);
    expect(stderr).toContain("redirects to https://elsewhere.test/mcp, which is not followed");
    expect(stderr).toContain("write the address it redirects to into url");
    expect(stderr).not.toContain("s3cret");
  });

  test("a store that isn't one", async () => {
    const { space } = await setting();
    expect(await space.run("login", "remote", "--store", "cloud")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--store is one of file, keyring"),
    });
  });

  test("a callback port in use, with the port and a remedy", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const { space, server } = await setting({}, { oauth: { callbackPort: port } });
    const { code, stderr } = await space.run("login", "remote");
    expect(code).toBe(1);
    expect(stderr).toContain(`port ${port}, to which the browser is to be sent back, is in use by another program`);
    expect(stderr).toContain("oauth.callbackPort");
    expect(server.count("authorize")).toBe(0);
  });
});

describe("what goes wrong", () => {
  test("somebody who says no is told in the terminal, cleaned, and not in the browser", async () => {
    const made = await setting();
    made.server.faults.authorize = "denied";
    made.server.faults.denial = "<script>x</script>\u001b[31m not\ntoday";
    const { code, stderr, page } = await logIn(made);
    expect(code).toBe(1);
    expect(stderr).toContain("access_denied: <script>x</script> not today");
    expect(stderr).not.toContain("\u001b[31m not");
    expect(page.text).toContain("Not signed in");
    expect(page.text).not.toContain("script>x");
  });

  test("an answer with another state ends nothing", async () => {
    const made = await setting();
    const login = made.space.start(["login", "remote"]);
    const asked = await shownAddress(login);
    made.server.faults.authorize = "wrong-state";
    expect((await made.server.browse(asked)).status).toBe(400);
    delete made.server.faults.authorize;
    expect((await made.server.browse(asked)).status).toBe(200);
    expect((await login.finished).code).toBe(0);
  });

  test("an answer of another issuer is refused", async () => {
    const made = await setting();
    made.server.faults.authorize = "wrong-iss";
    const { code, stderr } = await logIn(made);
    expect([code, stderr]).toEqual([1, expect.stringContaining("https://elsewhere.test")]);
    expect(made.server.count("token")).toBe(0);
  });

  test("a server that rejects the token it was just given", async () => {
    const made = await setting();
    made.server.faults.rejectsEveryToken = true;
    const { code, stderr } = await logIn(made);
    expect([code, stderr]).toEqual([1, expect.stringContaining("rejects the access token that was issued to it")]);
    expect(made.server.count("authorize")).toBe(1);
  });

  test("Ctrl-C gives up at once and leaves nothing", async () => {
    const made = await setting();
    const login = made.space.start(["login", "remote"]);
    const asked = new URL(await shownAddress(login));
    login.child.kill("SIGINT");
    const { code, stderr } = await login.finished;
    expect(code).toBe(130);
    expect(stderr).toContain("the sign-in was cancelled");
    await expect(fetch(asked.searchParams.get("redirect_uri")!)).rejects.toThrow();
    expect(made.space.has("agent/mcp-auth.json") && stored(made)[0]?.tokens).toBeFalsy();
  });
});

describe("pimcp logout", () => {
  test("revokes, removes its own entry and no other's", async () => {
    const made = await setting();
    made.space.servers({ remote: { url: made.server.url }, second: { url: made.server.url } });
    await logIn(made);
    const login = made.space.start(["login", "second"]);
    await made.server.browse(await shownAddress(login));
    await login.finished;
    const names = () => Object.keys(JSON.parse(made.space.read("agent/mcp-auth.json")) as object);
    const before = names();
    expect(await made.space.run("logout", "remote")).toMatchObject({
      code: 0,
      stdout: 'signed out of "remote"; the tokens are revoked\n',
    });
    expect(made.server.seen.filter(({ endpoint }) => endpoint === "revoke")[0]?.params["token_type_hint"]).toBe(
      "refresh_token",
    );
    expect(names()).toEqual([before.find((name) => name.includes("second"))]);
    expect(JSON.parse((await made.space.run("logout", "remote", "--json")).stdout)).toEqual({
      ok: true,
      server: "remote",
      status: "not-signed-in",
      diagnostics: [],
    });
  });

  test.each<[AuthorizationOptions, number[] | undefined, string]>([
    [{ revocation: false }, undefined, 'signed out of "remote"\n'],
    [
      {},
      [503],
      'signed out of "remote", but the tokens could not be revoked (HTTP 503): they are good until they expire\n',
    ],
  ])("%j %j", async (options, revocationStatuses, want) => {
    const made = await setting(options);
    await logIn(made);
    if (revocationStatuses) made.server.faults.revocationStatuses = revocationStatuses;
    expect(await made.space.run("logout", "remote")).toMatchObject({ code: 0, stdout: want });
    expect(stored(made)).toEqual([]);
  });

  test.each(["client_secret_basic", "client_secret_post"] as const)(
    "a client with a secret proves itself (%s)",
    async (method) => {
      const client = { client_id: "known", client_secret: "s3cret-of-the-client", token_endpoint_auth_method: method };
      const made = await setting(
        { clients: [client], registration: false, authMethods: [method] },
        { oauth: { clientId: "known", clientSecret: "!echo s3cret-of-the-client" } },
      );
      await logIn(made);
      expect((await made.space.run("logout", "remote")).stdout).toContain("the tokens are revoked");
    },
  );

  test("a server that nobody can reach any more is signed out of all the same", async () => {
    const made = await setting();
    await logIn(made);
    await made.server.stop();
    const { code, stdout } = await made.space.run("logout", "remote");
    expect([code, stdout]).toEqual([0, expect.stringContaining("could not be revoked")]);
    expect(stored(made)).toEqual([]);
  });
});

test("no file but the credentials' holds a token", async () => {
  const made = await setting();
  await logIn(made);
  await made.space.compile();
  await made.space.run("call", "remote", "add", "a=1", "b=2");
  const { access_token: access } = stored(made)[0]!.tokens!;
  for (const path of filesBelow(made.space.root)) {
    if (!path.endsWith("mcp-auth.json")) expect(readFileSync(path, "utf8")).not.toContain(access);
  }
});
