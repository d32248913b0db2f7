import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type GeneratedFile, manifestFile } from "../../compiler/emit/artifacts.ts";
import { readPrevious } from "../../compiler/previous.ts";
import { writeFiles } from "../../compiler/write.ts";
import { scratchFolder } from "../scratch.ts";

const STUB = '// Made by pimcp from the tools of "a".\n';
const files = (content: Record<string, string>): GeneratedFile[] => {
  const list = Object.entries(content).map(([path, text]) => ({ path, content: text }));
  return [...list, manifestFile("project", "0".repeat(64), {}, list)];
};
const write = async (folder: string, content: Record<string, string>, check = false) =>
  writeFiles(folder, files(content), (await readPrevious(folder))?.manifest, { check });
const statuses = (outcome: Awaited<ReturnType<typeof write>>) =>
  Object.fromEntries(outcome.value.map(({ path, status }) => [path, status]));

describe("writing", () => {
  test("creates, leaves unchanged files untouched, updates and removes", async () => {
    const folder = join(scratchFolder(), "generated");
    expect(statuses(await write(folder, { "servers/a.ts": STUB, "limits.json": "{}\n" }))).toEqual({
      "servers/a.ts": "created",
      "limits.json": "created",
      "manifest.json": "created",
    });
    const before = statSync(join(folder, "limits.json")).mtimeMs;
    const outcome = await write(folder, { "servers/b.ts": STUB, "limits.json": "{}\n" });
    expect(statuses(outcome)).toEqual({
      "servers/b.ts": "created",
      "limits.json": "unchanged",
      "manifest.json": "updated",
      "servers/a.ts": "removed",
    });
    expect(statSync(join(folder, "limits.json")).mtimeMs).toBe(before);
    expect(readdirSync(join(folder, "servers"))).toEqual(["b.ts"]);
    expect(statuses(await write(folder, { "servers/b.ts": STUB, "limits.json": "{}\n" }))["manifest.json"]).toBe(
      "unchanged",
    );
  });

  test("check changes nothing and tells what would", async () => {
    const folder = join(scratchFolder(), "generated");
    expect(statuses(await write(folder, { "index.ts": STUB }, true))["index.ts"]).toBe("created");
    expect(existsSync(folder)).toBe(false);
  });

  test("a file that somebody else put there stops the write, whole", async () => {
    const folder = scratchFolder();
    writeFileSync(join(folder, "index.ts"), "export const mine = 1;\n");
    const outcome = await write(folder, { "index.ts": STUB, "other.ts": STUB });
    expect(outcome.diagnostics).toMatchObject([{ code: "output-foreign", severity: "error", file: "index.ts" }]);
    expect(readdirSync(folder)).toEqual(["index.ts"]);
    expect(readFileSync(join(folder, "index.ts"), "utf8")).toBe("export const mine = 1;\n");
  });

  test.each([
    ["emptied", ""],
    ["full of zeros", "\0\0\0"],
    ["cut off after its first letters", '{\n  "forma'],
    ["torn", '{\n  "formatVersion": 1,\n  "sco'],
    ["in conflict after a merge", '{\n  "formatVersion": 1,\n<<<<<<< HEAD\n'],
  ])("a manifest that is %s is written anew", async (_, text) => {
    const folder = scratchFolder();
    await write(folder, { "index.ts": STUB });
    writeFileSync(join(folder, "manifest.json"), text);
    expect(statuses(await write(folder, { "index.ts": `${STUB}//\n` }))).toEqual({
      "index.ts": "updated",
      "manifest.json": "updated",
    });
  });

  test("a file edited by hand is not removed when it is no longer wanted", async () => {
    const folder = scratchFolder();
    await write(folder, { "servers/a.ts": STUB });
    writeFileSync(join(folder, "servers/a.ts"), `${STUB}// a note of mine\n`);
    const outcome = await write(folder, { "servers/b.ts": STUB });
    expect(outcome.diagnostics).toMatchObject([{ code: "output-foreign", severity: "warning", file: "servers/a.ts" }]);
    expect(existsSync(join(folder, "servers/a.ts"))).toBe(true);
  });

  test.each(["../escape.ts", "servers/../../escape.ts", "/tmp/escape.ts", "a\0.ts"])("refuses %j", async (path) => {
    const folder = join(scratchFolder(), "generated");
    const outcome = await write(folder, { [path]: STUB });
    expect(outcome.diagnostics).toMatchObject([{ code: "output-outside" }]);
    expect(existsSync(folder)).toBe(false);
  });

  test("refuses to write through a link that leads out of the folder", async () => {
    const root = scratchFolder();
    mkdirSync(join(root, "elsewhere"));
    mkdirSync(join(root, "generated"));
    symlinkSync(join(root, "elsewhere"), join(root, "generated", "servers"));
    const outcome = await write(join(root, "generated"), { "servers/a.ts": STUB });
    expect(outcome.diagnostics).toMatchObject([{ code: "output-outside" }]);
    expect(readdirSync(join(root, "elsewhere"))).toEqual([]);
  });

  test("a link planted under a staging name is not followed, and staging leaves nothing behind", async () => {
    const root = scratchFolder();
    writeFileSync(join(root, "victim"), "untouched");
    const folder = join(root, "generated");
    mkdirSync(folder);
    for (const name of [`index.ts.pimcp-${process.pid}.tmp`, `manifest.json.pimcp-${process.pid}.tmp`]) {
      symlinkSync(join(root, "victim"), join(folder, name));
    }
    await write(folder, { "index.ts": STUB });
    expect(readFileSync(join(root, "victim"), "utf8")).toBe("untouched");
    expect(readFileSync(join(folder, "index.ts"), "utf8")).toBe(STUB);
    expect(readdirSync(folder).filter((name) => !name.includes(`-${process.pid}.`))).toEqual([
      "index.ts",
      "manifest.json",
    ]);
  });

  test("line ends that git converted are no change", async () => {
    const folder = scratchFolder();
    await write(folder, { "index.ts": STUB });
    writeFileSync(join(folder, "index.ts"), STUB.replaceAll("\n", "\r\n"));
    expect(statuses(await write(folder, { "index.ts": STUB }))["index.ts"]).toBe("unchanged");
  });

  test("a file where the folder should be is a clear error", async () => {
    const folder = join(scratchFolder(), "generated");
    writeFileSync(folder, "not a folder");
    const outcome = await write(folder, { "index.ts": STUB });
    expect(outcome.diagnostics).toMatchObject([{ code: "output-unwritable" }]);
    expect(readFileSync(folder, "utf8")).toBe("not a folder");
  });

  // Root may write anywhere, so the refusal can only be seen as somebody else.
  test.skipIf(process.getuid?.() === 0)("a read-only folder is a clear error and loses nothing", async () => {
    const folder = scratchFolder();
    await write(folder, { "index.ts": STUB });
    chmodSync(folder, 0o500);
    const outcome = await write(folder, { "index.ts": `${STUB}//\n` });
    chmodSync(folder, 0o700);
    expect(outcome.diagnostics).toMatchObject([{ code: "output-unwritable" }]);
    expect(readFileSync(join(folder, "index.ts"), "utf8")).toBe(STUB);
  });

  test("a write that fails half-way leaves every old file and no temporary one", async () => {
    const folder = scratchFolder();
    await write(folder, { "index.ts": STUB });
    writeFileSync(join(folder, "servers"), "a file where a folder is needed");
    const outcome = await write(folder, { "index.ts": `${STUB}//\n`, "servers/a.ts": STUB });
    expect(outcome.diagnostics).toMatchObject([{ code: "output-unwritable" }]);
    expect(readFileSync(join(folder, "index.ts"), "utf8")).toBe(STUB);
    expect(readdirSync(folder).sort()).toEqual(["index.ts", "manifest.json", "servers"]);
  });
});
