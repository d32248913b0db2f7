// Loading artifacts, whole process: `node -e 0` against a process that loads, interleaved. Also the work alone in one
// process, up to 10,000 tools. Needs `npm run build`. Prints markdown tables.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { syntheticServers } from "./synthetic-tools.mjs";

const dist = process.env.PIMCP_DIST ?? new URL("../../dist", import.meta.url).pathname;
const { buildSearchIndex } = await import(`${dist}/compiler/emit/search-index.js`);
const { artifactJson } = await import(`${dist}/compiler/emit/json.js`);
const { sha256 } = await import(`${dist}/schemas/canonical.js`);
const { loadArtifacts } = await import(`${dist}/runtime/artifacts/load.js`);

const work = mkdtempSync(join(tmpdir(), "pimcp-bench-"));
// Of repeated work in one process the least is reported: the rest measures what else the machine does.
const least = (values) => Math.min(...values);
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const show = (ms) => `${ms.toFixed(1)} ms`;

function writeArtifacts(tools) {
  const servers = syntheticServers(tools);
  const all = servers.flatMap((server) => server.tools.map((tool) => ({ server: server.name, ...tool })));
  const plan = servers.map((catalog) => ({
    catalog,
    tools: catalog.tools.map((tool) => ({ tool, exposure: "codemode" })),
  }));
  const entry = (tool) => ({ server: tool.server, tool: tool.tool, exposure: "codemode", rule: "default" });
  const counted = { inlineBudget: 3000, charsPerToken: 4, declaredTokens: 0, totalTokens: 0, servers: [] };
  const values = {
    "catalog.json": { formatVersion: 1, servers },
    "exposure.json": {
      formatVersion: 1,
      servers: Object.fromEntries(servers.map((server) => [server.name, { toolExposure: [] }])),
      tools: Object.fromEntries(all.map((tool) => [tool.name, entry(tool)])),
      overrides: {},
    },
    "limits.json": { formatVersion: 1, default: { maxOutputBytes: 20480, source: "default" }, tools: {} },
    "budget.json": {
      formatVersion: 1,
      ...counted,
      tools: Object.fromEntries(all.map((tool) => [tool.name, { tokens: 100, declared: false }])),
    },
    "search.json": buildSearchIndex(plan),
  };
  const files = Object.fromEntries(Object.entries(values).map(([path, value]) => [path, artifactJson(value)]));
  const digest = "0".repeat(64);
  const compiled = {
    config: digest,
    era: "legacy",
    verdict: "answered",
    protocolVersion: "2025-11-25",
    transport: "stdio",
    toolList: digest,
  };
  files["manifest.json"] = artifactJson({
    formatVersion: 1,
    scope: "project",
    settings: digest,
    servers: Object.fromEntries(servers.map((server) => [server.name, compiled])),
    files: Object.fromEntries(Object.entries(files).map(([path, text]) => [path, sha256(text)])),
  });
  const folder = join(work, String(tools));
  mkdirSync(folder);
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
  return folder;
}

try {
  const folder = writeArtifacts(600);
  const script = join(work, "load.mjs");
  const module = new URL(`file://${dist}/runtime/artifacts/load.js`).href;
  writeFileSync(
    script,
    `import { loadArtifacts } from ${JSON.stringify(module)};
const { value, diagnostics } = loadArtifacts({ projectOut: ${JSON.stringify(folder)} });
if (value.tools().length !== 600 || diagnostics.length > 0) process.exit(1);
`,
  );
  const run = (args) => {
    const start = performance.now();
    const { status } = spawnSync(process.execPath, args);
    if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}`);
    return performance.now() - start;
  };
  const bare = [];
  const loading = [];
  for (let round = 0; round < 21; round++) {
    bare.push(run(["-e", "0"]));
    loading.push(run([script]));
  }
  const allowed = 1.5 * median(bare) + 30;
  console.log(`Loading artifacts (node ${process.version}, \`node tests/bench/load.bench.mjs\`)\n`);
  console.log("| whole process, median of 21 | |\n|---|---|");
  console.log(`| \`node -e 0\` | ${show(median(bare))} |`);
  console.log(`| 20 servers, 600 tools | ${show(median(loading))} |`);
  console.log(`| allowed: 1.5 × bare + 30 ms | ${show(allowed)} |`);

  console.log(
    "\n| tools, least of 15 | load | per tool | then: first definition | then: search index |\n|---|---|---|---|---|",
  );
  for (const tools of [300, 1_000, 3_000, 10_000]) {
    const path = writeArtifacts(tools);
    const rows = Array.from({ length: 15 }, () => {
      const start = performance.now();
      const loaded = loadArtifacts({ projectOut: path });
      const load = performance.now() - start;
      const [first] = loaded.value.tools();
      const before = performance.now();
      loaded.value.definition(first.name);
      const definition = performance.now() - before;
      const beforeIndex = performance.now();
      loaded.value.folder("project").json("search.json");
      const index = performance.now() - beforeIndex;
      loaded.close();
      return { load, definition, index };
    });
    const [load, definition, index] = ["load", "definition", "index"].map((key) => least(rows.map((row) => row[key])));
    console.log(
      `| ${tools} | ${show(load)} | ${((load / tools) * 1000).toFixed(1)} µs | ${show(definition)} | ${show(index)} |`,
    );
  }
} finally {
  rmSync(work, { recursive: true });
}
