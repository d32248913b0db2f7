/**
 * The package as its users get it: packed, installed into a project of its own, used by command line and by import.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "rolldown";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
/** Types of another Node than ours: a program that doesn't skip declarations checks the package's against its own. */
const NEWER_NODE = "@types/node@26";
const server = (name: string) => join(root, "node_modules", "@modelcontextprotocol", name, "dist", "index.js");

describe("a project that uses the packed package", () => {
  let folder: string;
  const run = (command: string, args: string[]) =>
    spawnSync(command, args, {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, PIMCP_CACHE_DIR: join(folder, "cache"), PI_CODING_AGENT_DIR: join(folder, "agent") },
    });
  const tsc = (file: string, packages = join(root, "node_modules"), ...options: string[]) =>
    run(process.execPath, [
      join(root, "node_modules", "typescript", "bin", "tsc"),
      ...["-p", file, "--typeRoots", join(packages, "@types"), ...options],
    ]);

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "pimcp-consumer-"));
    cpSync(join(root, "tests", "consumer"), folder, { recursive: true });
    const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], {
      cwd: root,
      encoding: "utf8",
    });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
    const servers = {
      everything: { command: "node", args: [server("server-everything")] },
      memory: {
        command: "node",
        args: [server("server-memory")],
        env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") },
      },
    };
    writeFileSync(join(folder, "mcp.json"), JSON.stringify({ mcpServers: servers }));
    execFileSync(
      "npm",
      ["install", "--silent", "--no-audit", "--no-fund", "--prefer-offline", join(folder, packed.trim()), NEWER_NODE],
      {
        cwd: folder,
      },
    );
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("compiles its mcp.json with the installed command", () => {
    const compiled = run("npx", ["--no-install", "pimcp", "compile", "--json"]);
    expect(JSON.parse(compiled.stdout)).toMatchObject({ ok: true, diagnostics: [] });
    expect(readdirSync(join(folder, "generated", "servers")).sort()).toEqual(["everything.ts", "memory.ts"]);
  });

  /** Runs a program and expects it to do what main.ts does, to say nothing else, and to end. */
  const expectToWork = (program: string) => {
    const { stdout, stderr, status } = run(process.execPath, [program]);
    expect(stderr).toBe("");
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      degrees: "number",
      sum: "The sum of 20 and 22 is 42.",
      names: ["Ada"],
      toolError: true,
      refused: true,
    });
  };

  test("type-checks, runs, and ends by itself", () => {
    expect(tsc("tsconfig.json").stdout).toBe("");
    // The built stubs lie beside no artifacts: those are found from the working folder.
    expectToWork("built/main.js");
  });

  test("type-checks with the types of a newer Node", () => {
    expect(tsc("tsconfig.json", join(folder, "node_modules"), "--noEmit").stdout).toBe("");
  });

  test("works bundled into one file", async () => {
    await build({
      input: join(folder, "built", "main.js"),
      platform: "node",
      logLevel: "silent",
      output: { file: join(folder, "bundle", "main.mjs"), format: "esm", codeSplitting: false },
    });
    expectToWork("bundle/main.mjs");
  });

  test("works as a package in node_modules, with the artifacts it ships", () => {
    const shipped = join(folder, "node_modules", "shipped");
    cpSync(join(folder, "built"), shipped, { recursive: true });
    cpSync(join(folder, "generated"), join(shipped, "generated"), {
      recursive: true,
      filter: (path) => !path.endsWith(".ts") || path.endsWith(".d.ts"),
    });
    cpSync(join(folder, "mcp.json"), join(shipped, "mcp.json"));
    writeFileSync(join(shipped, "package.json"), JSON.stringify({ name: "shipped", type: "module", main: "main.js" }));
    mkdirSync(join(folder, "elsewhere"));
    writeFileSync(join(folder, "elsewhere", "use.mjs"), 'import "shipped";');
    const { stdout, stderr } = spawnSync(process.execPath, ["use.mjs"], {
      cwd: join(folder, "elsewhere"),
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toMatchObject({ sum: "The sum of 20 and 22 is 42." });
  });

  test("fails to compile on a wrong argument", () => {
    writeFileSync(
      join(folder, "tsconfig.wrong.json"),
      JSON.stringify({ extends: "./tsconfig.json", files: ["wrong.ts"] }),
    );
    const lines = tsc("tsconfig.wrong.json")
      .stdout.split("\n")
      .filter((line) => line.startsWith("wrong.ts"));
    expect(lines.map((line) => /wrong\.ts\((\d+),/.exec(line)?.[1])).toEqual(["4", "5", "6", "7", "8", "9"]);
  });
});
