// Compiling. First whole processes: an unchanged compile of 20 servers with 600 tools from fresh caches, against a bare
// `node -e 0` and one that reads the same files, interleaved. Then generation alone, in one process: catalog to
// files, stage by stage, with a cold and a warm cache of stub types. Needs `npm run build`. Prints markdown tables.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { syntheticServers } from "./synthetic-tools.mjs";

const dist = process.env.PIMCP_DIST ?? fileURLToPath(new URL("../../dist", import.meta.url));
const stub = fileURLToPath(new URL("../servers/stub.mjs", import.meta.url));
const ROUNDS = 21;
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
// Of repeated work in one process the least is reported: the rest measures what else the machine does.
const least = (values) => Math.min(...values);
const ms = (value) => `${value.toFixed(1)} ms`;
const table = (head, rows) =>
  console.log(`${[head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n")}\n`);

// ---- whole processes

function run(args, env, cwd) {
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { env, cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}: ${stderr}`);
  return performance.now() - start;
}

/** A project of 20 servers that let their lists be cached for hours, compiled once. */
function prepareProject(root) {
  const project = join(root, "project");
  mkdirSync(project);
  const mcpServers = {};
  for (const { name, tools } of realistic(syntheticServers(600))) {
    const options = join(root, `${name}.json`);
    const listed = tools.map(({ tool, description, inputSchema, outputSchema }) => ({
      name: tool,
      description,
      inputSchema,
      outputSchema,
    }));
    writeFileSync(options, JSON.stringify({ tools: listed, listMeta: { ttlMs: 36_000_000, cacheScope: "public" } }));
    mcpServers[name] = { command: process.execPath, args: [stub], env: { STUB_FILE: options } };
  }
  writeFileSync(join(project, "mcp.json"), JSON.stringify({ mcpServers }, undefined, 2));
  return project;
}

function wholeProcess() {
  const root = mkdtempSync(join(tmpdir(), "pimcp-bench-"));
  try {
    const project = prepareProject(root);
    const env = {
      PATH: process.env.PATH,
      HOME: root,
      PI_CODING_AGENT_DIR: join(root, "agent"),
      PIMCP_CACHE_DIR: join(root, "cache"),
    };
    const compile = [join(dist, "cli", "bin.cjs"), "compile", "--json"];
    const first = run(compile, env, project);
    const manifest = JSON.parse(readFileSync(join(project, "generated", "manifest.json"), "utf8"));
    const files = ["manifest.json", ...Object.keys(manifest.files)].map((path) => join(project, "generated", path));
    const reading = join(root, "read.cjs");
    writeFileSync(
      reading,
      `const { readFileSync } = require("node:fs");
for (const file of ${JSON.stringify([...files, join(project, "mcp.json")])}) readFileSync(file);`,
    );
    const times = { bare: [], reading: [], compile: [] };
    for (let round = 0; round < ROUNDS; round++) {
      times.bare.push(run(["-e", "0"], env, project));
      times.reading.push(run([reading], env, project));
      times.compile.push(run(compile, env, project));
    }
    const [bare, read, unchanged] = [times.bare, times.reading, times.compile].map(median);
    table(
      [`whole process, median of ${ROUNDS}`, "", "of bare"],
      [
        ["`node -e 0`", ms(bare), "1.00"],
        [`node reading the ${files.length + 1} files`, ms(read), (read / bare).toFixed(2)],
        ["unchanged compile, 20 servers, 600 tools", ms(unchanged), (unchanged / bare).toFixed(2)],
        ["allowed: 2 × bare, plus reading", ms(2 * bare + read - bare), ((bare + read) / bare).toFixed(2)],
        ["for comparison: the first compile (once)", ms(first), ""],
      ],
    );
  } finally {
    rmSync(root, { recursive: true });
  }
}

// ---- generation alone

/** The synthetic tools with schemas as servers have them: about one in nine with an output schema. */
function realistic(servers) {
  let count = 0;
  const enrich = (tool) => {
    const n = count++;
    const properties = { ...tool.inputSchema.properties };
    const [first, second] = Object.keys(properties);
    if (n % 2 === 0)
      properties[`${first}Kind`] = { type: "string", enum: ["all", `only_${n}`, "none"], default: "all" };
    if (n % 3 === 0) properties.limit = { type: "integer", minimum: 1, maximum: 100 + n, description: "At most" };
    if (n % 4 === 0) {
      properties.filter = {
        type: "object",
        properties: {
          [second]: { anyOf: [{ type: "string" }, { type: "null" }] },
          tags: { type: "array", items: { type: "string", maxLength: 64 }, maxItems: 10 + n },
        },
        additionalProperties: false,
      };
    }
    if (n % 5 === 0) properties.target = { $ref: "#/$defs/Target" };
    const inputSchema = {
      type: "object",
      properties,
      required: [first],
      ...(n % 5 === 0 && {
        $defs: {
          Target: {
            type: "object",
            description: `Where ${tool.tool} goes`,
            properties: { id: { type: "string", pattern: `^t${n}-` }, parent: { $ref: "#/$defs/Target" } },
            required: ["id"],
          },
        },
      }),
    };
    const outputSchema = {
      type: "object",
      properties: {
        [`${first}Result`]: { type: "array", items: { type: "object", properties } },
        total: { type: "number" },
      },
      required: ["total"],
      ...(inputSchema.$defs && { $defs: inputSchema.$defs }),
    };
    return { ...tool, inputSchema, ...(n % 9 === 0 && { outputSchema }) };
  };
  return servers.map((server) => ({ ...server, tools: server.tools.map(enrich) }));
}

const load = (path) => import(`${dist}/${path}.js`);

/** What a compile has when all servers have answered. */
function answered(tools) {
  return realistic(syntheticServers(tools)).map(({ name, tools: listed, description }) => ({
    config: {
      name,
      scope: "project",
      description,
      location: { file: "mcp.json", line: 1, column: 1 },
      transport: { kind: "stdio", command: "server", args: [], env: {} },
      enabled: true,
      toolExposure: [],
      protocolVersion: "auto",
    },
    snapshot: {
      server: name,
      transport: "stdio",
      era: "legacy",
      verdict: "answered",
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      resources: false,
      prompts: false,
      cacheScope: "private",
      tools: listed.map(({ tool, title, description: text, inputSchema, outputSchema }) => ({
        name: tool,
        title,
        description: text,
        inputSchema,
        ...(outputSchema && { outputSchema }),
      })),
    },
  }));
}

const STAGES = ["catalog", "plan and declarations", "stubs", "budget", "search index", "JSON", "manifest"];

async function generationStages() {
  const [{ buildCatalog }, { planScope }, { emitStubs }, { shareBudget }, { buildSearchIndex }, emit] =
    await Promise.all(
      ["catalog", "plan", "emit/stub-files", "budget", "emit/search-index", "emit/artifacts"].map((path) =>
        load(`compiler/${path}`),
      ),
    );
  /** Milliseconds of each stage, and the characters written. */
  return async (servers, types) => {
    const times = {};
    let mark = performance.now();
    const lap = (stage) => {
      const now = performance.now();
      times[stage] = now - mark;
      mark = now;
    };
    const catalog = buildCatalog(servers).value;
    lap("catalog");
    const configs = servers.map((server) => server.config);
    const plan = planScope(catalog, configs, { inlineBudget: 3000, out: "" }, "project").value;
    lap("plan and declarations");
    const stubs = (await emitStubs(plan, types)).value;
    lap("stubs");
    const budgeted = shareBudget(plan, 3000);
    lap("budget");
    const search = { path: "search.json", content: `${JSON.stringify(buildSearchIndex(plan.servers))}\n` };
    lap("search index");
    const files = [...emit.jsonArtifacts(plan, budgeted, {}), search, ...stubs];
    lap("JSON");
    const entries = Object.fromEntries(
      plan.servers.map((server, index) => [server.config.name, emit.manifestServer(server, servers[index].snapshot)]),
    );
    files.push(emit.manifestFile("project", "0".repeat(64), entries, files));
    lap("manifest");
    const characters = files.reduce((sum, file) => sum + file.content.length, 0);
    return { times, total: Object.values(times).reduce((sum, time) => sum + time, 0), characters };
  };
}

async function generation() {
  const generate = await generationStages();
  // Imports and the first steps of the compiler's functions are no part of what a tool costs.
  await generate(answered(300), new Map());
  const sizes = [30, 300, 3000];
  const rounds = { 30: 9, 300: 7, 3000: 3 };
  const results = new Map();
  // Interleaved, so that a slow minute of the machine slows all sizes.
  for (let round = 0; round < 9; round++) {
    for (const tools of sizes.filter((size) => round < rounds[size])) {
      const types = new Map();
      const cold = await generate(answered(tools), types);
      const warm = await generate(answered(tools), types);
      const found = results.get(tools) ?? { cold: [], warm: [] };
      found.cold.push(cold);
      found.warm.push(warm);
      results.set(tools, found);
    }
  }
  const perTool = (tools, value) => `${((value / tools) * 1000).toFixed(0)} µs`;
  for (const kind of ["cold", "warm"]) {
    const cells = sizes.map((tools) => {
      const runs = results.get(tools)[kind];
      return { tools, total: least(runs.map((one) => one.total)), runs };
    });
    const row = (name, value) => [name, ...cells.map((cell) => perTool(cell.tools, value(cell)))];
    table(
      [`generation, ${kind} type cache, per tool`, ...sizes.map((tools) => `${tools} tools`)],
      [
        ...STAGES.map((stage) => row(stage, ({ runs }) => least(runs.map((one) => one.times[stage])))),
        row("**all**", ({ total }) => total),
        ["all, together", ...cells.map(({ total }) => ms(total))],
        ["written", ...cells.map(({ runs }) => `${(runs[0].characters / 1000).toFixed(0)} kB`)],
      ],
    );
    const [, small, large] = cells;
    const ratio = large.total / large.tools / (small.total / small.tools);
    console.log(`A tool of 3,000 costs ${ratio.toFixed(2)} × one of 300 (goal: at most 1.3).\n`);
  }
}

wholeProcess();
await generation();
