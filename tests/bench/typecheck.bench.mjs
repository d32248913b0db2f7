// What checking a script's types adds: cold, warm, and by the number of tools a session has. The share of a script that only runs
// is measured in the same process. Needs `npm run build`. Prints a markdown table.
import { performance } from "node:perf_hooks";
import { syntheticServers } from "./synthetic-tools.mjs";

const dist = process.env.PIMCP_DIST ?? new URL("../../dist", import.meta.url).pathname;
const { createScriptChecker } = await import(`${dist}/runtime/sandbox/script-checker.js`);

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const show = (ms) => `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;

/** As much of a tool table as the checker asks of one. */
function tableOf(count) {
  const tools = new Map(syntheticServers(count).flatMap(({ tools }) => tools.map((tool) => [tool.name, tool])));
  return {
    byName: (name) => tools.get(name),
    definition: (name) => ({ ok: true, value: tools.get(name) }),
    tools: () => [...tools.values()],
    names: [...tools.keys()],
  };
}

const script = ([a, b, c], round) => `
const pages = await Promise.allSettled([tools.${a}({}), tools.${b}({}), tools.${c}({})]);
const texts = pages.flatMap((page) => (page.status === "fulfilled" ? page.value.content.map((block) => block.text) : []));
return texts.filter((text) => text.length > ${round}).slice(0, 5);
`;

/** Milliseconds by the clock, and of work: what all threads of the process computed, whatever else the machine does. */
async function timed(checker, source, table) {
  const start = performance.now();
  const before = process.cpuUsage();
  const { checked } = await checker.checkScript({ source, table });
  if (!checked) throw new Error("nothing was checked: is the compiler in this build?");
  const { user, system } = process.cpuUsage(before);
  return { wall: performance.now() - start, work: (user + system) / 1_000 };
}

const ROUNDS = 15;
console.log("A script that calls three tools, TypeScript kept warm in a thread of its own\n");
console.log("| tools of the session | first script | its work | first TypeScript | warm, median | its work |");
console.log("|---|---|---|---|---|---|");
const warm = [];
for (const count of [30, 300, 3_000]) {
  const table = tableOf(count);
  const checker = createScriptChecker();
  const cold = await timed(checker, script(table.names, 0), table);
  const typed = await timed(checker, `const typed: number = 1;${script(table.names, 0)}`, table);
  const times = [];
  for (let round = 1; round <= ROUNDS; round++) times.push(await timed(checker, script(table.names, round), table));
  const wall = median(times.map((time) => time.wall));
  const work = median(times.map((time) => time.work));
  warm.push(work);
  const cells = [count, show(cold.wall), show(cold.work), show(typed.wall), show(wall), show(work)];
  console.log(`| ${cells.join(" | ")} |`);
  await checker.close();
}

const checker = createScriptChecker();
checker.warm();
const early = performance.now();
await new Promise((resolve) => setTimeout(resolve, 500));
const waited = performance.now() - early;
const table = tableOf(30);
console.log(
  `\nA thread started ${show(waited)} before the first script: ${show((await timed(checker, script(table.names, 0), table)).wall)}.`,
);
const plain = [];
for (let round = 0; round < ROUNDS; round++) {
  const start = performance.now();
  await checker.checkScript({ source: script(table.names, round), table, mode: "off" });
  plain.push(performance.now() - start);
}
await checker.close();
console.log(`With checking off the same script costs ${show(median(plain))}.`);

const failed = [];
if (Math.max(...warm) > 150) failed.push("a warm check takes over 150 ms of work");
if (warm[2] > 3 * warm[0] + 5) failed.push("the cost grows with the session's tools");
if (failed.length > 0) {
  console.error(failed.join("\n"));
  process.exit(1);
}
