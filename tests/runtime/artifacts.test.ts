import { mkdtempSync, renameSync, rmSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { findNewerConfig } from "../../runtime/artifacts/freshness.ts";
import { loadArtifacts } from "../../runtime/artifacts/load.ts";
import { search } from "../../runtime/search.ts";
import { layerArtifacts } from "../../schemas/artifacts/layer.ts";
import { openArtifacts } from "../../schemas/artifacts/read.ts";
import { findTarget } from "../../schemas/artifacts/target.ts";
import { buildArtifacts, type Files, layer, memoryReader, replaceFile, writeTo } from "../artifacts-builder.ts";

const folders: string[] = [];
function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "pimcp-artifacts-"));
  folders.push(path);
  return path;
}
afterEach(() => {
  for (const path of folders.splice(0)) rmSync(path, { recursive: true });
});

describe("a folder that can't be trusted", () => {
  const good = buildArtifacts({ servers: [{ name: "docs", tools: ["search", "read"] }] });
  const changed = (path: string, text: string): Files => new Map([...good, [path, text]]);
  const without = (path: string): Files => new Map([...good].filter(([name]) => name !== path));
  const manifest = JSON.parse(good.get("manifest.json")!);
  const exposure = JSON.parse(good.get("exposure.json")!);
  const rows: [what: string, files: Files, code: string, names: string][] = [
    ["no folder", new Map(), "artifacts-missing", "no artifacts"],
    ["no manifest", without("manifest.json"), "artifacts-missing", "no artifacts"],
    [
      "half a manifest",
      changed("manifest.json", good.get("manifest.json")!.slice(0, 40)),
      "artifacts-torn",
      "manifest.json",
    ],
    ["an empty manifest", changed("manifest.json", ""), "artifacts-torn", "manifest.json"],
    ["a manifest of null", changed("manifest.json", "null"), "artifacts-format", "manifest.json"],
    [
      "a later format",
      changed("manifest.json", JSON.stringify({ ...manifest, formatVersion: 2 })),
      "artifacts-format",
      "format 2",
    ],
    ["no format", changed("manifest.json", "{}"), "artifacts-format", "no format version"],
    [
      "no servers",
      changed("manifest.json", JSON.stringify({ ...manifest, servers: [] })),
      "artifacts-format",
      "manifest.json",
    ],
    [
      "an edited file",
      changed("exposure.json", good.get("exposure.json")!.replace("codemode", "hidden")),
      "artifacts-torn",
      "exposure.json",
    ],
    ["an empty file", changed("limits.json", ""), "artifacts-torn", "limits.json"],
    ["a missing file", without("limits.json"), "artifacts-torn", "limits.json is missing"],
    [
      "a file of a later format",
      replaceFile(good, "exposure.json", { ...exposure, formatVersion: 3 }),
      "artifacts-format",
      "format 3",
    ],
    [
      "an unknown exposure",
      replaceFile(good, "exposure.json", {
        ...exposure,
        tools: { x: { server: "docs", tool: "x", exposure: "lazy", rule: "default" } },
      }),
      "artifacts-format",
      "exposure.json",
    ],
    [
      "a limit of zero",
      replaceFile(good, "limits.json", {
        formatVersion: 1,
        default: { maxOutputBytes: 0, source: "default" },
        tools: {},
      }),
      "artifacts-format",
      "limits.json",
    ],
    [
      "a manifest that forgets a file",
      changed("manifest.json", JSON.stringify({ ...manifest, files: {} })),
      "artifacts-torn",
      "exposure.json",
    ],
  ];
  test.each(rows)("%s", (_, files, code, names) => {
    const table = layerArtifacts({
      project: openArtifacts("generated", memoryReader(files).readFile),
      user: undefined,
    });
    expect(table.diagnostics.map((found) => found.code)).toEqual([code]);
    expect(table.diagnostics[0]!.message).toContain("pimcp compile");
    expect(table.diagnostics[0]!.message).toContain("generated");
    expect(table.diagnostics[0]!.message).toContain(names);
    expect(table.value.tools({ includeHidden: true })).toEqual([]);
  });

  test("a file that is read later is verified then", () => {
    const torn = changed("catalog.json", good.get("catalog.json")!.replace("search", "hack"));
    const table = layerArtifacts({ project: openArtifacts("generated", memoryReader(torn).readFile), user: undefined });
    expect(table.diagnostics).toEqual([]);
    const definition = table.value.definition("mcp__docs__search");
    expect(definition).toMatchObject({ ok: false, diagnostic: { code: "artifacts-torn" } });
  });

  test.each<[string, unknown]>([
    ["no list", {}],
    ["a prompt without a name of its own", [{ name: "mcp__docs__p" }]],
    ["a description that is no text", [{ name: "mcp__docs__p", prompt: "p", description: 7 }]],
    ["arguments without names", [{ name: "mcp__docs__p", prompt: "p", arguments: [{}] }]],
  ])("prompts of a wrong shape are no catalog: %s", (_, promptList) => {
    const catalog = JSON.parse(good.get("catalog.json")!);
    catalog.servers[0].promptList = promptList;
    const files = replaceFile(good, "catalog.json", catalog);
    const table = layerArtifacts({
      project: openArtifacts("generated", memoryReader(files).readFile),
      user: undefined,
    });
    expect(table.value.serverDefinition("docs")).toMatchObject({ ok: false, diagnostic: { code: "artifacts-format" } });
  });

  test("a file that is there and unreadable is no missing one", () => {
    const opened = openArtifacts("generated", () => ({ missing: false, message: "EACCES" }));
    expect(opened).toMatchObject({ ok: false, diagnostic: { message: expect.stringContaining("EACCES") } });
  });
});

