/**
 * Time and memory of limiting a text a model reads, against the limiter of `@earendil-works/pi-mcp`, one child
 * process for each figure: `node tests/bench/limits.bench.mjs` after `npm run build`. Prints a
 * markdown table. `measure + slice` is the floor: the byte length and two slices, which say neither characters nor lines.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const MEGABYTE = 1e6;
const LIMIT = 20_480;
const build = process.env.PIMCP_DIST ?? fileURLToPath(new URL("../../dist", import.meta.url));
const built = (path) => import(pathToFileURL(`${build}/runtime/limits/${path}`).href);

/** Lines of 80 bytes or so. The mixed ones have characters of one to four bytes. */
const TEXTS = {
  ascii: (bytes) => `${"x".repeat(79)}\n`.repeat(bytes / 80),
  mixed: (bytes) => `${"añ😀 xé日".repeat(5)}\n`.repeat(Math.round(bytes / 76)),
  "one line": (bytes) => "x".repeat(bytes),
};

const WAYS = {
  "measure + slice": async (text) => `${text.slice(0, LIMIT / 2)}${Buffer.byteLength(text)}${text.slice(-LIMIT / 2)}`,
  "pimcp limitText": async (text) => (await built("text.js")).limitText(text, LIMIT).text,
  "pimcp limitResult + file": async (text) => {
    const [{ limitResult }, { createOutputStore }] = await Promise.all([built("result.js"), built("output-store.js")]);
    const options = { maxBytes: LIMIT, server: "s", store: createOutputStore() };
    const { content, path } = await limitResult({ content: [{ type: "text", text }] }, options);
    await rm(dirname(path), { recursive: true });
    return content[0].text;
  },
  "pi-mcp limitMcpContent": async (text) => {
    const { limitMcpContent } = await import("@earendil-works/pi-mcp");
    return (await limitMcpContent([{ type: "text", text }])).content[0].text;
  },
};

async function measureOne(way, kind, megabytes) {
  // Importing and compiling are not what is measured.
  await WAYS[way](TEXTS[kind](LIMIT * 4));
  const text = TEXTS[kind](megabytes * MEGABYTE);
  // `repeat` gives a tree of pieces; a text from a server is flat.
  text.indexOf("\0");
  const before = process.resourceUsage().maxRSS;
  const start = performance.now();
  const shown = await WAYS[way](text);
  const ms = performance.now() - start;
  const peak = process.resourceUsage().maxRSS;
  if (shown.length > LIMIT * 2) throw new Error("nothing was cut");
  return { ms, extraMB: (peak - before) / 1024, peakMB: peak / 1024 };
}

function runChild(way, kind, megabytes) {
  const args = ["--max-old-space-size=4096", fileURLToPath(import.meta.url), "--one", way, kind, String(megabytes)];
  const child = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 120_000 });
  return child.status === 0 ? JSON.parse(child.stdout) : undefined;
}

function table() {
  const lines = ["| text | MB | way | ms | peak RSS above the text, MB | peak RSS, MB |", "|---|---|---|---|---|---|"];
  for (const kind of Object.keys(TEXTS)) {
    for (const megabytes of [1, 10, 50, 200]) {
      for (const way of Object.keys(WAYS)) {
        const first = runChild(way, kind, megabytes);
        const runs = first && [first, runChild(way, kind, megabytes), runChild(way, kind, megabytes)];
        const median = runs?.sort((a, b) => a.ms - b.ms)[1];
        const cells = median
          ? [median.ms.toFixed(1), median.extraMB.toFixed(0), median.peakMB.toFixed(0)]
          : ["fails", "", ""];
        lines.push(`| ${[kind, megabytes, way, ...cells].join(" | ")} |`);
      }
    }
  }
  return lines.join("\n");
}

if (!existsSync(build)) {
  console.error("limits.bench: no dist folder; run `npm run build` first");
  process.exitCode = 2;
} else if (process.argv[2] === "--one") {
  const [way, kind, megabytes] = process.argv.slice(3);
  console.log(JSON.stringify(await measureOne(way, kind, Number(megabytes))));
} else {
  console.log(`Median of three processes each. Node ${process.versions.node}, limit ${LIMIT} bytes.\n\n${table()}`);
}
