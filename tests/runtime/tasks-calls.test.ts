/** Calls that become tasks, through a whole runtime and real servers of both generations: what a caller sees of them is nothing. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { RuntimeOptions } from "../../runtime/runtime.ts";
import { scratchFolder } from "../scratch.ts";
import { EVERYTHING, eventually, readLog } from "../servers/run.ts";
import { compiled, type Entry, failure, overHttp, rejection, script } from "./runtime-project.ts";

type Env = Record<string, string>;
const ERAS = ["modern", "legacy"] as const;

async function project(env: Env = {}, entry: Entry = {}, http = false) {
  const folder = scratchFolder();
  const log = join(folder, "log");
  const variables = { TASKS_STORE: join(folder, "store"), TASKS_LOG: log, ...env };
  const reached = http ? await overHttp("tasks.mjs", { HTTP: "1", ...variables }) : script("tasks.mjs", variables);
  const work = await compiled({ t: { ...reached, ...entry } });
  const stateDir = join(folder, "state");
  return {
    work,
    runtime: (options: RuntimeOptions = {}) => work.runtime({ stateDir, ...options }),
    log: () => readLog(log) as (ReturnType<typeof readLog>[number] & { headers?: Record<string, string> })[],
    count: (method: string) => readLog(log).filter((one) => one.method === method).length,
    handles: () => {
      const tasks = join(stateDir, "tasks");
      return existsSync(tasks) ? readdirSync(tasks).filter((name) => name.endsWith(".json")) : [];
    },
  };
}

const QUICK = { workMs: 150, intervalMs: 100 };
const QUESTION = {
  method: "elicitation/create",
  params: { message: "Who?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } },
};
const elicitation = async () => ({ action: "accept", content: { name: "Ada" } });

describe.each([
  ["modern over stdio", "modern", false],
  ["modern over HTTP", "modern", true],
  ["legacy over stdio", "legacy", false],
] as const)("%s", (_, ERA, http) => {
  test("a result like any other, and nothing left behind", async () => {
    const { runtime, count, handles } = await project({ ERA }, {}, http);
    const { text, result } = await (await runtime()).call("t", "run", { plan: QUICK });
    expect(text).toBe("done");
    expect(result).not.toHaveProperty("taskId");
    expect(count("tools/call")).toBe(1);
    expect(count("tasks/get")).toBeGreaterThan(0);
    expect(handles()).toEqual([]);
  });

  test("questions of the task go to the handler, once", async () => {
    const { runtime, count } = await project({ ERA }, {}, http);
    let asked = 0;
    const handlers = {
      elicitation: async () => {
        asked++;
        return elicitation();
      },
    };
    const plan = { ...QUICK, afterMs: 300, ask: { k1: QUESTION } };
    const call = (await runtime({ handlers })).call("t", "run", { plan });
    expect((await call).structured).toEqual({ k1: { action: "accept", content: { name: "Ada" } } });
    expect(asked).toBe(1);
    if (ERA === "modern") expect(count("tasks/update")).toBe(1);
  });

  test("a tool's own error is a ToolError with the task's id", async () => {
    const { runtime } = await project({ ERA }, {}, http);
    const result = { isError: true, content: [{ type: "text", text: "no such city" }] };
    const plan = { ...QUICK, taskId: "task-7", result };
    expect(await rejection((await runtime()).call("t", "run", { plan }))).toMatchObject({
      name: "ToolError",
      message: "no such city",
      taskId: "task-7",
      result,
    });
  });

  test("a failed task is the error of a plain call, with the task's id", async () => {
    const { runtime, handles } = await project({ ERA }, {}, http);
    const plan = { ...QUICK, taskId: "task-8", error: { code: -32050, message: "disk full", data: { free: 0 } } };
    const error = await failure((await runtime()).call("t", "run", { plan }));
    expect(error.message).toBe('server "t": tools/call failed: disk full; task task-8');
    expect(error.cause).toMatchObject({
      kind: "rpc-error",
      error: { code: -32050, message: "disk full", data: { free: 0 } },
    });
    expect(error.taskId).toBe("task-8");
    expect(handles()).toEqual([]);
  });

  test("structured results are checked", async () => {
    const { runtime, work } = await project({ ERA }, {}, http);
    const plan = { ...QUICK, result: { structuredContent: { n: "many" } } };
    const { structured } = await (await runtime()).call("t", "typed", { plan });
    expect(structured).toEqual({ n: "many" });
    expect(work.notices.map(({ message }) => message).join()).toMatch(/mcp__t__typed: .*\bn\b/);
  });
});

describe("negotiation", () => {
  const welcome = (entry: { params?: Record<string, unknown> }) =>
    JSON.stringify(entry.params?.["_meta"] ?? {}).includes("io.modelcontextprotocol/tasks");

  test("a call says that tasks are welcome, and nothing else does", async () => {
    const { runtime, log } = await project();
    await (await runtime({ handlers: { elicitation } })).call("t", "run", { plan: QUICK });
    const methods = new Set(
      log()
        .filter(welcome)
        .map(({ method }) => method),
    );
    expect([...methods].filter((one) => one !== "subscriptions/listen").sort()).toEqual(["tasks/get", "tools/call"]);
    const call = log().find(({ method }) => method === "tools/call");
    expect(call?.params?.["_meta"]).toMatchObject({
      "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {}, url: {} } },
    });
  });

  test.each(ERAS)("tasks: false keeps the plain path, %s", async (ERA) => {
    const { runtime, log, count } = await project({ ERA }, { tasks: false });
    const { text } = await (await runtime()).call("t", "run", { plan: QUICK });
    expect(text).toBe("direct null");
    expect(log().filter(welcome)).toEqual([]);
    expect(log().find(({ method }) => method === "tools/call")?.params).not.toHaveProperty("task");
    expect(count("tasks/get")).toBe(0);
  });

  test.each(ERAS)("a server that doesn't say it has tasks is not told of them, %s", async (ERA) => {
    const { runtime, log } = await project({ ERA, TASKS_OFF: "1" });
    expect((await (await runtime()).call("t", "run", { plan: QUICK })).text).toBe("direct null");
    expect(log().filter(welcome)).toEqual([]);
    expect(log().find(({ method }) => method === "tools/call")?.params).not.toHaveProperty("task");
  });

  test.each(ERAS)("a server may answer at once, %s", async (ERA) => {
    const { runtime, handles } = await project({ ERA });
    expect((await (await runtime()).call("t", "run", { plan: { direct: true } })).text).toBe("direct null");
    expect(handles()).toEqual([]);
  });

  test("what is asked before the task is made is answered first", async () => {
    const { runtime, count } = await project();
    const plan = { ...QUICK, asksFirst: { first: QUESTION } };
    expect((await (await runtime({ handlers: { elicitation } })).call("t", "run", { plan })).text).toBe("done");
    expect(count("tools/call")).toBe(2);
    expect(count("tasks/update")).toBe(0);
  });
});

describe("over HTTP", () => {
  test("Mcp-Param-* headers and Mcp-Name are sent", async () => {
    const { runtime, log } = await project({}, {}, true);
    const result = { structuredContent: { n: 1 } };
    await (await runtime()).call("t", "typed", { plan: { ...QUICK, taskId: "task-9", result }, region: "north" });
    const call = log().find(({ method }) => method === "tools/call");
    expect(call?.headers).toMatchObject({ "mcp-param-region": "north", "mcp-name": "typed" });
    const get = log().find(({ method }) => method === "tasks/get");
    expect(get?.headers).toMatchObject({ "mcp-name": "task-9", "mcp-method": "tasks/get" });
  });

  test("notices of a stream end a wait that polls would not end for an hour", async () => {
    const { runtime, count } = await project({}, {}, true);
    const plan = { workMs: 300, intervalMs: 3_600_000 };
    expect((await (await runtime()).call("t", "run", { plan })).text).toBe("done");
    expect(count("subscriptions/listen")).toBe(1);
    expect(count("tasks/get")).toBe(0);
  });
});

describe("time", () => {
  test.each(ERAS)("a time limit is one of each request, not of the task's life, %s", async (ERA) => {
    const { runtime } = await project({ ERA });
    const plan = { workMs: 1500, intervalMs: 100 };
    expect((await (await runtime()).call("t", "run", { plan }, { timeoutMs: 800 })).text).toBe("done");
  });

  test("an idle connection is kept for the task that is waited for", async () => {
    const { runtime, log } = await project();
    const plan = { workMs: 700, intervalMs: 900 };
    await (await runtime({ idleMs: 1 })).call("t", "run", { plan });
    // One start to compile, one to call.
    expect(log().filter(({ event }) => event === "start")).toHaveLength(2);
  });

  test("words of the task are progress", async () => {
    const { runtime } = await project();
    const said: unknown[] = [];
    const working = (statusMessage: string) => ({ status: "working", statusMessage });
    const done = { status: "completed", result: { content: [] } };
    const plan = { intervalMs: 100, script: [working("b"), working("b"), working("c"), done] };
    await (await runtime()).call("t", "run", { plan }, { onProgress: (one) => said.push(one) });
    expect(said).toEqual([
      { progress: 1, message: "b" },
      { progress: 2, message: "c" },
    ]);
  });

  test.each(ERAS)("an aborted call cancels its task, %s", async (ERA) => {
    const { runtime, count, handles } = await project({ ERA });
    const abort = new AbortController();
    const call = (await runtime()).call(
      "t",
      "run",
      { plan: { workMs: 60_000, intervalMs: 100 } },
      { signal: abort.signal },
    );
    await eventually(() => count("tasks/get") > 0, "the task is polled");
    abort.abort();
    expect((await failure(call)).message).toMatch(/cancelled during tools\/call; task .*; it was cancelled/);
    expect(count("tasks/cancel")).toBe(1);
    expect(handles()).toEqual([]);
  });

  test.each(ERAS)("a task that is made after its call was given up is cancelled, %s", async (ERA) => {
    const { runtime, count, handles } = await project({ ERA });
    const plan = { workMs: 60_000, intervalMs: 100, answerAfterMs: 700 };
    const opened = await runtime();
    expect((await failure(opened.call("t", "run", { plan }, { timeoutMs: 300 }))).message).toContain(
      "no answer within 300 ms",
    );
    await eventually(() => count("tasks/cancel") === 1, "the late task is cancelled");
    expect({ gets: count("tasks/get"), handles: handles() }).toEqual({ gets: 0, handles: [] });
  });

  test("a closed runtime leaves its tasks, and another runtime of the same process goes on with one", async () => {
    const { runtime, count } = await project();
    const first = await runtime();
    const call = first.call("t", "run", { plan: { workMs: 800, intervalMs: 200 } });
    const failed = failure(call);
    await eventually(() => count("tasks/get") > 0, "the task is polled");
    await first.close();
    expect((await failed).message).toMatch(/the runtime was closed; task .*pimcp tasks resume/);
    expect(count("tasks/cancel")).toBe(0);
    const tasks = await (await runtime()).tasks();
    const [task] = await tasks.list();
    expect((await tasks.resume(task!)).text).toBe("done");
    expect(await tasks.list()).toEqual([]);
  });
});

describe("delivery", () => {
  test("a handle can be kept until the result has arrived where it is wanted", async () => {
    const { runtime, handles } = await project();
    const opened = await runtime();
    let forget: (() => Promise<void>) | undefined;
    let taskId: string | undefined;
    const { result } = await opened.callEntry(
      opened.table.byTool("t", "run")!,
      { plan: QUICK },
      {
        onTask: (task) => {
          taskId = task.taskId;
        },
        onTaskResult: (later) => {
          forget = later;
        },
      },
    );
    expect(result.content).toEqual([{ type: "text", text: "done" }]);
    expect((await (await opened.tasks()).list()).map((one) => one.taskId)).toEqual([taskId]);
    await forget!();
    expect(handles()).toEqual([]);
  });

  test("many at once, each with its own result", async () => {
    const { runtime, handles } = await project();
    const opened = await runtime();
    const calls = Array.from({ length: 10 }, async (_, n) => {
      const content = [{ type: "text", text: `result ${n}` }];
      return (await opened.call("t", "run", { plan: { workMs: 100 + 20 * n, intervalMs: 100, result: { content } } }))
        .text;
    });
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 10 }, (_, n) => `result ${n}`));
    expect(handles()).toEqual([]);
  });
});

describe("server-everything", () => {
  test("its research task runs, asks and reports", async () => {
    const work = await compiled({ everything: EVERYTHING });
    const asked: unknown[] = [];
    const runtime = await work.runtime({
      stateDir: scratchFolder(),
      handlers: {
        elicitation: async ({ message }) => {
          asked.push(message);
          return { action: "accept", content: { interpretation: "snake" } };
        },
      },
    });
    const said: (string | undefined)[] = [];
    const args = { topic: "python", ambiguous: true };
    const onProgress = ({ message }: { message?: string }) => said.push(message);
    const { text, result } = await runtime.call("everything", "simulate-research-query", args, { onProgress });
    expect(text).toContain("# Research Report: python (snake)");
    expect(result).toMatchObject({ _meta: { "io.modelcontextprotocol/related-task": {} } });
    expect(asked).toHaveLength(1);
    expect(said.length).toBeGreaterThan(1);
  });
});
