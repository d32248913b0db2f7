/** Proxies by the usual environment variables: which one is chosen, and that it is really gone through. */
import { describe, expect, onTestFinished, test } from "vitest";
import type { Connection } from "../../runtime/connect/connection.ts";
import { type OpenOutcome, openConnection } from "../../runtime/connect/open.ts";
import { chooseProxy } from "../../runtime/connect/proxy.ts";
import { caFile, startHere } from "../servers/here.ts";
import { startProxy } from "../servers/proxy.ts";
import { serverConfig, surroundings } from "../servers/run.ts";

describe("which proxy", () => {
  const HTTP = { HTTP_PROXY: "http://p:1" };
  const both = { ...HTTP, HTTPS_PROXY: "http://s:2" };
  test.each<[url: string, env: Record<string, string>, want: string]>([
    ["http://h.test/", {}, "direct"],
    ["http://h.test/", HTTP, "http://p:1/"],
    ["https://h.test/", HTTP, "direct"],
    ["https://h.test/", both, "http://s:2/"],
    ["http://h.test/", { ...HTTP, http_proxy: "http://lower:3" }, "http://lower:3/"],
    ["http://h.test/", { ...HTTP, http_proxy: "" }, "direct"],
    ["http://h.test/", { HTTP_PROXY: "p.test:3128" }, "http://p.test:3128/"],
    ["http://h.test/", { HTTP_PROXY: "socks5://p:1" }, "unusable"],
    ["http://h.test/", { HTTP_PROXY: "http://" }, "unusable"],
    ["http://h.test/", { ...HTTP, NO_PROXY: "*" }, "direct"],
    ["http://h.test/", { ...HTTP, NO_PROXY: "a.test,h.test" }, "direct"],
    ["http://h.test/", { ...HTTP, NO_PROXY: "a.test h.test" }, "direct"],
    ["http://H.TEST/", { ...HTTP, NO_PROXY: "h.Test" }, "direct"],
    ["http://x.h.test/", { ...HTTP, NO_PROXY: "h.test" }, "direct"],
    ["http://x.h.test/", { ...HTTP, NO_PROXY: ".h.test" }, "direct"],
    ["http://x.h.test/", { ...HTTP, NO_PROXY: "*.h.test" }, "direct"],
    ["http://oh.test/", { ...HTTP, NO_PROXY: "h.test" }, "http://p:1/"],
    ["http://h.test/", { ...HTTP, NO_PROXY: "h.test:8080" }, "http://p:1/"],
    ["http://h.test:8080/", { ...HTTP, NO_PROXY: "h.test:8080" }, "direct"],
    ["http://h.test/", { ...HTTP, NO_PROXY: "h.test:80" }, "direct"],
    ["https://h.test/", { ...both, NO_PROXY: "h.test:443" }, "direct"],
    ["http://h.test/", { ...HTTP, NO_PROXY: "h.test", no_proxy: "other" }, "http://p:1/"],
    ["http://127.0.0.1:9/", HTTP, "http://p:1/"],
    ["http://127.0.0.1:9/", { ...HTTP, NO_PROXY: "localhost,127.0.0.1,::1" }, "direct"],
    ["http://[::1]:9/", { ...HTTP, NO_PROXY: "localhost,127.0.0.1,::1" }, "direct"],
    ["http://[::1]:9/", { ...HTTP, NO_PROXY: "[::1]:9" }, "direct"],
    ["http://[::1]:9/", { ...HTTP, NO_PROXY: "[::1]:8" }, "http://p:1/"],
    ["http://h.test/", { ...HTTP, NO_PROXY: ", ," }, "http://p:1/"],
  ])("%s with %j: %s", (url, env, want) => {
    const choice = chooseProxy(new URL(url), env);
    expect(choice.kind === "proxy" ? choice.url.href : choice.kind).toBe(want);
  });

  test("a value that can't be used is named, not shown", () => {
    expect(chooseProxy(new URL("http://h/"), { http_proxy: "ftp://me:hunter2@p" })).toEqual({
      kind: "unusable",
      message: "the proxy in HTTP_PROXY is not an http or https URL",
    });
  });
});

