// One small `tools/call` over stdio through three clients of the same server: the runtime, a bare
// @modelcontextprotocol/client, and a hand-written JSON-RPC client as the floor. Sequential and 32 at once, in rounds that
// take turns. Needs `npm run build`. Prints markdown tables; ONLY=runtime|sdk|raw and
// WAY=sequential|32 run a part of it, for a profile.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { rawClient } from "./raw-client.mjs";

const dist = process.env.PIMCP_DIST ?? fileURLToPath(new URL("../../dist", import.meta.url));
const { createRuntime } = await import(`${dist}/runtime/index.js`);

const ROUNDS = Number(process.env.ROUNDS ?? 15);
const CALLS = 400;
const AT_ONCE = 32;
const ARGS = { text: "hello, server" };
const servers = fileURLToPath(new URL("../servers", import.meta.url));
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/** The same tool in both eras: `echo` of the scripted server, which does next to nothing itself. */
const entryOf = (era) => ({
  command: process.execPath,
  args: [join(servers, "stub.mjs")],
  env: { STUB: JSON.stringify({ era }) },
});

const contenders = {
  async runtime(era, work) {
    const project = join(work, era);
    mkdirSync(project, { recursive: true });
    writeFileSync(join(project, "mcp.json"), JSON.stringify({ mcpServers: { s: entryOf(era) } }));
    const env = { ...process.env, PI_CODING_AGENT_DIR: join(work, "agent"), PIMCP_CACHE_DIR: join(work, "cache") };
    const bin = join(dist, "cli", "bin.js");
    const compiled = spawnSync(process.execPath, [bin, "compile"], { cwd: project, env, encoding: "utf8" });
    if (compiled.status !== 0) throw new Error(compiled.stderr);
    const runtime = await createRuntime({ cwd: project, env });
    return { call: (name, args) => runtime.call("s", name, args), close: () => runtime.close() };
  },
  async sdk(era) {
    const mode = era === "modern" ? { pin: "2026-07-28" } : "legacy";
    const client = new Client({ name: "bare", version: "1.0.0" }, { versionNegotiation: { mode } });
    await client.connect(new StdioClientTransport(entryOf(era)));
    return { call: (name, args) => client.callTool({ name, arguments: args }), close: () => client.close() };
  },
  raw: (era) => rawClient(entryOf(era), era),
};

const sequential = async (call) => {
  for (let n = 0; n < CALLS; n++) await call("echo", ARGS);
};
/** Always 32 under way. */
const parallel = async (call) => {
  let left = CALLS * 4;
  const worker = async () => {
    while (left-- > 0) await call("echo", ARGS);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
};
const ways = { sequential: [sequential, CALLS], [`${AT_ONCE} at once`]: [parallel, CALLS * 4] };

/** Microseconds by the clock, and of this process's CPU: waiting for the server costs none of the latter. */
async function timed(run) {
  const before = process.cpuUsage();
  const start = performance.now();
  await run();
  const wall = (performance.now() - start) * 1000;
  const { user, system } = process.cpuUsage(before);
  return { wall, cpu: user + system };
}

const rows = { wall: [], cpu: [] };

function row(labels, names, timesOf) {
  const ratio = (a, b) =>
    names.includes(a) && names.includes(b)
      ? median(timesOf(a).map((time, round) => time / timesOf(b)[round])).toFixed(2)
      : "-";
  const cells = Object.keys(contenders).map((name) => (names.includes(name) ? median(timesOf(name)).toFixed(0) : "-"));
  return `| ${[...labels, ...cells, ratio("runtime", "sdk"), ratio("runtime", "raw"), ratio("sdk", "raw")].join(" | ")} |`;
}

async function measure(era, work) {
  const names = Object.keys(contenders).filter((name) => !process.env.ONLY || process.env.ONLY === name);
  const clients = {};
  for (const name of names) clients[name] = await contenders[name](era, work);
  for (const [way, [run, calls]] of Object.entries(ways)) {
    if (process.env.WAY && !way.includes(process.env.WAY)) continue;
    const times = Object.fromEntries(names.map((name) => [name, { wall: [], cpu: [] }]));
    for (let round = -2; round < ROUNDS; round++) {
      // Whoever goes first in a round goes last in the next.
      for (const name of round % 2 === 0 ? names : names.toReversed()) {
        const spent = await timed(() => run(clients[name].call));
        if (round < 0) continue;
        times[name].wall.push(spent.wall / calls);
        times[name].cpu.push(spent.cpu / calls);
      }
    }
    for (const kind of ["wall", "cpu"]) rows[kind].push(row([era, way], names, (name) => times[name][kind]));
  }
  for (const client of Object.values(clients)) await client.close();
}

const work = mkdtempSync(join(tmpdir(), "pimcp-bench-"));
try {
  for (const era of ["legacy", "modern"]) await measure(era, work);
} finally {
  rmSync(work, { recursive: true, force: true });
}
console.log(
  `Node ${process.version}, ${cpus().length} cores; medians of ${ROUNDS} rounds, ratios are medians of each round's.`,
);
for (const [kind, what] of [
  ["wall", "Microseconds a call"],
  ["cpu", "Microseconds of the client's CPU a call: what other load on the machine changes least"],
]) {
  console.log(`\n${what}:\n`);
  console.log("| era | calls | runtime | bare SDK | raw | runtime / SDK | runtime / raw | SDK / raw |");
  console.log("| --- | --- | --- | --- | --- | --- | --- | --- |");
  for (const line of rows[kind]) console.log(line);
}
