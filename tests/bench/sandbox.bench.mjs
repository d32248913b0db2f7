/**
 * Scripts in the sandbox against `@earendil-works/pi-codemode`, in the same run: `node tests/bench/sandbox.bench.mjs` after
 * `npm run build`. Each is imported as a program would: `pimcp/sandbox` and the package. Cold is a process of its own that imports,
 * runs `return 1` and ends the measurement; warm is one run after others in a process. Whoever goes first in a round goes last in the next; ratios are medians of each round's.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const dist = process.env.PIMCP_DIST ?? fileURLToPath(new URL("../../dist", import.meta.url));
const ROUNDS = Number(process.env.ROUNDS ?? 11);
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const answer = (args) => (args?.mb ? { text: "x".repeat(args.mb * 1e6) } : { structuredContent: args });

const contenders = {
  async pimcp(count) {
    const { createSandbox } = await import(`${dist}/runtime/sandbox/index.js`);
    const tools = new Map(Array.from({ length: count }, (_, n) => [`tool_${n}`, `Does the thing number ${n}`]));
    const sandbox = createSandbox({
      tools: {
        has: (name) => tools.has(name),
        names: () => [...tools.keys()],
        list: () => [...tools].map(([name, description]) => ({ name, description })),
        call: async (_, args) => answer(args),
      },
    });
    return { run: (source) => sandbox.run(source), close: () => sandbox.close() };
  },
  async "pi-codemode"(count) {
    const { CodemodeSandbox } = await import("@earendil-works/pi-codemode");
    const tools = Array.from({ length: count }, (_, n) => ({
      name: `tool_${n}`,
      description: `Does the thing number ${n}`,
      execute: async (args) => answer(args),
    }));
    const sandbox = new CodemodeSandbox({ tools, memoryLimitBytes: 256 * 2 ** 20, timeoutMs: 60_000 });
    return { run: (source) => sandbox.execute(source), close: () => sandbox.close() };
  },
};

const SCRIPTS = {
  "return 1": "return 1",
  "330 calls":
    "const r = await Promise.all(Array.from({ length: 330 }, (_, n) => tools.tool_0({ n }))); return r.length",
  "a 10 MB result": "return (await tools.tool_0({ mb: 10 })).text.length",
};

/** Milliseconds by the clock and of the process's CPU. */
async function timed(run) {
  const cpu = process.cpuUsage();
  const start = performance.now();
  const result = await run();
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  const { user, system } = process.cpuUsage(cpu);
  return { wall: performance.now() - start, cpu: (user + system) / 1000 };
}

function cold(name, count) {
  const child = spawnSync(process.execPath, [fileURLToPath(import.meta.url), "--cold", name, String(count)], {
    encoding: "utf8",
  });
  if (child.status !== 0) throw new Error(child.stderr);
  return JSON.parse(child.stdout);
}

const rows = [];
function row(what, times) {
  const ratio = (kind) =>
    median(times.pimcp.map((time, round) => time[kind] / times["pi-codemode"][round][kind])).toFixed(2);
  const cell = (name, kind) => median(times[name].map((time) => time[kind])).toFixed(1);
  const cells = ["wall", "cpu"].flatMap((kind) => [cell("pimcp", kind), cell("pi-codemode", kind), ratio(kind)]);
  rows.push(`| ${[what, ...cells].join(" | ")} |`);
}

async function measure(what, measureOne, warmUps) {
  const names = Object.keys(contenders);
  const times = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = -warmUps; round < ROUNDS; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const spent = await measureOne(name);
      if (round >= 0) times[name].push(spent);
    }
  }
  row(what, times);
}

const [flag, name, count] = process.argv.slice(2);
if (flag === "--cold") {
  const spent = await timed(async () => {
    const { run, close } = await contenders[name](Number(count));
    const result = await run("return 1");
    void close();
    return result;
  });
  console.log(JSON.stringify(spent));
} else {
  for (const tools of [1, 300, 3000]) {
    await measure(`cold \`return 1\`, ${tools} tools`, (one) => cold(one, tools), 1);
    const open = {};
    for (const one of Object.keys(contenders)) open[one] = await contenders[one](tools);
    const scripts = tools === 300 ? SCRIPTS : { "return 1": "return 1" };
    for (const [what, source] of Object.entries(scripts)) {
      await measure(`warm \`${what}\`, ${tools} tools`, (one) => timed(() => open[one].run(source)), 3);
    }
    for (const { close } of Object.values(open)) await close();
  }
  console.log(
    `Node ${process.version}; milliseconds, medians of ${ROUNDS} rounds. The machine was shared: read the ratios.\n`,
  );
  console.log("| | pimcp | pi-codemode | ratio | CPU: pimcp | pi-codemode | ratio |\n|---|---|---|---|---|---|---|");
  for (const line of rows) console.log(line);
}
