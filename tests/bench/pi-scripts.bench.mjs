/**
 * Scripts of the codemode tool in a real Pi process: Pi's own sandbox against pimcp's (`"codemode": { "engine": "pimcp" }`), each with
 * and without the check before. `node tests/bench/pi-scripts.bench.mjs` after `npm run build`. A time is that from the model's
 * answer to its next request, so the whole of what Pi does for a script is in it. Each process is new; whoever goes first in a
 * round goes last in the next, and ratios are medians of each round's.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PIMCP, run, workspace } from "./pi-runs.mjs";

const ROUNDS = Number(process.env.ROUNDS ?? 7);
const INSTANT = fileURLToPath(new URL("./pi-scripts-extension.mjs", import.meta.url));
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

const CONTENDERS = {
  Pi: { typecheck: "off" },
  pimcp: { engine: "pimcp", typecheck: "off" },
  "Pi, checked": {},
  "pimcp, checked": { engine: "pimcp" },
};

const START = { what: "start of Pi to its first request" };
const all = (call) => `const r = await Promise.all(Array.from({ length: 30 }, (_, n) => ${call})); return r.length`;
/** Each script as often as it says, after those before it. */
const SCRIPTS = (tool) => [
  { what: "the first script: one call", times: 1, code: "return (await tools.instant({ n: 1 })).n" },
  { what: "`return 1`", times: 5, code: "return 1" },
  { what: "30 calls at once", times: 3, code: all("tools.instant({ n })") },
  {
    what: "30 calls one by one",
    times: 3,
    code: "let sum = 0; for (let n = 0; n < 30; n++) sum += (await tools.instant({ n })).n; return sum",
  },
  { what: "30 MCP calls at once, the server connected", times: 4, skip: 1, code: all(`tools.${tool}({})`) },
];

const folder = mkdtempSync(join(tmpdir(), "pimcp-bench-"));
try {
  const settings = { extensions: ["-builtin:mcp"], defaultTools: ["+codemode"] };
  const at = workspace(folder, { count: 1, compiled: true, settings });
  const config = join(at.agent, "mcp.json");
  const plain = JSON.parse(readFileSync(config, "utf8"));
  const scripts = SCRIPTS(`mcp__${at.names[0]}__${at.tool}`.replace(/\W/g, "_"));
  const names = Object.keys(CONTENDERS);
  const times = Object.fromEntries(names.map((name) => [name, [START, ...scripts].map(() => [])]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      writeFileSync(config, JSON.stringify({ ...plain, codemode: CONTENDERS[name] }));
      const measured = await session(at, scripts);
      for (const [index, ms] of measured.entries()) times[name][index].push(ms);
    }
  }
  print(scripts, times);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** From the start of a process to its first request, then the median of each script's runs in it. */
async function session(at, scripts) {
  const codes = scripts.flatMap(({ code, times }) => Array.from({ length: times }, () => code));
  const answers = [...codes.map((code) => ({ call: ["codemode", { code }] })), { text: "done" }];
  const requests = await run(at, { extensions: [INSTANT, PIMCP], answers });
  for (const { result } of requests.slice(1)) {
    if (!result.includes("Script completed")) throw new Error(result);
  }
  const spent = requests.slice(1).map(({ ms }, index) => ms - requests[index].ms);
  return [requests[0].ms, ...scripts.map(({ times, skip = 0 }) => median(spent.splice(0, times).slice(skip)))];
}

function print(scripts, times) {
  const ratio = (a, b, index) => median(times[a][index].map((ms, round) => ms / times[b][index][round])).toFixed(2);
  console.log(`Milliseconds from a script to the next request, medians of ${ROUNDS} processes each.\n`);
  console.log(`| | ${Object.keys(times).join(" | ")} | pimcp : Pi | both checked |`);
  console.log(`| --- |${" ---: |".repeat(Object.keys(times).length + 2)}`);
  [START, ...scripts].forEach(({ what }, index) => {
    const cells = Object.keys(times).map((name) => median(times[name][index]).toFixed(0));
    cells.push(ratio("pimcp", "Pi", index), ratio("pimcp, checked", "Pi, checked", index));
    console.log(`| ${what} | ${cells.join(" | ")} |`);
  });
}
