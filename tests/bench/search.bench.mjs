// Tool search over 3,000 tools: building, loading and querying, against MiniSearch's own JSON form and against
// MiniSearch rebuilt for every query. Needs `npm run build`. Prints markdown tables.
import { performance } from "node:perf_hooks";
import MiniSearch from "minisearch";
import { syntheticServers } from "./synthetic-tools.mjs";

const dist = process.env.PIMCP_DIST ?? new URL("../../dist", import.meta.url).pathname;
const { buildSearchIndex } = await import(`${dist}/compiler/emit/search-index.js`);
const { artifactJson } = await import(`${dist}/compiler/emit/json.js`);
const { openArtifacts } = await import(`${dist}/schemas/artifacts/read.js`);
const { sha256 } = await import(`${dist}/schemas/canonical.js`);
const { parameterNames } = await import(`${dist}/schemas/search-document.js`);
const { searchTools } = await import(`${dist}/schemas/search-query.js`);

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const timed = (run) => {
  const start = performance.now();
  const value = run();
  return { value, ms: performance.now() - start };
};
const times = (rounds, run) => Array.from({ length: rounds }, () => timed(run).ms);
const show = (ms) => `${ms.toFixed(ms < 10 ? 2 : 0)} ms`;

function planOf(tools) {
  return syntheticServers(tools).map((catalog) => ({
    catalog,
    tools: catalog.tools.map((tool) => ({ tool, exposure: "codemode" })),
  }));
}

const TOOLS = 3_000;
const plan = planOf(TOOLS);
const named = plan[40].tools[7].tool;
const words = named.tool.split("_");
const QUERIES = {
  "an exact name": named.tool,
  "three names": [10, 50, 90].map((server) => plan[server].tools[3].tool.tool).join(" "),
  "its words": words.slice(1).join(" "),
  "a verb and a word": `list ${words[1]}`,
  "a sentence": `how do I ${words.join(" ")} of all the ${plan[3].tools[1].tool.tool.replaceAll("_", " ")} in it`,
  "a misspelt word": `${words[1].slice(0, -1)}x`,
  "three letters": words[1].slice(0, 3),
};

// Ours, through the reader that verifies the file. The first load and query of the process come first.
const json = artifactJson(buildSearchIndex(plan));
const search = new TextEncoder().encode(json);
const manifest = new TextEncoder().encode(
  JSON.stringify({
    formatVersion: 1,
    scope: "project",
    settings: "",
    servers: {},
    files: { "search.json": sha256(json) },
  }),
);
const load = () => {
  const folder = openArtifacts("bench", (path) => (path === "manifest.json" ? manifest : search));
  return folder.value.json("search.json").value;
};
const firstLoad = timed(load);
const loads = times(15, load);
const segments = [{ file: firstLoad.value, shows: () => true }];
const queries = Object.entries(QUERIES).map(([name, query]) => {
  const first = timed(() => searchTools(segments, query));
  return { name, first: first.ms, median: median(times(31, () => searchTools(segments, query))), hits: first.value };
});

// MiniSearch on the same fields.
const fields = ["name", "title", "parameters", "server", "description"];
const options = {
  fields,
  storeFields: ["name"],
  searchOptions: { boost: { name: 8, title: 4, parameters: 2, server: 2 }, prefix: true, fuzzy: 0.2 },
};
const documents = plan.flatMap(({ catalog, tools }) =>
  tools.map(({ tool }) => ({
    id: tool.name,
    name: tool.tool.replaceAll("_", " "),
    title: tool.title,
    parameters: parameterNames(tool.inputSchema).join(" ").replaceAll("_", " "),
    server: `${catalog.name} ${catalog.description}`,
    description: tool.description,
  })),
);
const buildMini = () => {
  const index = new MiniSearch(options);
  index.addAll(documents);
  return index;
};
const miniBuild = timed(buildMini);
const miniJson = JSON.stringify(miniBuild.value);
const miniLoads = times(7, () => MiniSearch.loadJSON(miniJson, options));
const mini = MiniSearch.loadJSON(miniJson, options);

console.log(`Search over ${TOOLS} synthetic tools (node ${process.version}, \`node tests/bench/search.bench.mjs\`)\n`);
console.log("| | this | MiniSearch |\n|---|---|---|");
console.log(`| file | ${(json.length / 1e6).toFixed(1)} MB | ${(miniJson.length / 1e6).toFixed(1)} MB |`);
console.log(
  `| build | ${show(median(times(3, () => buildSearchIndex(plan))))} | ${show(median(times(3, buildMini)))} |`,
);
console.log(`| load, first in the process | ${show(firstLoad.ms)} (verified) | - |`);
console.log(`| load, median | ${show(median(loads))} (verified) | ${show(median(miniLoads))} |`);
for (const { name, first, median: ours } of queries) {
  const theirs = median(times(9, () => mini.search(QUERIES[name])));
  console.log(`| query: ${name} | ${show(ours)} (first ${show(first)}) | ${show(theirs)} |`);
}
const rebuild = median(times(3, () => buildMini().search(named.tool)));
console.log(
  `| one query with its index built for it (MiniSearch; Pi, which also rebuilds, was not run) | - | ${show(rebuild)} |`,
);

console.log("\n| tools | build | per tool |\n|---|---|---|");
for (const tools of [30, 300, 3_000]) {
  const some = planOf(tools);
  const ms = median(times(7, () => buildSearchIndex(some)));
  console.log(`| ${tools} | ${show(ms)} | ${((ms / tools) * 1000).toFixed(0)} µs |`);
}

const failed = [];
if (!queries[0].hits[0] || queries[0].hits[0].tool !== named.tool) failed.push("the named tool is not first");
if (queries.some(({ hits }) => hits.length === 0)) failed.push("a query found nothing");
if (failed.length > 0) {
  console.error(failed.join("\n"));
  process.exit(1);
}
