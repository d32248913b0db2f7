/** The loopback server of a sign-in, asked by real requests: what it takes, what it shows, what it leaves. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  type CallbackOptions,
  type CallbackServer,
  listenForCallback,
  readRedirect,
} from "../../runtime/connect/auth/callback.ts";
import { type InBrowserOptions, inBrowser } from "../../runtime/connect/auth/in-browser.ts";

async function listening(options: CallbackOptions = {}): Promise<CallbackServer> {
  const outcome = await listenForCallback(options);
  if (!outcome.ok) throw new Error(outcome.code);
  onTestFinished(() => outcome.callback.close());
  return outcome.callback;
}

function authorizationFor(redirectUrl: string): URL {
  const url = new URL("https://as.test/authorize");
  url.search = new URLSearchParams({ redirect_uri: redirectUrl, state: "the-state" }).toString();
  return url;
}

const get = (url: string) => fetch(url, { redirect: "manual" });

describe("the one redirect", () => {
  test("is taken, and the server is then deaf", async () => {
    const callback = await listening();
    const received = callback.receive(authorizationFor(callback.redirectUrl));
    const page = await get(`${callback.redirectUrl}?code=c1&state=the-state&iss=i`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("Signed in")]);
    expect(await received).toMatchObject({ kind: "redirected" });
    expect((await get(`${callback.redirectUrl}?code=c2&state=the-state`)).status).toBe(404);
    await callback.close();
    await expect(get(callback.redirectUrl)).rejects.toThrow();
  });

  test.each<[string, string, number]>([
    ["another state", "/callback?code=c&state=other", 400],
    ["no state", "/callback?code=c", 400],
    ["no code", "/callback?state=the-state", 400],
    ["another path", "/other?code=c&state=the-state", 404],
    ["a longer path", "/callback/x?code=c&state=the-state", 404],
    ["a path that is none", "//?code=c&state=the-state", 404],
    ["an error without a state", "/callback?error=access_denied", 400],
  ])("is not %s, which ends no wait", async (_, path, status) => {
    const callback = await listening();
    const received = callback.receive(authorizationFor(callback.redirectUrl));
    expect((await get(new URL(callback.redirectUrl).origin + path)).status).toBe(status);
    await get(`${callback.redirectUrl}?code=right&state=the-state`);
    const redirect = await received;
    expect(redirect.url.searchParams.get("code")).toBe("right");
  });

  test("is a GET", async () => {
    const callback = await listening();
    void callback.receive(authorizationFor(callback.redirectUrl));
    const answer = await fetch(`${callback.redirectUrl}?code=c&state=the-state`, { method: "POST" });
    expect(answer.status).toBe(405);
  });

  test("can have the path that the authorization asked for", async () => {
    const callback = await listening();
    const received = callback.receive(authorizationFor(`${callback.redirectUrl}/own`));
    expect((await get(`${callback.redirectUrl}?code=c&state=the-state`)).status).toBe(404);
    await get(`${callback.redirectUrl}/own?code=c&state=the-state`);
    expect(await received).toMatchObject({ kind: "redirected" });
  });

  test("may be a refusal", async () => {
    const callback = await listening();
    const received = callback.receive(authorizationFor(callback.redirectUrl));
    const page = await get(`${callback.redirectUrl}?error=access_denied&state=the-state`);
    expect(await page.text()).toContain("Not signed in");
    expect(await received).toMatchObject({ isRefusal: true });
  });
});

test("no page repeats what a request says", async () => {
  const callback = await listening();
  void callback.receive(authorizationFor(callback.redirectUrl));
  const marked = "<script>marker</script>";
  const paths = [`/${marked}`, `/callback?state=${marked}&code=${marked}`, `/callback?state=the-state&error=${marked}`];
  for (const path of paths) {
    const page = await get(new URL(callback.redirectUrl).origin + path);
    expect(await page.text()).not.toContain("marker");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(page.headers.get("cache-control")).toBe("no-store");
  }
});

test("a browser that keeps a connection in reserve doesn't hold up the end", async () => {
  const callback = await listening();
  const socket = connect(callback.port, "127.0.0.1");
  await new Promise((resolve) => socket.once("connect", resolve));
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.on("error", () => {});
  await callback.close();
  await closed;
});

describe("where it listens", () => {
  test.each<[CallbackOptions, RegExp]>([
    [{}, /^http:\/\/127\.0\.0\.1:\d+\/callback$/],
    [{ host: "localhost", path: "/cb" }, /^http:\/\/localhost:\d+\/cb$/],
    [{ host: "[::1]" }, /^http:\/\/\[::1\]:\d+\/callback$/],
  ])("%j", async (options, want) => {
    expect((await listening(options)).redirectUrl).toMatch(want);
  });

  test("a fixed port in use is a failure, a preferred one is not", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    expect(await listenForCallback({ port })).toEqual({ ok: false, port, code: "EADDRINUSE" });
    const callback = await listening({ preferredPort: port });
    expect(callback.port).not.toBe(port);
    await callback.close();
    const { port: free } = callback;
    expect((await listening({ preferredPort: free })).port).toBe(free);
  });
});

test.each<[string, object]>([
  ["http://127.0.0.1:5/callback?code=c&state=the-state", { kind: "redirected", isRefusal: false }],
  [
    "http://127.0.0.1:6/callback?code=c&state=the-state",
    { kind: "foreign", message: "doesn't begin with http://127.0.0.1:5/callback" },
  ],
  ["http://127.0.0.1:5/callback?code=c&state=old", { kind: "foreign", message: "belongs to another sign-in" }],
  ["http://127.0.0.1:5/callback?state=the-state", { kind: "foreign", message: "carries no authorization code" }],
  ["http://127.0.0.1:5/callback?state=the-state&error=server_error", { kind: "redirected", isRefusal: true }],
])("what %s says", (url, want) => {
  expect(readRedirect(new URL(url), authorizationFor("http://127.0.0.1:5/callback"))).toMatchObject(want);
});

describe("a person at a browser", () => {
  type Invited = Parameters<InBrowserOptions["invite"]>[0];

  async function asked(options: Partial<InBrowserOptions> = {}, request: { url?: string; port?: number } = {}) {
    const invited: Invited[] = [];
    const interactive = inBrowser({ env: {}, invite: (invitation) => invited.push(invitation), ...options });
    const callback = await interactive.open({ server: "s", url: "http://127.0.0.1/callback", paths: [], ...request });
    onTestFinished(() => callback.close());
    const authorize = () =>
      callback.authorize(authorizationFor(callback.redirectUrl), {
        state: "the-state",
        redirectUrl: callback.redirectUrl,
      });
    return { callback, invited, authorize };
  }

  const lines = (...all: string[]) =>
    async function* () {
      yield* all;
    };

  test("has so long and no longer", async () => {
    const { authorize, invited } = await asked({ timeoutMs: 60 });
    await expect(authorize()).rejects.toThrow("nobody completed the sign-in within 60 ms");
    expect(invited).toMatchObject([{ server: "s", isOpened: false, timeoutMs: 60 }]);
  });

  test("has five minutes unless told otherwise", async () => {
    const stop = new AbortController();
    const { authorize, invited } = await asked({ signal: stop.signal });
    const answer = expect(authorize()).rejects.toThrow("the sign-in was cancelled");
    while (invited.length === 0) await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    await answer;
    expect(invited[0]?.timeoutMs).toBe(300_000);
  });

  test("may still come back when what was pasted came to nothing", async () => {
    const rejected: string[] = [];
    const { authorize, callback } = await asked({ pasted: lines("no", ""), rejectPaste: (why) => rejected.push(why) });
    const answer = authorize();
    await get(`${callback.redirectUrl}?code=c&state=the-state`);
    expect((await answer).searchParams.get("code")).toBe("c");
    expect(rejected).toEqual(["is not an address"]);
  });

  test("is sent back to the address exactly as it is configured", async () => {
    const free = await listening();
    const { port } = free;
    await free.close();
    const url = `http://localhost:${port}/own`;
    expect((await asked({}, { url, port })).callback.redirectUrl).toBe(url);
    await expect(asked({}, { url, port })).rejects.toMatchObject({
      code: "sign-in-failed",
      message: expect.stringContaining(`port ${port}`),
      notes: [expect.stringContaining("oauth.callbackPort")],
    });
  });
});
