/** The rules of ARCHITECTURE.md that a reviewer would otherwise have to remember: who may import what, and who touches the world. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { ts } from "ts-morph";
import { describe, expect, test } from "vitest";
import { scratchFolder } from "./scratch.ts";

const root = join(import.meta.dirname, "..");
const dist = process.env["PIMCP_DIST"] ?? join(root, "dist");

interface Import {
  readonly from: string;
  /** A file of ours relative to the repository, else a package or a module of node. */
  readonly to: string;
  /** `type` leaves no trace in the build. */
  readonly kind: "static" | "dynamic" | "type";
}

function sourcesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => `${folder}/${path}`)
    .sort();
}

function importsOf(file: string): Import[] {
  const source = ts.createSourceFile(file, readFileSync(join(root, file), "utf8"), ts.ScriptTarget.Latest, true);
  const found: Import[] = [];
  const add = (specifier: ts.Node | undefined, kind: Import["kind"]) => {
    if (!specifier || !ts.isStringLiteralLike(specifier)) return;
    const { text } = specifier;
    found.push({ from: file, to: text.startsWith(".") ? relative(root, join(root, dirname(file), text)) : text, kind });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, isTypeOnly(node) ? "type" : "static");
    if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly ? "type" : "static");
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, "type");
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], "dynamic");
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** `verbatimModuleSyntax` keeps `import { type A }`, so only what is marked as a whole counts. */
function isTypeOnly({ importClause }: ts.ImportDeclaration): boolean {
  return importClause?.isTypeOnly === true;
}

const sources = ["schemas", "compiler", "runtime", "cli"].flatMap(sourcesIn);
const imports = new Map(sources.map((file) => [file, importsOf(file)]));
const all = [...imports.values()].flat();

const isOurs = (module: string) => /^(?:schemas|compiler|runtime|cli)\//.test(module);
const isPackage = (module: string) => !isOurs(module) && !module.startsWith("node:");
const show = ({ from, to }: Import) => `${from} → ${to}`;

/** Every module that loading `entries` loads; with `lazily`, what they load later too. */
function reachable(entries: readonly string[], lazily = false): string[] {
  const seen = new Set(entries);
  for (const module of seen) {
    for (const { to, kind } of imports.get(module) ?? []) {
      if (kind === "static" || (lazily && kind === "dynamic")) seen.add(to);
    }
  }
  return [...seen];
}

describe("who imports whom", () => {
  test("every import of ours leads to a file", () => {
    const lost = all.filter(({ to }) => isOurs(to) && !existsSync(join(root, to)));
    expect(lost.map(show)).toEqual([]);
    expect(sources.length).toBeGreaterThan(100);
  });

  test("schemas/ imports nothing of ours outside itself", () => {
    const wrong = all.filter(({ from, to }) => from.startsWith("schemas/") && isOurs(to) && !to.startsWith("schemas/"));
    expect(wrong.map(show)).toEqual([]);
  });

  test("runtime/ imports only schemas/ besides itself", () => {
    const wrong = all.filter(
      ({ from, to }) => from.startsWith("runtime/") && isOurs(to) && !/^(?:runtime|schemas)\//.test(to),
    );
    expect(wrong.map(show)).toEqual([]);
  });

  test("compiler/ imports schemas/ and runtime/connect/ besides itself", () => {
    const wrong = all.filter(
      ({ from, to }) =>
        from.startsWith("compiler/") && isOurs(to) && !/^(?:compiler|schemas|runtime\/connect)\//.test(to),
    );
    expect(wrong.map(show)).toEqual([]);
  });

  test("compiling and watching never load the runtime beyond connect/", () => {
    const loaded = reachable(["compiler/compile.ts", "cli/compile-command.ts", "cli/watch-command.ts"], true);
    expect(loaded).toContain("runtime/connect/open.ts");
    expect(loaded.filter((path) => path.startsWith("runtime/") && !path.startsWith("runtime/connect/"))).toEqual([]);
  });
});

