import { spawn } from "node:child_process";
import { afterEach, describe, expect, test } from "vitest";
import { openConnection } from "../../runtime/connect/open.ts";
import { createPool, type Pool, type PoolOptions } from "../../runtime/connect/pool.ts";
import type { ServerConfig } from "../../schemas/config/server-config.ts";
import { countProcesses, eventually, serverConfig, stub, surroundings } from "../servers/run.ts";

const pools: Pool[] = [];
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

function poolOf(config: ServerConfig, options: Partial<PoolOptions> = {}) {
  let opened = 0;
  const pool = createPool({
    open: (_, signal) => {
      opened++;
      return openConnection(config, { ...surroundings, signal });
    },
    ...options,
  });
  pools.push(pool);
  return { pool, opened: () => opened };
}

const echo = (pool: Pool) => pool.request("s", "tools/call", { name: "echo", arguments: {} });

describe("pool", () => {
  test("calls that come at once share one opening and one process", async () => {
    const { config, log } = stub({ startMs: 100 });
    const { pool, opened } = poolOf(config);
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => echo(pool)));
    expect(outcomes.every(({ ok }) => ok)).toBe(true);
    expect(opened()).toBe(1);
    expect(log().filter(({ event }) => event === "start")).toHaveLength(1);
  });

  test("an idle connection is closed and the next call opens another; one at work is not idle", async () => {
    const { config, marker } = stub({});
    const { pool, opened } = poolOf(config, { idleMs: 100 });
    const slow = await pool.request("s", "tools/call", { name: "sleep", arguments: { ms: 400 } });
    expect(slow.ok).toBe(true);
    await eventually(() => countProcesses(marker) === 0, "the idle server is ended");
    expect(pool.peek("s")).toBeUndefined();
    expect((await echo(pool)).ok).toBe(true);
    expect(opened()).toBe(2);
  });

  test("a server that died is connected anew at the next call, the failed one isn't repeated", async () => {
    const { config, methods, marker } = stub({});
    const { pool, opened } = poolOf(config);
    const crash = await pool.request("s", "tools/call", { name: "crash", arguments: {} });
    expect(crash).toMatchObject({ ok: false, failure: { kind: "closed" } });
    expect((await echo(pool)).ok).toBe(true);
    expect(opened()).toBe(2);
    expect(methods().filter((method) => method === "tools/call")).toHaveLength(2);
    expect(countProcesses(marker)).toBe(1);
  });

  test("a failed opening is told to all who wait, and tried again at the next need", async () => {
    const missing = serverConfig({ kind: "stdio", command: "no-such-command-here", args: [], env: {} });
    const { pool, opened } = poolOf(missing);
    const outcomes = await Promise.all([echo(pool), pool.get("s")]);
    expect(outcomes).toMatchObject([1, 2].map(() => ({ ok: false, diagnostic: { code: "server-unreachable" } })));
    await pool.get("s");
    expect(opened()).toBe(2);
  });

  test("one who gives up waiting doesn't end the opening for the others", async () => {
    const { pool, opened } = poolOf(stub({ startMs: 300 }).config);
    const impatient = new AbortController();
    const [first, second] = [pool.get("s", impatient.signal), pool.get("s")];
    impatient.abort();
    expect(await first).toMatchObject({ ok: false });
    expect(await second).toMatchObject({ ok: true });
    expect(opened()).toBe(1);
  });

  test("closing ends what is open and what is opening, and refuses more", async () => {
    const { config, marker } = stub({ startMs: 5000 });
    const { pool } = poolOf(config);
    const waiting = pool.get("s");
    await eventually(() => countProcesses(marker) === 1, "the server is starting");
    await pool.close();
    expect(countProcesses(marker)).toBe(0);
    expect(await waiting).toMatchObject({ ok: false });
    expect(await pool.get("s")).toMatchObject({ ok: false });
    expect(countProcesses(marker)).toBe(0);
  });
});

describe("a server killed from outside", () => {
  test("is noticed without a call, and the next call works", async () => {
    const { config, log } = stub({});
    const { pool } = poolOf(config);
    await echo(pool);
    const { pid } = log().find(({ event }) => event === "start")!;
    spawn("kill", ["-9", String(pid)]);
    await eventually(() => pool.peek("s") === undefined, "the end is noticed");
    expect((await echo(pool)).ok).toBe(true);
  });
});
