// Sessions of real Pi processes (Node 22, the bundle that `pi` is) with 1, 5 and 20 stdio servers that take 300 ms to start and have
// 30 tools each: without MCP, with pimcp, with Pi's built-in MCP and with pi-mcp-adapter, its cache warm. Rounds take turns;
// what is compared are medians of each round's differences. The model is a script: it calls a tool of one server, then ends.
// Needs `npm run build`. Prints markdown tables; ROUNDS=n, SERVERS=1,5 and ONLY=pimcp,builtin run less.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { BY_HAND, PIMCP, run, SERVER_START_MS, TOOLS_PER_SERVER, workspace } from "./pi-runs.mjs";
import { rawClient } from "./raw-client.mjs";

const ROUNDS = Number(process.env.ROUNDS ?? 11);
const COUNTS = (process.env.SERVERS ?? "1,5,20").split(",").map(Number);
const ALLOWED_MS = 50;

const work = mkdtempSync(join(tmpdir(), "pimcp-bench-"));
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const known = (value) => value !== undefined;
const show = (value, digits = 0) => (known(value) ? value.toFixed(digits) : "-");
const END = { text: "done" };

const withoutBuiltIn = { extensions: ["-builtin:mcp"] };
const script = ({ tool }) => ({
  call: ["codemode", { code: `return (await tools.mcp__s00__${tool}({})).content.length` }],
});

/** How each way of having MCP is set up, and what the model does to call one tool. */
const ways = {
  none: { settings: withoutBuiltIn, extensions: [] },
  pimcp: { settings: withoutBuiltIn, extensions: [PIMCP], compiled: true, call: script },
  "pimcp, scripts unchecked": {
    settings: withoutBuiltIn,
    topLevel: { codemode: { typecheck: "off" } },
    extensions: [PIMCP],
    compiled: true,
    call: script,
  },
  "pimcp, its own script engine": {
    settings: withoutBuiltIn,
    topLevel: { codemode: { engine: "pimcp" } },
    extensions: [PIMCP],
    compiled: true,
    call: script,
  },
  // No MCP, but an extension's one tool that starts one server when it is called.
  "by hand": {
    settings: { ...withoutBuiltIn, defaultTools: ["+codemode"] },
    extensions: [BY_HAND],
    call: script,
  },
  // The script has to be callable in the first request; Pi activates the tool only once a server is connected.
  builtin: { settings: { defaultTools: ["+codemode"] }, extensions: [], call: script },
  adapter: {
    settings: withoutBuiltIn,
    extensions: [adapter()],
    call: ({ tool }) => ({ call: ["mcp", { tool: `s00_${tool}`, args: {} }] }),
    warmUp: ({ names }) => names.map((connect) => ({ call: ["mcp", { connect }] })),
  },
};
const names = Object.keys(ways).filter(
  (name) =>
    (name === "none" || !process.env.ONLY || process.env.ONLY.split(",").includes(name)) &&
    ways[name].extensions.every(known),
);

/** The newest pi-mcp-adapter in a folder of its own; undefined where it can't be had. */
function adapter() {
  if (process.env.ONLY && !process.env.ONLY.includes("adapter")) return undefined;
  const folder = join(work, "adapter");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), "{}");
  const args = ["install", "pi-mcp-adapter", "--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund"];
  spawnSync("npm", args, { cwd: folder, timeout: 120_000, shell: process.platform === "win32" });
  const entry = join(folder, "node_modules", "pi-mcp-adapter", "index.ts");
  return existsSync(entry) ? entry : undefined;
}

async function prepared(count) {
  const sessions = {};
  for (const name of names) {
    const { settings, topLevel, extensions, compiled, call, warmUp } = ways[name];
    const folder = join(work, `${name}-${count}`);
    const at = workspace(folder, { count: name === "none" ? 0 : count, compiled, settings, topLevel });
    const answers = call === undefined ? [END] : [call(at), END];
    const begin = () => run(at, { extensions, answers });
    // Its first run of all can hang where much else is going on; it has filled its cache a second time.
    const warm = () => run(at, { extensions, answers: [...warmUp(at), END] });
    if (warmUp) await warm().catch(warm);
    // Caches of code are filled by the first run.
    await begin();
    sessions[name] = begin;
  }
  return sessions;
}

