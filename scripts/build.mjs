// Builds dist/ (or the folder that PIMCP_DIST names) from nothing: JavaScript and declarations, and beside them the data
// files that code reads by relative path.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { build } from "rolldown";

const root = new URL("..", import.meta.url).pathname;
const dist = process.env.PIMCP_DIST ?? join(root, "dist");
rmSync(dist, { recursive: true, force: true });
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
const { status } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json", "--outDir", dist], {
  cwd: root,
  stdio: "inherit",
});
if (status !== 0) process.exit(status ?? 1);
mkdirSync(join(dist, "schemas"), { recursive: true });
for (const file of readdirSync(join(root, "schemas")).filter((name) => name.endsWith(".json"))) {
  cpSync(join(root, "schemas", file), join(dist, "schemas", file));
}
cpSync(join(root, "templates"), join(dist, "templates"), { recursive: true });
await bundleJsonc();
await bundleCommandLine();
await bundleScriptWorker();

/** Why: see schemas/config/jsonc.ts. Its declarations go with it, so that nobody needs the package. */
async function bundleJsonc() {
  const folder = join(dirname(createRequire(import.meta.url).resolve("jsonc-parser/package.json")));
  const license = readFileSync(join(folder, "LICENSE.md"), "utf8").trim();
  const output = join(dist, "schemas", "config", "jsonc.js");
  await build({
    input: output,
    platform: "node",
    resolve: { mainFields: ["module"] },
    output: { file: output, format: "esm", banner: `/*! jsonc-parser\n\n${license}\n*/` },
  });
  const types = readFileSync(join(folder, "lib", "umd", "main.d.ts"), "utf8");
  writeFileSync(join(dist, "schemas", "config", "jsonc.d.ts"), types);
}

/**
 * What an unchanged compile loads, as one CommonJS file: node starts with it in two thirds of the time that the modules
 * take one by one. Every other command's module stays what it is, and is imported when the command runs.
 */
async function bundleCommandLine() {
  const folder = join(dist, "cli");
  const resolveDynamicImport = (specifier, importer) => {
    if (specifier === "./compile-command.js") return null;
    // Written as it is, so it must mean the same from the bundle's folder.
    if (dirname(importer) !== folder) throw new Error(`${importer} imports ${specifier} lazily: bundle it by name`);
    return { id: specifier, external: true };
  };
  const output = join(folder, "bin.cjs");
  await build({
    input: join(folder, "bin.js"),
    platform: "node",
    plugins: [{ name: "commands-stay-apart", resolveDynamicImport }],
    output: { file: output, format: "cjs", codeSplitting: false },
  });
  chmodSync(output, 0o755);
}

/**
 * What a script's thread loads, QuickJS's JavaScript included, as one CommonJS file: a new thread starts with it in half the time
 * that the modules take one by one. The engine itself comes compiled from the thread that starts it.
 */
async function bundleScriptWorker() {
  const folder = join(dist, "runtime", "sandbox");
  const licenses = ["quickjs-emscripten-core", "@jitl/quickjs-wasmfile-release-sync"].map((name) => {
    const license = join(dirname(createRequire(import.meta.url).resolve(name)), "..", "LICENSE");
    return `${name}\n\n${readFileSync(license, "utf8").trim()}`;
  });
  await build({
    input: join(folder, "worker.js"),
    platform: "node",
    resolve: { conditionNames: ["require", "node", "default"] },
    output: {
      file: join(folder, "worker.cjs"),
      format: "cjs",
      codeSplitting: false,
      banner: `/*! ${licenses.join("\n\n")}\n*/`,
    },
  });
}
