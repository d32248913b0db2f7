/** (e) Tasks: each reported fault, and the lies of servers, from a server that behaves so to a call at the command line. */
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RuntimeProject } from "../runtime/runtime-project.ts";
import { script } from "../runtime/runtime-project.ts";
import { scratchFolder } from "../scratch.ts";
import { readLog } from "../servers/run.ts";
import { type Called, call, compiledProduct } from "./product.ts";

interface Faulty {
  readonly work: RuntimeProject;
  run(plan: object): Promise<Called>;
  /** Times between polls in milliseconds, the first since the call. */
  gaps(): number[];
  count(method: string): number;
}

async function faulty(env: Record<string, string> = {}, entry: object = {}): Promise<Faulty> {
  const folder = scratchFolder();
  const log = join(folder, "log");
  const variables = { TASKS_STORE: join(folder, "store"), TASKS_LOG: log, ...env };
  const work = await compiledProduct({ t: { ...script("tasks.mjs", variables), ...entry } });
  return {
    work,
    run: (plan) => call(work, ["t", "run"], { plan }),
    gaps() {
      const times = readLog(log)
        .filter(({ method }) => method === "tools/call" || method === "tasks/get")
        .map(({ time }) => time);
      return times.slice(1).map((time, index) => time - times[index]!);
    },
    count: (method) => readLog(log).filter((one) => one.method === method).length,
  };
}