describe("loading", () => {
  test("reads the manifest, exposure and limits, and the rest when asked for", () => {
    const { readFile, reads } = memoryReader(buildArtifacts({ servers: [{ name: "docs", tools: ["search"] }] }));
    const table = layerArtifacts({ project: openArtifacts("generated", readFile), user: undefined }).value;
    expect(reads).toEqual(["manifest.json", "exposure.json", "limits.json"]);
    table.definition("mcp__docs__search");
    table.definition("mcp__docs__search");
    expect(reads.slice(3)).toEqual(["catalog.json"]);
    table.tokens(table.byName("mcp__docs__search")!);
    expect(reads.slice(4)).toEqual(["budget.json"]);
    search(table, "search");
    search(table, "search");
    expect(reads.slice(5)).toEqual(["search.json"]);
  });

  test("nothing anywhere is one error, one scope alone is none", () => {
    const projectOut = join(folder(), "generated");
    const userOut = join(folder(), "generated");
    const nothing = loadArtifacts({ projectOut, userOut });
    expect(nothing.diagnostics.map((found) => found.code)).toEqual(["artifacts-missing"]);
    expect(nothing.value.servers()).toEqual([]);
    writeTo(userOut, buildArtifacts({ scope: "user", servers: [{ name: "mine", tools: ["go"] }] }));
    const loaded = loadArtifacts({ projectOut, userOut });
    expect(loaded.diagnostics).toEqual([]);
    expect(loaded.value.tools().map((tool) => tool.name)).toEqual(["mcp__mine__go"]);
    loaded.close();
    nothing.close();
  });

  test("a session keeps the definitions it started with when a compile replaces the files", () => {
    const projectOut = folder();
    const compiled = (description: string) =>
      buildArtifacts({ servers: [{ name: "docs", tools: [{ name: "search", description }] }] });
    writeTo(projectOut, compiled("old"));
    const loaded = loadArtifacts({ projectOut });
    const next = folder();
    writeTo(next, compiled("new"));
    for (const path of compiled("new").keys()) renameSync(join(next, path), join(projectOut, path));
    const definition = loaded.value.definition("mcp__docs__search");
    expect(definition).toMatchObject({ ok: true, value: { description: "old" } });
    loaded.close();
    const again = loadArtifacts({ projectOut });
    expect(again.value.definition("mcp__docs__search")).toMatchObject({ ok: true, value: { description: "new" } });
    again.close();
  });

  test("a table whose files were let go reads what is there", () => {
    const projectOut = writeTo(folder(), buildArtifacts({ servers: [{ name: "docs", tools: ["search"] }] }));
    const loaded = loadArtifacts({ projectOut });
    loaded.close();
    loaded.close();
    expect(loaded.value.definition("mcp__docs__search").ok).toBe(true);
    unlinkSync(join(projectOut, "search.json"));
    expect(search(loaded.value, "x")).toMatchObject({ ok: false, diagnostic: { code: "artifacts-torn" } });
  });
});