async function measure(count) {
  const sessions = await prepared(count);
  const seen = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    // Whoever goes first in a round goes last in the next.
    for (const name of round % 2 === 0 ? names : names.toReversed()) seen[name].push(await sessions[name]());
  }
  return names.map((name) => rowOf(count, name, seen));
}

function rowOf(count, name, seen) {
  const rounds = seen[name];
  const of = (request, key) => median(rounds.map((requests) => requests[request]?.[key]).filter(known));
  const more = (key) => median(rounds.map(([first], round) => first[key] - seen.none[round][0][key]));
  const megabytes = (request) => {
    const bytes = of(request, "bytes");
    return known(bytes) ? show(bytes / 2 ** 20) : "-";
  };
  const result = median(
    rounds.filter((requests) => requests.length > 1).map(([first, second]) => second.ms - first.ms),
  );
  const cells = [
    count,
    name,
    show(of(0, "ms")),
    name === "none" ? "" : show(more("ms")),
    name === "none" ? "" : show(more("cpuMs")),
    show(of(0, "children")),
    megabytes(0),
    show(of(1, "ms")),
    show(result),
    show(of(1, "children")),
    megabytes(1),
  ];
  return `| ${cells.join(" | ")} |`;
}

/** Milliseconds from the start of a server's process to the answer to a first call, by a client that does no more than that. */
async function measureOwnStart() {
  const { entry, tool } = workspace(join(work, "own"), { count: 1, settings: {} });
  const times = [];
  for (let round = 0; round < ROUNDS; round++) {
    const started = performance.now();
    const client = await rawClient(entry, "legacy");
    await client.call(tool, {});
    times.push(performance.now() - started);
    client.close();
  }
  return median(times);
}

/** A script that does nothing, in Pi's sandbox and in ours, the first of a session and the second. */
async function measureEngines() {
  const call = { call: ["codemode", { code: "return 1" }] };
  const engines = {};
  for (const engine of ["pi", "pimcp"]) {
    const topLevel = { codemode: { engine } };
    const at = workspace(join(work, `engine-${engine}`), {
      count: 5,
      compiled: true,
      settings: withoutBuiltIn,
      topLevel,
    });
    engines[engine] = () => run(at, { extensions: [PIMCP], answers: [call, call, END] });
    await engines[engine]();
  }
  const times = { pi: [], pimcp: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const engine of round % 2 === 0 ? ["pi", "pimcp"] : ["pimcp", "pi"]) {
      const [first, second, third] = await engines[engine]();
      times[engine].push([second.ms - first.ms, third.ms - second.ms]);
    }
  }
  return ["first", "second"].map((which, index) => {
    const of = (engine) => times[engine].map((both) => both[index]);
    const difference = median(of("pimcp").map((ms, round) => ms - of("pi")[round]));
    return `| ${which} | ${show(median(of("pi")))} | ${show(median(of("pimcp")))} | ${show(difference)} |`;
  });
}

try {
  const [before] = loadavg();
  const rows = [];
  for (const count of COUNTS) rows.push(...(await measure(count)));
  const engines = process.env.ONLY && !process.env.ONLY.includes("engines") ? [] : await measureEngines();
  const own = await measureOwnStart();
  const load = `load ${before.toFixed(1)} before, ${loadavg()[0].toFixed(1)} after`;
  console.log(
    `Pi 1.6.0 on Node 22, ${cpus().length} cores, ${load}; medians of ${ROUNDS} rounds, differences are medians of each round's.`,
  );
  console.log(
    `${TOOLS_PER_SERVER} tools a server, which takes ${SERVER_START_MS} ms to start. Processes and memory (resident, of Pi and all it started) are those there were by then. Allowed: a first request ${ALLOWED_MS} ms after one without MCP, and no process. A server by itself takes ${show(own)} ms from its process's start to the answer to a call. "By hand" is one tool of a small extension, which starts its server when it is called: that server's own start and Pi, which the result after the first request is held to.\n`,
  );
  console.log(
    "| servers | MCP by | first request, ms | over none, ms | CPU of Pi over none, ms | processes | MB | result of one server's tool, ms | ms after the first request | processes | MB |",
  );
  console.log("|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
  for (const row of rows) console.log(row);
  if (engines.length > 0) {
    console.log("\nA script `return 1`, from the request that asks for it to the one that has its result, in ms:\n");
    console.log("| script of the session | Pi's sandbox | pimcp's | difference |\n|---|---:|---:|---:|");
    for (const row of engines) console.log(row);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
