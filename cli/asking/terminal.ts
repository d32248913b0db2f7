/**
 * The person at the terminal as an elicitation handler. Questions come one after another, whoever asks; one that is
 * withdrawn disappears from the screen. Leaving a prompt (Ctrl-C, Ctrl-D) cancels that question.
 */
import type { ElicitationModes, QuestionContext, QuestionHandler } from "../../runtime/client-features.ts";
import { startBrowser } from "../../runtime/connect/auth/browser.ts";
import { type Look, printable } from "../print.ts";
import { askForm } from "./form.ts";
import { inquirerPrompts, PromptLeft, type PromptStreams, type Prompts } from "./prompts.ts";
import { takeTerminal, whenTerminalFree } from "./terminal-queue.ts";
import { askFinished, askVisit, type OpenUrl } from "./visit.ts";

export interface TerminalOptions extends PromptStreams {
  readonly look: Look;
  readonly openUrl?: OpenUrl | undefined;
}

export interface TerminalElicitation extends ElicitationModes {
  readonly form: QuestionHandler;
  readonly url: QuestionHandler;
  readonly completed: (elicitationId: string, server: string) => void;
}

export function terminalElicitation(options: TerminalOptions): TerminalElicitation {
  const { look, openUrl = startBrowser } = options;
  const visits = new Map<string, AbortController>();
  const keyOf = (server: string, elicitationId: unknown) => JSON.stringify([server, elicitationId]);
  return {
    form: (params, context) => takeTurn(options, context, (prompts) => askForm(prompts, params, context, look)),
    url: (params, context) =>
      takeTurn(options, context, async (prompts) => {
        const key = keyOf(context.server, params["elicitationId"]);
        const done = new AbortController();
        visits.set(key, done);
        try {
          const answer = await askVisit(prompts, params, context, { look, openUrl });
          if (answer["action"] !== "accept" || context.whenDone !== true) return answer;
          return await untilFinished(options, context.signal, done.signal);
        } finally {
          visits.delete(key);
        }
      }),
    completed: (elicitationId, server) => {
      const visit = visits.get(keyOf(server, elicitationId));
      if (visit) return visit.abort();
      const text = `server "${printable(server)}" says that what it sent you to its page for is done\n`;
      whenTerminalFree(() => void options.output.write(text));
    },
  };
}

/** Until the person says so, or the server does. */
async function untilFinished(
  streams: PromptStreams,
  signal: AbortSignal | undefined,
  done: AbortSignal,
): Promise<Record<string, unknown>> {
  try {
    return await askFinished(inquirerPrompts(streams, signal ? AbortSignal.any([signal, done]) : done));
  } catch (error) {
    if (done.aborted && !signal?.aborted) return { action: "accept" };
    throw error;
  }
}

function takeTurn(
  streams: PromptStreams,
  context: QuestionContext,
  ask: (prompts: Prompts) => Promise<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  return takeTerminal(() => answered(streams, context, ask), context.signal);
}

async function answered(
  streams: PromptStreams,
  { signal }: QuestionContext,
  ask: (prompts: Prompts) => Promise<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  // A progress line may stand there.
  streams.output.write("\r\u001b[2K");
  try {
    return await ask(inquirerPrompts(streams, signal));
  } catch (error) {
    if (error instanceof PromptLeft) return { action: "cancel" };
    throw error;
  } finally {
    // inquirer leaves the input flowing, which would keep the program from ending.
    streams.input.pause();
  }
}
