import { chmod, chown, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type LoadOptions, loadConfiguration } from "../../runtime/connect/configuration.ts";
import { lines, names } from "./config-layering.ts";

let top: string;
let home: string;
beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), "pimcp-config-")));
  home = join(top, "home");
  await mkdir(home);
});
afterEach(() => rm(top, { recursive: true, force: true }));

async function put(path: string, text = '{"mcpServers":{"s":{"command":"x"}}}'): Promise<string> {
  const full = join(top, path);
  await mkdir(dirname(full), { recursive: true });
  await writeFile(full, text);
  return full;
}

function load(cwd: string, more: Partial<LoadOptions> = {}) {
  return loadConfiguration({ cwd: join(top, cwd), env: {}, homedir: home, ...more });
}

const server = (name: string) => `{"mcpServers":{"${name}":{"command":"x"}}}`;

describe("the project root", () => {
  test.each<[string, string[], string, string]>([
    ["the nearest folder with a project file", ["home/a/mcp.json", "home/a/b/.mcp.json"], "home/a/b/c/d", "home/a/b"],
    ["a file in .pi", ["home/a/.pi/mcp.json"], "home/a/b", "home/a"],
    [
      "a repository's root is the last folder looked at",
      ["home/mono/mcp.json", "home/mono/app/.git/HEAD"],
      "home/mono/app/src",
      "home/mono/app/src",
    ],
    ["and is looked at", ["home/mono/mcp.json", "home/mono/.git/HEAD"], "home/mono/app", "home/mono"],
    [
      "a worktree's .git is a file",
      ["home/mono/mcp.json", "home/mono/app/.git"],
      "home/mono/app/src",
      "home/mono/app/src",
    ],
    ["never the home folder", ["home/mcp.json"], "home/a", "home/a"],
    ["never above the home folder", ["mcp.json"], "home/a", "home/a"],
    ["except when it is the working folder", ["home/mcp.json"], "home", "home"],
    ["outside of home", ["srv/app/mcp.json"], "srv/app/x", "srv/app"],
    ["without any file the working folder", [], "home/a/b", "home/a/b"],
  ])("%s", async (_, files, cwd, want) => {
    for (const file of files) await put(file);
    await mkdir(join(top, cwd), { recursive: true });
    const { value } = await load(cwd);
    expect(value.projectDir).toBe(join(top, want));
    expect(value.project.out).toBe(join(top, want, "generated"));
  });

  test.runIf(process.getuid?.() === 0)("not what others put into a folder that anyone may write to", async () => {
    const planted = await put("tmp/mcp.json");
    await mkdir(join(top, "tmp/mine"));
    await chmod(join(top, "tmp"), 0o1777);
    expect((await load("tmp/mine")).value.projectDir).toBe(join(top, "tmp"));
    await chown(planted, 12_345, 12_345);
    expect((await load("tmp/mine")).value.projectDir).toBe(join(top, "tmp/mine"));
    expect((await load("tmp")).value.projectDir).toBe(join(top, "tmp"));
  });

  test("the agent folder is no project", async () => {
    await put("home/.pi/agent/mcp.json");
    const { value } = await load("home/.pi/agent");
    expect(value.servers.map(({ name, scope }) => [name, scope])).toEqual([["s", "user"]]);
    await mkdir(join(top, "home/.pi/agent/sub"), { recursive: true });
    const below = await load("home/.pi/agent/sub");
    expect(below.value.servers.map(({ name, scope }) => [name, scope])).toEqual([["s", "user"]]);
  });
});

