import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type CachedSnapshot, findSnapshot, freshUntil, storeSnapshot } from "../../compiler/cache/snapshots.ts";
import type { ServerSnapshot } from "../../compiler/snapshot.ts";
import { keyedHash } from "../../runtime/connect/keyed-hash.ts";
import { cacheFolder } from "../../schemas/user-folders.ts";
import { scratchFolder } from "../scratch.ts";

const NOW = 1_000_000;
const snapshot = (tools: string[], more: Partial<ServerSnapshot> = {}): ServerSnapshot => ({
  server: "s",
  transport: "stdio",
  era: "legacy",
  verdict: "answered",
  protocolVersion: "2025-11-25",
  capabilities: {},
  resources: false,
  prompts: false,
  tools: tools.map((name) => ({ name })),
  cacheScope: "private",
  ...more,
});
const entry = (tools: string[], more: Partial<ServerSnapshot> = {}): CachedSnapshot => ({
  snapshot: snapshot(tools, more),
  fetchedAt: NOW,
});
const alice = { server: "same url", credentials: "Bearer alice-token" };
const bob = { server: "same url", credentials: "Bearer bob-token" };

describe("cached lists", () => {
  test("a private list is found only with the credentials it was got with, and they are nowhere on disk", async () => {
    const folder = scratchFolder();
    const hash = await keyedHash(folder);
    await storeSnapshot(folder, hash, alice, entry(["for-alice"]));
    await storeSnapshot(folder, hash, bob, entry(["for-bob"]));
    expect((await findSnapshot(folder, hash, alice))?.snapshot.tools).toEqual([{ name: "for-alice" }]);
    expect((await findSnapshot(folder, hash, bob))?.snapshot.tools).toEqual([{ name: "for-bob" }]);
    expect(await findSnapshot(folder, hash, { ...alice, credentials: "Bearer carol" })).toBeUndefined();
    for (const file of readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())) {
      const path = join(file.parentPath, file.name);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(path + readFileSync(path, "latin1")).not.toMatch(/alice-token|bob-token/);
    }
  });

  test("a public list serves everybody, and the later of two answers counts", async () => {
    const folder = scratchFolder();
    const hash = await keyedHash(folder);
    await storeSnapshot(folder, hash, alice, entry(["private"]));
    await storeSnapshot(folder, hash, alice, { ...entry(["public"], { cacheScope: "public" }), fetchedAt: NOW + 1 });
    expect((await findSnapshot(folder, hash, bob))?.snapshot.tools).toEqual([{ name: "public" }]);
    expect((await findSnapshot(folder, hash, alice))?.snapshot.tools).toEqual([{ name: "public" }]);
  });

  test.each([
    ["cut to ten bytes", (text: string) => text.slice(0, 10)],
    ["empty", () => ""],
    ["somebody else's", () => '{"format":2,"tools":[]}'],
    ["of another format", (text: string) => text.replace('"format":4', '"format":3')],
    ["not a list of tools", (text: string) => text.replace('"tools":[', '"tools":[7,')],
  ])("a file that is %s is a miss and is written anew", async (_, damage) => {
    const folder = scratchFolder();
    const hash = await keyedHash(folder);
    await storeSnapshot(folder, hash, alice, entry(["t"]));
    const path = join(folder, "lists", readdirSync(join(folder, "lists"))[0]!);
    writeFileSync(path, damage(readFileSync(path, "utf8")));
    expect(await findSnapshot(folder, hash, alice)).toBeUndefined();
    expect(await storeSnapshot(folder, hash, alice, entry(["t"]))).toBe(true);
    expect((await findSnapshot(folder, hash, alice))?.snapshot.tools).toEqual([{ name: "t" }]);
  });

  test("concurrent writers leave one whole file", async () => {
    const folder = scratchFolder();
    const hashes = await Promise.all(Array.from({ length: 4 }, () => keyedHash(folder)));
    expect(new Set(hashes.map((hash) => hash("x"))).size).toBe(1);
    await Promise.all(hashes.map((hash, index) => storeSnapshot(folder, hash, alice, entry([`t${index}`]))));
    expect(readdirSync(join(folder, "lists"))).toHaveLength(1);
    expect((await findSnapshot(folder, hashes[0]!, alice))?.snapshot.tools).toHaveLength(1);
  });

  test("a folder that can't be written is reported, not thrown", async () => {
    const folder = join(scratchFolder(), "file");
    writeFileSync(folder, "");
    const hash = await keyedHash(folder);
    expect(await storeSnapshot(folder, hash, alice, entry(["t"]))).toBe(false);
    expect(await findSnapshot(folder, hash, alice)).toBeUndefined();
  });
});

describe("freshness", () => {
  test.each([
    ["its own ttlMs", { ttlMs: 500 }, 0, NOW + 500],
    ["a ttlMs of 0 is honoured over the configured one", { ttlMs: 0 }, 9_000, 0],
    ["no ttlMs: the configured one", {}, 9_000, NOW + 9_000],
    ["no ttlMs and none configured", {}, 0, 0],
    [
      "carried by some: the configured one for the others",
      { ttlMs: 9_000, partlyTimed: true as const },
      500,
      NOW + 500,
    ],
    ["carried by some and shorter", { ttlMs: 500, partlyTimed: true as const }, 9_000, NOW + 500],
    ["carried by some and none configured", { ttlMs: 500, partlyTimed: true as const }, 0, 0],
    ["at most a day", { ttlMs: 10 ** 12 }, 0, NOW + 86_400_000],
    ["an era known only from silence", { ttlMs: 500, verdict: "silence" as const }, 0, 0],
  ])("%s", (_, more, own, want) => expect(freshUntil(entry([], more), own, NOW)).toBe(want));

  test("a list from the future, and one past its time, are not served", () => {
    expect(freshUntil(entry([], { ttlMs: 500 }), 0, NOW - 1)).toBe(0);
    expect(freshUntil(entry([], { ttlMs: 500 }), 0, NOW + 500)).toBe(0);
  });
});

test("the cache folder follows the XDG Base Directory specification", () => {
  expect(cacheFolder({}, "/home/a")).toBe("/home/a/.cache/pimcp");
  expect(cacheFolder({ XDG_CACHE_HOME: "/xdg" }, "/home/a")).toBe("/xdg/pimcp");
  expect(cacheFolder({ XDG_CACHE_HOME: "relative" }, "/home/a")).toBe("/home/a/.cache/pimcp");
  expect(cacheFolder({ PIMCP_CACHE_DIR: "/own" }, "/home/a")).toBe("/own");
});

test("a torn key is replaced", async () => {
  const folder = scratchFolder();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "key"), "short");
  const first = await keyedHash(folder);
  expect((await keyedHash(folder))("x")).toBe(first("x"));
});
