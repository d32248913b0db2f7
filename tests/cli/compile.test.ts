import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Ajv2020 from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import type { CompileJson } from "../../cli/compile-command.ts";
import { codes, FRESH, Stub, statuses, tool, Workspace } from "./pimcp.ts";

/** DESIGN section 4, as a schema: every key, no other key, every enumeration. */
const diagnosticSchema = JSON.parse(
  readFileSync(join(import.meta.dirname, "..", "..", "schemas", "diagnostic.schema.json"), "utf8"),
);
const object = (properties: Record<string, object>, required: readonly string[]) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const COMPILE_JSON = object(
  {
    ok: { type: "boolean" },
    servers: {
      type: "array",
      items: object(
        {
          name: { type: "string" },
          scope: { enum: ["user", "project"] },
          status: { enum: ["compiled", "unchanged", "stale", "failed", "disabled"] },
          source: { enum: ["live", "cache", "none"] },
          tools: { type: "integer", minimum: 0 },
          era: { enum: ["legacy", "modern"] },
          protocolVersion: { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}$" },
          ttlMs: { type: "number", minimum: 0 },
          cacheScope: { enum: ["public", "private"] },
          durationMs: { type: "integer", minimum: 0 },
        },
        ["name", "scope", "status", "source", "tools", "durationMs"],
      ),
    },
    files: {
      type: "array",
      items: object({ path: { type: "string" }, status: { enum: ["created", "updated", "unchanged", "removed"] } }, [
        "path",
        "status",
      ]),
    },
    diagnostics: { type: "array", items: diagnosticSchema },
  },
  ["ok", "servers", "files", "diagnostics"],
);
const validate = new Ajv2020.default().compile(COMPILE_JSON);

function expectShape(json: CompileJson): void {
  expect(validate(json), JSON.stringify(validate.errors)).toBe(true);
}

const ALL_FILES = [
  "budget.json",
  "catalog.json",
  "codemode.d.ts",
  "exposure.json",
  "index.ts",
  "limits.json",
  "manifest.json",
  "search.json",
];

describe("compile --json", () => {
  test("has the documented shape in every outcome a server can have", async () => {
    const work = new Workspace();
    const [good, cached, gone] = [new Stub(), new Stub(FRESH), new Stub()];
    const servers = { cached: cached.entry, gone: gone.entry, good: good.entry };
    work.servers(servers);
    const first = await work.compile();
    expect(first.code).toBe(0);
    expectShape(first.json);
    expect(first.json.ok).toBe(true);
    expect(statuses(first.json)).toEqual({ cached: "compiled/live", gone: "compiled/live", good: "compiled/live" });
    expect(first.json.servers[0]).toEqual({
      name: "cached",
      scope: "project",
      status: "compiled",
      source: "live",
      tools: 1,
      era: "legacy",
      protocolVersion: "2025-11-25",
      ttlMs: 3_600_000,
      cacheScope: "public",
      durationMs: expect.any(Number),
    });

    gone.set({ exitAtStart: 1 });
    work.servers({
      ...servers,
      fresh: new Stub().entry,
      off: { ...good.entry, enabled: false },
      never: { command: process.execPath, args: ["-e", "process.exit(4)"] },
    });
    const second = await work.compile();
    expect(second.code).toBe(1);
    expectShape(second.json);
    expect(second.json.ok).toBe(false);
    expect(statuses(second.json)).toEqual({
      cached: "unchanged/cache",
      fresh: "compiled/live",
      gone: "stale/none",
      good: "unchanged/live",
      never: "failed/none",
      off: "disabled/none",
    });
  });

  test("prints one object on stdout and nothing else, also for a configuration that is no JSON", async () => {
    const work = new Workspace();
    work.write("project/mcp.json", '{ "mcpServers": ');
    const { code, stdout, stderr } = await work.run("compile", "--json");
    expect(code).toBe(1);
    const json = JSON.parse(stdout) as CompileJson;
    expectShape(json);
    expect(codes(json)).toEqual(["error config-syntax"]);
    expect(stderr).toBe("");
  });

  test("names the files it wrote as they are reached from the working folder", async () => {
    const work = new Workspace();
    work.servers({ a: new Stub().entry });
    const { json } = await work.compile();
    const paths = json.files.map(({ path, status }) => `${status} ${path}`).sort();
    expect(paths).toEqual([...ALL_FILES, "servers/a.ts"].map((path) => `created generated/${path}`).sort());
    const again = await work.compile();
    expect(new Set(again.json.files.map((file) => file.status))).toEqual(new Set(["unchanged"]));
  });
});

