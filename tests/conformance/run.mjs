// Runs the official MCP client suite against pimcp: every scenario by itself, at each protocol revision it belongs to, a few at
// a time. `expected-failures.json` names what is known to fail and why; a failure that isn't there fails the run, and so
// does a success that is. Writes RESULTS.md. Names as arguments run those scenarios alone and write nothing.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { table } from "./table.mjs";

const folder = fileURLToPath(new URL(".", import.meta.url));
const root = join(folder, "..", "..");
const suite = join(root, "node_modules", "@modelcontextprotocol", "conformance");
/** The suite needs Node 22; the client it starts runs on the user's. */
const node22 = join(root, "node_modules", "node", "bin", process.platform === "win32" ? "node.exe" : "node");
/** Mostly they wait for each other's processes to start. */
const PARALLEL = 4;
const TIMEOUT_MS = 30_000;
/** The revisions that pimcp speaks. A scenario of an older one alone is run at that. */
const REVISIONS = ["2025-11-25", "2026-07-28"];

const started = performance.now();
const asked = process.argv.slice(2);
const types = mkdtempSync(join(tmpdir(), "pimcp-suite-types-"));
const scenarios = (await listScenarios()).filter(({ name }) => asked.length === 0 || asked.includes(name));
if (scenarios.length === 0) throw new Error("the suite lists no such scenario");
const expected = JSON.parse(readFileSync(join(folder, "expected-failures.json"), "utf8"));
const runs = scenarios.flatMap(({ name, revisions }) =>
  revisionsFor(revisions).map((revision) => ({ name, revision })),
);
const results = await inParallel(runs, runOne);
rmSync(types, { recursive: true, force: true });
if (asked.length === 0) writeFileSync(join(folder, "RESULTS.md"), table(scenarios, results, versionOfSuite()));
summarise();

/** `  - name [revision,…]`, as `conformance list` prints them; `extension` stands for what is on no revision's timeline. */
async function listScenarios() {
  const { stdout } = await run(["list", "--client"]);
  return [...stdout.matchAll(/^ {2}- (\S+) \[([^\]]+)\]$/gm)].map(([, name, revisions]) => ({
    name,
    revisions: revisions.split(","),
  }));
}

function revisionsFor(listed) {
  if (listed.includes("extension")) return REVISIONS;
  const ours = listed.filter((revision) => REVISIONS.includes(revision));
  return ours.length > 0 ? ours : listed.slice(-1);
}

async function runOne({ name, revision }) {
  const output = mkdtempSync(join(tmpdir(), "pimcp-suite-"));
  try {
    // `--force`: extensions are on no timeline, and would be skipped.
    const { status, stdout, stderr } = await run([
      "client",
      "--command",
      "npm run --silent conformance:client --",
      "--scenario",
      name,
      "--spec-version",
      revision,
      "--force",
      "--timeout",
      String(TIMEOUT_MS),
      "--output-dir",
      output,
    ]);
    const checks = readChecks(output);
    // A scenario whose own checks were all skipped tested nothing, whatever the suite says.
    const tested = checks.some(({ id, status: outcome }) => outcome === "SUCCESS" && !id.startsWith("wire-schema"));
    const passed = status === 0 && tested;
    const result = { name, revision, passed, checks, expected: expected[`${name}@${revision}`] };
    report(result, stdout + stderr);
    return result;
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

function readChecks(output) {
  const [run] = readdirSync(output, { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith("checks.json"),
  );
  return run === undefined ? [] : JSON.parse(readFileSync(join(output, run), "utf8"));
}

function report({ name, revision, passed, checks, expected: reason }, log) {
  const verdict = passed ? (reason ? "PASSED, EXPECTED TO FAIL" : "passed") : reason ? "failed as expected" : "FAILED";
  console.log(`${verdict} ${name} (${revision})`);
  if (passed || reason) return;
  const bad = checks.filter(({ status }) => status !== "SUCCESS" && status !== "INFO" && status !== "SKIPPED");
  for (const { id, status, errorMessage, description } of bad) {
    console.log(`  ${status} ${id}: ${errorMessage ?? description}`);
  }
  const said = log.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("\u001b"));
  for (const line of said.slice(asked.length > 0 ? -200 : -20)) console.log(`  | ${line}`);
}

function run(args) {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, PIMCP_CONFORMANCE_TYPES: types };
    const child = spawn(node22, [join(suite, "dist", "index.js"), ...args], { cwd: root, env });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      stderr += text;
    });
    child.once("error", reject);
    child.once("close", (status) => resolve({ status, stdout, stderr }));
  });
}

async function inParallel(items, act) {
  const outcomes = [];
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < items.length; index = next++) outcomes[index] = await act(items[index]);
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return outcomes;
}

function versionOfSuite() {
  return JSON.parse(readFileSync(join(suite, "package.json"), "utf8")).version;
}

function summarise() {
  const unexpected = results.filter(({ passed, expected: reason }) => passed === (reason !== undefined));
  const known = new Set(runs.map(({ name, revision }) => `${name}@${revision}`));
  const stale = asked.length > 0 ? [] : Object.keys(expected).filter((key) => !known.has(key));
  for (const key of stale) console.log(`expected-failures.json names ${key}, which is not in the suite`);
  const whole = scenarios.filter(({ name }) => results.every((one) => one.name !== name || one.passed));
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(
    `\nconformance: ${whole.length} of ${scenarios.length} scenarios pass (${results.length} runs, ${unexpected.length + stale.length} unexpected, ${seconds} s)`,
  );
  process.exitCode = unexpected.length + stale.length > 0 ? 1 : 0;
}
