/**
 * A scriptable MCP server speaking raw JSON-RPC over stdio or HTTP: it does what real servers do wrong, one
 * option each. Options come as JSON in the variable STUB, or in the file named by STUB_FILE (read for each
 * message, so that a test can change a running server). See README.md for the options.
 */
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const options = () =>
  process.env.STUB_FILE
    ? JSON.parse(readFileSync(process.env.STUB_FILE, "utf8"))
    : JSON.parse(process.env.STUB ?? "{}");
const startup = options();
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const MODERN = "2026-07-28";

function log(event) {
  const file = startup.log ?? process.env.STUB_LOG;
  if (file) appendFileSync(file, `${JSON.stringify({ time: Date.now(), pid: process.pid, ...event })}\n`);
}

/** State of this process: how often each method was asked. */
const asked = new Map();
let initialized = false;

const defaultTools = [
  {
    name: "echo",
    description: "Gives back its input",
    inputSchema: { type: "object", properties: { text: { type: "string" } } },
  },
];

/** The reply to a request: `{ result }`, `{ error }`, or undefined for silence. `send` is for what comes besides. */
async function handle(message, send, o) {
  const { method, params = {} } = message;
  const count = (asked.get(method) ?? 0) + 1;
  asked.set(method, count);
  if (method !== "initialize" && !initialized && o.exitUnlessInitialized) process.exit(3);
  if (o.silent?.includes(method)) return undefined;
  if (o.breakAfterProbe && method === "initialize" && asked.has("server/discover")) return undefined;
  if (o.exitOn === method || o.exitOn?.[method] === count) process.exit(o.exitStatus ?? 7);
  if (o.delayMs?.[method]) await sleep(o.delayMs[method]);
  const scripted = o.replies?.[method];
  if (scripted !== undefined)
    return Array.isArray(scripted) ? scripted[Math.min(count, scripted.length) - 1] : scripted;
  const modern = params._meta?.["io.modelcontextprotocol/protocolVersion"] !== undefined;
  const complete = modern ? { resultType: "complete" } : {};
  if (o.requireInitialize && method !== "initialize" && !initialized) {
    return { error: { code: -32602, message: "Received request before initialization was complete" } };
  }
  switch (method) {
    case "initialize":
      if (o.era === "modern") {
        return {
          error: {
            code: -32022,
            message: "Unsupported protocol version",
            data: { supported: [MODERN], requested: params.protocolVersion },
          },
        };
      }
      initialized = true;
      return {
        result: {
          protocolVersion: o.protocolVersion ?? params.protocolVersion,
          capabilities: o.capabilities ?? { tools: {} },
          serverInfo: o.serverInfo ?? { name: "stub", version: "1.0.0" },
          ...(o.instructions && { instructions: o.instructions }),
        },
      };
    case "server/discover":
      if (o.era !== "modern" && o.era !== "both") break;
      return {
        result: {
          resultType: "complete",
          supportedVersions: o.supportedVersions ?? [MODERN],
          capabilities: o.capabilities ?? { tools: {} },
          ...(o.instructions && { instructions: o.instructions }),
          ttlMs: 0,
          cacheScope: "private",
          _meta: { "io.modelcontextprotocol/serverInfo": o.serverInfo ?? { name: "stub", version: "1.0.0" } },
        },
      };
    case "ping":
      return { result: {} };
    case "tools/list":
      return { result: { ...complete, ...listPage(params.cursor, count, send, o) } };
    case "resources/list":
      if (o.resources) return { result: { ...complete, resources: [], ttlMs: 0, cacheScope: "private" } };
      break;
    case "prompts/list":
      if (o.prompts) {
        const prompts = Array.isArray(o.prompts) ? o.prompts : [];
        return { result: { ...complete, prompts, ttlMs: 0, cacheScope: "private", ...o.promptsMeta } };
      }
      break;
    case "tools/call":
      return callTool(message, send, complete);
  }
  if (o.ignoreUnknown) return undefined;
  return { error: { code: -32601, message: `Method not found: ${method}` } };
}

/** `pages`: [{ tools, nextCursor?, ttlMs?, cacheScope? }]; the cursor of page n is "n" unless a page says otherwise. */
function listPage(cursor, count, send, o) {
  if (o.listChangedAfterList)
    setTimeout(() => send({ method: "notifications/tools/list_changed" }), o.listChangedAfterList);
  if (o.listChangedBurst && count === 1) {
    for (let n = 0; n < o.listChangedBurst; n++) send({ method: "notifications/tools/list_changed" });
  }
  if (o.endlessCursor) return { tools: [{ ...defaultTools[0], name: `tool_${count}` }], nextCursor: `${count}` };
  if (o.toolsByCount) return { tools: o.toolsByCount[Math.min(count, o.toolsByCount.length) - 1] };
  if (!o.pages) return { tools: o.tools ?? defaultTools, ...o.listMeta };
  const index = cursor === undefined ? 0 : Number(cursor);
  const page = o.pages[index] ?? { tools: [] };
  return { ...(index + 1 < o.pages.length && { nextCursor: String(index + 1) }), ...page };
}

async function callTool(message, send, complete) {
  const { name, arguments: args = {} } = message.params ?? {};
  const token = message.params?._meta?.progressToken;
  const text = (value) => ({ result: { ...complete, content: [{ type: "text", text: value }] } });
  switch (name) {
    case "crash":
      process.exit(args.status ?? 9);
      break;
    case "hang":
      return undefined;
    case "big":
      return text("x".repeat(args.bytes));
    case "sleep":
      await sleep(args.ms);
      return text("slept");
    case "progress":
      for (let n = 1; n <= args.steps; n++) {
        await sleep(args.ms);
        if (token !== undefined)
          send({ method: "notifications/progress", params: { progressToken: token, progress: n, total: args.steps } });
      }
      return text("done");
    case "env":
      return text(JSON.stringify(args.names.map((one) => process.env[one] ?? null)));
    case "cwd":
      return text(process.cwd());
    case "stderr":
      process.stderr.write(`${args.text}\n`);
      return text("written");
    case "list_changed":
      send({ method: "notifications/tools/list_changed" });
      return text("sent");
    case "log":
      send({ method: "notifications/message", params: args });
      return text("logged");
    default:
      return text(JSON.stringify(args));
  }
}

