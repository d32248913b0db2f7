import * as sdk from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import type { AccessToken, TokenSource } from "../../runtime/connect/auth/auth-context.ts";
import { authorizedFetch } from "../../runtime/connect/auth/authorized-fetch.ts";

const server = new URL("https://mcp.example/mcp");

/** Refuses every token but `wide` with a 403 that has a body; notes what it was asked with. */
function refusing() {
  const asked: (string | null)[] = [];
  const next = async (_: string | URL, init: RequestInit = {}) => {
    const authorization = new Headers(init.headers).get("authorization");
    asked.push(authorization);
    if (authorization === "Bearer wide") return new Response("welcome");
    const headers = { "www-authenticate": 'Bearer error="insufficient_scope", scope="write"' };
    return new Response("more is needed", { status: 403, headers });
  };
  return { asked, next };
}

/** Has `narrow`, and gives `wider` where more is asked for. */
function source(wider: AccessToken | undefined, scopes: (string | undefined)[] = []): TokenSource {
  return {
    busy: false,
    token: async () => ({ value: "narrow" }),
    renew: async () => {
      throw new Error("nothing was rejected");
    },
    stepUp: async (_, { scope }) => {
      scopes.push(scope);
      return wider;
    },
    settled: async () => {},
  };
}

test("a 403 for want of a scope is answered with one wider token, though nobody reads its body", async () => {
  const { asked, next } = refusing();
  const scopes: (string | undefined)[] = [];
  const signed = authorizedFetch(next, source({ value: "wide" }, scopes), { server, sdk });
  expect(await (await signed(server)).text()).toBe("welcome");
  expect(asked).toEqual(["Bearer narrow", "Bearer wide"]);
  expect(scopes).toEqual(["write"]);
});

test("a wider token that isn't wide enough is the last", async () => {
  const { asked, next } = refusing();
  const response = await authorizedFetch(next, source({ value: "wider" }), { server, sdk })(server);
  expect([response.status, await response.text()]).toEqual([403, "more is needed"]);
  expect(asked).toEqual(["Bearer narrow", "Bearer wider"]);
});

test("where no wider token is to be had, the refusal is the answer, whole", async () => {
  const { next } = refusing();
  const response = await authorizedFetch(next, source(undefined), { server, sdk })(server);
  expect([response.status, await response.text()]).toEqual([403, "more is needed"]);
});
