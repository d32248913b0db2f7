/**
 * `pimcp tasks`: calls that became tasks on their servers, of this and of earlier runs, in whatever project. `list` and
 * `show` read the state folder alone; `resume` and `cancel` go to the server, by the configuration of the project that
 * the task was made in unless told otherwise.
 */
import { resolve } from "node:path";
import type { Runtime } from "../runtime/runtime.ts";
import { HandleStore, type ListedTask } from "../runtime/tasks/handle-store.ts";
import { DEFAULT_MAX_OUTPUT_BYTES } from "../schemas/config/server-config.ts";
import { nearest } from "../schemas/nearest.ts";
import { shellWord } from "../schemas/shell-word.ts";
import { stateFolder } from "../schemas/user-folders.ts";
import { deliver, withProgress } from "./call-command.ts";
import { cell, cut, widthOf } from "./columns.ts";
import type { Invocation } from "./commands.ts";
import { fail } from "./fail.ts";
import { EXIT, type Io } from "./io.ts";
import { diagnosticsText, type Look, paint, printable } from "./print.ts";
import { NO_SECONDS, secondsFlag } from "./seconds.ts";
import { withRuntime } from "./with-runtime.ts";

type Act = (task: ListedTask, invocation: Invocation, io: Io) => Promise<number>;

const ACTS: ReadonlyMap<string, Act> = new Map<string, Act>([
  ["show", show],
  ["resume", resume],
  ["cancel", cancel],
]);

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const [verb = "list", id] = invocation.operands;
  if (verb === "list") {
    if (id !== undefined) return fail("tasks", invocation, io, `unexpected argument "${id}"`, EXIT.usage);
    return list(invocation, io);
  }
  const act = ACTS.get(verb);
  if (act === undefined) {
    const close = nearest(verb, ["list", ...ACTS.keys()]);
    const hint = close === undefined ? "list, show, resume and cancel are known" : `did you mean \`${close}\`?`;
    return fail("tasks", invocation, io, `unknown action "${verb}"; ${hint}`, EXIT.usage);
  }
  if (id === undefined) return fail("tasks", invocation, io, `which task? \`pimcp tasks ${verb} ID\``, EXIT.usage);
  const found = find(await read(invocation, io, true), id, invocation);
  return typeof found === "string" ? fail("tasks", invocation, io, found, EXIT.reported) : act(found, invocation, io);
}

/** Handles that can't be read are reported and stop nothing. */
async function read({ flags }: Invocation, io: Io, all: boolean): Promise<readonly ListedTask[]> {
  const store = new HandleStore(resolve(io.cwd, stateFolder(io.env, io.homedir)));
  const { value, diagnostics } = await store.list({ all });
  io.err(diagnosticsText(diagnostics, io.errLook, flags["verbose"] === true));
  const server = flags["server"];
  return typeof server === "string" ? value.filter((task) => task.server === server) : value;
}

/** By its whole id, or by a beginning of it that no other task has: also one that a narrow terminal cut and marked so. */
function find(tasks: readonly ListedTask[], typed: string, { flags }: Invocation): ListedTask | string {
  const id = typed.replace(/…$/, "");
  const exact = tasks.filter(({ taskId }) => taskId === id);
  const matches = exact.length > 0 || id.length < 4 ? exact : tasks.filter(({ taskId }) => taskId.startsWith(id));
  if (matches.length === 1) return matches[0]!;
  if (matches.length > 1) {
    const servers = [...new Set(matches.map(({ server }) => server))];
    const isAmong = flags["server"] === undefined && servers.length > 1;
    return `several tasks are called ${id}${isAmong ? `; name one of their servers with --server: ${servers.join(", ")}` : ""}`;
  }
  const close = nearest(
    id,
    tasks.map(({ taskId }) => taskId),
  );
  return `there is no task ${id}; ${close === undefined ? "`pimcp tasks list --all` has those there are" : `did you mean ${shellWord(close)}?`}`;
}

async function list(invocation: Invocation, io: Io): Promise<number> {
  const all = invocation.flags["all"] === true;
  const tasks = await read(invocation, io, all);
  if (invocation.flags["json"]) io.out(`${JSON.stringify({ tasks: tasks.map(listed) })}\n`);
  else if (tasks.length > 0) io.out(table(tasks, io.outLook));
  else io.err(all ? "no tasks\n" : "no unfinished tasks\n");
  return EXIT.ok;
}

/** What `--json` prints of each (DESIGN section 4). */
function listed({ taskId, server, tool, status, createdAt, updatedAt }: ListedTask) {
  return { taskId, server, tool, status, createdAt, updatedAt };
}

/** The widest that a column gets, however much room there is. */
const WIDEST = 60;
const COLUMNS = {
  /** As it can be pasted. */
  id: ({ taskId }: ListedTask) => shellWord(taskId),
  tool: ({ server, tool }: ListedTask) => `${server}/${tool}`,
  status: statusText,
  since: ({ createdAt }: ListedTask) => `since ${shortTime(createdAt)}`,
};
type Column = keyof typeof COLUMNS;
type Layout = readonly (readonly [column: Column, width: number])[];
/** A tool's name says nothing in less. */
const LEAST_TOOL = 10;

