/**
 * `pimcp compile` as a user runs it, on real servers from the npm registry: the ten of the survey and two newcomers in
 * one `mcp.json`. Those that are no devDependency are installed on first use; see README.md.
 */
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readTree, type Tree } from "../golden.ts";
import { declarationErrors, stubErrors } from "../type-check.ts";
import { INSTALL_LIMIT_MS, type Installation, installServers } from "./install.ts";
import {
  type CompileRun,
  compile,
  createProject,
  interruptedCompile,
  type Project,
  removeProject,
  seesProcesses,
} from "./pimcp.ts";
import { LIVE_SERVERS, type LiveServer, SECRETS } from "./servers.ts";

const LIMIT_MS = 300_000;
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

let installation: Installation;
beforeAll(async () => {
  installation = await installServers();
}, INSTALL_LIMIT_MS);

const groups: readonly [string, readonly LiveServer[]][] = [
  ["servers of this repository's devDependencies", LIVE_SERVERS.filter((server) => server.always)],
  ["twelve real servers", LIVE_SERVERS],
];

describe.each(groups)("%s", (_, servers) => {
  let project: Project;
  let first: CompileRun;
  let tree: Tree;
  /** Why this group isn't tried: it isn't installed, or the larger one, which has all of its servers, is. */
  const skipped = (): string | undefined => {
    const ours = servers.every((server) => server.always);
    if (installation.ok) return ours ? "these servers are among the twelve" : undefined;
    return ours ? undefined : installation.why;
  };
  /** A test that is skipped, saying why, where its group is. */
  const check = (name: string, body: () => void | Promise<void>) =>
    test(name, { timeout: LIMIT_MS }, async ({ skip }) => {
      const why = skipped();
      skip(why !== undefined, why);
      await body();
    });

  beforeAll(async () => {
    if (skipped() !== undefined) return;
    project = createProject(servers);
    first = await compile(project);
    tree = readTree(project.generated);
  }, LIMIT_MS);
  afterAll(() => {
    if (project) removeProject(project);
  });

  check("every server is compiled, with the tools and the era that it is known for", () => {
    const got = first.json.servers.map(({ name, status, source, tools, era, ttlMs }) => [
      name,
      status,
      source,
      tools,
      era,
      ttlMs,
    ]);
    const want = servers.map(({ name, tools, era, ttlMs }) => [name, "compiled", "live", tools, era, ttlMs ?? 0]);
    expect(got).toEqual(want.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
    expect(first.json.diagnostics.filter((found) => found.severity === "error")).toEqual([]);
    expect([first.exit, first.json.ok]).toEqual([0, true]);
    const manifest = JSON.parse(tree["manifest.json"]!) as { servers: Record<string, { verdict: string }> };
    const verdicts = Object.values(manifest.servers).map((server) => server.verdict);
    expect(verdicts, "an era known from an answer").toEqual(servers.map(() => "answered"));
  });

  check("every stub type-checks under all flags", () => {
    const stubs = servers.map((server) => `servers/${server.name}.ts`);
    expect(Object.keys(tree)).toEqual(expect.arrayContaining(["index.ts", ...stubs]));
    expect(stubErrors(tree)).toEqual([]);
  });

  check("a wrong argument is a type error, a right one is none", () => {
    const program = (path: string) => ({
      "main.ts": `import { filesystem } from "./index.js";\nexport const list: Promise<unknown> = filesystem.listDirectory({ path: ${path} });\n`,
    });
    expect(stubErrors({ ...tree, ...program('"."') })).toEqual([]);
    expect(stubErrors({ ...tree, ...program("1") })).toEqual([
      "main.ts:2: Type 'number' is not assignable to type 'string'.",
    ]);
  });

  check("codemode.d.ts type-checks alone, names every server and keeps to the budget", () => {
    const declarations = tree["codemode.d.ts"]!;
    expect(declarationErrors(declarations)).toEqual([]);
    for (const { name, tools } of servers) expect(declarations).toMatch(new RegExp(`mcp__${name}\\b.*\\b${tools}\\b`));
    const budget = JSON.parse(tree["budget.json"]!) as { inlineBudget: number; declaredTokens: number };
    expect(budget.inlineBudget).toBe(3000);
    expect(budget.declaredTokens).toBeLessThanOrEqual(3000);
    expect(budget.declaredTokens).toBe(Math.ceil(declarations.length / 4));
  });

  check("no secret gets into artifacts, cache or output", () => {
    const texts: Tree = {
      ...tree,
      ...prefixed("cache/", readTree(project.cache)),
      stdout: first.stdout,
      stderr: first.stderr,
    };
    expect(Object.keys(texts).some((path) => path.startsWith("cache/lists/"))).toBe(true);
    for (const secret of SECRETS) expect(holding(texts, secret), secret).toEqual([]);
  });

  check("no artifact holds a path of this machine", () => {
    for (const path of [ROOT, project.folder, homedir(), process.execPath])
      expect(holding(tree, path), path).toEqual([]);
  });

  check("no server is left running", () => {
    if (seesProcesses) expect(first.processes.most).toBeGreaterThan(0);
    expect(first.processes.left).toEqual([]);
  });

  check("another folder gives the same bytes", async () => {
    const other = createProject(servers);
    try {
      expect((await compile(other)).exit).toBe(0);
      expect(readTree(other.generated)).toEqual(tree);
    } finally {
      removeProject(other);
    }
  });

  check("asked again, all is unchanged and no file is touched", async () => {
    const before = stamps(project.generated);
    const again = await compile(project, "--refresh");
    expect(again.json.servers.map(({ name, status, source }) => [name, status, source])).toEqual(
      first.json.servers.map(({ name }) => [name, "unchanged", "live"]),
    );
    expect(again.json.files).toEqual(first.json.files.map(({ path }) => ({ path, status: "unchanged" })));
    expect(stamps(project.generated)).toEqual(before);
    expect(again.processes.left).toEqual([]);
  });

  check("--check --offline starts nothing and finds the artifacts up to date", async () => {
    const checked = await compile(project, "--check", "--offline");
    expect([checked.exit, checked.json.ok]).toEqual([0, true]);
    expect(checked.json.files.filter((file) => file.status !== "unchanged")).toEqual([]);
    expect(checked.processes.most).toBe(0);
  });
});

describe("an interrupted compile", () => {
  test.runIf(seesProcesses).each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s ends it and its servers, and writes nothing", { timeout: LIMIT_MS }, async (signal, code) => {
    const project = createProject(LIVE_SERVERS.filter((server) => server.always));
    try {
      const { exit, stdout, left } = await interruptedCompile(project, signal);
      expect(exit).toBe(code);
      expect(stdout).toBe("");
      expect(left).toEqual([]);
      expect(readTree(project.generated)).toEqual({});
    } finally {
      removeProject(project);
    }
  });
});

