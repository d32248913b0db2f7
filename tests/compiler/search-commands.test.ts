import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Io } from "../../cli/io.ts";
import { main } from "../../cli/main.ts";
import { loadConfiguration } from "../../runtime/connect/configuration.ts";
import { settingsDigest } from "../../schemas/config/digest.ts";
import { buildArtifacts, writeTo } from "../artifacts-builder.ts";

let home: string;
let project: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "pimcp-views-"));
  project = join(home, "project");
  mkdirSync(join(project, ".git"), { recursive: true });
});
afterEach(() => rmSync(home, { recursive: true }));

/** Runs one command line in `project` and gives back what it printed. */
async function pimcp(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const printed = { out: "", err: "" };
  const look = { colour: false, width: 80 };
  const io: Io = {
    env: { HOME: home },
    homedir: home,
    cwd: project,
    out: (text) => {
      printed.out += text;
    },
    err: (text) => {
      printed.err += text;
    },
    outLook: look,
    errLook: look,
    interactive: false,
    signal: new AbortController().signal,
  };
  return { code: await main(argv, io), ...printed };
}

/** A project with one compiled server, its artifacts as new as its configuration. */
async function compiled(): Promise<void> {
  writeFileSync(join(project, "mcp.json"), JSON.stringify({ mcpServers: { docs: { command: "docs" } } }));
  const configuration = await loadConfiguration({ cwd: project, env: { HOME: home }, homedir: home });
  const settings = settingsDigest(configuration.value, "project");
  const tools = [{ name: "search_pages", description: "Searches pages" }, "read_page"];
  writeTo(join(project, "generated"), buildArtifacts({ settings, servers: [{ name: "docs", tools }] }));
}

describe("list, describe and search", () => {
  test("print text on stdout and nothing on stderr when all is well", async () => {
    await compiled();
    for (const argv of [
      ["list"],
      ["list", "docs"],
      ["describe", "read_page"],
      ["describe", "docs"],
      ["search", "pages"],
    ]) {
      const { code, out, err } = await pimcp(...argv);
      expect({ argv, code, err }).toEqual({ argv, code: 0, err: "" });
      expect(out).toMatch(/_page/);
    }
  });

  test("print one JSON object with --json", async () => {
    await compiled();
    expect(JSON.parse((await pimcp("list", "--json")).out).servers[0].tools).toHaveLength(2);
    expect(JSON.parse((await pimcp("search", "read", "page", "--limit", "1", "--json")).out).results).toMatchObject([
      { tool: "read_page" },
    ]);
    expect(JSON.parse((await pimcp("describe", "docs/read_page", "--json")).out)).toMatchObject({
      kind: "tool",
      tool: "read_page",
    });
  });

  test.each([
    [["list", "dosc"], 1, "unknown-server"],
    [["describe", "read_pgae"], 1, "docs/read_page"],
    [["search", "x", "--namespace", "dosc"], 1, "unknown-server"],
    [["search", "x", "--limit", "0"], 2, "--limit"],
    [["search", "x", "--limit", "1.5"], 2, "--limit"],
  ] as const)("%j exits with %i", async (argv, code, told) => {
    await compiled();
    const result = await pimcp(...argv);
    expect(result.code).toBe(code);
    expect(result.err).toContain(told);
    expect(result.out).toBe("");
  });

  test("say what is wrong with the artifacts, once, as JSON too", async () => {
    await compiled();
    writeFileSync(join(project, "generated", "exposure.json"), "{}");
    const { code, out, err } = await pimcp("list", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(out).diagnostics.map((found: { code: string }) => found.code)).toEqual(["artifacts-torn"]);
    expect(err).toContain("pimcp compile");
    expect((await pimcp("describe", "read_page")).err).not.toContain("unknown-tool");
  });

  test("say that nothing was compiled, or that the configuration is newer", async () => {
    expect(await pimcp("list")).toMatchObject({ code: 1, err: expect.stringContaining("artifacts-missing") });
    await compiled();
    writeFileSync(
      join(project, "mcp.json"),
      JSON.stringify({ mcpServers: { docs: { command: "docs", exposure: "direct" } } }),
    );
    const { code, out, err } = await pimcp("list");
    expect(code).toBe(0);
    expect(err).toContain("config-newer");
    expect(out).toContain("read_page");
  });

  test("name servers of a scope that was never compiled", async () => {
    await compiled();
    mkdirSync(join(home, ".pi", "agent"), { recursive: true });
    writeFileSync(
      join(home, ".pi", "agent", "mcp.json"),
      JSON.stringify({ mcpServers: { mine: { command: "mine" } } }),
    );
    expect((await pimcp("list")).err).toMatch(/never compiled: mine/);
  });
});
