/** One stored sign-in and many processes: one refresh, and everybody has what came of it. */
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type AuthorizationServer, startAuthorization } from "../servers/authorization.ts";
import { serversDir } from "../servers/run.ts";
import { AgentFolder, guarded, signedIn } from "./auth-setup.ts";

const dist = process.env["PIMCP_DIST"] ?? join(import.meta.dirname, "../../dist");

interface Client {
  readonly ready: Promise<void>;
  readonly result: Promise<Record<string, unknown>>;
  go(): void;
  kill(): void;
}

function startClient(server: AuthorizationServer, folder: AgentFolder, options: object = {}): Client {
  // Fifty at once may take all of a machine's time: that is no server's slowness.
  const config = { ...guarded(server.url), probeTimeoutMs: 60_000, requestTimeoutMs: 60_000 };
  const settings = { dist, config, agentDir: folder.path, ...options };
  const child: ChildProcess = spawn(
    process.execPath,
    [join(serversDir, "guarded-client.mjs"), JSON.stringify(settings)],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  let onReady = () => {};
  const ready = new Promise<void>((resolve) => {
    onReady = resolve;
  });
  child.stdout!.on("data", (chunk: Buffer) => {
    text += chunk.toString();
    if (text.startsWith("ready")) onReady();
  });
  const result = new Promise<Record<string, unknown>>((resolve, reject) => {
    child.on("close", () => {
      const line = text.split("\n")[1];
      if (line) resolve(JSON.parse(line) as Record<string, unknown>);
      else reject(new Error(`no result: ${text}`));
    });
  });
  result.catch(() => undefined);
  return { ready, result, go: () => child.stdin!.end("go\n"), kill: () => void child.kill("SIGKILL") };
}

async function expired(options: Parameters<typeof startAuthorization>[0] = {}) {
  const server = await startAuthorization(options);
  const folder = new AgentFolder();
  await signedIn(server, folder);
  server.tokens.expireAll();
  folder.edit(server.url, (entry) => ({ ...entry, tokensExpireAt: Date.now() - 1000 }));
  return { server, folder };
}

test("50 processes that find an expired token make one refresh and all work", { timeout: 120_000 }, async () => {
  const { server, folder } = await expired();
  const clients = Array.from({ length: 50 }, () => startClient(server, folder));
  await Promise.all(clients.map(({ ready }) => ready));
  for (const client of clients) client.go();
  const results = await Promise.all(clients.map(({ result }) => result));
  expect(results).toEqual(Array.from({ length: 50 }, () => ({ text: "5" })));
  expect(server.count("refresh_token")).toBe(1);
  expect(server.tokens.reuses).toBe(0);
  // What is stored is the successor, and good for another refresh.
  server.tokens.expireAll();
  folder.edit(server.url, (entry) => ({ ...entry, tokensExpireAt: Date.now() - 1000 }));
  const later = startClient(server, folder);
  later.go();
  expect(await later.result).toEqual({ text: "5" });
  expect(server.count("refresh_token")).toBe(2);
});

test("tokens whose life nobody told are renewed once too, after the 401s", { timeout: 60_000 }, async () => {
  const server = await startAuthorization({ accessTokenSeconds: "unsaid" });
  const folder = new AgentFolder();
  await signedIn(server, folder);
  server.tokens.expireAll();
  const clients = Array.from({ length: 6 }, () => startClient(server, folder));
  await Promise.all(clients.map(({ ready }) => ready));
  for (const client of clients) client.go();
  expect(await Promise.all(clients.map(({ result }) => result))).toEqual(
    Array.from({ length: 6 }, () => ({ text: "5" })),
  );
  expect(server.count("refresh_token")).toBe(1);
  expect(server.tokens.reuses).toBe(0);
});

test("the lock of a process that died while it refreshed is taken over", { timeout: 60_000 }, async () => {
  const { server, folder } = await expired();
  server.faults.tokenDelayMs = 30_000;
  const dying = startClient(server, folder);
  await dying.ready;
  dying.go();
  while (server.count("token") < 2) await new Promise((resolve) => setTimeout(resolve, 20));
  dying.kill();
  await dying.result.catch(() => undefined);
  server.faults.tokenDelayMs = 0;
  // Nobody renews it any more; its time passes at once.
  const [lock] = readdirSync(folder.path).filter((file) => file.startsWith("mcp-auth-refresh-"));
  utimesSync(join(folder.path, lock!), 1, 1);
  const next = startClient(server, folder);
  next.go();
  expect(await next.result).toEqual({ text: "5" });
});
