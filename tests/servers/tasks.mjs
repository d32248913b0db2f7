/**
 * A server whose tool calls become tasks. Tasks live in a file (TASKS_STORE), so they outlive the server's process. A call of
 * `run` carries the script of its task in `plan`; see README.md. Raw JSON-RPC, over stdio, or over HTTP with HTTP set (the first line on stdout
 * is then `listening PORT`). ERA=legacy speaks the experimental tasks of 2025-11-25. TASKS_LOG gets a line for every message.
 */
import { randomUUID } from "node:crypto";
import { appendFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const { ERA = "modern", TASKS_STORE, TASKS_LOG, HTTP, TASKS_OFF } = process.env;
const modern = ERA === "modern";
const EXTENSION = "io.modelcontextprotocol/tasks";
const META = "io.modelcontextprotocol/";

const log = (entry) =>
  TASKS_LOG && appendFileSync(TASKS_LOG, `${JSON.stringify({ time: Date.now(), pid: process.pid, ...entry })}\n`);

function read(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    if (error.code === "ENOENT") return {};
    throw error;
  }
}

/** Whole or not at all: two processes of this server may be at it. */
function write(file, value) {
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, JSON.stringify(value));
  renameSync(temporary, file);
}

const load = () => read(TASKS_STORE);

function change(taskId, changes) {
  const tasks = load();
  tasks[taskId] = { ...tasks[taskId], ...changes };
  write(TASKS_STORE, tasks);
  return tasks[taskId];
}

/** Polls so far, in a file of their own, so that a poll never takes back what another process has just written. */
function countGet(taskId) {
  const file = `${TASKS_STORE}.gets`;
  const gets = read(file);
  gets[taskId] = (gets[taskId] ?? 0) + 1;
  write(file, gets);
  return gets[taskId];
}

const open = { type: "object", properties: { plan: { type: "object" } } };
const execution = { taskSupport: "optional" };
const tools = [
  { name: "run", description: "Runs a plan", inputSchema: open, ...(!modern && { execution }) },
  {
    name: "typed",
    description: "Runs a plan whose result has a type",
    inputSchema: {
      type: "object",
      properties: { plan: { type: "object" }, region: { type: "string", "x-mcp-header": "Region" } },
    },
    outputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
    ...(!modern && { execution }),
  },
];

/** The task as it is now, by its plan, its age, the answers it got and how often it was asked about. */
function stateOf(task) {
  const { plan, createdAt, answers = {}, gets = 0 } = task;
  if (plan.script) return plan.script[Math.min(Math.max(gets - 1, 0), plan.script.length - 1)];
  if (task.cancelled) return { status: "cancelled" };
  const age = Date.now() - createdAt;
  const message = plan.messages?.[Math.min(gets, plan.messages.length - 1)];
  if (age < (plan.workMs ?? 0)) return { status: "working", ...(message && { statusMessage: message }) };
  const open = Object.entries(plan.ask ?? {}).filter(([key]) => !(key in answers) || plan.keepsAsking > gets);
  const left = Object.entries(plan.ask ?? {}).filter(([key]) => !(key in answers));
  if (left.length > 0 || (plan.keepsAsking ?? 0) > gets)
    return { status: "input_required", inputRequests: Object.fromEntries(open) };
  const since = Math.max(createdAt, task.answeredAt ?? 0) + (plan.workMs ?? 0);
  if (plan.ask && Date.now() < since + (plan.afterMs ?? 0)) return { status: "working" };
  if (plan.error) return { status: "failed", error: plan.error };
  const text = plan.ask ? JSON.stringify(answers) : "done";
  return { status: "completed", result: { content: [{ type: "text", text }], ...plan.result } };
}

function snapshot(taskId, task, state = stateOf(task)) {
  const at = new Date(task.createdAt).toISOString();
  const { intervalMs, ttlMs } = task.plan;
  const base = { taskId, createdAt: at, lastUpdatedAt: new Date().toISOString() };
  if (modern) {
    return { ...base, ttlMs: ttlMs ?? null, ...(intervalMs !== undefined && { pollIntervalMs: intervalMs }), ...state };
  }
  const { status, statusMessage } = state;
  const fields = { ttl: ttlMs ?? null, ...(intervalMs !== undefined && { pollInterval: intervalMs }) };
  return { ...base, ...fields, status, ...(statusMessage && { statusMessage }) };
}

