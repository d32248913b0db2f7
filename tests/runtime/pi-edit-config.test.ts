/** Files that are changed: whole, with their permissions, through links, and never over what somebody else wrote. */
import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { editConfig } from "../../runtime/pi/servers/edit-config.ts";
import type { SourceEdit } from "../../schemas/config/edit-source.ts";
import { DIST } from "../cli/pimcp.ts";
import { scratchFolder } from "../scratch.ts";

const set = (server: string): SourceEdit => ({ path: ["mcpServers", server, "enabled"], value: false });
const fileIn = (folder: string) => ({ path: join(folder, "mcp.json"), display: "mcp.json" });

describe("a configuration file", () => {
  test("keeps its permissions, and nothing is left beside it", async () => {
    const folder = scratchFolder();
    const file = fileIn(folder);
    writeFileSync(file.path, '\ufeff{"mcpServers":{}}\r\n');
    chmodSync(file.path, 0o604);
    expect(await editConfig(file, [set("a")])).toEqual({ ok: true, kind: "changed" });
    expect(readFileSync(file.path, "utf8")).toBe('\ufeff{"mcpServers":{"a":{"enabled":false}}}\r\n');
    expect(statSync(file.path).mode & 0o777).toBe(0o604);
    expect(readdirSync(folder)).toEqual(["mcp.json"]);
  });

  test("isn't touched where nothing changes", async () => {
    const file = fileIn(scratchFolder());
    writeFileSync(file.path, '{"mcpServers":{"a":{"enabled":false}}}');
    const before = statSync(file.path);
    expect(await editConfig(file, [set("a")])).toEqual({ ok: true, kind: "unchanged" });
    expect(statSync(file.path)).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
  });

  test("is made with its folder where there is none", async () => {
    const file = fileIn(join(scratchFolder(), "project", ".pi"));
    expect(await editConfig(file, [set("a")])).toEqual({ ok: true, kind: "created" });
    expect(JSON.parse(readFileSync(file.path, "utf8"))).toEqual({ mcpServers: { a: { enabled: false } } });
    expect(statSync(file.path).mode & 0o777).toBe(0o644 & ~process.umask());
  });

  test("behind links is changed where it is, and the links stay", async () => {
    const folder = scratchFolder();
    const file = fileIn(folder);
    mkdirSync(join(folder, "dotfiles"));
    writeFileSync(join(folder, "dotfiles", "real.json"), "{}");
    symlinkSync(join("dotfiles", "real.json"), join(folder, "middle.json"));
    symlinkSync(join(folder, "middle.json"), file.path);
    expect(await editConfig(file, [set("a")])).toEqual({ ok: true, kind: "changed" });
    expect(lstatSync(file.path).isSymbolicLink()).toBe(true);
    expect(lstatSync(join(folder, "middle.json")).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, "dotfiles", "real.json"), "utf8")).toContain('"a"');
  });

  test("takes changes that come at once, each of them", async () => {
    const file = fileIn(scratchFolder());
    const names = Array.from({ length: 20 }, (_, index) => `s${index}`);
    await Promise.all(names.map((name) => editConfig(file, [set(name)])));
    expect(Object.keys(JSON.parse(readFileSync(file.path, "utf8")).mcpServers)).toEqual(names);
  });
});

test("takes the changes of several processes, each of them", async () => {
  const file = fileIn(scratchFolder());
  writeFileSync(file.path, "{}");
  const script = `
    import { editConfig } from ${JSON.stringify(join(DIST, "runtime", "pi", "servers", "edit-config.js"))};
    for (let i = 0; i < 15; i++)
      await editConfig(${JSON.stringify(file)}, [{ path: ["mcpServers", process.argv[1] + i, "enabled"], value: false }]);`;
  const run = promisify(execFile);
  await Promise.all(
    ["a", "b", "c"].map((name) => run(process.execPath, ["--input-type=module", "-e", script, "--", name])),
  );
  expect(Object.keys(JSON.parse(readFileSync(file.path, "utf8")).mcpServers)).toHaveLength(45);
});

describe("what is refused is left as it was", () => {
  const rows: [what: string, make: (folder: string, path: string) => void, said: string][] = [
    ["half a file", (_, path) => writeFileSync(path, '{"mcpServers":'), "doesn't parse"],
    ["bytes that are no text", (_, path) => writeFileSync(path, Buffer.from([0x7b, 0xff, 0x7d])), "not UTF-8"],
    ["a folder", (_, path) => mkdirSync(path), "not a file"],
    ["a link to nowhere", (folder, path) => symlinkSync(join(folder, "gone"), path), "does not exist"],
    ["a circle of links", (_, path) => symlinkSync(path, path), "ELOOP"],
  ];
  test.each(rows)("%s", async (_, make, said) => {
    const folder = scratchFolder();
    const file = fileIn(folder);
    make(folder, file.path);
    const before = lstatSync(file.path);
    const edited = await editConfig(file, [set("a")]);
    expect(edited).toMatchObject({ ok: false });
    if (edited.ok) return;
    expect([edited.diagnostic.message, ...edited.diagnostic.notes].join(" ")).toContain(said);
    expect(edited.diagnostic.notes.join(" ")).toContain("nothing was written");
    expect(lstatSync(file.path).ino).toBe(before.ino);
    expect(existsSync(join(folder, "gone"))).toBe(false);
    expect(readdirSync(folder)).toEqual(["mcp.json"]);
  });

  test.skipIf(process.getuid?.() === 0)("a folder nobody may write", async () => {
    const folder = scratchFolder();
    const file = fileIn(folder);
    writeFileSync(file.path, "{}");
    chmodSync(folder, 0o500);
    const edited = await editConfig(file, [set("a")]);
    chmodSync(folder, 0o700);
    expect(edited).toMatchObject({
      ok: false,
      diagnostic: { code: "config-unwritable", message: "can't change mcp.json: EACCES" },
    });
    expect(readFileSync(file.path, "utf8")).toBe("{}");
  });
});
