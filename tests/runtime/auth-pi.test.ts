/** One sign-in shared with the real `pi`, in both directions. Pi runs under the Node 22 of the devDependency. */
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type AuthorizationOptions, type AuthorizationServer, startAuthorization } from "../servers/authorization.ts";
import { AgentFolder, add, connected, guarded, SERVER, signedIn } from "./auth-setup.ts";

const root = join(import.meta.dirname, "../..");
const nodeFolder = join(root, "node_modules/node/bin");
const pi = join(root, "node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js");

interface Run {
  readonly status: number | null;
  readonly output: string;
}

/** `onOutput` is given everything so far whenever there is more. */
function runPi(
  folder: AgentFolder,
  args: readonly string[],
  onOutput: (text: string) => void = () => {},
): Promise<Run> {
  const env = {
    ...process.env,
    PATH: `${nodeFolder}${delimiter}${process.env["PATH"]}`,
    PI_CODING_AGENT_DIR: folder.path,
    PI_OFFLINE: "1",
    // Nothing that could be a browser.
    DISPLAY: "",
    BROWSER: "true",
  };
  const child: ChildProcess = spawn(join(nodeFolder, "node"), [pi, ...args], {
    env,
    cwd: folder.path,
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  const collect = (chunk: Buffer) => {
    output += chunk.toString();
    onOutput(output);
  };
  child.stdout!.on("data", collect);
  child.stderr!.on("data", collect);
  return new Promise((resolve) => child.on("close", (status) => resolve({ status, output })));
}

async function together(options: AuthorizationOptions = {}) {
  const server = await startAuthorization(options);
  const folder = new AgentFolder();
  writeFileSync(join(folder.path, "mcp.json"), JSON.stringify({ mcpServers: { [SERVER]: { url: server.url } } }));
  return { server, folder };
}

async function piLogin(server: AuthorizationServer, folder: AgentFolder): Promise<Run> {
  let browsing: Promise<unknown> | undefined;
  const run = await runPi(folder, ["mcp", "login", SERVER], (text) => {
    const page = /^http\S+\/authorize\S*$/m.exec(text)?.[0];
    if (page !== undefined) browsing ??= server.browse(page);
  });
  await browsing;
  return run;
}

test("pi uses, renews and forgets what we wrote; we use what it renewed", { timeout: 60_000 }, async () => {
  const { server, folder } = await together();
  await signedIn(server, folder);
  const first = await runPi(folder, ["mcp", "list"]);
  expect(first).toMatchObject({ status: 0 });
  expect(server.count("refresh_token")).toBe(0);

  server.tokens.expireAll();
  expect(await runPi(folder, ["mcp", "list"])).toMatchObject({ status: 0 });
  expect(server.count("refresh_token")).toBe(1);
  expect(server.count("authorize")).toBe(1);

  const connection = await connected(guarded(server.url), { agentDir: folder.path });
  expect(await add(connection)).toBe("5");
  server.tokens.expireAll();
  expect(await add(connection)).toBe("5");
  expect(server.count("refresh_token")).toBe(2);
  expect(server.tokens.reuses).toBe(0);

  expect(await runPi(folder, ["mcp", "logout", SERVER])).toMatchObject({ status: 0 });
  expect(folder.entry(server.url)).toBeUndefined();
});

test.each([
  ["registered", {}],
  ["known by Pi's document", { cimd: true }],
  ["known by the document of this server alone, without iss", { cimd: true, iss: false }],
])("we use and renew what pi wrote: a client that is %s", { timeout: 60_000 }, async (_, options) => {
  const { server, folder } = await together(options);
  const run = await piLogin(server, folder);
  expect(run).toMatchObject({ status: 0 });
  const before = folder.entry(server.url);
  expect(before.clientInformation === undefined).toBe("cimd" in options);

  const connection = await connected(guarded(server.url), { agentDir: folder.path });
  expect(await add(connection)).toBe("5");
  server.tokens.expireAll();
  expect(await add(connection)).toBe("5");
  expect(server.count("refresh_token")).toBe(1);
  expect(server.count("authorize")).toBe(1);
  // All of Pi's own fields are still there.
  const after = folder.entry(server.url);
  expect({ ...after, tokens: 0, tokensExpireAt: 0 }).toEqual({ ...before, tokens: 0, tokensExpireAt: 0 });
  expect(await runPi(folder, ["mcp", "list"])).toMatchObject({ status: 0 });
  expect(server.count("refresh_token")).toBe(1);
});

test("pi and ten of us at one expired token: one refresh", { timeout: 60_000 }, async () => {
  const { server, folder } = await together();
  await signedIn(server, folder);
  const connections = await Promise.all(
    Array.from({ length: 10 }, () => connected(guarded(server.url), { agentDir: folder.path })),
  );
  server.tokens.expireAll();
  server.faults.tokenDelayMs = 3000;
  folder.edit(server.url, (entry) => ({ ...entry, tokensExpireAt: Date.now() - 1000 }));
  const listing = runPi(folder, ["mcp", "list"]);
  while (server.count("refresh_token") === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  const sums = Promise.all(connections.map(add));
  expect(await sums).toEqual(Array.from({ length: 10 }, () => "5"));
  expect(await listing).toMatchObject({ status: 0 });
  expect(server.count("refresh_token")).toBe(1);
  expect(server.tokens.reuses).toBe(0);
});
