// The client that the official suite drives: pimcp, used as a person would use it. It writes an `mcp.json` with the suite's
// server into a folder of its own, compiles it, signs in where that says so, and then calls every tool, reads every
// resource and fills in every prompt through the runtime that an agent gets. Nothing here speaks MCP, and no outcome
// depends on the scenario's name: it tells only what somebody would do with such a server (steps.mjs).
// Exits with 1 when a step failed, and says which on stderr.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { agreeingPerson } from "./browser.mjs";
import { entryFor } from "./entry.mjs";
import { answerWithDefaults } from "./sample.mjs";
import { stepsFor } from "./steps.mjs";

const SERVER = "suite";
const MOST_SIGN_INS = 2;
const dist = process.env.PIMCP_DIST ?? join(import.meta.dirname, "..", "..", "dist");
const load = (path) => import(pathToFileURL(join(dist, path)).href);

const url = process.argv[2];
const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
if (url === undefined || scenario === undefined) {
  console.error("usage: MCP_CONFORMANCE_SCENARIO=<scenario> npm run conformance:client -- <server-url>");
  process.exit(2);
}
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const { entry, env: variables } = entryFor(url, process.env.MCP_CONFORMANCE_PROTOCOL_VERSION ?? "2025-11-25", context);

const root = mkdtempSync(join(tmpdir(), "pimcp-conformance-"));
const [project, agent, state] = ["project", "agent", "state"].map((name) => join(root, name));
for (const folder of [project, agent]) mkdirSync(folder);
writeFileSync(join(project, "mcp.json"), JSON.stringify({ mcpServers: { [SERVER]: entry } }));
const surroundings = { cwd: project, homedir: root, env: { ...process.env, ...variables, PI_CODING_AGENT_DIR: agent } };

let failed = false;
/** What goes wrong in one step doesn't keep the next from being taken, as with a person at a terminal. */
async function step(what, act) {
  try {
    console.error(`${what}: ${(await act()) ?? "done"}`);
  } catch (error) {
    failed = true;
    console.error(`${what}: FAILED: ${error.stack ?? error}`);
  }
}

/** Types of schemas that another scenario of the run had as well, one file each: how they are made is no part of the protocol. */
function keptTypes() {
  const folder = process.env.PIMCP_CONFORMANCE_TYPES;
  if (folder === undefined) return undefined;
  const fileOf = (digest) => join(folder, `${digest}.json`);
  return {
    get: (digest) => (existsSync(fileOf(digest)) ? JSON.parse(readFileSync(fileOf(digest), "utf8")) : undefined),
    set(digest, type) {
      const unfinished = join(folder, `${digest}.${process.pid}`);
      writeFileSync(unfinished, JSON.stringify(type));
      renameSync(unfinished, fileOf(digest));
    },
  };
}

/** As `pimcp compile` does it: nobody is asked for anything. Gives back the codes of its errors. */
async function compileProject({ compile, introspect, memoryCache, loadConfiguration, createAuth }) {
  const loaded = await loadConfiguration(surroundings);
  const auth = createAuth({ agentDir: agent });
  const { signal } = new AbortController();
  const outcome = await compile(loaded.value, {
    scopes: ["project"],
    check: false,
    refresh: true,
    offline: false,
    concurrency: 1,
    types: keptTypes() ?? memoryCache(),
    signal,
    onProgress: () => {},
    introspect: (server) => introspect(server, { ...surroundings, signal, auth }),
    cache: {
      find: async () => undefined,
      freshUntil: () => 0,
      store: async (_, snapshot) => ({ snapshot, fetchedAt: 0 }),
    },
  });
  const found = [...loaded.diagnostics, ...outcome.diagnostics];
  for (const { severity, code, message } of found) console.error(`  ${severity}: ${message} [${code}]`);
  return found.filter(({ severity }) => severity === "error").map(({ code }) => code);
}

/** As `pimcp login` does it. */
async function logInTo({ loadConfiguration, resolveServer, logIn }, interactive) {
  const { value } = await loadConfiguration(surroundings);
  const [config] = value.servers;
  const { resolved } = await resolveServer(config, surroundings);
  const outcome = await logIn(config, resolved, { agentDir: agent, interactive, fetch });
  if (outcome.kind === "failed") throw new Error(outcome.diagnostic.message);
  return outcome.kind;
}

/** Compiles, and where that says that a sign-in is needed, signs in and compiles again: twice, as a server may move. */
async function prepare(pimcp, signIn) {
  for (let signIns = 0; ; signIns++) {
    const errors = await compileProject(pimcp);
    if (errors.length === 0) return "compiled";
    if (!errors.includes("sign-in-needed") || signIns === MOST_SIGN_INS) throw new Error(errors.join(", "));
    console.error(`log in: ${await logInTo(pimcp, signIn)}`);
  }
}

async function loadPimcp() {
  const modules = [
    "compiler/compile.js",
    "compiler/introspect/introspect.js",
    "compiler/stubs/type-source.js",
    "runtime/connect/configuration.js",
    "runtime/connect/resolve.js",
    "runtime/connect/auth/create-auth.js",
    "runtime/connect/auth/in-browser.js",
    "runtime/connect/auth/log-in.js",
    "runtime/index.js",
  ];
  return Object.assign({}, ...(await Promise.all(modules.map(load))));
}

try {
  const pimcp = await loadPimcp();
  const signIn = agreeingPerson(pimcp.inBrowser, surroundings.env);
  await step("compile", () => prepare(pimcp, signIn));
  const runtime = await pimcp.createRuntime({
    ...surroundings,
    stateDir: state,
    signIn,
    handlers: { elicitation: { form: async (params) => answerWithDefaults(params) } },
  });
  for (const [what, act] of stepsFor(scenario, { runtime, server: SERVER, context })) await step(what, act);
  await runtime.close();
} finally {
  rmSync(root, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;
