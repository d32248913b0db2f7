/**
 * Runs the command of a prompt: reads its arguments, asks for required ones that are missing where there is a terminal to
 * ask on, has the server fill the prompt in, and sends the result as the user's message. What goes wrong is said
 * to the user, and nothing is sent.
 */
import type { ExtensionAPI, ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import type { PromptEntry } from "../../../schemas/artifacts/prompts.ts";
import { usageOf } from "../../../schemas/prompt-list.ts";
import { RefusedError, ServerError } from "../../errors.ts";
import type { PromptResult } from "../../resources.ts";
import { contentLimit } from "../resources/content-limit.ts";
import { readResourceTool } from "../resources/resource-tools.ts";
import type { PiSession } from "../session.ts";
import { shortLine, terminalLine, terminalText } from "../terminal-text.ts";
import { type FilledArguments, fillArguments } from "./prompt-arguments.ts";
import { promptContent } from "./prompt-content.ts";

export interface PromptRun {
  readonly pi: ExtensionAPI;
  readonly ctx: ExtensionCommandContext;
  readonly session: PiSession | undefined;
  /** Of the command. */
  readonly name: string;
  /** Undefined where the artifacts have no such prompt any more. */
  readonly entry: PromptEntry | undefined;
  /** What stands behind the command. */
  readonly typed: string;
}

/** A run of the agent that has not begun by then was refused, and Pi has said why. */
const BEGINS_WITHIN_MS = 10_000;
const STATUS = "pimcp-prompt";

export async function runPrompt(run: PromptRun): Promise<void> {
  const { ctx, session, name, entry, typed } = run;
  const fail = (problem: string) => tell(ctx, `/${name}: ${problem}`, "error");
  if (session === undefined || entry === undefined)
    return fail("its server no longer offers this prompt; `/mcp` lists the servers");
  const filled = fillArguments(entry.arguments, typed);
  if (!filled.ok) return fail(`${filled.problem}\n  Usage: ${usage(run)}`);
  if (filled.missing.length > 0 && ctx.mode !== "tui") {
    const names = filled.missing.map((one) => terminalLine(one.name)).join(", ");
    return fail(`${names} must be given\n  Usage: ${usage(run)}`);
  }
  const values = await complete(name, session, filled);
  if (values === undefined) return;
  const result = await ask(run, session, entry, values);
  if (typeof result === "string") return fail(result);
  await send(run, session, entry, result);
}

/** Undefined when the user would rather not. */
async function complete(
  name: string,
  { dialogs }: PiSession,
  { values, missing }: Extract<FilledArguments, { ok: true }>,
): Promise<Readonly<Record<string, string>> | undefined> {
  if (missing.length === 0) return values;
  return dialogs.take(async ({ input }) => {
    const given = Object.entries(values);
    for (const argument of missing) {
      const { description } = argument;
      const what = shortLine(argument.title ?? argument.name, 100);
      const answer = await input(
        `/${name}: ${description === undefined ? what : `${what} — ${shortLine(description, 500)}`}`,
      );
      if (answer === undefined) return undefined;
      given.push([argument.name, answer]);
    }
    return Object.fromEntries(given);
  });
}

/** The filled-in prompt, or why there is none. */
async function ask(
  { ctx, name }: PromptRun,
  { runtime, signal, dialogs }: PiSession,
  { server, prompt }: PromptEntry,
  args: Readonly<Record<string, string>>,
): Promise<PromptResult | string> {
  if (ctx.hasUI) dialogs.status(STATUS, `Waiting for /${name}`);
  try {
    return await (await runtime.resources()).prompt(server, prompt, args, { signal });
  } catch (error) {
    if (error instanceof ServerError || error instanceof RefusedError) return terminalText(error.message);
    throw error;
  } finally {
    if (ctx.hasUI) dialogs.status(STATUS, undefined);
  }
}

async function send({ pi, ctx, name }: PromptRun, session: PiSession, entry: PromptEntry, result: PromptResult) {
  const { server } = entry;
  const { store, table, signal } = session;
  const content = await promptContent(result, {
    server,
    store,
    maxBytes: contentLimit(table, server),
    readResourceTool: readResourceTool(table, server),
  });
  if (signal.aborted) return;
  const [first] = content;
  if (first === undefined) return tell(ctx, `/${name}: the server gave an empty prompt`, "warning");
  const message = first.type === "text" ? content : [{ type: "text" as const, text: `/${name}` }, ...content];
  const ended = ctx.hasUI ? undefined : endOfRun(pi, signal);
  // Typed while the agent works, it reaches it there as any message does.
  pi.sendUserMessage(message, { deliverAs: "steer" });
  await ended;
}

/** Without a UI Pi exits when the command is done: it is done when what it began is. */
function endOfRun(pi: ExtensionAPI, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      for (const stop of stops) stop();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, BEGINS_WITHIN_MS);
    const stops = [pi.on("agent_start", () => clearTimeout(timer)), pi.on("agent_settled", end)];
    signal.addEventListener("abort", end, { once: true });
  });
}

function usage({ name, entry }: PromptRun): string {
  return terminalLine(`/${name} ${usageOf(entry?.arguments)}`.trim());
}

function tell(ctx: ExtensionCommandContext, text: string, kind: "warning" | "error"): void {
  if (ctx.hasUI) ctx.ui.notify(text, kind);
  else process.stderr.write(`pimcp: ${text}\n`);
}