describe("what is loaded when", () => {
  const rows: [what: string, entries: string[]][] = [
    ["the command line before it knows its command", ["cli/bin.ts"]],
    ["an unchanged compile", ["cli/bin.ts", "cli/compile-command.ts"]],
    ["a session start", ["runtime/artifacts/load.ts"]],
    ["a start of Pi", ["runtime/pi/wiring.ts"]],
  ];
  test.each(rows)("%s loads no package", (_, entries) => {
    for (const entry of entries) expect(sources).toContain(entry);
    expect(reachable(entries).filter(isPackage)).toEqual([]);
  });

  const HEAVY = [
    "@modelcontextprotocol/client",
    "ts-morph",
    "json-schema-to-typescript",
    "ajv",
    "@jitl/quickjs-wasmfile-release-sync",
  ];
  const ENTRIES = ["runtime/index.ts", "runtime/codegen/v1.ts", "compiler/compile.ts"];
  test.each(ENTRIES)("%s loads no heavy package until it is needed", (entry) => {
    expect(sources).toContain(entry);
    const packages = reachable([entry]).filter(isPackage);
    expect(packages.filter((name) => HEAVY.some((heavy) => name === heavy || name.startsWith(`${heavy}/`)))).toEqual(
      [],
    );
  });

  test("calls load nothing of signing in before an HTTP server is reached", () => {
    const loaded = reachable(["runtime/live.ts", "runtime/connect/open.ts"]);
    const signing = loaded.filter((path) => path.startsWith("runtime/connect/auth/")).sort();
    expect(signing).toEqual(["runtime/connect/auth/auth-error.ts", "runtime/connect/auth/lazy-auth.ts"]);
    expect(reachable(["runtime/connect/auth/create-auth.ts"]).filter(isPackage)).toEqual([]);
  });

  test("the heavy packages are reached lazily, so the rule above can fail", () => {
    const lazily = reachable(["cli/bin.ts"], true);
    for (const name of HEAVY.slice(0, 3)) expect(lazily).toContain(name);
  });
});

/** Everything that touches files, processes or the network, and for what. */
const TOUCHES_THE_WORLD: Readonly<Record<string, string>> = {
  "compiler/cache/folder.ts": "the user's cache folder",
  "compiler/cache/record.ts": "compares what a compile depends on",
  "cli/answers-file.ts": "reads the answers to what servers ask",
  "cli/call-command.ts": "arguments from a file",
  "cli/init-command.ts": "writes a starter",
  "cli/run-files.ts": "a script and its store",
  "cli/version.ts": "package.json",
  "compiler/output-lock.ts": "one compile at a time writes an output folder",
  "compiler/previous.ts": "reads the last compile's artifacts",
  "compiler/watch/config-watcher.ts": "watches configuration files",
  "compiler/write.ts": "the one writer of an output folder",
  "runtime/artifacts/folder.ts": "reads artifacts",
  "runtime/artifacts/freshness.ts": "looks at times of files",
  "runtime/connect/auth/callback.ts": "takes the redirect of a sign-in",
  "runtime/connect/auth/store-lock.ts": "locks credentials",
  "runtime/connect/auth/store.ts": "credentials in the agent folder, shared with Pi",
  "runtime/connect/auth/pi-login.ts": "reads the logins that Pi stores",
  "runtime/connect/ca-file.ts": "reads a server's certificate authorities",
  "runtime/connect/command-value.ts": "runs a value's !command",
  "runtime/connect/configuration-files.ts": "finds configuration files",
  "runtime/connect/configuration.ts": "reads configuration files",
  "runtime/connect/keyed-hash.ts": "the key in the user's cache folder",
  "runtime/connect/network-fetch.ts": "reaches servers through proxies and with certificate authorities of their own",
  "runtime/connect/process-group.ts": "ends processes",
  "runtime/connect/resolve.ts": "looks whether a cwd is there",
  "runtime/connect/stdio.ts": "starts servers",
  "runtime/connect/trace-file.ts": "appends to a trace",
  "runtime/connect/whole-file.ts": "replaces small files of ours",
  "runtime/limits/output-store.ts": "whole outputs that were cut for the model",
  "compiler/scripts/check-script.ts": "declarations of the globals of scripts",
  "runtime/sandbox/checker-worker.ts": "the thread that reads scripts, and whether the compiler is there",
  "runtime/sandbox/checker-thread.ts": "starts that thread",
  "runtime/sandbox/description.ts": "the template of the description",
  "runtime/sandbox/engine-files.ts": "QuickJS and the image of a VM",
  "runtime/sandbox/pool.ts": "threads for scripts",
  "runtime/sandbox/worker.ts": "a script's thread",
  "runtime/locate.ts": "finds artifacts from the working folder upwards",
  "runtime/pi/rare-settings.ts": "looks for one word in configuration files",
  "runtime/pi/registered/tidy-registered.ts": "artifacts of registered servers in the user's cache folder",
  "runtime/pi/background-compile.ts": "starts the command line",
  "runtime/pi/trust/pi-trust.ts": "what was decided about trust in Pi",
  "runtime/pi/servers/edit-config.ts": "changes configuration files",
  "runtime/pi/servers/server-log.ts": "what servers log, in the agent folder",
  "runtime/pi/servers/server-sources.ts": "what configuration files say of one server",
  "runtime/tasks/handle-lock.ts": "who follows a task",
  "runtime/tasks/handle-store.ts": "handles of tasks in the user's state folder",
};

