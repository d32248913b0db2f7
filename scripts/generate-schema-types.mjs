// Writes schemas/<name>.schema.ts from schemas/<name>.schema.json; `--check` only compares and exits 1 on a difference.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { compile } from "json-schema-to-typescript";

const folder = new URL("../schemas/", import.meta.url);
const check = process.argv.includes("--check");
let stale = 0;
for (const file of readdirSync(folder)
  .filter((name) => name.endsWith(".schema.json"))
  .sort()) {
  const schema = JSON.parse(readFileSync(new URL(file, folder), "utf8"));
  const types = await compile(schema, schema.title, {
    additionalProperties: false,
    bannerComment: `// Made from ${file} by \`npm run schemas\`. Do not edit.`,
    format: false,
  });
  const target = new URL(file.replace(/\.json$/, ".ts"), folder);
  let current = "";
  try {
    current = readFileSync(target, "utf8");
  } catch {}
  if (current === types) continue;
  stale++;
  if (check) console.error(`${target.pathname.split("/").slice(-2).join("/")} is stale: run npm run schemas`);
  else writeFileSync(target, types);
}
if (check && stale > 0) process.exit(1);