/** The wire form of a reply, with what the options get wrong about it. */
function envelope(id, reply, o) {
  const wrong = o.wrongId;
  const usedId = wrong === undefined ? id : wrong === "null" ? null : wrong === "text" ? String(id) : wrong;
  return o.idFirst ? { jsonrpc: "2.0", id: usedId, ...reply } : { ...reply, jsonrpc: "2.0", id: usedId };
}

function applyWrongId(method, o) {
  return o.wrongIdOn === undefined || o.wrongIdOn.includes(method) ? o : { ...o, wrongId: undefined };
}

function spawnGrandchild() {
  const script = "process.on('SIGTERM',()=>{}); setInterval(()=>{}, 1000)";
  // Keeps our pipes open, as a helper of a real server does.
  spawn(process.execPath, ["-e", script, startup.marker ?? "stub-grandchild"], { stdio: "inherit" });
}

async function serveStdio() {
  if (startup.ignoreSigterm) process.on("SIGTERM", () => {});
  if (startup.grandchild) spawnGrandchild();
  log({ event: "start" });
  if (startup.stderr) process.stderr.write(startup.stderr);
  if (startup.exitAtStart !== undefined) process.exit(startup.exitAtStart);
  if (startup.startMs) await sleep(startup.startMs);
  for (const line of startup.noise ?? []) process.stdout.write(`${line}\n`);
  const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  if (startup.earlyNotification) send({ method: "notifications/tools/list_changed" });
  const lines = createInterface({ input: process.stdin });
  lines.on("line", async (line) => {
    const message = JSON.parse(line);
    log({ event: "message", method: message.method, id: message.id, params: message.params });
    if (message.method === undefined || message.id === undefined) return;
    const o = options();
    const reply = await handle(message, send, o);
    for (const noise of o.noise ?? []) process.stdout.write(`${noise}\n`);
    if (reply !== undefined)
      process.stdout.write(`${JSON.stringify(envelope(message.id, reply, applyWrongId(message.method, o)))}\n`);
  });
  lines.on("close", () => {
    log({ event: "stdin closed" });
    if (!startup.ignoreStdinClose) process.exit(0);
    else setInterval(() => {}, 1000);
  });
}

function serveHttp() {
  const sessions = new Map();
  const seen = new Map();
  let nextSession = 1;
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const message = body ? JSON.parse(body) : {};
    const session = request.headers["mcp-session-id"];
    log({
      event: request.method,
      url: request.url,
      method: message.method,
      session,
      authorization: request.headers.authorization,
    });
    const o = options();
    const count = (seen.get(message.method) ?? 0) + 1;
    seen.set(message.method, count);
    const status = o.http?.status?.[request.method] ?? o.http?.failFirst?.[message.method]?.[count - 1];
    if (status) {
      response.writeHead(status, { "content-type": "text/plain" }).end(o.http.errorBody ?? "");
      return;
    }
    if (request.method === "GET") {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      return;
    }
    if (request.method === "DELETE") {
      sessions.delete(session);
      response.writeHead(200).end();
      return;
    }
    if (o.http?.sessions && message.method !== "initialize" && message.method !== "server/discover") {
      const left = sessions.get(session);
      if (left === undefined || left <= 0) {
        sessions.delete(session);
        response.writeHead(404, { "content-type": "text/plain" }).end("Session not found");
        return;
      }
      if (message.method === "tools/call") sessions.set(session, left - 1);
    }
    if (message.id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const notices = [];
    const reply = await handle(message, (notice) => notices.push({ jsonrpc: "2.0", ...notice }), o);
    if (reply === undefined) {
      response.once("close", () => log({ event: "gone" }));
      return;
    }
    if (o.http?.breakOff?.includes(message.method) || o.http?.reset?.includes(message.method)) {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(": working\n\n");
      await sleep(50);
      if (o.http.reset) response.destroy();
      else response.end();
      return;
    }
    const headers = {};
    if (message.method === "initialize" && o.http?.sessions) {
      const id = `${o.http.sessionName ?? "session"}-${nextSession++}`;
      sessions.set(id, o.http.callsPerSession ?? Number.POSITIVE_INFINITY);
      headers["mcp-session-id"] = id;
    }
    const answer = envelope(message.id, reply, o);
    if (o.http?.stream) {
      response.writeHead(200, { ...headers, "content-type": "text/event-stream" });
      for (const one of [...notices, answer]) response.write(`event: message\ndata: ${JSON.stringify(one)}\n\n`);
      response.end();
    } else {
      response
        .writeHead(200, { ...headers, "content-type": o.http?.contentType ?? "application/json" })
        .end(JSON.stringify(answer));
    }
  });
  server.listen(startup.http.port ?? 0, "127.0.0.1", () => {
    const { port } = server.address();
    if (startup.http.portFile) writeFileSync(startup.http.portFile, String(port));
    process.stdout.write(`listening ${port}\n`);
  });
}

if (startup.onlyOnce) {
  // Fails from its second start on.
  if (existsSync(startup.onlyOnce)) process.exit(5);
  writeFileSync(startup.onlyOnce, "");
}
if (startup.http) serveHttp();
else serveStdio();
