import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { Stub, tool, Workspace } from "./pimcp.ts";

test("servers that each take a second to start are waited for together, not one after another", async () => {
  const compileTime = async (count: number) => {
    const work = new Workspace();
    const stub = () => new Stub({ startMs: 1000 }).entry;
    work.servers(Object.fromEntries(Array.from({ length: count }, (_, n) => [`s${n}`, stub()])));
    const { code, milliseconds } = await work.run("compile");
    expect(code).toBe(0);
    return milliseconds;
  };
  // Each measured in the same run, so that a slow machine slows both. The sum would be six times as long.
  const one = await compileTime(1);
  const six = await compileTime(6);
  expect(six).toBeLessThan(3 * one);
});

test("compiles of one folder by several processes at once lose nothing of each other's", async () => {
  const work = new Workspace();
  const names = ["a", "b", "c", "d"];
  work.servers(Object.fromEntries(names.map((name) => [name, new Stub({ tools: [tool(name)] }).entry])));
  const done = await Promise.all(names.map((name) => work.compile("--server", name)));
  expect(done.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  const { servers, files } = JSON.parse(work.read("project/generated/manifest.json"));
  expect(Object.keys(servers)).toEqual(names);
  for (const [path, digest] of Object.entries(files))
    expect(
      createHash("sha256")
        .update(work.read(`project/generated/${path}`))
        .digest("hex"),
    ).toBe(digest);
  expect((await work.compile("--check")).json.ok).toBe(true);
});