const QUESTION = {
  method: "elicitation/create",
  params: { message: "Who?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } },
};

test("inspector #1174: a question that stays outstanding for three polls is asked once and answered once", async () => {
  const { work, count } = await faulty();
  work.write("answers.json", { elicitation: [{ message: "Who?", action: "accept", content: { name: "Ada" } }] });
  const plan = { intervalMs: 150, ask: { k1: QUESTION }, keepsAsking: 4 };
  const args = ["call", "t", "run", "--json", "--args", JSON.stringify({ plan }), "--answers", "../answers.json"];
  const { code, stdout, stderr } = await work.start(args).finished;
  // The answers file gives each answer once: a second question would be cancelled, and said to be.
  expect(code).toBe(0);
  expect(stderr).not.toContain("[question-unanswered]");
  expect(JSON.parse(stdout).content[0].text).toContain("Ada");
  expect(count("tasks/update")).toBe(1);
  expect(count("tasks/get")).toBeGreaterThanOrEqual(4);
});

test("inspector #1174: without a person a question is cancelled, with a clear error, and the task goes on or ends by that", async () => {
  const { run, count } = await faulty();
  const { code, json, stderr } = await run({ intervalMs: 150, ask: { k1: QUESTION } });
  expect(stderr).toMatch(/"t" .*asked for .*"Who\?".* cancelled \[question-unanswered\]/);
  expect(count("tasks/update")).toBe(1);
  expect({ code, text: json.content[0].text }).toEqual({ code: 0, text: JSON.stringify({ k1: { action: "cancel" } }) });
});

test("kicad-mcp-pro #75: a lost task is an error with its id, and not polled for ever", async () => {
  const { run, count } = await faulty();
  const { code, json } = await run({ taskId: "task-lost", intervalMs: 150, forgotten: true });
  expect(code).toBe(1);
  expect(json.error.message).toMatch(/does not know the task any more .*Task not found.*task-lost/);
  expect(count("tasks/get")).toBe(1);
});

test("kicad-mcp-pro #75: a task that works for ever ends with its ttl", async () => {
  const { run, count, work } = await faulty();
  const { code, json } = await run({ taskId: "task-idle", intervalMs: 300, ttlMs: 2000, workMs: 1e9 });
  expect(code).toBe(1);
  expect(json.error.message).toMatch(/did not end within the 2000 ms that the server gives it; task task-idle/);
  expect(count("tasks/get")).toBeLessThanOrEqual(7);
  expect(count("tasks/cancel")).toBe(1);
  expect((await work.run("tasks", "--json")).stdout).toBe('{"tasks":[]}\n');
});

test("SDK #2456: a failure has its message, a tool's error its text", async () => {
  const { run } = await faulty();
  const failed = await run({ taskId: "task-full", intervalMs: 150, error: { code: -32000, message: "disk full" } });
  expect(failed).toMatchObject({ code: 1, json: { error: { code: -32000, taskId: "task-full" } } });
  expect(failed.json.error.message).toMatch(/disk full.*task-full/);
  const result = { isError: true, content: [{ type: "text", text: "no such city" }] };
  const wrong = await run({ intervalMs: 150, result });
  expect(wrong).toMatchObject({ code: 1, json: result });
});

test.each(["modern", "legacy"])(
  "a task that nobody asked for is an error with its id, and is cancelled: %s",
  async (ERA) => {
    const { run, count, work } = await faulty({ ERA }, { tasks: false });
    const { code, json } = await run({ taskId: "task-unwanted", unwanted: true, workMs: 1e9 });
    expect(code).toBe(1);
    expect(json.error.message).toMatch(/a task that nobody asked for; task task-unwanted; it was cancelled/);
    expect(count("tasks/cancel")).toBe(1);
    expect(count("tasks/get")).toBe(0);
    expect((await work.run("tasks", "--all", "--json")).stdout).toBe('{"tasks":[]}\n');
  },
);

test("a task without an id or a status is an error", async () => {
  const { run } = await faulty();
  for (const created of [{ status: "thinking" }, { taskId: 5, status: "working" }]) {
    const { code, json } = await run({ created });
    expect({ code, message: json.error.message }).toMatchObject({
      code: 1,
      message: expect.stringContaining("no id or status"),
    });
  }
});

test("a key that is used again for another question is an error with key and task", async () => {
  const { run, count } = await faulty();
  const other = { ...QUESTION, params: { ...QUESTION.params, message: "Your password?" } };
  const listed = (request: object) => ({ status: "input_required", inputRequests: { k1: request } });
  const script = [listed(QUESTION), listed(QUESTION), listed(other)];
  const { code, json } = await run({ taskId: "task-again", intervalMs: 200, script });
  expect(code).toBe(1);
  expect(json.error.message).toMatch(/another question under the key "k1".*task-again/);
  expect(count("tasks/update")).toBe(1);
  expect(count("tasks/cancel")).toBe(1);
});

test("polls keep the server's latest interval, though it changes and lies", async () => {
  const { run, gaps } = await faulty();
  const working = (pollIntervalMs: unknown) => ({ status: "working", pollIntervalMs });
  const done = { status: "completed", result: { content: [] } };
  const { code } = await run({
    intervalMs: 300,
    script: [working(300), working(900), working(200), working(-1), done],
  });
  expect(code).toBe(0);
  const least = [300, 300, 900, 200, 200];
  // The server's clock tells whole milliseconds.
  for (const [index, gap] of gaps().entries()) expect(gap).toBeGreaterThanOrEqual(least[index]! - 2);
  expect(gaps()).toHaveLength(5);
});

test("an interval beyond all patience does not outlast the ttl", async () => {
  const { run } = await faulty();
  const { code, json } = await run({ intervalMs: 1e15, ttlMs: 1000, workMs: 300 });
  expect({ code, text: json.content[0].text }).toEqual({ code: 0, text: "done" });
});

test.each(["modern", "legacy"])(
  "a flood of notices changes nothing: %s",
  async (ERA) => {
    const { run, count } = await faulty({ ERA });
    const state = { status: "working", statusMessage: "x".repeat(1000) };
    const notify = [50, 150, 250].map((ms) => [ms, state, 5_000]);
    const { code, json } = await run({ intervalMs: 500, workMs: 600, notify });
    expect({ code, text: json.content[0].text }).toEqual({ code: 0, text: "done" });
    // No more than its pace allows; the flood itself takes a while.
    expect(count("tasks/get")).toBeLessThanOrEqual(2);
  },
  60_000,
);

test("a notice about another task, or that says nonsense, is none", async () => {
  const { run } = await faulty();
  const notify = [
    [50, { status: "completed", taskId: "another", result: { content: [{ type: "text", text: "stolen" }] } }],
    [60, { status: "exploded" }],
    [70, { status: "completed" }],
  ];
  const { code, json } = await run({ intervalMs: 200, workMs: 300, notify });
  expect({ code, text: json.content[0].text }).toEqual({ code: 0, text: "done" });
});

test("a server that dies in the middle and comes back without its task leaves an error, not silence", async () => {
  const { run, count } = await faulty();
  const { code, json } = await run({
    taskId: "task-gone",
    intervalMs: 600,
    workMs: 1e9,
    dieAfterCreating: 100,
    loses: true,
  });
  expect(code).toBe(1);
  expect(json.error.message).toMatch(/does not know the task any more.*task-gone/);
  expect(count("tools/call")).toBe(1);
});

test("a server that dies and comes back with its task gives its result", async () => {
  const { run, count } = await faulty();
  const { code, json } = await run({ intervalMs: 300, workMs: 900, dieAfterCreating: 100 });
  expect({ code, text: json.content[0].text }).toEqual({ code: 0, text: "done" });
  expect(count("tools/call")).toBe(1);
});

test("an internal error of one poll is no end", async () => {
  const { run, count } = await faulty();
  const { code } = await run({ intervalMs: 200, workMs: 100, failGets: 2 });
  expect(code).toBe(0);
  expect(count("tasks/get")).toBe(3);
});
