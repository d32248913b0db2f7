/**
 * Declarations: time and tokens a tool against `renderDeclarations` of @earendil-works/pi-codemode, on the
 * same schemas in the same run, taking turns. Prints a markdown table.
 *
 *   npm run bench -- declarations
 */
import { readFileSync } from "node:fs";
import { renderDeclarations } from "@earendil-works/pi-codemode";
import { renderDeclaration } from "../../dist/compiler/render/declaration.js";
import { declarationTokens, tokensOf } from "../../dist/compiler/render/declarations-file.js";
import { syntheticTools } from "./declaration-tools.mjs";

const ROUNDS = 15;

function recorded() {
  return ["everything", "filesystem", "memory"].flatMap((server) => {
    const file = new URL(`../fixtures/tools/${server}.json`, import.meta.url);
    const { tools } = JSON.parse(readFileSync(file, "utf8"));
    return tools.map((tool) => ({ ...tool, name: `mcp__${server}__${tool.name.replaceAll("-", "_")}` }));
  });
}

function microseconds(work) {
  const start = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - start) / 1000;
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

function compare(tools) {
  const ours = () => tools.map((tool) => renderDeclaration(tool));
  const theirs = () => renderDeclarations({ tools });
  const times = { ours: [], theirs: [] };
  const first = { ours: microseconds(ours), theirs: microseconds(theirs) };
  for (let round = 0; round < ROUNDS; round++) {
    times.ours.push(microseconds(ours));
    times.theirs.push(microseconds(theirs));
  }
  const perTool = (value) => value / tools.length;
  return {
    first: { ours: perTool(first.ours), theirs: perTool(first.theirs) },
    time: { ours: perTool(median(times.ours)), theirs: perTool(median(times.theirs)) },
    tokens: {
      ours: perTool(ours().reduce((sum, declaration) => sum + declarationTokens(declaration), 0)),
      theirs: perTool(tokensOf(theirs())),
    },
  };
}

const sets = [
  ["synthetic", syntheticTools(30)],
  ["synthetic", syntheticTools(300)],
  ["synthetic", syntheticTools(3000)],
  ["recorded: everything, filesystem, memory", recorded()],
];
console.log("| tools | µs/tool | pi-codemode | first pass | pi-codemode | tokens/tool | pi-codemode |");
console.log("|---|---:|---:|---:|---:|---:|---:|");
for (const [name, tools] of sets) {
  const { first, time, tokens } = compare(tools);
  const cells = [time.ours, time.theirs, first.ours, first.theirs].map((value) => value.toFixed(1));
  cells.push(tokens.ours.toFixed(0), tokens.theirs.toFixed(0));
  console.log(`| ${name} (${tools.length}) | ${cells.join(" | ")} |`);
}
