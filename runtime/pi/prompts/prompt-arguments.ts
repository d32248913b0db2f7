/**
 * What is typed after a prompt's command, read as arguments: words in the declared order, or `name=value` for any of them.
 * Quotes keep blanks in a word, as in Pi's own prompt templates, and what is left over belongs to the last argument, so that
 * a sentence needs none. Pure.
 */
import { type PromptArgument, usageOf } from "../../../schemas/prompt-list.ts";

export type FilledArguments =
  | {
      readonly ok: true;
      readonly values: Readonly<Record<string, string>>;
      /** Required ones that got no value, in the declared order. */
      readonly missing: readonly PromptArgument[];
    }
  | { readonly ok: false; readonly problem: string };

export function fillArguments(args: readonly PromptArgument[] = [], typed: string): FilledArguments {
  const { named, free } = assign(wordsOf(typed, args));
  const open = args.filter(({ name }) => !named.has(name));
  const values = new Map([...named].map(([name, word]) => [name, word.value]));
  if (free.length > 0 && open.length === 0) {
    const problem = args.length === 0 ? "it takes no arguments" : `it takes no more than ${usageOf(args)}`;
    return { ok: false, problem };
  }
  for (const [index, { name }] of open.entries()) {
    const word = free[index];
    if (word === undefined) break;
    const isLast = index === open.length - 1 && free.length > open.length;
    values.set(name, isLast ? remainder(typed, free.slice(index), [...named.values()]) : word.value);
  }
  const missing = args.filter(({ name, required }) => required && !values.has(name));
  return { ok: true, values: recordOf(values), missing };
}

/** The argument that is being typed at the end of a text. */
export interface TypedArgument {
  readonly argument: PromptArgument;
  /** What is there of its value. */
  readonly value: string;
  /** Values of the others so far. */
  readonly given: Readonly<Record<string, string>>;
  /** The whole text with this value in place of what was typed; undefined for one that a command line can't hold. */
  readonly complete: (value: string) => string | undefined;
}

/** Undefined where nothing is left to be typed. */
export function typedArgument(args: readonly PromptArgument[] = [], typed: string): TypedArgument | undefined {
  const words = wordsOf(typed, args, true);
  const last = words.at(-1);
  // The cursor is behind a blank: the next word is about to begin.
  const current = last !== undefined && last.end === typed.length ? last : undefined;
  const before = current === undefined ? words : words.slice(0, -1);
  const { named, free } = assign(before);
  const open = args.filter(({ name }) => !named.has(name));
  const argument = current?.name === undefined ? open[free.length] : open.find(({ name }) => name === current.name);
  if (argument === undefined) return undefined;
  const given = new Map([...named].map(([name, word]) => [name, word.value]));
  for (const [index, word] of free.entries()) if (open[index]) given.set(open[index].name, word.value);
  const head = typed.slice(0, current?.start ?? typed.length) + (current?.name === undefined ? "" : `${current.name}=`);
  const complete = (value: string) => {
    const written = /^[^\s"'=]+$/.test(value) ? value : `"${value.replaceAll('"', '\\"')}"`;
    const whole = wordsOf(head + written, args).at(-1);
    // A word ends with its line, and one that ends in a backslash would swallow its quote.
    return whole?.value === value && !/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(value)
      ? head + written
      : undefined;
  };
  return { argument, value: current?.value ?? "", given: recordOf(given), complete };
}

interface Word {
  readonly value: string;
  /** Of the argument that it names, as in `name=value`. */
  readonly name?: string;
  /** Offsets in the text, the end exclusive. */
  readonly start: number;
  readonly end: number;
}

/** Named words, the first of each name, and the others in their order. */
function assign(words: readonly Word[]) {
  const named = new Map<string, Word>();
  const free: Word[] = [];
  for (const word of words) {
    if (word.name !== undefined && !named.has(word.name)) named.set(word.name, word);
    else free.push(word.name === undefined ? word : { ...word, value: `${word.name}=${word.value}` });
  }
  return { named, free };
}

/** `isTyping`: a quote that is still open may be closed later. */
function wordsOf(text: string, args: readonly PromptArgument[], isTyping = false): readonly Word[] {
  const words: Word[] = [];
  let at = 0;
  for (;;) {
    while (at < text.length && isBlank(text[at]!)) at++;
    if (at >= text.length) return words;
    const start = at;
    const name = args.find((one) => text.startsWith(`${one.name}=`, start))?.name;
    const content = start + (name === undefined ? 0 : name.length + 1);
    const quoted = readQuoted(text, content, isTyping);
    if (quoted) at = quoted.end;
    else {
      at = content;
      while (at < text.length && !isBlank(text[at]!)) at++;
    }
    const value = quoted ? quoted.value : text.slice(content, at);
    words.push({ value, ...(name !== undefined && { name }), start, end: at });
  }
}

/** A quoted word that is followed by a blank or the end; anything else is text with quotes in it. */
function readQuoted(
  text: string,
  start: number,
  isTyping: boolean,
): { readonly value: string; readonly end: number } | undefined {
  const quote = text[start];
  if (quote !== '"' && quote !== "'") return undefined;
  let value = "";
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\" && text[at + 1] === quote) value += text[++at];
    else if (text[at] !== quote) value += text[at];
    else return at + 1 === text.length || isBlank(text[at + 1]!) ? { value, end: at + 1 } : undefined;
  }
  return isTyping ? { value, end: text.length } : undefined;
}

/** As it was typed, line ends and quotes included; word by word where named ones stand in between. */
function remainder(typed: string, words: readonly Word[], named: readonly Word[]): string {
  const [start, end] = [words[0]!.start, words.at(-1)!.end];
  const isWhole = named.every((word) => word.end <= start || word.start >= end);
  return isWhole ? typed.slice(start, end) : words.map(({ value }) => value).join(" ");
}

const isBlank = (character: string): boolean => /\s/.test(character);

/** `__proto__` is an argument's name like any other. */
function recordOf(values: ReadonlyMap<string, string>): Readonly<Record<string, string>> {
  return Object.fromEntries(values);
}
