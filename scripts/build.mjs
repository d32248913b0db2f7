// Builds dist/ (or the folder that PIMCP_DIST names) from nothing: JavaScript and declarations, and beside them the data
// files that code reads by relative path.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, sep } from "node:path";
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
 * What a start of Pi loads, as one CommonJS file: two dozen modules one by one would hold up the first request. Whatever is
 * imported lazily stays the module it is, and so does a module that keeps something: of those there must be one, whoever
 * imports it. Beside it the entry as it is written: Pi evaluates TypeScript itself, and gives its own packages only to what
 * it evaluates.
 */
async function bundlePiExtension() {
  // The first only remembers what it can work out again; of the others, modules outside the bundle use nothing that is kept.
  const MAY_BE_TWICE = [
    "schemas/artifacts/layer.js",
    "runtime/pi/codemode/codemode-engine.js",
    "runtime/pi/trust/pi-trust.js",
  ];
  const folder = join(dist, "runtime", "pi");
  const apart = (specifier, importer) => {
    const path = relative(folder, join(dirname(importer), specifier))
      .split(sep)
      .join("/");
    return { id: path.startsWith(".") ? path : `./${path}`, external: "relative" };
  };
  const keepsSomething = (path) =>
    !MAY_BE_TWICE.includes(relative(dist, path).split(sep).join("/")) &&
    /^(?:export )?(?:let |const \w+ = new (?:(?:Weak)?(?:Map|Set)|Turns)\(\))/m.test(readFileSync(path, "utf8"));
  const resolveId = (specifier, importer) =>
    importer !== undefined && specifier.startsWith(".") && keepsSomething(join(dirname(importer), specifier))
      ? apart(specifier, importer)
      : null;
  const { output } = await build({
    input: join(folder, "wiring.js"),
    platform: "node",
    plugins: [{ name: "some-modules-stay-apart", resolveId, resolveDynamicImport: apart }],
    output: {
      file: join(folder, "wiring.cjs"),
      format: "cjs",
      codeSplitting: false,
      minify: { compress: false, mangle: false },
    },
  });
  const foreign = output.flatMap(({ moduleIds = [] }) => moduleIds).filter((id) => !id.startsWith(dist + sep));
  if (foreign.length > 0) throw new Error(`a start of Pi loads ${foreign.join(", ")}: import it lazily`);
  rmSync(join(folder, "extension.js"));
  cpSync(join(root, "runtime", "pi", "extension.ts"), join(folder, "extension.ts"));
}
