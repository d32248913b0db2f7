/** The older SSE transport and tokens that take their time: what was cancelled meanwhile is never sent. */
import { expect, onTestFinished, test } from "vitest";
import type { AccessToken, TokenSource } from "../../runtime/connect/auth/auth-context.ts";
import { authorizedFetch } from "../../runtime/connect/auth/authorized-fetch.ts";
import type { Fetch } from "../../runtime/connect/http-fetch.ts";
import { openConnection } from "../../runtime/connect/open.ts";
import { eventually, startHttp, surroundings } from "../servers/run.ts";

const CALL = { name: "add", arguments: { a: 2, b: 3 } };

/** A real SSE server; the network between notes what is sent, and can refuse a token; tokens come when they are let. */
async function made() {
  const server = await startHttp("legacy.mjs", { HTTP: "sse" }, "/sse");
  onTestFinished(() => server.stop());
  const sent: string[] = [];
  const held = { token: Promise.resolve(), renew: Promise.resolve() };
  let renewals = 0;
  const state = { refuse: "", release: () => {} };
  /** What the refusal of a token waits for. */
  const refusal = { after: Promise.resolve() };
  const hold = (what: keyof typeof held) => {
    held[what] = new Promise((resolve) => {
      state.release = resolve;
    });
  };
  const network: Fetch = async (url, init) => {
    const { method, params } = typeof init?.body === "string" ? JSON.parse(init.body) : { method: "GET" };
    sent.push(method === "notifications/cancelled" ? `cancelled ${params.requestId}` : method);
    if (new Headers(init?.headers).get("authorization") !== `Bearer ${state.refuse}`) return fetch(url, init);
    await refusal.after;
    return new Response(null, { status: 401, headers: { "www-authenticate": "Bearer" } });
  };
  const after = async (waiting: Promise<void>, value: string): Promise<AccessToken> => {
    await waiting;
    return { value };
  };
  const source: TokenSource = {
    token: () => after(held.token, "first"),
    renew: () => {
      renewals++;
      return after(held.renew, "second");
    },
    stepUp: async () => undefined,
    settled: async () => {},
  };
  const prior = { era: "legacy", verdict: "answered", protocolVersion: "2024-11-05", transport: "sse" } as const;
  const auth = async (_: unknown, { url }: { url: URL }) => ({
    wrapFetch: (next: Fetch, sdk: Parameters<typeof authorizedFetch>[2]["sdk"]) =>
      authorizedFetch(next, source, { server: url, sdk }),
    refusal: () => undefined,
    asking: () => undefined,
    busy: () => undefined,
  });
  const outcome = await openConnection(server.config, {
    ...surroundings,
    prior,
    auth: auth as never,
    fetch: network as never,
  });
  if (!outcome.ok) throw new Error(outcome.diagnostic.message);
  const { connection } = outcome;
  onTestFinished(() => connection.close());
  sent.length = 0;
  return { connection, sent, state, refusal, hold, renewals: () => renewals };
}

test("a call that times out while it waits for its token is not sent, and neither is that it was cancelled", async () => {
  const { connection, sent, state, hold } = await made();
  hold("token");
  expect(await connection.request("tools/call", CALL, { timeoutMs: 100 })).toMatchObject({
    ok: false,
    failure: { kind: "timeout" },
  });
  state.release();
  expect(await connection.request("tools/call", CALL)).toMatchObject({ ok: true });
  expect(sent).toEqual(["tools/call"]);
});

test("a call that its caller gives up while the token that was refused is renewed is not sent again", async () => {
  const { connection, sent, state, hold, renewals } = await made();
  state.refuse = "first";
  hold("renew");
  const giveUp = new AbortController();
  const call = connection.request("tools/call", CALL, { signal: giveUp.signal });
  await eventually(() => renewals() === 1, "the call to be refused");
  giveUp.abort();
  expect(await call).toMatchObject({ ok: false, failure: { kind: "cancelled" } });
  state.release();
  state.refuse = "";
  expect(await connection.request("tools/call", CALL)).toMatchObject({ ok: true });
  expect(sent).toEqual(["tools/call", "tools/call"]);
});

test("a call that is given up while it is out is not sent again when it comes back refused", async () => {
  const { connection, sent, state, refusal, renewals } = await made();
  state.refuse = "first";
  const giveUp = new AbortController();
  let answer = () => {};
  refusal.after = new Promise((resolve) => {
    answer = resolve;
  });
  const call = connection.request("tools/call", CALL, { signal: giveUp.signal });
  await eventually(() => sent.length === 1, "the call to be sent");
  giveUp.abort();
  expect(await call).toMatchObject({ ok: false, failure: { kind: "cancelled" } });
  await eventually(() => sent.length === 2, "the notice");
  answer();
  await eventually(() => renewals() > 0, "the refusal to be seen");
  state.refuse = "";
  expect(await connection.request("tools/call", CALL)).toMatchObject({ ok: true });
  expect(sent.filter((what) => what === "tools/call")).toHaveLength(2);
});

test("a call that has been sent is cancelled at the server", async () => {
  const { connection, sent } = await made();
  const giveUp = new AbortController();
  const call = connection.request(
    "tools/call",
    { name: "count", arguments: { steps: 5000, ms: 20 } },
    { signal: giveUp.signal },
  );
  await eventually(() => sent.length === 1, "the call to be sent");
  await new Promise((resolve) => setTimeout(resolve, 100));
  giveUp.abort();
  await call;
  await eventually(() => sent.length === 2, "the notice");
  expect(sent).toEqual(["tools/call", expect.stringMatching(/^cancelled \d+$/)]);
});