/** One line a task, none wider than the terminal. */
function table(tasks: readonly ListedTask[], look: Look): string {
  const text = (column: Column, task: ListedTask) => printable(COLUMNS[column](task));
  const widest = (column: Column) => Math.min(WIDEST, Math.max(...tasks.map((task) => widthOf(text(column, task)))));
  const layout = layoutFor(look.width, widest);
  return tasks
    .map((task) => {
      const cells = layout.map(([column, width]) => cell(text(column, task), width));
      const line = cells.join("  ").trimEnd();
      return `${task.ended ? paint(look, "dim", line) : line}\n`;
    })
    .join("");
}

/** Where not everything fits, the time goes first, then the tool gives way: an id that is whole can be copied. */
function layoutFor(width: number, widest: (column: Column) => number): Layout {
  const all = (["id", "tool", "status", "since"] as const).map((column) => [column, widest(column)] as const);
  if (lineWidth(all) <= width) return all;
  const [id, tool, status] = all as [Layout[0], Layout[0], Layout[0]];
  const room = width - lineWidth([id, ["tool", 0], status]);
  if (room >= LEAST_TOOL) return [id, ["tool", Math.min(tool[1], room)], status];
  const over = Math.max(0, lineWidth([id, status]) - width);
  return [["id", Math.max(LEAST_TOOL, id[1] - over)], status];
}

function lineWidth(layout: Layout): number {
  return layout.reduce((sum, [, width]) => sum + width, 2 * (layout.length - 1));
}

function statusText({ status, ended, holder }: ListedTask): string {
  if (ended) return `${status}, ended`;
  return holder === undefined ? status : `${status}, followed by process ${holder.pid}`;
}

function shortTime(iso: string): string {
  return `${iso.slice(0, 16).replace("T", " ")} UTC`;
}

async function show(task: ListedTask, { flags }: Invocation, io: Io): Promise<number> {
  const { name, project, ttlMs, pollIntervalMs, answers, ended, holder } = task;
  const more = {
    name,
    ended,
    ...(ttlMs !== undefined && { ttlMs }),
    ...(pollIntervalMs !== undefined && { pollIntervalMs }),
    ...(holder !== undefined && { followedBy: holder.pid }),
    answered: answers.map(({ key }) => key),
    cwd: project.cwd,
    ...(project.config !== undefined && { config: project.config }),
  };
  if (flags["json"]) {
    io.out(`${JSON.stringify({ ...listed(task), ...more })}\n`);
    return EXIT.ok;
  }
  for (const [key, value] of Object.entries({ ...listed(task), ...more })) {
    const text = Array.isArray(value) ? value.join(", ") : String(value);
    if (text !== "") io.out(`${key.padEnd(15)} ${cut(printable(text), Math.max(20, io.outLook.width - 16))}\n`);
  }
  return EXIT.ok;
}

async function resume(task: ListedTask, invocation: Invocation, io: Io): Promise<number> {
  if (task.ended) return fail("tasks", invocation, io, `task ${task.taskId} has ended (${task.status})`, EXIT.reported);
  const timeoutMs = secondsFlag(invocation);
  if (Number.isNaN(timeoutMs)) return fail("tasks", invocation, io, NO_SECONDS, EXIT.usage);
  return inProject(task, invocation, io, async (runtime) => {
    const tasks = await runtime.tasks();
    const entry = runtime.table.tools({ server: task.server }).find(({ tool }) => tool === task.tool);
    let forget: (() => Promise<void>) | undefined;
    const { result } = await withProgress(io, (onProgress) =>
      tasks.resume(task, {
        signal: io.signal,
        onProgress,
        ...(timeoutMs !== undefined && { timeoutMs }),
        onTaskResult: (later) => {
          forget = later;
        },
      }),
    );
    // The tool may not be compiled any more.
    const code = await deliver(result, entry ?? { ...task, maxOutputBytes: DEFAULT_MAX_OUTPUT_BYTES }, invocation, io);
    await forget?.();
    return code;
  });
}

async function cancel(task: ListedTask, invocation: Invocation, io: Io): Promise<number> {
  if (task.ended) return fail("tasks", invocation, io, `task ${task.taskId} has ended (${task.status})`, EXIT.reported);
  return inProject(task, invocation, io, async (runtime) => {
    const isTold = await (await runtime.tasks()).cancel(task, io.signal);
    if (!isTold) {
      const message = `server "${task.server}" does not know task ${task.taskId} any more`;
      return fail("tasks", invocation, io, message, EXIT.reported);
    }
    if (invocation.flags["json"]) io.out(`${JSON.stringify({ ...listed(task), status: "cancelled" })}\n`);
    else io.err(`cancelled ${printable(task.taskId)}\n`);
    return EXIT.ok;
  });
}

/** A runtime over the project that the task was made in, or the one that the command line names. */
function inProject(task: ListedTask, invocation: Invocation, io: Io, use: (runtime: Runtime) => Promise<number>) {
  const { cwd, config } = task.project;
  const flags = { ...invocation.flags };
  // Relative to where the command runs, which is about to change.
  for (const name of ["answers", "config", "out"]) {
    const value = flags[name];
    if (typeof value === "string") flags[name] = resolve(io.cwd, value);
  }
  if (flags["config"] === undefined && config !== undefined) flags["config"] = config;
  const isElsewhere = flags["cwd"] !== undefined || invocation.flags["config"] !== undefined;
  return withRuntime("tasks", { ...invocation, flags }, isElsewhere ? io : { ...io, cwd }, use);
}
