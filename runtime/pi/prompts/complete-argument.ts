/**
 * Values for the argument of a prompt that is being typed, from its server, which this connects: who types arguments of a
 * prompt is about to run it. A server that fails, or takes long, just has none to offer; each question is asked once.
 */
import type { AutocompleteItem } from "@earendil-works/pi-tui";
import type { PromptEntry } from "../../../schemas/artifacts/prompts.ts";
import { RefusedError, ServerError } from "../../errors.ts";
import type { PiSession } from "../session.ts";
import { shortLine } from "../terminal-text.ts";
import { typedArgument } from "./prompt-arguments.ts";

/** A first question may have to start the server. */
const TIMEOUT_MS = 10_000;
/** What a server gives at most by the specification, and answers that are remembered for a session. */
const MAX_VALUES = 100;
const MAX_REMEMBERED = 500;

/** UTF-16 units of what a list shows. */
const MAX_LABEL = 200;

const remembered = new WeakMap<PiSession, Map<string, Promise<readonly string[]>>>();

/** Null where there is nothing to offer. Never rejects for what a server does. */
export async function completeArgument(
  session: PiSession,
  entry: PromptEntry,
  typed: string,
): Promise<AutocompleteItem[] | null> {
  const found = typedArgument(entry.arguments, typed);
  if (found === undefined) return null;
  const { argument, value, given, complete } = found;
  const question = JSON.stringify([entry.name, argument.name, value, given]);
  const answers = remembered.get(session) ?? new Map<string, Promise<readonly string[]>>();
  remembered.set(session, answers);
  let answer = answers.get(question);
  if (answer === undefined) {
    if (answers.size >= MAX_REMEMBERED) answers.clear();
    answer = ask(session, entry, { name: argument.name, value }, given);
    answers.set(question, answer);
    // What failed once may work the next time.
    answer.catch(() => answers.delete(question));
  }
  const values = await answer.catch((error: unknown) => {
    if (error instanceof ServerError || error instanceof RefusedError) return [];
    throw error;
  });
  const items = values.flatMap((one): AutocompleteItem[] => {
    const completed = complete(one);
    if (completed === undefined) return [];
    const description =
      argument.description === undefined ? {} : { description: shortLine(argument.description, MAX_LABEL) };
    return [{ value: completed, label: shortLine(one, MAX_LABEL), ...description }];
  });
  // Enter takes what a list offers before it runs anything: a value that is whole needs no list.
  return items.length === 0 || items.some((item) => item.value === typed) ? null : items;
}

async function ask(
  session: PiSession,
  { server, prompt }: PromptEntry,
  argument: { readonly name: string; readonly value: string },
  given: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const resources = await session.runtime.resources();
  const context = Object.keys(given).length > 0 ? given : undefined;
  const options = { signal: session.signal, timeoutMs: TIMEOUT_MS };
  const { values } = await resources.complete(server, { type: "ref/prompt", name: prompt }, argument, context, options);
  return [...new Set(values)].slice(0, MAX_VALUES);
}
