/**
 * Calls that were still running as tasks when their sessions ended: asks, once a session has begun, whether to go on with
 * them. A task that is resumed is followed in the background, asks through the dialogs, and its result becomes a message of the
 * conversation. Only tasks of this project, of servers of this session that are reached as they were, that nobody follows. Where
 * there are none it reads one folder and nothing more; without a UI it says how to resume.
 */
import { isAbsolute, relative, resolve } from "node:path";
import { DEFAULT_MAX_OUTPUT_BYTES } from "../../../schemas/config/server-config.ts";
import { stateFolder } from "../../../schemas/user-folders.ts";
import { homeFolder } from "../../connect/configuration-files.ts";
import { HandleStore, type ListedTask } from "../../tasks/handle-store.ts";
import { messageOf } from "../in-background.ts";
import type { PiSession } from "../session.ts";
import { messageText, shortLine } from "../terminal-text.ts";
import type { Choice, Dialogs } from "./dialog-queue.ts";
import { below, shortName } from "./dialog-text.ts";

const TASK_MESSAGE = "mcp-task";

/** Nobody may be there: the offer must not keep servers from asking. */
const OFFER_MS = 120_000;
const MOST_SHOWN = 10;
const HOW = "`pimcp tasks list` shows what is left, `pimcp tasks resume ID` goes on with one";

/** Said no to in this process: the sessions after it don't ask again. */
const putOff = new Set<string>();

export async function offerTasks(session: PiSession): Promise<void> {
  const tasks = await leftTasks(session);
  if (tasks.length === 0 || session.signal.aborted) return;
  if (session.ctx.hasUI) await offer(session, tasks);
  else session.tell(below(whatIsLeft(tasks), HOW), "info");
}

async function leftTasks(session: PiSession): Promise<readonly ListedTask[]> {
  const { env, files, table } = session;
  const store = new HandleStore(resolve(files.sessionDir, stateFolder(env, homeFolder(env))));
  const { value, diagnostics } = await store.list();
  for (const { message, severity } of diagnostics) session.tell(message, severity);
  const servers = new Set(table.servers().flatMap((server) => (table.isReachable(server) ? [server.name] : [])));
  const isOurs = ({ project: { cwd, config } }: ListedTask) =>
    config === undefined && (cwd === files.sessionDir || isWithin(files.projectDir, cwd));
  const isHidden = ({ server, tool }: ListedTask) =>
    table.byTool(server, tool, { includeHidden: true })?.exposure === "hidden";
  const candidates = value.filter(
    (task) =>
      task.holder === undefined &&
      servers.has(task.server) &&
      isOurs(task) &&
      !isHidden(task) &&
      !putOff.has(keyOf(task)),
  );
  if (candidates.length === 0 || session.signal.aborted) return [];
  const tasks = await session.runtime.tasks();
  const reachable = await Promise.all(candidates.map((task) => tasks.isReachable(task)));
  return candidates.filter((_, index) => reachable[index]);
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return !isAbsolute(way) && way !== ".." && !way.startsWith("../") && !way.startsWith("..\\");
}

function keyOf({ server, connection, taskId }: ListedTask): string {
  return JSON.stringify([server, connection, taskId]);
}

type Fate = "resume" | "cancel" | "later";

async function offer(session: PiSession, tasks: readonly ListedTask[]): Promise<void> {
  const fates = await session.dialogs.take((dialogs) => ask(dialogs, tasks), { timeoutMs: OFFER_MS });
  for (const task of tasks) {
    const fate = fates.get(task) ?? "later";
    if (fate === "resume") void resume(session, task);
    else if (fate === "cancel") void cancel(session, task);
    else putOff.add(keyOf(task));
  }
  if (tasks.some((task) => (fates.get(task) ?? "later") === "later")) session.tell(HOW, "info");
}

async function ask(dialogs: Dialogs, tasks: readonly ListedTask[]): Promise<Map<ListedTask, Fate>> {
  const fates = new Map<ListedTask, Fate>();
  for (;;) {
    const left = tasks.filter((task) => !fates.has(task));
    const [one] = left;
    if (one === undefined) return fates;
    const chosen = left.length === 1 ? one : await pick(dialogs, left);
    if (chosen === undefined) return fates;
    if (chosen === "all") {
      for (const task of left) fates.set(task, "resume");
      return fates;
    }
    const fate = await dialogs.select<Fate>(whatIsLeft([chosen]), FATES);
    if (fate === undefined) return fates;
    fates.set(chosen, fate);
  }
}

