import { expect, test } from "vitest";
import { Stub, Workspace } from "./pimcp.ts";

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
