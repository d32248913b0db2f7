/** What is advised for each kind of failure, from kind and code alone. */
import { expect, test } from "vitest";
import type { Failure } from "../../runtime/connect/failure.ts";
import { remediesOf } from "../../runtime/connect/remedies.ts";
import { serverConfig } from "../servers/run.ts";

const stdio = (command: string) => serverConfig({ kind: "stdio", command, args: [], env: {} });
const http = (url: string) => serverConfig({ kind: "http", url, headers: {} });
const network = (code: string): Failure => ({ kind: "unavailable", code, message: "x" });
const status = (code: number, body = ""): Failure => ({ kind: "http-status", status: code, body, message: "x" });
const closed: Failure = { kind: "closed", message: "x" };
const timeout: Failure = { kind: "timeout", timeoutMs: 1, message: "x" };
const notStarted = (code: string): Failure => ({ kind: "not-started", code, message: "x" });
const answer = (given: Partial<Extract<Failure, { kind: "unusable" }>>): Failure => ({
  kind: "unusable",
  message: "x",
  ...given,
});

test.each<[string, ReturnType<typeof stdio>, Failure, string | undefined, RegExp[]]>([
  ["a missing command", stdio("srv"), notStarted("ENOENT"), undefined, [/PATH/]],
  ["a missing npx", stdio("npx"), notStarted("ENOENT"), undefined, [/PATH/, /Node\.js/]],
  ["a missing uvx, with a path", stdio("/opt/bin/uvx"), notStarted("ENOENT"), undefined, [/PATH/, /uv/]],
  ["a command named like a member of every object", stdio("constructor"), notStarted("ENOENT"), undefined, [/PATH/]],
  ["a file that is no program", stdio("srv"), notStarted("EACCES"), undefined, [/executable/]],
  ["an end of a shell that found nothing", stdio("sh"), closed, "exited with status 127", [/not installed/]],
  ["any other end", stdio("sh"), closed, "exited with status 1", []],
  ["silence", stdio("srv"), timeout, undefined, [/requestTimeoutMs/]],
  [
    "silence of a program that fetches",
    stdio("npx.cmd"),
    timeout,
    undefined,
    [/npx may still be fetching/, /requestTimeoutMs/],
  ],
  ["401", http("https://h/mcp"), { kind: "sign-in-needed", message: "x" }, undefined, [/pimcp login s/]],
  ["403", http("https://h/mcp"), { kind: "access-denied", message: "x" }, undefined, [/credentials/]],
  [
    "a certificate of its own",
    http("https://h/mcp"),
    network("DEPTH_ZERO_SELF_SIGNED_CERT"),
    undefined,
    [/caFile.*NODE_EXTRA_CA_CERTS/],
  ],
  ["a certificate that has expired", http("https://h/mcp"), network("CERT_HAS_EXPIRED"), undefined, [/renewed/]],
  [
    "a certificate for another",
    http("https://h/mcp"),
    network("ERR_TLS_CERT_ALTNAME_INVALID"),
    undefined,
    [/another host/],
  ],
  ["no TLS at all", http("https://h/mcp"), network("ERR_SSL_WRONG_VERSION_NUMBER"), undefined, [/http:\/\//]],
  ["TLS behind http", http("http://h/mcp"), network("ECONNRESET"), undefined, [/https:\/\//]],
  ["a cut connection over https", http("https://h/mcp"), network("ECONNRESET"), undefined, []],
  ["no such host", http("https://h/mcp"), network("ENOTFOUND"), undefined, [/no such host/]],
  [
    "a port of another protocol",
    http("http://h:6000/mcp"),
    network("ERR_REFUSED_PORT"),
    undefined,
    [/another protocol/],
  ],
  ["nobody there", http("https://h/mcp"), network("ECONNREFUSED"), undefined, [/nothing listens/]],
  ["no way there", http("https://h/mcp"), network("ETIMEDOUT"), undefined, [/HTTPS_PROXY/]],
  ["503", http("https://h/mcp"), { kind: "unavailable", status: 503, message: "x" }, undefined, [/try again later/]],
  ["404 at a root", http("https://h/"), status(404), undefined, [/many servers have .* \/mcp/]],
  ["404 at /mcp", http("https://h/mcp?x=1"), status(404), undefined, [/^there is nothing at that path: check url$/]],
  ["405", http("https://h/api"), status(405), undefined, [/no POST.*\/mcp/]],
  ["a page with a status", http("https://h/"), status(400, " <!DOCTYPE html><p>"), undefined, [/web page.*\/mcp/]],
  ["a redirect", http("https://h/"), status(308), undefined, [/redirects/]],
  [
    "a page",
    http("https://h/"),
    answer({ reason: "content-type", contentType: "text/html; charset=x" }),
    undefined,
    [/web page.*\/mcp/],
  ],
  [
    "something else",
    http("https://h/mcp"),
    answer({ reason: "content-type", contentType: "text/plain" }),
    undefined,
    [/no MCP server: check url$/],
  ],
  ["no common version", http("https://h/mcp"), answer({ reason: "version" }), undefined, [/update one of the two/]],
])("%s", (_, config, failure, ending, want) => {
  const remedies = remediesOf(config, failure, { ending });
  expect(remedies).toHaveLength(want.length);
  for (const [index, pattern] of want.entries()) expect(remedies[index]).toMatch(pattern);
});

test("a version that was asked for is advised against", () => {
  const pinned = { ...stdio("srv"), protocolVersion: "2026-07-28" as const };
  expect(remediesOf(pinned, answer({ reason: "version" }))).toEqual([expect.stringMatching(/"auto"/)]);
});

test.each([
  [60_000, "raise requestTimeoutMs (now 60000)"],
  [10_000, "raise probeTimeoutMs (now 10000)"],
  [2000, "give it more than these 2000 ms (its requestTimeoutMs is 60000)"],
])("the limit that is to be raised is the one that was met: %d ms", (timeoutMs, remedy) => {
  const config = { ...stdio("srv"), requestTimeoutMs: 60_000, probeTimeoutMs: 10_000 };
  const failure: Failure = { kind: "timeout", timeoutMs, message: "x" };
  expect(remediesOf(config, failure)).toEqual([`if it only needs longer, ${remedy}`]);
});

test("silence of a server whose era was only assumed may be that of another one, over stdio", () => {
  const unheard = { isUnheard: true };
  expect(remediesOf(stdio("srv"), timeout, unheard)[0]).toContain("`pimcp compile --refresh`");
  expect(remediesOf(http("https://h/mcp"), timeout, unheard)).toEqual([expect.stringContaining("requestTimeoutMs")]);
});