/** A dialog at the start may meet somebody typing: Enter alone changes nothing. */
const FATES: readonly Choice<Fate>[] = [
  { label: "Not now", value: "later" },
  { label: "Resume it in the background; its result goes into this conversation", value: "resume" },
  { label: "Cancel it at its server", value: "cancel" },
];

async function pick(dialogs: Dialogs, left: readonly ListedTask[]): Promise<ListedTask | "all" | undefined> {
  const choices: Choice<ListedTask | "all" | "none">[] = [
    { label: "Not now", value: "none" },
    { label: `Resume all ${left.length} in the background`, value: "all" },
    ...left.map((task) => ({ label: taskLine(task), value: task })),
  ];
  const picked = await dialogs.select(whatIsLeft(left), choices);
  return picked === "none" ? undefined : picked;
}

function whatIsLeft(tasks: readonly ListedTask[]): string {
  const head =
    tasks.length === 1
      ? "An MCP call was still running when its session ended:"
      : `${tasks.length} MCP calls were still running when their sessions ended:`;
  const more = tasks.length - MOST_SHOWN;
  return below(
    head,
    ...tasks.slice(0, MOST_SHOWN).map((task) => `  ${taskLine(task)}`),
    more > 0 ? `  and ${more} more` : undefined,
  );
}

function taskLine(task: ListedTask): string {
  const since = `${task.createdAt.slice(0, 16).replace("T", " ")} UTC`;
  return `${nameOf(task)}, ${task.status}, since ${since}, task ${shortName(task.taskId)}`;
}

function nameOf({ server, tool }: ListedTask): string {
  return `${shortName(server)}/${shortName(tool)}`;
}

/** Follows it to its end; the handle stays until the result has been handed over, whatever becomes of this session. */
async function resume(session: PiSession, task: ListedTask): Promise<void> {
  const { runtime, dialogs } = session;
  const key = `pimcp-task-${shortName(task.taskId)}`;
  const status = (more: string) => dialogs.status(key, `MCP task ${nameOf(task)}: ${more}`);
  status("resuming…");
  try {
    let forget: (() => Promise<void>) | undefined;
    const { result } = await (await runtime.tasks()).resume(task, {
      onProgress: ({ message }) => status(message === undefined ? "working…" : shortLine(message, 200)),
      onTaskResult: (later) => {
        forget = later;
      },
    });
    if (session.signal.aborted) return;
    await deliver(session, task, result);
    await forget?.();
  } catch (error) {
    session.tell(messageOf(error), "warning");
  } finally {
    dialogs.status(key, undefined);
  }
}

type Result = Awaited<ReturnType<PiSession["runtime"]["callEntry"]>>["result"];

/** Into the conversation, where the model finds it with the next prompt; no turn is begun for it. */
async function deliver(session: PiSession, task: ListedTask, result: Result): Promise<void> {
  const { limitResult } = await import("../../limits/result.ts");
  const { server, tool, taskId } = task;
  const maxBytes = session.table.byTool(server, tool)?.maxOutputBytes ?? DEFAULT_MAX_OUTPUT_BYTES;
  const { content, path } = await limitResult(result, { maxBytes, server, tool, store: session.store });
  const isError = result.isError === true;
  const head = `The MCP call ${nameOf(task)} of an earlier session (task ${shortName(taskId)}) has ${isError ? "failed" : "ended"}. What follows is its server's text:`;
  session.pi.sendMessage(
    {
      customType: TASK_MESSAGE,
      display: true,
      content: [
        { type: "text", text: head },
        ...content.map((block) => (block.type === "text" ? { ...block, text: messageText(block.text) } : { ...block })),
      ],
      details: { server, tool, taskId, isError, ...(path !== undefined && { fullOutputPath: path }) },
    },
    { triggerTurn: false },
  );
}

async function cancel(session: PiSession, task: ListedTask): Promise<void> {
  try {
    const isTold = await (await session.runtime.tasks()).cancel(task);
    const what = isTold ? "was cancelled" : "was over: its server doesn't know it any more";
    session.tell(`MCP task ${nameOf(task)} ${what}`, "info");
  } catch (error) {
    session.tell(messageOf(error), "warning");
  }
}
