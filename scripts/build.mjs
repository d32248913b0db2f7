// Builds dist/ from nothing: JavaScript and declarations, and beside them the data files that code reads by relative path.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

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
chmodSync(join(root, "dist", "compiler", "cli", "bin.js"), 0o755);
