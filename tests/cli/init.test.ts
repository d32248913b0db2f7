import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Workspace } from "./pimcp.ts";

test("init writes a starter that compiles without a mistake of its own", async () => {
  const work = new Workspace();
  const { code, stdout } = await work.run("init");
  expect(code).toBe(0);
  expect(stdout).toContain("mcp.json");
  const starter = readFileSync(join(import.meta.dirname, "..", "..", "templates", "mcp.json"), "utf8");
  expect(work.read("project/mcp.json")).toBe(starter);
  expect(JSON.parse(starter)).toHaveProperty("$schema");
  const { stdout: json } = await work.run("compile", "--offline", "--json");
  const { diagnostics } = JSON.parse(json) as { diagnostics: { code: string }[] };
  expect(new Set(diagnostics.map((found) => found.code))).toEqual(new Set(["not-cached"]));
});

test("init never overwrites", async () => {
  const work = new Workspace();
  work.write("project/mcp.json", "mine");
  const { code, stdout, stderr } = await work.run("init");
  expect(code).toBe(1);
  expect(stdout).toBe("");
  expect(stderr).toContain("already there");
  expect(work.read("project/mcp.json")).toBe("mine");
});

test("init --config names another file, --json says what came of it", async () => {
  const work = new Workspace();
  const first = await work.run("init", "--config", "other.json", "--json");
  expect([first.code, JSON.parse(first.stdout)]).toEqual([0, { ok: true, path: "other.json" }]);
  const second = await work.run("init", "--config", "other.json", "--json");
  expect([second.code, JSON.parse(second.stdout)]).toMatchObject([
    1,
    { ok: false, path: "other.json", error: { message: expect.stringContaining("already there") } },
  ]);
  // A path of its own is one, wherever the command runs.
  const absolute = join(work.root, "elsewhere.json");
  expect((await work.run("init", "--config", absolute)).code).toBe(0);
  expect(work.has("elsewhere.json")).toBe(true);
  const nowhere = await work.run("init", "--config", "no/folder/mcp.json");
  expect(nowhere.code).toBe(1);
  expect(nowhere.stderr).toContain("can't be written");
});
