// Workspaces and runs of real Pi processes for the benchmark: an agent folder whose mcp.json has stdio servers of our own, and
// one prompt in it, answered by a scripted model.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { syntheticServers } from "./synthetic-tools.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const dist = process.env.PIMCP_DIST ?? join(root, "dist");
const NODE_22 = join(root, "node_modules", "node", "bin");
/** PI_NODE names another one. */
const node = process.env.PI_NODE ?? join(NODE_22, process.platform === "win32" ? "node.exe" : "node");
/** What `pi` is. PI_CLI names another one, such as dist/cli.js. */
const PI = process.env.PI_CLI ?? join(root, "node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js");
const PROVIDER = fileURLToPath(new URL("./pi-provider.mjs", import.meta.url));
export const BY_HAND = fileURLToPath(new URL("./pi-by-hand.mjs", import.meta.url));
export const PIMCP = join(dist, "runtime", "pi", "extension.ts");

export const TOOLS_PER_SERVER = 30;
export const SERVER_START_MS = 300;

/** An agent folder, a home and an empty project, with `count` servers that are compiled too where `compiled`. */
export function workspace(folder, { count, compiled, settings, topLevel = {} }) {
  const at = Object.fromEntries(["agent", "home", "project", "cache"].map((name) => [name, join(folder, name)]));
  for (const path of Object.values(at)) mkdirSync(path, { recursive: true });
  writeFileSync(join(at.agent, "settings.json"), JSON.stringify(settings));
  const servers = syntheticServers(count * TOOLS_PER_SERVER).map(({ tools, description }, index) => {
    const name = `s${String(index).padStart(2, "0")}`;
    const declared = tools.map(({ tool, title, description, inputSchema }) => ({
      name: tool,
      title,
      description,
      inputSchema,
    }));
    const options = join(folder, `${name}.json`);
    writeFileSync(options, JSON.stringify({ startMs: SERVER_START_MS, tools: declared }));
    const entry = {
      command: node,
      args: [join(root, "tests/servers/stub.mjs")],
      env: { STUB_FILE: options },
      description,
    };
    return { name, entry, tool: tools[0].tool };
  });
  const mcpServers = Object.fromEntries(servers.map(({ name, entry }) => [name, entry]));
  if (count > 0) writeFileSync(join(at.agent, "mcp.json"), JSON.stringify({ ...topLevel, mcpServers }));
  if (compiled) {
    const bin = join(dist, "cli", "bin.cjs");
    const { status, stderr } = spawnSync(node, [bin, "compile"], {
      cwd: at.project,
      env: environment(at),
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(stderr);
  }
  const [first] = servers;
  return { ...at, folder, names: servers.map(({ name }) => name), tool: first?.tool, entry: first?.entry };
}

function environment(at) {
  return {
    PATH: `${NODE_22}${delimiter}${process.env.PATH ?? ""}`,
    TMPDIR: process.env.TMPDIR,
    HOME: at.home,
    PI_CODING_AGENT_DIR: at.agent,
    PIMCP_CACHE_DIR: at.cache,
    PI_OFFLINE: "1",
  };
}

/** Runs one prompt; rejects unless each answer was asked for. Gives back what the model saw of each request. */
export async function run(at, { extensions, answers, timeoutMs = 120_000 }) {
  const log = join(at.folder, "requests.jsonl");
  rmSync(log, { force: true });
  const args = [PROVIDER, ...extensions].flatMap((path) => ["-e", path]);
  const started = Date.now();
  const child = spawn(node, [PI, ...args, "--provider", "scripted", "--model", "one", "--mode", "json", "-p", "go"], {
    cwd: at.project,
    env: {
      ...environment(at),
      PI_BENCH_ANSWERS: JSON.stringify(answers),
      PI_BENCH_BY_HAND: JSON.stringify({ entry: at.entry, tool: at.tool }),
      PI_BENCH_LOG: log,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
  const code = await new Promise((resolve) => child.once("close", resolve));
  clearTimeout(timer);
  const lines = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
  if (lines.length !== answers.length)
    throw new Error(`${at.folder}: Pi ended with ${code} after ${lines.length} requests\n${stderr}`);
  return lines.map((line) => JSON.parse(line)).map(({ at, ...rest }) => ({ ms: at - started, ...rest }));
}