const complete = (result) => ({ result: { ...(modern && { resultType: "complete" }), ...result } });
const error = (code, message, data) => ({ error: { code, message, ...(data && { data }) } });
const unknown = () => error(-32602, "Failed to retrieve task: Task not found");

async function handle(message, io) {
  const { method, params = {} } = message;
  const capable = params._meta?.[`${META}clientCapabilities`]?.extensions?.[EXTENSION] !== undefined;
  switch (method) {
    case "initialize":
      if (modern) return error(-32022, "Unsupported protocol version", { supported: ["2026-07-28"] });
      return {
        result: {
          protocolVersion: "2025-11-25",
          capabilities: { tools: {}, ...(!TASKS_OFF && { tasks: { cancel: {}, requests: { tools: { call: {} } } } }) },
          serverInfo: { name: "tasks", version: "1.0.0" },
        },
      };
    case "server/discover":
      if (!modern) break;
      return complete({
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: {}, extensions: TASKS_OFF ? {} : { [EXTENSION]: {} } },
        ttlMs: 0,
        cacheScope: "private",
        _meta: { [`${META}serverInfo`]: { name: "tasks", version: "1.0.0" } },
      });
    case "ping":
      return complete({});
    case "tools/list":
      return complete({ tools, ttlMs: 0, cacheScope: "private" });
    case "tools/call":
      return call(params, capable, io);
    case "subscriptions/listen":
      return modern && io.listen ? io.listen(message, capable) : error(-32601, "Method not found");
    case "tasks/get":
    case "tasks/update":
    case "tasks/cancel":
    case "tasks/result":
      if (modern && !capable) return error(-32021, "Missing required client capability");
      return taskRequest(method, params, io);
  }
  return error(-32601, `Method not found: ${method}`);
}

async function call({ arguments: args = {}, task, inputResponses }, capable, io) {
  const plan = args.plan ?? {};
  if (plan.answerAfterMs) await new Promise((resolve) => setTimeout(resolve, plan.answerAfterMs));
  if (plan.asksFirst && !inputResponses)
    return { result: { resultType: "input_required", inputRequests: plan.asksFirst } };
  const wanted = modern ? capable : task !== undefined;
  if (plan.direct || (!wanted && !plan.unwanted)) {
    return complete({
      content: [{ type: "text", text: `direct ${JSON.stringify(inputResponses ?? null)}` }],
      ...plan.result,
    });
  }
  const taskId = plan.taskId ?? randomUUID();
  const made = change(taskId, { plan, createdAt: Date.now() });
  if (plan.dieAfterCreating) {
    setTimeout(() => {
      if (plan.loses) writeFileSync(TASKS_STORE, "{}");
      process.exit(7);
    }, plan.dieAfterCreating);
  }
  for (const [ms, state, times = 1] of plan.notify ?? []) {
    setTimeout(() => {
      for (let n = 0; n < times; n++) io.send(taskNotice(taskId, made, state));
    }, ms).unref();
  }
  const state = plan.created ?? { status: "working" };
  if (modern) return { result: { resultType: "task", ...snapshot(taskId, made, state) } };
  return { result: { task: snapshot(taskId, made, state) } };
}

const taskNotice = (taskId, task, state) => ({
  method: modern ? "notifications/tasks" : "notifications/tasks/status",
  params: snapshot(taskId, task, state ?? stateOf(task)),
});

async function taskRequest(method, { taskId, inputResponses }, io) {
  const task = load()[taskId];
  if (task === undefined || task.plan.forgotten) return unknown();
  switch (method) {
    case "tasks/get": {
      const gets = countGet(taskId);
      if (task.plan.failGets >= gets) return error(-32603, "not now");
      return complete(snapshot(taskId, { ...task, gets }));
    }
    case "tasks/update": {
      if (task.plan.refuseUpdate) return error(-32602, "that is no answer");
      if (task.plan.dieOnUpdate && !task.died) {
        change(taskId, { died: true });
        process.exit(7);
      }
      change(taskId, { answers: { ...task.answers, ...inputResponses }, answeredAt: Date.now() });
      return complete({});
    }
    case "tasks/cancel":
      if (task.plan.uncancellable) return undefined;
      change(taskId, { cancelled: true });
      return complete(modern ? {} : snapshot(taskId, task, { status: "cancelled" }));
    case "tasks/result":
      return legacyResult(taskId, io);
  }
}