test("only the files listed here touch files, processes or the network", () => {
  const io = /^node:(?:fs|fs\/promises|child_process|net|tls|dns|http|https|http2|dgram|worker_threads|cluster)$/;
  const touching = [...new Set(all.filter(({ to, kind }) => kind !== "type" && io.test(to)).map(({ from }) => from))];
  expect(touching.sort()).toEqual(Object.keys(TOUCHES_THE_WORLD).sort());
});

describe("files", () => {
  // Types made from the JSON Schemas are as long as those, and begin with who made them.
  const written = sources.filter((file) => !file.endsWith(".schema.ts"));

  test("have at most 300 lines", () => {
    const long = written
      .map((file) => [file, readFileSync(join(root, file), "utf8").split("\n").length - 1] as const)
      .filter(([, lines]) => lines > 300);
    expect(long).toEqual([]);
  });

  test("are named for what they hold", () => {
    expect(
      sources.filter((file) => /^(?:utils?|helpers?|managers?|types?|common|misc)\.ts$/.test(basename(file))),
    ).toEqual([]);
  });

  test("say at their head what they are", () => {
    const silent = written.filter((file) => !/^(?:#!.*\n)?\/\*\*?/.test(readFileSync(join(root, file), "utf8")));
    expect(silent).toEqual([]);
  });
});

test("without the compiler and the command line the runtime loads and calls", () => {
  const folder = scratchFolder();
  cpSync(dist, join(folder, "dist"), { recursive: true });
  cpSync(join(root, "package.json"), join(folder, "package.json"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  for (const part of ["compiler", "cli"]) rmSync(join(folder, "dist", part), { recursive: true });
  const script = `
    const { loadArtifacts } = await import("./dist/runtime/artifacts/load.js");
    await import("./dist/runtime/codegen/v1.js");
    const { createRuntime } = await import("./dist/runtime/index.js");
    const { value, diagnostics } = loadArtifacts({ projectOut: ${JSON.stringify(join(root, "generated"))} });
    const runtime = await createRuntime({ cwd: ${JSON.stringify(root)}, userOut: false });
    const { text } = await runtime.call("everything", "echo", { message: "still here" });
    await runtime.close();
    console.log(JSON.stringify({ tools: value.tools().length, codes: diagnostics.map((found) => found.code), text }));
  `;
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: folder,
    encoding: "utf8",
  });
  const { tools, codes, text } = JSON.parse(output) as { tools: number; codes: string[]; text: string };
  expect(text).toContain("still here");
  expect(codes).toEqual([]);
  expect(tools).toBeGreaterThan(10);
});
