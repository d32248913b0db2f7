import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { acceptResult, runCase, wantedResult } from "./golden.ts";
import { scratchFolder } from "./scratch.ts";

const cases = join(import.meta.dirname, "cases");

describe("golden cases", () => {
  const names = readdirSync(cases, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  );

  test("there are some", () => expect(names.length).toBeGreaterThan(5));

  test.each(names)("%s", async (name) => {
    const scratch = scratchFolder();
    const result = await runCase(join(cases, name), scratch);
    if (process.env["UPDATE_GOLDEN"]) acceptResult(join(cases, name), result, scratch);
    expect(result).toEqual(wantedResult(join(cases, name)));
  });
});
