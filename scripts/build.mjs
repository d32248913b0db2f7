// Builds dist/ (or the folder that PIMCP_DIST names) from nothing: JavaScript and declarations, and beside them the data
// files that code reads by relative path.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "rolldown";
import { bundleScriptChecker } from "./bundle-script-checker.mjs";

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
await bundleSandbox();
await bundleScriptWorker();
await bundleScriptChecker(dist);
await bundlePiExtension();

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

/** The two ways into the sandbox as one file each, in their own places: a process that runs a script has them in a quarter of the time. */
async function bundleSandbox() {
  for (const name of ["index.js", "sandbox.js"]) {
    const output = join(dist, "runtime", "sandbox", name);
    await build({ input: output, platform: "node", output: { file: output, format: "esm", codeSplitting: false } });
  }
}

/**
 * What a script's thread loads, QuickJS's JavaScript included, as one CommonJS file: a new thread starts with it in half the time
 * that the modules take one by one. Beside it the engine, and the image of a VM made with just that engine.
 */
async function bundleScriptWorker() {
  const folder = join(dist, "runtime", "sandbox");
  const require = createRequire(import.meta.url);
  const engine = "@jitl/quickjs-wasmfile-release-sync";
  const license = readFileSync(join(dirname(require.resolve(engine)), "..", "LICENSE"), "utf8").trim();
  await build({
    input: join(folder, "worker.js"),
    platform: "node",
    resolve: { conditionNames: ["require", "node", "default"] },
    output: {
      file: join(folder, "worker.cjs"),
      format: "cjs",
      codeSplitting: false,
      banner: `/*! ${engine}, quickjs.wasm\n\n${license}\n*/`,
    },
  });
  const wasm = readFileSync(require.resolve(`${engine}/wasm`));
  writeFileSync(join(folder, "quickjs.wasm"), wasm);
  const { encodeImage, makeImage } = await import(pathToFileURL(join(folder, "vm-image.js")));
  writeFileSync(join(folder, "quickjs.image"), encodeImage(await makeImage(await WebAssembly.compile(wasm))));
}

/**
 * The Pi extension as CommonJS files: what a start of Pi loads is one, since two dozen modules one by one would hold up the first request,
 * and so is what a call takes. No module of ours is in two of them. Beside them the entry as it is written: Pi evaluates
 * TypeScript itself, and gives its own packages only to what it evaluates.
 */
async function bundlePiExtension() {
  const folder = join(dist, "runtime", "pi");
  // A module finds what lies beside it from where it was, not from the file that it is in now.
  const transform = (code, id) => {
    const place = relative(folder, id).split(sep).join("/");
    return id.startsWith(dist + sep)
      ? code.replaceAll("import.meta.url", `new URL("${place}", import.meta.url).href`)
      : null;
  };
  const { output } = await build({
    input: join(folder, "wiring.js"),
    platform: "node",
    external: (id) => !id.startsWith(".") && !isAbsolute(id),
    plugins: [{ name: "modules-keep-their-place", transform }],
    // What one module imports lazily another may need at once.
    checks: { ineffectiveDynamicImport: false },
    output: {
      dir: folder,
      format: "cjs",
      entryFileNames: "[name].cjs",
      chunkFileNames: "part-[name].cjs",
      codeSplitting: {
        groups: [
          { name: "start", tags: ["$initial"] },
          { name: "script", test: /[\\/]script-gate\.js$/ },
          { name: "call", test: /[\\/]runtime[\\/]live\.js$/ },
        ],
      },
      minify: { compress: false, mangle: false },
    },
  });
  // What a package gives to `require` may be another copy of what it gives to `import`.
  const parts = new Set(output.map(({ fileName }) => fileName));
  const foreign = output.flatMap(({ imports }) => imports).filter((id) => !parts.has(id) && !id.startsWith("node:"));
  if (foreign.length > 0) throw new Error(`the Pi extension loads ${foreign.join(", ")}: import it lazily`);
  rmSync(join(folder, "extension.js"));
  cpSync(join(root, "runtime", "pi", "extension.ts"), join(folder, "extension.ts"));
}