/** Blocks until the task has ended, and asks meanwhile what the task has to ask. */
async function legacyResult(taskId, io) {
  const asked = new Set();
  for (;;) {
    const task = load()[taskId];
    const state = stateOf(task);
    if (state.status === "completed")
      return { result: { ...state.result, _meta: { [`${META}related-task`]: { taskId } } } };
    if (state.status === "failed") return { error: state.error };
    if (state.status === "cancelled") return error(-32000, "cancelled");
    for (const [key, request] of Object.entries(state.inputRequests ?? {})) {
      if (asked.has(key)) continue;
      asked.add(key);
      const answer = await io.ask({
        ...request,
        params: { ...request.params, _meta: { [`${META}related-task`]: { taskId } } },
      });
      change(taskId, {
        answers: { ...load()[taskId].answers, [key]: answer.result ?? answer.error },
        answeredAt: Date.now(),
      });
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Notices for a stream: the acknowledgement, then the state of each task whenever it changes. */
function listening({ id, params }, send) {
  const meta = { _meta: { [`${META}subscriptionId`]: id } };
  const { taskIds = [] } = params.notifications ?? {};
  send({ method: "notifications/subscriptions/acknowledged", params: { ...meta, notifications: { taskIds } } });
  const said = new Map();
  const timer = setInterval(() => {
    for (const taskId of taskIds) {
      const task = load()[taskId];
      const state = task && stateOf(task);
      if (!state || said.get(taskId) === state.status) continue;
      said.set(taskId, state.status);
      const notice = taskNotice(taskId, task, state);
      send({ ...notice, params: { ...notice.params, ...meta } });
    }
  }, 20);
  return () => clearInterval(timer);
}

function serveStdio() {
  const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const asked = new Map();
  const ask = (request) =>
    new Promise((resolve) => {
      const id = `ask-${randomUUID()}`;
      asked.set(id, resolve);
      send({ id, ...request });
    });
  const listen = (message, capable) => {
    if (!capable || process.env.LISTEN === undefined) return error(-32601, "Method not found");
    listening(message, send);
    return undefined;
  };
  log({ event: "start" });
  const lines = createInterface({ input: process.stdin });
  lines.on("line", async (line) => {
    const message = JSON.parse(line);
    if (message.method === undefined) return void asked.get(message.id)?.(message);
    log({ event: "message", method: message.method, params: message.params });
    if (message.id === undefined) return;
    const reply = await handle(message, { send, ask, listen });
    if (reply !== undefined) send({ id: message.id, ...reply });
  });
  lines.on("close", () => process.exit(0));
}

function serveHttp() {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const message = body ? JSON.parse(body) : {};
    const { headers } = request;
    log({ event: "message", method: message.method, params: message.params, headers });
    if (request.method !== "POST") return void response.writeHead(405).end();
    if (message.id === undefined) return void response.writeHead(202).end();
    const json = (status, value) =>
      response
        .writeHead(status, { "content-type": "application/json" })
        .end(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...value }));
    if (message.method.startsWith("tasks/") && modern && headers["mcp-name"] !== message.params.taskId) {
      return void json(400, error(-32020, "Mcp-Name does not name the task"));
    }
    const listen = (_, capable) => {
      if (!capable) return error(-32021, "Missing required client capability");
      response.writeHead(200, { "content-type": "text/event-stream" });
      const send = (notice) => response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...notice })}\n\n`);
      response.once("close", listening(message, send));
      return undefined;
    };
    const reply = await handle(message, { send: () => {}, listen });
    if (reply !== undefined) json(200, reply);
  });
  server.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () =>
    process.stdout.write(`listening ${server.address().port}\n`),
  );
}

if (HTTP) serveHttp();
else serveStdio();
