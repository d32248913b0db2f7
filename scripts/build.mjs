// Builds dist/ from nothing: JavaScript and declarations, and beside them the data files that code reads by relative path.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { build } from "rolldown";

const root = new URL("..", import.meta.url).pathname;
rmSync(join(root, "dist"), { recursive: true, force: true });
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
const { status } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
if (status !== 0) process.exit(status ?? 1);
mkdirSync(join(root, "dist", "schemas"), { recursive: true });
for (const file of readdirSync(join(root, "schemas")).filter((name) => name.endsWith(".json"))) {
  cpSync(join(root, "schemas", file), join(root, "dist", "schemas", file));
}
cpSync(join(root, "templates"), join(root, "dist", "templates"), { recursive: true });
await bundleJsonc();
chmodSync(join(root, "dist", "compiler", "cli", "bin.js"), 0o755);

/** Why: see schemas/config/jsonc.ts. Its declarations go with it, so that nobody needs the package. */
async function bundleJsonc() {
  const folder = join(dirname(createRequire(import.meta.url).resolve("jsonc-parser/package.json")));
  const license = readFileSync(join(folder, "LICENSE.md"), "utf8").trim();
  const output = join(root, "dist", "schemas", "config", "jsonc.js");
  await build({
    input: output,
    platform: "node",
    resolve: { mainFields: ["module"] },
    output: { file: output, format: "esm", banner: `/*! jsonc-parser\n\n${license}\n*/` },
  });
  const types = readFileSync(join(folder, "lib", "umd", "main.d.ts"), "utf8");
  writeFileSync(join(root, "dist", "schemas", "config", "jsonc.d.ts"), types);
}
