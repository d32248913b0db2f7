/** A watch keeps its connections up, and lets alone what can't be kept. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ServerWatcher, type WatchedServer } from "../../compiler/watch/server-watcher.ts";
import type { Connection } from "../../runtime/connect/connection.ts";
import type { EraVerdict } from "../../runtime/connect/verdict.ts";
import { serverConfig } from "../servers/run.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A connection that ends and announces when the test says so. */
class FakeConnection {
  closed = false;
  readonly #ends: (() => void)[] = [];
  #announce = () => {};

  onClose(listener: () => void) {
    this.#ends.push(listener);
    return () => {};
  }
  onToolsListChanged(listener: () => void) {
    this.#announce = listener;
    return () => {};
  }
  onNotification(listener: (method: string) => void) {
    this.notify = listener;
    return () => {};
  }
  listenFor(filter: object) {
    this.wanted.push(filter);
    return () => {};
  }
  notify = (_: string) => {};
  readonly wanted: object[] = [];
  async close() {
    this.closed = true;
  }
  end() {
    this.closed = true;
    for (const listener of this.#ends) listener();
  }
  announce() {
    this.#announce();
  }
}

const verdict: EraVerdict = { era: "legacy", verdict: "answered", protocolVersion: "2025-11-25", transport: "stdio" };
const server: WatchedServer = { config: serverConfig({ kind: "stdio", command: "x", args: [], env: {} }), verdict };

function watching(open: () => FakeConnection | undefined) {
  const opened: (FakeConnection | undefined)[] = [];
  const changes: string[] = [];
  const watcher = new ServerWatcher({
    open: async () => {
      const connection = open();
      opened.push(connection);
      return connection as unknown as Connection | undefined;
    },
    onChange: (name) => changes.push(name),
  });
  return { watcher, opened, changes, start: () => watcher.setServers([server], () => "key") };
}

test("a connection that ends is opened anew, and what the server offers then is looked at", async () => {
  const { watcher, opened, changes, start } = watching(() => new FakeConnection());
  await start();
  opened[0]!.end();
  await vi.advanceTimersByTimeAsync(700);
  expect(opened).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(600 + 250);
  expect([opened.length, changes]).toEqual([2, ["s"]]);
  opened[1]!.announce();
  await vi.advanceTimersByTimeAsync(250);
  expect(changes).toEqual(["s", "s"]);
  await watcher.close();
  expect(opened[1]!.closed).toBe(true);
});

test.each<[string, () => FakeConnection | undefined, (connection: FakeConnection | undefined) => void]>([
  ["always ends", () => new FakeConnection(), (connection) => connection?.end()],
  ["can't be reached any more", () => undefined, () => {}],
])("a server that %s is left alone in the end", async (_, later, then) => {
  let first = true;
  const { watcher, opened, start } = watching(() => {
    const connection = first ? new FakeConnection() : later();
    first = false;
    return connection;
  });
  await start();
  opened[0]!.end();
  for (let n = 0; n < 900; n++) {
    const before = opened.length;
    await vi.advanceTimersByTimeAsync(1000);
    if (opened.length > before) then(opened.at(-1));
  }
  // The first, and ten attempts after it.
  expect(opened).toHaveLength(11);
  await watcher.close();
});

test("one that held for a while has its attempts again; one that is no longer watched is not opened", async () => {
  const { watcher, opened, start } = watching(() => new FakeConnection());
  await start();
  for (let n = 0; n < 15; n++) {
    await vi.advanceTimersByTimeAsync(60_000);
    opened.at(-1)!.end();
    await vi.advanceTimersByTimeAsync(1300);
  }
  expect(opened).toHaveLength(16);
  opened.at(-1)!.end();
  await watcher.setServers([], () => "key");
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(opened).toHaveLength(16);
});

test("changes of prompts are heard from a server that announces them", async () => {
  const { watcher, opened, changes } = watching(() => new FakeConnection());
  const capabilities = { prompts: { listChanged: true } };
  await watcher.setServers([{ ...server, verdict: { ...verdict, capabilities } }], () => "key");
  expect(opened[0]!.wanted).toEqual([{ prompts: true }]);
  opened[0]!.notify("notifications/resources/list_changed");
  await vi.advanceTimersByTimeAsync(1000);
  expect(changes).toEqual([]);
  opened[0]!.notify("notifications/prompts/list_changed");
  await vi.advanceTimersByTimeAsync(250);
  expect(changes).toEqual(["s"]);
  await watcher.close();
});
