// Runs every benchmark of this folder, one after another, and writes what they print to RESULTS.md: a section each, with the
// command that made it and the machine it ran on. Names as arguments (`npm run bench -- compile load`) run those alone
// and keep the other sections.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL(".", import.meta.url));
const root = join(folder, "..", "..");
const results = join(folder, "RESULTS.md");
const SUFFIX = ".bench.mjs";

const there = readdirSync(folder)
  .filter((name) => name.endsWith(SUFFIX))
  .map((name) => name.slice(0, -SUFFIX.length))
  .sort();
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !there.includes(name));
if (unknown.length > 0) {
  console.error(`no benchmark ${unknown.join(", ")}; there are ${there.join(", ")}`);
  process.exit(2);
}

/** Sections of an earlier run, by the benchmark's name. */
function earlierSections() {
  if (!existsSync(results)) return new Map();
  const parts = readFileSync(results, "utf8").split(/^## /m).slice(1);
  return new Map(parts.map((part) => [part.slice(0, part.indexOf("\n")), `## ${part.trimEnd()}\n`]));
}

const [cpu] = cpus();
const machine = `${cpus().length} cores (${cpu?.model.trim() ?? "unknown"}), node ${process.version}, ${process.platform}`;
const sections = earlierSections();
for (const name of sections.keys()) if (!there.includes(name)) sections.delete(name);
let failed = false;
for (const name of asked.length > 0 ? asked : there) {
  const file = `tests/bench/${name}${SUFFIX}`;
  console.error(`running ${name}`);
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { cwd: root, encoding: "utf8" });
  if (status !== 0) {
    failed = true;
    console.error(`${name} ended with ${status}\n${stderr}`);
    continue;
  }
  process.stdout.write(`${stdout.trimEnd()}\n\n`);
  sections.set(name, `## ${name}\n\n\`node ${file}\` on ${machine}\n\n${stdout.trim()}\n`);
}
const sorted = [...sections].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
const head = "# Benchmarks\n\nMade by `npm run bench`. Times depend on the machine; ratios within a table hardly do.\n";
writeFileSync(results, [head, ...sorted].join("\n"));
process.exit(failed ? 1 : 0);