describe("what is printed", () => {
  test.each([80, 40])("fits %i columns, whatever servers and tools are called", async (width) => {
    const work = new Workspace();
    const long = "a-server-whose-name-is-much-longer-than-anybody-would-like-it-to-be";
    const stub = new Stub({ ...FRESH, tools: Array.from({ length: 30 }, (_, index) => tool(`tool_${index}`)) });
    work.servers({ [long]: stub.entry, ...Object.fromEntries(["b", "c"].map((name) => [name, stub.entry])) });
    const env = { COLUMNS: String(width) };
    const printed = await Promise.all([work.start(["compile"], { env }).finished]);
    printed.push(await work.start(["compile"], { env }).finished);
    for (const { code, stdout } of printed) {
      expect(code).toBe(0);
      expect(stdout.split("\n").filter((line) => line.length > width)).toEqual([]);
      expect(stdout).toContain("90 tools");
    }
  });

  test("diagnostics have place, severity and code, and their number at the end", async () => {
    const work = new Workspace();
    work.servers({ a: { ...new Stub().entry, exposure: "lazy" } });
    const { code, stderr } = await work.run("compile");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^mcp\.json:\d+:\d+: error: .*"lazy".* \[invalid-exposure\]$/m);
    expect(stderr).toMatch(/^1 error$/m);
  });
});

