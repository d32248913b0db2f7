/** Output folders that can't be written, or that are not what they seem. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readTree } from "../golden.ts";
import { scratchFolder } from "../scratch.ts";
import { codes, FRESH, Stub, tool, Workspace } from "./pimcp.ts";

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

/** A `tmpfs` of its own can be had. */
function canMount(): boolean {
  if (!isRoot || process.platform !== "linux") return false;
  const folder = scratchFolderOutsideTests();
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder]).status === 0;
  if (mounted) spawnSync("umount", [folder]);
  return mounted;
}

function scratchFolderOutsideTests(): string {
  return execFileSync("mktemp", ["-d"], { encoding: "utf8" }).trim();
}

function leftovers(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.includes(".tmp"));
}

test("a read-only folder is a clear error, and what is in it stays", async () => {
  const work = new Workspace();
  const stub = new Stub({ tools: [tool("x")] });
  work.servers({ a: stub.entry });
  await work.compile();
  const out = join(work.project, "generated");
  const before = readTree(out);
  stub.set({ tools: [tool("y")] });
  for (const folder of [out, join(out, "servers")]) chmodSync(folder, 0o555);
  // Permissions don't bind root, so the run is somebody else's.
  if (isRoot) {
    execFileSync("chown", ["-R", String(NOBODY), work.root, stub.folder]);
    execFileSync("chown", ["-R", "0", out]);
  }
  const { code, stderr } = await work.start(["compile"], isRoot ? { uid: NOBODY } : {}).finished;
  for (const folder of [out, join(out, "servers")]) chmodSync(folder, 0o755);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /generated: error: cannot write to the output folder: permission denied \[output-unwritable\]/,
  );
  expect(stderr).toContain("what was compiled before is still there");
  expect(readTree(out)).toEqual(before);
});

test.skipIf(!canMount())("a full disk is a clear error, and what is on it stays", async () => {
  const work = new Workspace();
  const out = join(work.project, "generated");
  mkdirSync(out);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", out]);
  onTestFinished(() => void execFileSync("umount", [out]));
  const stub = new Stub({ tools: [tool("x")] });
  work.servers({ a: stub.entry });
  expect((await work.compile()).code).toBe(0);
  const before = readTree(out);
  stub.set({ tools: Array.from({ length: 400 }, (_, n) => tool(`t_${n}`, "word ".repeat(100))) });
  const { code, json } = await work.compile();
  expect(code).toBe(1);
  expect(codes(json)).toContain("error output-unwritable");
  expect(json.diagnostics.find((found) => found.code === "output-unwritable")?.message).toContain("the disk is full");
  expect(readTree(out)).toEqual(before);
  expect(leftovers(out)).toEqual([]);
});

test("a file where the folder should be", async () => {
  const work = new Workspace();
  work.write("project/generated", "mine");
  work.servers({ a: new Stub().entry });
  const { code, stderr } = await work.run("compile");
  expect(code).toBe(1);
  expect(stderr).toContain("[output-unwritable]");
  expect(work.read("project/generated")).toBe("mine");
});

test("a link that leads out of the folder is refused", async () => {
  const work = new Workspace();
  const elsewhere = scratchFolder();
  mkdirSync(join(work.project, "generated"));
  symlinkSync(elsewhere, join(work.project, "generated", "servers"));
  work.servers({ a: new Stub(FRESH).entry });
  const { code, json } = await work.compile();
  expect(code).toBe(1);
  expect(codes(json)).toEqual(["error output-outside"]);
  expect(readdirSync(elsewhere)).toEqual([]);
  expect(work.has("project/generated/manifest.json")).toBe(false);
});

test("an output folder that is itself a link is followed", async () => {
  const work = new Workspace();
  const elsewhere = scratchFolder();
  symlinkSync(elsewhere, join(work.project, "generated"));
  work.servers({ a: new Stub().entry });
  expect((await work.compile()).code).toBe(0);
  expect(readdirSync(elsewhere)).toContain("manifest.json");
});

test("a torn manifest is mended", async () => {
  const work = new Workspace();
  work.servers({ a: new Stub().entry });
  await work.compile();
  const before = readTree(join(work.project, "generated"));
  writeFileSync(join(work.project, "generated", "manifest.json"), before["manifest.json"]!.slice(0, 50));
  expect((await work.run("compile", "--check")).code).toBe(1);
  expect((await work.compile()).code).toBe(0);
  expect(readTree(join(work.project, "generated"))).toEqual(before);
});