describe("the files", () => {
  test("all four, and those that don't exist, are named", async () => {
    await put("home/app/mcp.json");
    const { value } = await load("home/app");
    expect(value.files).toEqual(
      ["home/.pi/agent/mcp.json", "home/app/.mcp.json", "home/app/mcp.json", "home/app/.pi/mcp.json"].map((file) =>
        join(top, file),
      ),
    );
  });

  test.each<[string, string]>([
    ["~/agents", "home/agents"],
    ["", "home/.pi/agent"],
    ["rel", "home/app/rel"],
  ])("PI_CODING_AGENT_DIR=%j", async (dir, want) => {
    await put(`${want}/mcp.json`, server("user"));
    await mkdir(join(top, "home/app"), { recursive: true });
    const { value } = await load("home/app", { env: { PI_CODING_AGENT_DIR: dir } });
    expect(value.agentDir).toBe(join(top, want));
    expect(names(value)).toEqual(["user"]);
    expect(value.user.out).toBe(join(top, want, "pimcp/generated"));
  });

  test("--config reads that file alone", async () => {
    await put("home/.pi/agent/mcp.json", server("user"));
    await put("home/app/mcp.json", server("other"));
    await put("home/app/.pi/special.json", server("only"));
    const { value } = await load("home", { config: "app/.pi/special.json" });
    expect(names(value)).toEqual(["only"]);
    expect(value.servers[0]).toMatchObject({
      scope: "project",
      baseDir: join(top, "home/app"),
      location: { file: "app/.pi/special.json" },
    });
    expect(value.files).toEqual([join(top, "home/app/.pi/special.json")]);
    expect((await load("home", { config: "app/mcp.json" })).value.projectDir).toBe(join(top, "home/app"));
  });

  test("--config naming no file", async () => {
    const { value, diagnostics } = await load("home", { config: "nope.json" });
    expect(lines(diagnostics)).toEqual(["nope.json: error: there is no file nope.json [config-not-found]"]);
    expect(value.servers).toEqual([]);
    expect(value.project.incomplete).toBe(true);
  });

  test("nothing configured names pimcp init", async () => {
    const { diagnostics } = await load("home");
    expect(diagnostics.map((one) => one.code)).toEqual(["no-servers"]);
    expect(diagnostics[0]!.notes.join()).toContain("pimcp init");
  });

  test("--out may be anywhere", async () => {
    await put("home/app/mcp.json");
    expect((await load("home/app", { out: "../../elsewhere" })).value.project.out).toBe(join(top, "elsewhere"));
  });

  test("a symbolic link is followed, and keeps its own place", async () => {
    const real = await put("home/dotfiles/servers.json", server("linked"));
    await mkdir(join(top, "home/app"));
    await symlink(real, join(top, "home/app/mcp.json"));
    const { value } = await load("home/app");
    expect(value.servers[0]).toMatchObject({
      name: "linked",
      file: join(top, "home/app/mcp.json"),
      baseDir: join(top, "home/app"),
    });
  });

  test("places are shown relative to the working folder, to home, or in full", async () => {
    await put("home/.pi/agent/mcp.json", "{");
    await put("home/app/.pi/mcp.json", "[");
    await put("home/app/mcp.json", "x");
    const { diagnostics } = await load("home/app");
    expect(diagnostics.map((one) => one.file)).toEqual(["~/.pi/agent/mcp.json", "mcp.json", ".pi/mcp.json"]);
    await mkdir(join(top, "home/app/sub"));
    expect((await load("home/app/sub")).diagnostics.map((one) => one.file)).toEqual([
      "~/.pi/agent/mcp.json",
      "~/app/mcp.json",
      "~/app/.pi/mcp.json",
    ]);
    const outside = await put("else.json", "{");
    expect((await load("home/app", { config: outside })).diagnostics[0]!.file).toBe(outside);
  });
});

describe("files that can't be read", () => {
  const unreadable = async (make: (path: string) => Promise<unknown>, why: RegExp) => {
    await put("home/.pi/agent/mcp.json", server("user"));
    await put("home/app/mcp.json", server("project"));
    await make(join(top, "home/app/.mcp.json"));
    const { value, diagnostics } = await load("home/app");
    expect(names(value)).toEqual(["project", "user"]);
    expect(value.project.incomplete).toBe(true);
    const found = lines(diagnostics);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^\.mcp\.json: error: cannot read \.mcp\.json: .* \[config-unreadable\]$/);
    expect(found[0]).toMatch(why);
  };

  test("a folder", () => unreadable((path) => mkdir(path), /it is a folder/));
  test("UTF-16", () => unreadable((path) => writeFile(path, `\ufeff${server("x")}`, "utf16le"), /not UTF-8/));
  test("a stray byte", () => unreadable((path) => writeFile(path, Buffer.from([0x7b, 0xff, 0x7d])), /not UTF-8/));
  test("a link to nowhere", () =>
    unreadable((path) => symlink("nowhere", path), /symbolic link to a file that does not exist/));
  test("a circle of links", () => unreadable((path) => symlink(".mcp.json", path), /circle/));
  test.skipIf(process.getuid?.() === 0)("no permission", () =>
    unreadable(async (path) => {
      await writeFile(path, server("x"));
      await chmod(path, 0);
    }, /permission denied/),
  );

  test("a file where the folder .pi should be is no file", async () => {
    await put("home/app/.pi", "");
    await put("home/app/mcp.json");
    const { value, diagnostics } = await load("home/app");
    expect(diagnostics).toEqual([]);
    expect(names(value)).toEqual(["s"]);
  });
});
