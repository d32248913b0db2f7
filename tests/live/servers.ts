/**
 * The real servers that the live tests compile: how each is started, and what its pinned version is known to answer.
 * They start over stdio without a network or an account; the values they want are dummies, unlike anything
 * else, so that a leak is found by searching for them.
 */

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export interface LiveServer {
  readonly name: string;
  readonly package: string;
  /** Below the package's folder. */
  readonly entry: string;
  readonly args?: readonly string[];
  /** Variables it is given, all of them secrets but those of `plain`. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly plain?: Readonly<Record<string, string>>;
  /** Among the repository's own devDependencies, and so always there. */
  readonly always?: true;
  /** Needs a newer Node than the floor of ours. */
  readonly node22?: true;
  readonly tools: number;
  readonly era: "legacy" | "modern";
  /** Of its tool list, milliseconds; 0 where it declares none. */
  readonly ttlMs?: number;
}

const TOKEN = "pimcp-dummy-token-7Qx2";

/** The ten of the survey, and two newcomers that nobody looked at while the compiler was written. */
export const LIVE_SERVERS: readonly LiveServer[] = [
  {
    name: "filesystem",
    package: "@modelcontextprotocol/server-filesystem",
    entry: "dist/index.js",
    args: ["."],
    always: true,
    tools: 14,
    era: "legacy",
  },
  {
    name: "everything",
    package: "@modelcontextprotocol/server-everything",
    entry: "dist/index.js",
    always: true,
    tools: 15,
    era: "legacy",
  },
  {
    name: "memory",
    package: "@modelcontextprotocol/server-memory",
    entry: "dist/index.js",
    plain: { MEMORY_FILE_PATH: "/dev/null" },
    always: true,
    tools: 9,
    era: "legacy",
  },
  {
    name: "mongodb",
    package: "mongodb-mcp-server",
    entry: "dist/esm/index.js",
    secrets: {
      MDB_MCP_CONNECTION_STRING: "mongodb://nobody:pimcp-dummy-mongo-k3Vd@127.0.0.1:1/none",
      MDB_MCP_API_CLIENT_ID: "pimcp-dummy-client-9hTz",
      MDB_MCP_API_CLIENT_SECRET: "pimcp-dummy-atlas-w5Rb",
    },
    plain: { MDB_MCP_TELEMETRY: "disabled" },
    tools: 49,
    era: "modern",
  },
  {
    name: "notion",
    package: "@notionhq/notion-mcp-server",
    entry: "bin/cli.mjs",
    secrets: { NOTION_TOKEN: "pimcp-dummy-notion-m8Lc" },
    tools: 24,
    era: "legacy",
  },
  { name: "playwright", package: "@playwright/mcp", entry: "cli.js", tools: 25, era: "legacy" },
  { name: "xcodebuild", package: "xcodebuildmcp", entry: "build/cli.js", args: ["mcp"], tools: 24, era: "legacy" },
  {
    name: "supabase",
    package: "@supabase/mcp-server-supabase",
    entry: "dist/cli.js",
    // A secret written out in mcp.json, as careless people do: it may be warned of, and must get nowhere.
    args: ["--access-token", TOKEN, "--features=account,database,debugging,development,functions,branching,storage"],
    tools: 31,
    era: "modern",
  },
  {
    name: "brave",
    package: "@brave/brave-search-mcp-server",
    entry: "dist/index.js",
    secrets: { BRAVE_API_KEY: "pimcp-dummy-brave-t4Yn" },
    tools: 8,
    era: "legacy",
  },
  {
    name: "dbhub",
    package: "@bytebase/dbhub",
    entry: "dist/index.js",
    args: ["--demo"],
    node22: true,
    tools: 2,
    era: "modern",
    ttlMs: 300_000,
  },
  { name: "chart", package: "@antv/mcp-server-chart", entry: "build/index.js", tools: 27, era: "legacy" },
  {
    name: "devtools",
    package: "chrome-devtools-mcp",
    entry: "build/src/bin/chrome-devtools-mcp.js",
    plain: { CHROME_DEVTOOLS_MCP_NO_USAGE_STATISTICS: "1" },
    tools: 32,
    era: "legacy",
  },
];

/** Every text that must get nowhere. */
export const SECRETS: readonly string[] = [
  TOKEN,
  "pimcp-dummy-mongo-k3Vd",
  ...LIVE_SERVERS.flatMap((server) => Object.values(server.secrets ?? {})),
];

const LIVE = dirname(fileURLToPath(import.meta.url));
const ROOT = join(LIVE, "..", "..");

/** An entry for `mcp.json`. `variables` go to the server's process as they are written. */
export function entryOf(server: LiveServer, variables: Readonly<Record<string, string>> = {}) {
  const path = join(server.always ? ROOT : LIVE, "node_modules", server.package, server.entry);
  const secrets = Object.keys(server.secrets ?? {}).map((name) => [name, `\${${name}}`]);
  return {
    command: server.node22 ? newerNode() : process.execPath,
    args: [path, ...(server.args ?? [])],
    env: { ...Object.fromEntries(secrets), ...server.plain, ...variables },
  };
}

/** The values of all the variables that entries refer to. */
export const SECRET_VARIABLES: Readonly<Record<string, string>> = Object.assign(
  {},
  ...LIVE_SERVERS.map((server) => server.secrets ?? {}),
);

/** Node 22 from the devDependency `node`, where this process is older than that. */
function newerNode(): string {
  if (Number(process.versions.node.split(".")[0]) >= 23) return process.execPath;
  const binary = join(dirname(createRequire(import.meta.url).resolve("node/package.json")), "bin", "node");
  return existsSync(binary) ? binary : process.execPath;
}
