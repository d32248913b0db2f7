/** Calls that become tasks, in a real Pi: in their row, given up, and left to another session. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { callAbort } from "../../runtime/pi/tools/task-abort.ts";
import { handleFileName, readHandle, type TaskHandle, writeHandle } from "../../runtime/tasks/handle-file.ts";
import { RuntimeProject } from "../runtime/runtime-project.ts";
import { eventually } from "../servers/run.ts";
import { type Answer, type PiOptions, runPi, textOf } from "./pi.ts";
import { RpcPi } from "./rpc.ts";

const DONE: Answer = { text: "done" };
/** A run that takes as long as a model would. */
const WHILE: readonly Answer[] = [{ call: ["bash", { command: "sleep 2" }] }, DONE];
const TEST_MS = 120_000;
const LONG_MS = 600_000;
const server = join(import.meta.dirname, "..", "servers", "tasks.mjs");

class Tasks {
  readonly workspace = new RuntimeProject();
  readonly #log = join(this.workspace.root, "tasks.log");

  static async compiled(env: Readonly<Record<string, string>> = {}): Promise<Tasks> {
    const tasks = new Tasks();
    const { root } = tasks.workspace;
    const files = { TASKS_STORE: join(root, "store.json"), TASKS_LOG: tasks.#log };
    const toolExposure = { typed: "hidden" };
    const settings = { exposure: "direct", toolExposure };
    const entry = { command: process.execPath, args: [server], env: { ...files, ...env }, ...settings };
    tasks.workspace.servers({ jobs: entry });
    await tasks.workspace.prepare();
    return tasks;
  }

  /** A Pi in RPC mode; with a plan, its model calls `run` with that. */
  pi(plan?: object, options: Partial<PiOptions> = {}): RpcPi {
    const call: Answer = { call: ["mcp__jobs__run", { plan }] };
    const pi = new RpcPi(this.workspace, { answers: plan === undefined ? [DONE, DONE] : [call, DONE], ...options });
    if (plan !== undefined) pi.prompt();
    return pi;
  }

  /** How often the server was sent this. */
  sent(method: string): number {
    const lines = readFileSync(this.#log, "utf8").split("\n").slice(0, -1);
    return lines.filter((line) => JSON.parse(line).method === method).length;
  }

  handles(): string[] {
    const folder = join(this.workspace.root, "state", "tasks");
    return existsSync(folder)
      ? readdirSync(folder)
          .filter((name) => name.endsWith(".json"))
          .map((name) => join(folder, name))
      : [];
  }

  /** Whatever they do, they are done now. */
  finish(): void {
    const file = join(this.workspace.root, "store.json");
    const store = JSON.parse(readFileSync(file, "utf8")) as Record<string, { plan: object }>;
    for (const task of Object.values(store)) task.plan = { ...task.plan, workMs: 0 };
    writeFileSync(file, JSON.stringify(store));
  }

  /** A session that ends in the middle of a task with this plan. */
  async left(plan: object, ends: "killed" | "quits" = "killed"): Promise<void> {
    const pi = this.pi({ intervalMs: 50, ...plan });
    await eventually(() => this.handles().length > 0 && this.sent("tasks/get") > 0, "a task", 30_000);
    if (ends === "quits") {
      await pi.end();
      return;
    }
    pi.running.child.kill("SIGKILL");
    await pi.running.finished;
  }
}

interface CustomMessage {
  readonly customType: string;
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly details?: unknown;
}

/** Messages that were put into the conversation. */
function delivered(pi: RpcPi): CustomMessage[] {
  return pi
    .lines()
    .flatMap(({ type, message }) => (type === "message_end" ? [message as CustomMessage] : []))
    .filter(({ customType }) => customType === "mcp-task");
}

const LEFT = /^An MCP call was still running when its session ended:\n {2}jobs\/run, working, since .* UTC, task \S+$/;

describe.each(["modern", "legacy"])("%s", (ERA) => {
  test("a task shows in its row, and is gone with its result", { timeout: TEST_MS }, async () => {
    const tasks = await Tasks.compiled({ ERA });
    const plan = { taskId: "t-1", workMs: 1000, intervalMs: 50, messages: ["unpack\u001b[2Jing"] };
    const answers: Answer[] = [{ call: ["mcp__jobs__run", { plan }] }, DONE];
    const { events, ended } = await runPi(tasks.workspace, { args: ["--approve"], answers });
    const rows = events.flatMap(({ partialResult }) => (partialResult ? [partialResult.content[0]?.text] : []));
    expect(rows).toContain("Running as task t-1");
    expect(rows.at(-1)).toMatch(/^Task t-1: unpack\\u001b\[2Jing$/);
    expect(textOf(ended[0])).toBe("done");
    expect(ended[0]!.result!.details).toMatchObject({ taskId: "t-1" });
    expect(tasks.handles()).toEqual([]);
  });

  test("a call that is aborted cancels its task at the server", { timeout: TEST_MS }, async () => {
    const tasks = await Tasks.compiled({ ERA });
    const pi = tasks.pi({ taskId: "t-2", workMs: LONG_MS, intervalMs: 50 });
    await eventually(() => tasks.sent("tasks/get") > 0, "a poll", 30_000);
    pi.send({ type: "abort" });
    const ended = await pi.tool();
    expect(ended).toMatchObject({ isError: true });
    expect(textOf(ended)).toContain(
      "task t-2 is being cancelled at its server; where the session ended instead, it goes on",
    );
    await eventually(() => tasks.sent("tasks/cancel") === 1, "the cancellation");
    await eventually(() => pi.notices().length > 0, "a notice");
    expect(pi.notices()[0]).toMatch(/task t-2; it was cancelled$/);
    expect(tasks.handles()).toEqual([]);
    await pi.end();
    expect(tasks.sent("tasks/cancel")).toBe(1);
  });

  test("a session that quits leaves its task, and the next one gets the result", { timeout: TEST_MS }, async () => {
    const tasks = await Tasks.compiled({ ERA });
    await tasks.left({ workMs: LONG_MS, result: { content: [{ type: "text", text: "42\u001b[2J" }] } }, "quits");
    expect(tasks.sent("tasks/cancel")).toBe(0);
    expect(tasks.handles()).toHaveLength(1);
    const pi = tasks.pi();
    const offer = await pi.dialog();
    expect(offer.title).toMatch(LEFT);
    // Enter alone takes the first.
    expect(offer.options![0]).toBe("Not now");
    pi.reply(offer, "Resume");
    const polls = tasks.sent("tasks/get");
    await eventually(() => tasks.sent("tasks/get") > polls, "a poll");
    tasks.finish();
    await eventually(() => delivered(pi).length > 0, "the result", 30_000);
    const [message] = delivered(pi);
    expect(message!.content.map(({ text }) => text)).toEqual([
      expect.stringMatching(
        /^The MCP call jobs\/run of an earlier session \(task \S+\) has ended\. What follows is its server's text:$/,
      ),
      "42\\u001b[2J",
    ]);
    expect(message!.details).toMatchObject({ server: "jobs", tool: "run", isError: false });
    // Nobody asked the model anything yet; when somebody does, it reads this.
    expect(pi.running.requests()).toHaveLength(0);
    await eventually(() => tasks.handles().length === 0, "the handle gone");
    pi.prompt();
    await pi.settled();
    expect(JSON.stringify(pi.running.requests()[0]!.context.messages)).toContain("42\\\\u001b[2J");
  });

  test("a resumed task asks through the dialogs, and each question once", { timeout: TEST_MS }, async () => {
    const tasks = await Tasks.compiled({ ERA });
    const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
    const ask = { who: { method: "elicitation/create", params: { message: "Who?", requestedSchema } } };
    const first = tasks.pi({ taskId: "t-3", ask, intervalMs: 50, workMs: 100 });
    expect((await first.dialog()).title).toMatch(/^Server "jobs" asks \(.*task t-3\):$/m);
    first.running.child.kill("SIGKILL");
    await first.running.finished;

    const pi = tasks.pi();
    await pi.answer("Resume");
    expect((await pi.answer("Answer")).title).toMatch(/^Server "jobs" asks \(.*task t-3\):\n│ Who\?$/);
    await pi.answer("Ann");
    await pi.answer("Send");
    await eventually(() => delivered(pi).length > 0, "the result");
    expect(JSON.parse(delivered(pi)[0]!.content[1]!.text!)).toEqual({
      who: { action: "accept", content: { name: "Ann" } },
    });
    expect(pi.dialogs()).toHaveLength(4);
  });
});

test("the question of a task that is given up goes away", { timeout: TEST_MS }, async () => {
  const tasks = await Tasks.compiled();
  const ask = {
    who: { method: "elicitation/create", params: { message: "Who?", requestedSchema: { type: "object" } } },
  };
  const pi = tasks.pi({ ask, intervalMs: 50 });
  await pi.dialog();
  pi.send({ type: "abort" });
  await eventually(() => pi.notices().includes('Server "jobs" no longer waits for an answer.'), "the dialog closing");
  expect(tasks.sent("tasks/cancel")).toBe(1);
});

describe("what is left", () => {
  test("is put off for this process, offered again by the next, and can be cancelled", {
    timeout: TEST_MS,
  }, async () => {
    const tasks = await Tasks.compiled();
    await tasks.left({ workMs: LONG_MS });
    const first = tasks.pi();
    await first.answer("Not now");
    await eventually(() => first.notices().length > 0, "how to resume");
    expect(first.notices()[0]).toContain("pimcp tasks resume");
    const { data } = await first.ask({ type: "new_session" });
    expect(data).toEqual({ cancelled: false });
    first.prompt();
    await first.settled();
    expect(first.dialogs()).toHaveLength(1);
    await first.end();
    expect(tasks.handles()).toHaveLength(1);

    const second = tasks.pi();
    await second.answer("Cancel it");
    await eventually(() => second.notices().length > 0, "the cancellation");
    expect(second.notices()).toEqual(["MCP task jobs/run was cancelled"]);
    expect(tasks.sent("tasks/cancel")).toBe(1);
    expect(tasks.handles()).toEqual([]);
  });

  test("several are shown together", { timeout: TEST_MS }, async () => {
    const tasks = await Tasks.compiled();
    const plan = (taskId: string) => ({ plan: { taskId, workMs: LONG_MS, intervalMs: 50 } });
    const calls: Answer = {
      calls: [
        ["mcp__jobs__run", plan("one")],
        ["mcp__jobs__run", plan("two")],
      ],
    };
    const begun = new RpcPi(tasks.workspace, { answers: [calls] });
    begun.prompt();
    await eventually(() => tasks.handles().length === 2, "two tasks", 30_000);
    begun.running.child.kill("SIGKILL");
    await begun.running.finished;
    const pi = tasks.pi();
    const offer = await pi.dialog();
    expect(offer.title).toMatch(/^2 MCP calls were still running when their sessions ended:\n.*\n.*$/);
    pi.reply(offer, offer.options!.find((option) => option.includes("task two"))!);
    expect((await pi.answer("Cancel it")).title).toContain("task two");
    expect((await pi.answer("Not now")).title).toContain("task one");
    await eventually(() => tasks.sent("tasks/cancel") === 1, "the cancellation");
  });

  test("is only named where there is nobody to ask", { timeout: TEST_MS }, async () => {
    const tasks = await Tasks.compiled();
    await tasks.left({ workMs: LONG_MS });
    const { stderr, code } = await runPi(tasks.workspace, { args: ["--approve"], answers: WHILE, mode: "print" });
    expect(code).toBe(0);
    expect(stderr).toContain("pimcp: An MCP call was still running when its session ended:\n  jobs/run, working");
    expect(stderr.match(/pimcp tasks resume/g)).toHaveLength(1);
    expect(tasks.sent("tasks/cancel")).toBe(0);
  });

  test("is nobody's to offer while it is followed", { timeout: TEST_MS }, async () => {
    const tasks = await Tasks.compiled();
    const follower = tasks.pi({ workMs: LONG_MS, intervalMs: 50 });
    await eventually(() => tasks.sent("tasks/get") > 0, "a poll", 30_000);
    const { stderr } = await runPi(tasks.workspace, { args: ["--approve"], answers: WHILE, mode: "print" });
    expect(stderr).not.toContain("still running");
    expect(tasks.handles()).toHaveLength(1);
    await follower.end();
  });

  test("is left alone where it is another project's or another server's", { timeout: TEST_MS }, async () => {
    const tasks = await Tasks.compiled();
    await tasks.left({ workMs: LONG_MS });
    const [file] = tasks.handles();
    const reading = readHandle(readFileSync(file!, "utf8"));
    if (!reading.ok) throw new Error(reading.reason);
    const { handle } = reading;
    const { project, agent } = tasks.workspace;
    const others: Partial<TaskHandle>[] = [
      { taskId: "elsewhere", project: { cwd: agent } },
      { taskId: "configured", project: { cwd: project, config: "/other/mcp.json" } },
      { taskId: "of-nobody", server: "nobody" },
      { taskId: "other-way", connection: "0".repeat(64) },
      { taskId: "hidden", tool: "typed" },
      { taskId: "below", project: { cwd: join(project, "below") } },
    ];
    rmSync(file!);
    for (const changes of others) {
      const other = { ...handle, ...changes };
      writeFileSync(join(dirname(file!), handleFileName(other)), writeHandle(other));
    }
    const { stderr } = await runPi(tasks.workspace, { args: ["--approve"], answers: WHILE, mode: "print" });
    expect(stderr.match(/task (elsewhere|configured|of-nobody|other-way|hidden|below)$/gm)).toEqual(["task below"]);
  });
});

describe("giving up", () => {
  const setUp = () => {
    const [given, ended] = [new AbortController(), new AbortController()];
    const late: unknown[] = [];
    const abort = callAbort({ signal: given.signal, ended: ended.signal, onLateEnd: (error) => late.push(error) });
    const call = new Promise<never>((_, reject) => {
      abort.signal.addEventListener("abort", () => reject(new Error("cancelled at the server")));
    });
    return { given, ended, late, abort, outcome: abort.orGivenUp(call, () => new Error("given up")) };
  };

  test("a plain call is cancelled at once, by either", async () => {
    for (const who of ["given", "ended"] as const) {
      const one = setUp();
      one[who].abort();
      expect(one.abort.signal.aborted).toBe(true);
      await expect(one.outcome).rejects.toThrow("cancelled at the server");
      expect(one.late).toEqual([]);
    }
  });

  test("a task is given up at once and cancelled later, unless the session ends", async () => {
    const stopped = setUp();
    const quit = setUp();
    for (const one of [stopped, quit]) {
      one.abort.becomesTask();
      one.given.abort();
      expect(one.abort.signal.aborted).toBe(false);
      await expect(one.outcome).rejects.toThrow("given up");
    }
    quit.ended.abort();
    await eventually(() => stopped.abort.signal.aborted, "the cancellation");
    await eventually(() => stopped.late.length === 1, "what became of it");
    expect(quit.abort.signal.aborted).toBe(false);
  });
});
