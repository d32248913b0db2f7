import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { watchConfiguration } from "../../compiler/watch/config-watcher.ts";
import { scratchFolder } from "../scratch.ts";

async function watching(files: string[]) {
  const changed: string[] = [];
  const watcher = await watchConfiguration(files, (file) => changed.push(file));
  onTestFinished(() => watcher.close());
  return { changed };
}

const soon = { timeout: 10_000, interval: 20 };

test("a file written in place, replaced by renaming, and one that did not exist are noticed", async () => {
  const root = scratchFolder();
  const [config, other] = [join(root, "mcp.json"), join(root, ".mcp.json")];
  writeFileSync(config, "{}");
  const { changed } = await watching([config, other]);
  writeFileSync(config, '{ "a": 1 }');
  await vi.waitFor(() => expect(changed).toContain(config), soon);
  changed.length = 0;
  writeFileSync(join(root, "new"), '{ "b": 1 }');
  renameSync(join(root, "new"), config);
  await vi.waitFor(() => expect(changed).toContain(config), soon);
  writeFileSync(other, "{}");
  await vi.waitFor(() => expect(changed).toContain(other), soon);
});

test("a change of what a link points at is noticed", async () => {
  const [root, elsewhere] = [scratchFolder(), scratchFolder()];
  writeFileSync(join(elsewhere, "real.json"), "{}");
  const config = join(root, "mcp.json");
  symlinkSync(join(elsewhere, "real.json"), config);
  const { changed } = await watching([config]);
  writeFileSync(join(elsewhere, "real.json"), '{ "a": 1 }');
  await vi.waitFor(() => expect(changed).toContain(config), soon);
});

test("a file in a folder that appears later is noticed", async () => {
  const root = scratchFolder();
  const config = join(root, ".pi", "mcp.json");
  const { changed } = await watching([config]);
  mkdirSync(join(root, ".pi"));
  writeFileSync(config, "{}");
  await vi.waitFor(() => expect(changed).toContain(config), soon);
});

test("other files of the folder, the outputs among them, are not", async () => {
  const root = scratchFolder();
  const config = join(root, "mcp.json");
  writeFileSync(config, "{}");
  const { changed } = await watching([config]);
  mkdirSync(join(root, "generated"));
  writeFileSync(join(root, "generated", "index.ts"), "");
  writeFileSync(join(root, "package.json"), "{}");
  writeFileSync(config, '{ "last": 1 }');
  await vi.waitFor(() => expect(changed).toContain(config), soon);
  expect(new Set(changed)).toEqual(new Set([config]));
});
