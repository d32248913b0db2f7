/** What is meant for one origin stays there: real servers that send our requests elsewhere, and what arrives. */
import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { authFetch } from "../../runtime/connect/auth/auth-fetch.ts";
import { boundedFetch } from "../../runtime/connect/http-fetch.ts";
import { networkFetch } from "../../runtime/connect/network-fetch.ts";
import { type OpenOutcome, openConnection } from "../../runtime/connect/open.ts";
import { originFetch } from "../../runtime/connect/origin-fetch.ts";
import { redirectOf } from "../../runtime/connect/redirect.ts";
import { caFile, type Here, type HereOptions, startHere } from "../servers/here.ts";
import { serverConfig, surroundings } from "../servers/run.ts";

const SECRET = "s3cret-K3y-of-one-origin";
const headers = { "X-Api-Key": SECRET, Authorization: `Bearer ${SECRET}` };

async function opened(url: string): Promise<OpenOutcome> {
  const config = serverConfig({ kind: "http", url, headers, caFile });
  const outcome = await openConnection(config, surroundings);
  if (outcome.ok) onTestFinished(() => outcome.connection.close());
  return outcome;
}

/** A server that sends everything below `/mcp` on to `target`. */
function redirecting(status: number, target: () => string): Promise<Here> {
  const before: HereOptions["before"] = (request, response) => {
    if (!request.url!.startsWith("/mcp")) return false;
    response.writeHead(status, { location: target() }).end();
    return true;
  };
  return startHere({ before });
}

const arrived = (server: Here) => JSON.stringify(server.seen);

test("the entry's headers are sent to its own server", async () => {
  const server = await startHere();
  const outcome = await opened(server.url);
  expect(outcome.ok).toBe(true);
  expect(server.seen.every((request) => request.headers["x-api-key"] === SECRET)).toBe(true);
});

test("a redirect within the origin is followed, with them", async () => {
  const server = await redirecting(307, () => "/moved");
  expect((await opened(server.url)).ok).toBe(true);
  const moved = server.seen.filter(({ path }) => path === "/moved");
  expect(moved.length).toBeGreaterThan(0);
  expect(moved.every((request) => request.headers["x-api-key"] === SECRET)).toBe(true);
});

test.each([301, 302, 303, 307, 308])(
  "a %i to another port fails the server and shows nothing to the other",
  async (status) => {
    const other = await startHere();
    const server = await redirecting(status, () => other.url);
    const outcome = await opened(server.url);
    expect(outcome.ok).toBe(false);
    expect(other.seen).toEqual([]);
    expect(!outcome.ok && outcome.diagnostic.message).toContain(other.url);
    expect(JSON.stringify(outcome)).not.toContain(SECRET);
  },
);

test("from http to https of the same host neither: it is another origin, and the remedy is to write it into url", async () => {
  const secure = await startHere({ https: true });
  const server = await redirecting(308, () => `${secure.url}?key=${SECRET}`);
  const outcome = await opened(server.url);
  expect(!outcome.ok && outcome.diagnostic).toMatchObject({
    message: expect.stringContaining(`redirects to ${secure.url}, which is not followed`),
    notes: ["it redirects: write the address it redirects to into url"],
  });
  // Nor does a GET, which is followed, carry anything there.
  const own = originFetch(networkFetch({ env: {}, ca: readFileSync(caFile, "utf8") }), new URL(server.url), headers);
  await own(server.url, { headers });
  expect(secure.seen).toHaveLength(1);
  expect(JSON.stringify(secure.seen[0]!.headers)).not.toContain(SECRET);
});

test("nor does a redirect to another name of the same host", async () => {
  const other = await startHere();
  const renaming = await redirecting(307, () => other.url.replace("127.0.0.1", "localhost"));
  expect((await opened(renaming.url)).ok).toBe(false);
  expect(other.seen).toEqual([]);
});

test("a redirect that never ends, ends", async () => {
  const server = await redirecting(307, () => "/mcp");
  expect((await opened(server.url)).ok).toBe(false);
  expect(server.seen.length).toBeLessThan(60);
});

