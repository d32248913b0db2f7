/**
 * What `auto` costs a session, counted by the servers themselves: after a compile, nothing. Whatever a server offers, its
 * tasks included, a first call starts one process or opens no more than the requests it is made of, and probes nothing.
 */
import { expect, onTestFinished, test } from "vitest";
import { Stub } from "../cli/pimcp.ts";
import { startHttpStub } from "../servers/run.ts";
import { compiled, TOOLS } from "./runtime-project.ts";

const TASKS = { "io.modelcontextprotocol/tasks": {} };
const OFFERS: readonly [string, object][] = [
  ["tools alone", { tools: {} }],
  ["change notices", { tools: { listChanged: true } }],
  ["tasks", { tools: { listChanged: true }, extensions: TASKS, tasks: { requests: { tools: { call: {} } } } }],
];
const HANDSHAKE = { legacy: ["initialize", "notifications/initialized"], modern: [] };
const ROWS = (["legacy", "modern"] as const).flatMap((era) =>
  OFFERS.map(([what, capabilities]) => [era, what, capabilities] as const),
);

/** Requests that a call is made of, and the list that is compared with what was compiled. */
function needed(era: "legacy" | "modern"): string[] {
  return [...HANDSHAKE[era], "tools/call", "tools/list"].sort();
}

test.each(ROWS)(
  "%s over stdio, offering %s: one process, no probe, no round trip more",
  async (era, _, capabilities) => {
    const stub = new Stub({ era, capabilities, tools: TOOLS });
    const project = await compiled({ s: { ...stub.entry, protocolVersion: "auto" } });
    const before = stub.log().length;
    const runtime = await project.runtime();
    expect((await runtime.call("s", "echo", { text: "hi" })).text).toBe('{"text":"hi"}');
    await runtime.compareWithServer("s");
    await runtime.close();
    const since = stub.log().slice(before);
    expect(since.filter(({ event }) => event === "start")).toHaveLength(1);
    const asked = since.flatMap(({ method }) => method ?? []);
    // Listening for changes is asked for beside the call, and nothing waits for it.
    const isListening = capabilities && "listChanged" in (capabilities as { tools: object }).tools && era === "modern";
    expect(asked.filter((method) => !isNotice(method)).sort()).toEqual(needed(era));
    expect(asked.filter(isNotice).filter((method) => method === "subscriptions/listen")).toHaveLength(
      isListening ? 1 : 0,
    );
  },
);

test.each(ROWS)("%s over HTTP, offering %s: no probe, no round trip more, no stream", async (era, _, capabilities) => {
  const server = await startHttpStub({ era, capabilities, tools: TOOLS });
  onTestFinished(() => server.stop());
  const project = await compiled({ s: { url: server.url } });
  const before = server.log().length;
  const runtime = await project.runtime();
  await runtime.call("s", "echo", { text: "hi" });
  await runtime.compareWithServer("s");
  await runtime.close();
  const since = server.log().slice(before);
  expect(since.map(({ event }) => event)).not.toContain("GET");
  expect(since.flatMap(({ event, method }) => (event === "POST" ? (method ?? []) : [])).sort()).toEqual(needed(era));
});

/** What the runtime says of listening, once and beside everything else. */
function isNotice(method: string): boolean {
  return method === "subscriptions/listen" || method === "notifications/cancelled";
}