describe("a server that can't list its tools", () => {
  test("is reported, and the others compile", { timeout: LIMIT_MS }, async ({ skip }) => {
    skip(!installation.ok, installation.ok ? "" : installation.why);
    const memory = LIVE_SERVERS.find((server) => server.name === "memory")!;
    const supabase = LIVE_SERVERS.find((server) => server.name === "supabase")!;
    // With its default features it asks its maker's service before it answers tools/list, and there is no account.
    const project = createProject([memory, { ...supabase, args: supabase.args!.slice(0, 2) }]);
    try {
      const { exit, json, stdout, stderr, processes } = await compile(project);
      expect(json.servers.map(({ name, status }) => [name, status])).toEqual([
        ["memory", "compiled"],
        ["supabase", "failed"],
      ]);
      const errors = json.diagnostics.filter((found) => found.severity === "error");
      expect(errors.map(({ code, server }) => [code, server])).toEqual([["tools-unlisted", "supabase"]]);
      expect([exit, json.ok]).toEqual([1, false]);
      expect(Object.keys(readTree(project.generated))).toContain("servers/memory.ts");
      expect(Object.keys(readTree(project.generated))).not.toContain("servers/supabase.ts");
      for (const secret of SECRETS) expect(stdout + stderr).not.toContain(secret);
      expect(processes.left).toEqual([]);
    } finally {
      removeProject(project);
    }
  });
});

function prefixed(prefix: string, tree: Tree): Tree {
  return Object.fromEntries(Object.entries(tree).map(([path, text]) => [prefix + path, text]));
}

/** Files that hold the text. */
function holding(tree: Tree, text: string): string[] {
  return Object.keys(tree).filter((path) => tree[path]!.includes(text));
}

/** What changes when a file is written, by path: inode and times, and the content for good measure. */
function stamps(folder: string): Record<string, unknown> {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => join(folder, path));
  return Object.fromEntries(
    files.map((path) => {
      const { ino, mtimeNs, ctimeNs } = lstatSync(path, { bigint: true });
      return [path, { ino, mtimeNs, ctimeNs, text: lstatSync(path).isFile() ? readFileSync(path, "utf8") : "" }];
    }),
  );
}