test.each(["file:///etc/passwd", "data:text/plain,x", "http://[", "//"])(
  "a redirect to %s is not followed",
  async (target) => {
    const server = await redirecting(307, () => target);
    expect((await opened(server.url)).ok).toBe(false);
  },
);

test("requests to other addresses, as sign-in makes them, carry neither headers nor token", async () => {
  const [server, other] = [await startHere(), await startHere()];
  const own = originFetch(fetch, new URL(server.url), headers);
  const sent = { ...headers, "mcp-session-id": SECRET, cookie: SECRET, accept: "application/json" };
  await own(`${other.origin}/token`, { method: "POST", headers: sent, body: "{}" });
  expect(arrived(other)).not.toContain(SECRET);
  expect(other.seen[0]!.headers.accept).toBe("application/json");
  await own(`${server.origin}/token`, { method: "POST", headers: sent, body: "{}" });
  expect(server.seen[0]!.headers).toMatchObject({ "x-api-key": SECRET, authorization: `Bearer ${SECRET}` });
});

test("a client's own proof to an authorization server is let through", async () => {
  const [server, other] = [await startHere(), await startHere()];
  const own = originFetch(fetch, new URL(server.url), {});
  await own(`${other.origin}/token`, { method: "POST", headers: { authorization: "Basic YTpi" }, body: "" });
  expect(other.seen[0]!.headers.authorization).toBe("Basic YTpi");
});

test("a GET that is redirected elsewhere arrives without them, a POST not at all", async () => {
  const other = await startHere();
  const server = await redirecting(307, () => `${other.origin}/document`);
  const own = originFetch(fetch, new URL(server.url), headers);
  await own(server.url, { headers });
  expect(other.seen.map(({ path }) => path)).toEqual(["/document"]);
  expect(arrived(other)).not.toContain(SECRET);
  const answer = await own(server.url, { method: "POST", headers, body: SECRET });
  expect(answer.status).toBe(307);
  expect(other.seen).toHaveLength(1);
});

/** One reading of it for all: transports, sign-in, and what is told of one that nobody followed. */
test.each<[number, string | undefined, method: string, ReturnType<typeof redirectOf> | [url: string, keeps: boolean]]>([
  [301, "/b", "GET", ["https://a.test/b", true]],
  [301, "/b", "POST", ["https://a.test/b", false]],
  [302, "//c.test", "head", ["https://c.test/", true]],
  [303, "?q", "POST", ["https://a.test/mcp?q", false]],
  [307, "http://a.test/", "POST", ["http://a.test/", true]],
  [308, "/b", "DELETE", ["https://a.test/b", true]],
  [307, "file:///etc/passwd", "GET", { kind: "nowhere" }],
  [302, "http://[", "GET", { kind: "nowhere" }],
  [302, undefined, "GET", undefined],
  ...[200, 201, 300, 304, 305, 306, 309, 399, 400, 503].map((status) => [status, "/b", "GET", undefined] as never),
])("%i with %s after a %s", async (status, location, method, want) => {
  const body = [304].includes(status) ? null : "";
  const response = new Response(body, { status, headers: location === undefined ? {} : { location } });
  const found = redirectOf(response, "https://a.test/mcp", method);
  const [url, keepsRequest] = Array.isArray(want) ? want : [];
  expect(found).toEqual(url === undefined ? want : { kind: "to", url: new URL(url), keepsRequest });
  const fetching = async () => response;
  const read = await boundedFetch({ secrets: [], maxMessageBytes: 1e6, listen: true, fetch: fetching })(
    "https://a.test/mcp",
  );
  expect(read.body === null ? "" : await read.text()).toMatch(found === undefined ? /^$/ : /^redirects to /);
});

test("a page that is none may have a Location all the same: sign-in reads it as any other", async () => {
  const answer = async () => new Response("{}", { status: 300, headers: { location: "https://elsewhere.test/" } });
  const asking = authFetch({ fetch: answer, server: new URL("https://a.test/"), learn: () => {} });
  expect((await asking("https://a.test/x")).status).toBe(300);
});
