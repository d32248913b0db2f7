/**
 * The kinds of prompt a question is made of, drawn by inquirer on streams of the caller's: stdin and stderr, so that
 * stdout carries results alone. Aborting a prompt's signal removes it. Ctrl-C, Ctrl-D and the end of input reject with
 * `PromptLeft`. inquirer is loaded by the first prompt. Texts must be printable already.
 */
import { Writable } from "node:stream";

export interface Choice<T> {
  readonly value: T;
  readonly name: string;
  readonly checked?: boolean;
  /** Why it can't be chosen. */
  readonly disabled?: string;
}

export interface Prompts {
  /** Lines above the next prompt. */
  write(text: string): void;
  select<T>(message: string, choices: readonly Choice<T>[], options?: { initial?: T }): Promise<T>;
  /** `check` gives the reason where it refuses. */
  checkbox(
    message: string,
    choices: readonly Choice<string>[],
    check: (chosen: readonly string[]) => Promise<string | undefined>,
  ): Promise<readonly string[]>;
  input(
    message: string,
    check: (text: string) => Promise<string | undefined>,
    options?: { initial?: string | undefined },
  ): Promise<string>;
}

export interface PromptStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** The person left a prompt without an answer. */
export class PromptLeft extends Error {}

/** The ways out of every question. */
export const DECLINE = { value: "decline", name: "Decline: say no to the server" } as const;
export const CANCEL = { value: "cancel", name: "Cancel: give no answer" } as const;

const PAGE = 12;

export function inquirerPrompts({ input, output }: PromptStreams, signal?: AbortSignal): Prompts {
  const screen = () => (output === process.stderr ? output : unending(output));
  const ask = async <T>(prompt: (inquirer: Inquirer, context: Context) => Promise<T>): Promise<T> => {
    const inquirer = await import("@inquirer/prompts");
    const left = new AbortController();
    const onEnd = () => left.abort();
    // Ctrl-D closes inquirer's readline, which it doesn't notice; the pause that comes with it can be heard.
    for (const event of ["end", "pause"]) input.once(event, onEnd);
    try {
      const signals = signal ? AbortSignal.any([signal, left.signal]) : left.signal;
      return await prompt(inquirer, { input, output: screen(), signal: signals });
    } catch (error) {
      if (signal?.aborted || !(error instanceof Error) || !LEAVING.has(error.name)) throw error;
      throw new PromptLeft("left", { cause: error });
    } finally {
      for (const event of ["end", "pause"]) input.off(event, onEnd);
    }
  };
  return {
    write: (text) => void output.write(text),
    select: (message, choices, { initial } = {}) =>
      ask(({ select }, context) =>
        select(
          {
            message,
            choices: [...choices],
            pageSize: PAGE,
            loop: false,
            ...(initial !== undefined && { default: initial }),
          },
          context,
        ),
      ),
    checkbox: (message, choices, check) =>
      ask(({ checkbox }, context) =>
        checkbox(
          {
            message,
            choices: [...choices],
            pageSize: PAGE,
            loop: false,
            validate: async (chosen) => (await check(chosen.map(({ value }) => value))) ?? true,
          },
          context,
        ),
      ),
    input: (message, check, { initial } = {}) =>
      ask((inquirer, context) =>
        inquirer.input(
          {
            message,
            validate: async (text) => (await check(text)) ?? true,
            ...(initial !== undefined && { default: initial }),
          },
          context,
        ),
      ),
  };
}

/** inquirer ends what it draws on, unless that is a standard stream. */
function unending(output: NodeJS.WritableStream): NodeJS.WritableStream {
  return new Writable({
    decodeStrings: false,
    write: (chunk: string, _, done) => {
      output.write(chunk);
      done();
    },
  });
}

type Inquirer = typeof import("@inquirer/prompts");
type Context = PromptStreams & { readonly signal: AbortSignal };

/** Classes of inquirer's, whose module isn't ours to import. */
const LEAVING: ReadonlySet<string> = new Set(["ExitPromptError", "AbortPromptError", "CancelPromptError"]);