describe("options", () => {
  test("--server compiles one server and leaves the others as they were", async () => {
    const work = new Workspace();
    const [one, two] = [new Stub({ tools: [tool("x")] }), new Stub({ tools: [tool("x")] })];
    work.servers({ one: one.entry, two: two.entry });
    await work.compile();
    const other = work.read("project/generated/servers/two.ts");
    one.set({ tools: [tool("x"), tool("y")] });
    two.set({ tools: [tool("x"), tool("y")] });
    const { code, json } = await work.compile("--server", "one");
    expect(code).toBe(0);
    expect(json.servers.map((server) => server.name)).toEqual(["one"]);
    expect(work.read("project/generated/servers/one.ts")).toContain('"y"');
    expect(work.read("project/generated/servers/two.ts")).toBe(other);
    expect(two.lists()).toBe(1);
  });

  test("--server with an unknown name suggests the nearest, and changes nothing", async () => {
    const work = new Workspace();
    work.servers({ weather: new Stub().entry });
    await work.compile();
    const manifest = work.read("project/generated/manifest.json");
    const { code, stderr } = await work.run("compile", "--server", "wether");
    expect(code).toBe(1);
    expect(stderr).toContain('did you mean "weather"?');
    expect(stderr).toContain("[unknown-server]");
    expect(work.read("project/generated/manifest.json")).toBe(manifest);
  });

  test("--out writes elsewhere", async () => {
    const work = new Workspace();
    work.servers({ a: new Stub().entry });
    const { code } = await work.compile("--out", "../elsewhere");
    expect(code).toBe(0);
    expect(readdirSync(join(work.root, "elsewhere")).sort()).toEqual([...ALL_FILES, "servers"].sort());
    expect(work.has("project/generated")).toBe(false);
  });

  test("the configuration's own `out` is used, and --out goes before it", async () => {
    const work = new Workspace();
    work.servers({ a: new Stub(FRESH).entry }, { out: "made" });
    await work.compile();
    expect(work.has("project/made/manifest.json")).toBe(true);
    await work.compile("--out", "other");
    expect(work.has("project/other/manifest.json")).toBe(true);
  });

  test("--config reads that file alone", async () => {
    const work = new Workspace();
    work.servers({ a: new Stub().entry });
    work.write("agent/mcp.json", { mcpServers: { mine: new Stub().entry } });
    work.write("project/other.json", { mcpServers: { b: new Stub().entry } });
    const { json } = await work.compile("--config", "other.json");
    expect(json.servers.map((server) => server.name)).toEqual(["b"]);
    const missing = await work.run("compile", "--config", "nowhere.json");
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain("[config-not-found]");
  });

  test("--cwd runs as if started there", async () => {
    const work = new Workspace();
    work.servers({ a: new Stub().entry });
    const { code, stdout } = await work.start(["compile", "--cwd", "project"], { cwd: work.root }).finished;
    expect(code).toBe(0);
    expect(stdout).toContain("generated (project servers)");
    expect(work.has("project/generated/manifest.json")).toBe(true);
  });

  test("--check writes nothing and exits 1 with the files that would change", async () => {
    const work = new Workspace();
    const stub = new Stub({ tools: [tool("x")] });
    work.servers({ a: stub.entry });
    const before = await work.run("compile", "--check");
    expect(before.code).toBe(1);
    expect(before.stderr).toContain("[check-failed]");
    expect(before.stderr).toContain("servers/a.ts would be created");
    expect(work.has("project/generated")).toBe(false);
    await work.compile();
    expect((await work.run("compile", "--check")).code).toBe(0);
    const manifest = work.read("project/generated/manifest.json");
    stub.set({ tools: [tool("x", "Does something else")] });
    const after = await work.compile("--check");
    expect(after.code).toBe(1);
    expect(after.json.files.filter((file) => file.status === "updated").map((file) => file.path)).toContain(
      "generated/servers/a.ts",
    );
    expect(work.read("project/generated/manifest.json")).toBe(manifest);
  });

  test("--check tells a file that was edited by hand", async () => {
    const work = new Workspace();
    work.servers({ a: new Stub(FRESH).entry });
    await work.compile();
    const stub = work.read("project/generated/servers/a.ts");
    work.write("project/generated/servers/a.ts", `${stub}// mine\n`);
    const { code, stderr } = await work.run("compile", "--check");
    expect(code).toBe(1);
    expect(stderr).toContain("servers/a.ts would be updated");
  });

  test("--refresh asks a server whose list is fresh", async () => {
    const work = new Workspace();
    const stub = new Stub({ ...FRESH, tools: [tool("x")] });
    work.servers({ a: stub.entry });
    await work.compile();
    stub.set({ ...FRESH, tools: [tool("y")] });
    expect(statuses((await work.compile()).json)).toEqual({ a: "unchanged/cache" });
    expect(statuses((await work.compile("--refresh")).json)).toEqual({ a: "compiled/live" });
    expect(work.read("project/generated/servers/a.ts")).toContain('"y"');
  });

  test("--offline starts nothing: cached, compiled before, or an error", async () => {
    const work = new Workspace();
    const [fresh, old, never] = [new Stub(FRESH), new Stub(), new Stub()];
    work.servers({ fresh: fresh.entry, old: old.entry });
    await work.compile();
    const starts = () => [fresh, old, never].map((stub) => stub.starts());
    const before = starts();
    work.servers({ fresh: fresh.entry, never: never.entry, old: old.entry });
    const { code, json } = await work.compile("--offline");
    expect(code).toBe(1);
    expect(codes(json)).toEqual(["error not-cached"]);
    expect(statuses(json)).toEqual({ fresh: "unchanged/cache", never: "failed/none", old: "stale/none" });
    expect(starts()).toEqual(before);
    expect(work.has("project/generated/servers/old.ts")).toBe(true);
  });
});