describe("hidden tools", () => {
  const table = layer(
    {
      servers: [
        { name: "docs", toolExposure: { wipe: "hidden" }, tools: ["read", { name: "wipe", description: "wipes" }] },
        { name: "apps", tools: [{ name: "ui", _meta: { ui: { visibility: ["app"] } } }] },
      ],
    },
    undefined,
  ).value;

  test.each([
    ["docs", "wipe", "mcp__docs__wipe"],
    ["apps", "ui", "mcp__apps__ui"],
  ])("%s/%s is unreachable by every lookup", (server, tool, name) => {
    expect(table.byName(name)).toBeUndefined();
    expect(table.byTool(server, tool)).toBeUndefined();
    expect(table.tools().map((entry) => entry.name)).not.toContain(name);
    expect(table.tools({ server }).map((entry) => entry.name)).not.toContain(name);
    expect(table.definition(name)).toEqual({ ok: true, value: undefined });
    expect(JSON.stringify(table.serverDefinition(server))).not.toContain(tool === "ui" ? '"ui"' : tool);
    const found = search(table, `${tool} ${name}`);
    expect(found.ok && found.value.map((result) => result.tool)).not.toContain(tool);
    for (const spelling of [name, tool, `${server}/${tool}`, `${server}.${tool}`]) {
      const target = findTarget(table, spelling);
      expect(target.ok && target.value.kind === "tool").toBe(false);
      if (!target.ok) expect(target.diagnostic.message.replace(spelling, "")).not.toContain(`${server}/${tool}`);
    }
  });

  test("are there for those who ask for hidden ones", () => {
    expect(table.byName("mcp__docs__wipe", { includeHidden: true })).toMatchObject({
      exposure: "hidden",
      rule: "toolExposure:wipe",
    });
    expect(table.byTool("apps", "ui", { includeHidden: true })).toMatchObject({ rule: "visibility" });
    expect(table.tools({ includeHidden: true })).toHaveLength(3);
    expect(table.definition("mcp__docs__wipe", { includeHidden: true })).toMatchObject({
      value: { description: "wipes" },
    });
  });
});

describe("names that mean something to JavaScript", () => {
  test("are servers and tools like any other", () => {
    const table = layer(
      {
        servers: [
          { name: "constructor", tools: ["__proto__", "toString"] },
          { name: "__proto__", tools: ["x"] },
        ],
      },
      undefined,
    ).value;
    expect(table.tools().map((tool) => `${tool.server}/${tool.tool}`)).toEqual([
      "__proto__/x",
      "constructor/__proto__",
      "constructor/toString",
    ]);
    expect(table.byTool("constructor", "__proto__")!.exposure).toBe("codemode");
    expect(table.byTool("constructor", "valueOf")).toBeUndefined();
    expect(table.byName("constructor")).toBeUndefined();
    expect(table.server("toString")).toBeUndefined();
  });
});

describe("a configuration newer than its artifacts", () => {
  const now = { settings: "b".repeat(64) };
  const ask = async (digest: string | undefined, configTime: number) => {
    const projectOut = writeTo(
      folder(),
      buildArtifacts({ settings: "a".repeat(64), servers: [{ name: "s", tools: ["x"] }] }),
    );
    const config = join(folder(), "mcp.json");
    writeFileSync(config, "{}");
    utimesSync(join(projectOut, "manifest.json"), 1000, 1000);
    utimesSync(config, configTime, configTime);
    const loaded = loadArtifacts({ projectOut });
    let asked = 0;
    const found = await findNewerConfig({
      table: loaded.value,
      folders: { project: projectOut },
      // The last lies below a file, as where somebody has a file `.pi`.
      configFiles: [config, join(projectOut, "no-such-file"), join(config, "mcp.json")],
      settingsDigest: async () => {
        asked++;
        return digest;
      },
    });
    loaded.close();
    return { codes: found.map((one) => one.code), asked };
  };

  test.each([
    ["older file", now.settings, 900, { codes: [], asked: 0 }],
    ["newer file, other settings", now.settings, 1100, { codes: ["config-newer"], asked: 1 }],
    ["file of the same time, other settings", now.settings, 1000, { codes: ["config-newer"], asked: 1 }],
    ["newer file, same settings", "a".repeat(64), 1100, { codes: [], asked: 1 }],
    ["newer file that can't be understood", undefined, 1100, { codes: [], asked: 1 }],
  ] as const)("%s", async (_, digest, time, want) => {
    expect(await ask(digest, time)).toEqual(want);
  });
});