function opened(url: string, env: Record<string, string>, ca?: string): Promise<OpenOutcome> {
  const config = serverConfig({ kind: "http", url, headers: {}, ...(ca && { caFile: ca }) });
  return openConnection(config, { homedir: surroundings.homedir, env: { PATH: process.env["PATH"], ...env } });
}

async function connected(url: string, env: Record<string, string>, ca?: string): Promise<Connection> {
  const outcome = await opened(url, env, ca);
  if (!outcome.ok) throw new Error(outcome.diagnostic.message);
  onTestFinished(() => outcome.connection.close());
  return outcome.connection;
}

async function sum(connection: Connection): Promise<unknown> {
  const outcome = await connection.request("tools/call", { name: "add", arguments: { a: 20, b: 22 } });
  return outcome.ok && outcome.result["content"];
}

const ANSWER = [{ type: "text", text: "42" }];

describe("through a real proxy", () => {
  test("http goes in absolute form, with the proxy's credentials and to a host that only the proxy knows", async () => {
    const server = await startHere();
    const proxy = await startProxy({ credentials: "me:hunter2-Pr0xy", hosts: { "inside.test": "127.0.0.1" } });
    const connection = await connected(`http://inside.test:${server.port}/mcp`, {
      HTTP_PROXY: `http://me:hunter2-Pr0xy@127.0.0.1:${proxy.port}`,
    });
    expect(await sum(connection)).toEqual(ANSWER);
    expect(proxy.asked.length).toBe(server.seen.length);
    expect(new Set(proxy.asked)).toEqual(new Set([`POST http://inside.test:${server.port}/mcp`]));
    expect(server.seen.flatMap(({ headers }) => Object.keys(headers))).not.toContain("proxy-authorization");
  });

  test("https goes through a tunnel, and the proxy sees nothing of it", async () => {
    const server = await startHere({ https: true });
    const proxy = await startProxy({ hosts: { "secure.test": "127.0.0.1" } });
    const env = { https_proxy: `http://127.0.0.1:${proxy.port}`, HTTP_PROXY: "http://127.0.0.1:1" };
    const connection = await connected(`https://secure.test:${server.port}/mcp`, env, caFile);
    expect(await sum(connection)).toEqual(ANSWER);
    expect(new Set(proxy.asked)).toEqual(new Set([`CONNECT secure.test:${server.port}`]));
  });

  test("what NO_PROXY names is reached directly", async () => {
    const server = await startHere();
    const proxy = await startProxy();
    const env = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: "127.0.0.1" };
    expect(await sum(await connected(server.url, env))).toEqual(ANSWER);
    expect(proxy.asked).toEqual([]);
  });

  test.each([false, true])("a failure names the proxy and no password of it (https: %s)", async (https) => {
    const server = await startHere({ https });
    const url = (port: number) => ({
      HTTP_PROXY: `http://me:hunter2-Pr0xy@127.0.0.1:${port}`,
      HTTPS_PROXY: `http://me:hunter2-Pr0xy@127.0.0.1:${port}`,
    });
    const dead = await opened(server.url, url(1), caFile);
    const proxy = await startProxy({ credentials: "somebody:else" });
    const refused = await opened(server.url, url(proxy.port), caFile);
    expect(!dead.ok && dead.diagnostic).toMatchObject({ code: "server-unavailable" });
    expect(!dead.ok && dead.diagnostic.message).toMatch(/ECONNREFUSED, by way of the proxy http:\/\/127\.0\.0\.1:1\b/);
    expect(!refused.ok && refused.diagnostic.message).toMatch(/407/);
    expect(JSON.stringify([dead, refused])).not.toContain("hunter2");
    expect(server.seen).toEqual([]);
  });

  test("a proxy that is none fails the server", async () => {
    const outcome = await opened("http://h.test/mcp", { HTTP_PROXY: "ftp://x" });
    expect(!outcome.ok && outcome.diagnostic.message).toContain("the proxy in HTTP_PROXY is not an http or https URL");
  });
});
