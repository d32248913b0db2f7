/**
 * A run as it is shown: within a number of tokens, the rest in an owner-only file, images saved and named. The layout is that of
 * Pi's codemode results, so that a model reads both alike. What a program gets (`RunResult`) is never cut.
 */
import { extensionFor, formatSize } from "../limits/mime.ts";
import type { OutputStore } from "../limits/output-store.ts";
import { limitOutput } from "../limits/result.ts";
import type { ImageType, OutputItem } from "./protocol.ts";
import type { RunError, RunResult } from "./sandbox.ts";

export type ShownItem =
  /** `path`: file with all of it, where this is cut. */
  | { readonly type: "text"; readonly text: string; readonly path?: string }
  /** `text` says where it was saved, or why it wasn't; `data` is base64. */
  | {
      readonly type: "image";
      readonly data: string;
      readonly mimeType: ImageType;
      readonly text: string;
      readonly path?: string;
    };

export interface ShownRun {
  readonly items: readonly ShownItem[];
  /** Empty where the output was cut: what is left of the lines is in the text then. */
  readonly console: readonly string[];
  /** Of a failed run, what was wrong: where, why, and what was done before it; in a few lines, cut like the output. */
  readonly error?: string;
}

export interface ShowOptions {
  readonly store: OutputStore;
  /** Tokens of 4 bytes; the script's own `max_output_tokens` wins. */
  readonly maxOutputTokens?: number;
}

const DEFAULT_TOKENS = 10_000;
/** Of an error, whose text is the script's or a server's; apart from the output's. */
const ERROR_TOKENS = 2_000;
const BYTES_A_TOKEN = 4;

/** Cuts and saves. A file that can't be written is said in the text, and nothing else fails. */
export async function showRun(result: RunResult, options: ShowOptions): Promise<ShownRun> {
  const shown = await showOutput(result, options);
  if (result.ok) return shown;
  const limits = { maxBytes: ERROR_TOKENS * BYTES_A_TOKEN, store: options.store };
  return { ...shown, error: (await limitOutput(errorText(result, result.error), limits)).text };
}

async function showOutput(result: RunResult, options: ShowOptions): Promise<ShownRun> {
  const { store } = options;
  const tokens = result.options.maxOutputTokens ?? options.maxOutputTokens ?? DEFAULT_TOKENS;
  const images = new Map<string, Promise<ShownItem>>();
  const show = (item: OutputItem): ShownItem | Promise<ShownItem> => {
    if (item.type === "text") return item;
    // One that is shown twice is saved once.
    const saving = images.get(item.data) ?? saveImage(item, store);
    images.set(item.data, saving);
    return saving;
  };
  const whole = layOut(result.output, result.console).join("\n");
  const limited = await limitOutput(whole, { maxBytes: tokens * BYTES_A_TOKEN, store });
  if (!limited.cut) return { items: await Promise.all(result.output.map(show)), console: result.console };
  const cut: ShownItem = {
    type: "text",
    text: limited.text,
    ...(limited.path !== undefined && { path: limited.path }),
  };
  const shownImages = result.output.filter(({ type }) => type === "image").map(show);
  return { items: [cut, ...(await Promise.all(shownImages))], console: [] };
}

async function saveImage(item: OutputItem & { type: "image" }, store: OutputStore): Promise<ShownItem> {
  const bytes = Buffer.from(item.data, "base64");
  const what = `${item.mimeType}, ${formatSize(bytes.length)}`;
  const saved = await store.save(bytes, extensionFor(item.mimeType));
  return saved.ok
    ? { ...item, text: `[Image saved to ${saved.path} (${what})]`, path: saved.path }
    : { ...item, text: `[Image (${what}) could not be saved: ${saved.reason}]` };
}

/** The text of each item, under its number where there are more texts than one; of an image that nobody saved, none. */
function textsOf(items: readonly (OutputItem | ShownItem)[]): (string | undefined)[] {
  const total = items.filter(({ type }) => type === "text").length;
  let index = 0;
  return items.map((item) => {
    if (item.type === "image") return "text" in item ? item.text : undefined;
    index++;
    return total > 1 ? `==> text ${index}/${total} <==\n${item.text}` : item.text;
  });
}

/** Items as text, then the console's lines in a block of their own. */
export function layOut(items: readonly (OutputItem | ShownItem)[], console: readonly string[]): string[] {
  const parts = textsOf(items).filter((text) => text !== undefined);
  return console.length === 0 ? parts : [...parts, `<console_output>\n${console.join("\n")}\n</console_output>`];
}

function errorText({ calls }: RunResult, { kind, name, message, frame, stack }: RunError): string {
  const heads = { timeout: "Script timed out: ", aborted: "Script aborted: ", sandbox: "Script sandbox failed: " };
  const head = Object.hasOwn(heads, kind) ? heads[kind as keyof typeof heads] : `${name}: `;
  return [`${head}${message}`, ...(frame ? [frame] : []), ...(stack ? [stack] : []), "", callsText(calls)].join("\n");
}

/** Kinds of calls that are named; scripts make thousands. */
const NAMED_CALLS = 50;

function callsText(calls: RunResult["calls"]): string {
  if (calls.length === 0) return "No tool calls were made.";
  const counts = new Map<string, number>();
  for (const { name, status } of calls) {
    const call = `${name} (${status})`;
    counts.set(call, (counts.get(call) ?? 0) + 1);
  }
  const named = [...counts].map(([call, count]) => (count === 1 ? call : `${count} × ${call}`));
  const more = named.length > NAMED_CALLS ? `, and ${named.length - NAMED_CALLS} other kinds` : "";
  const listed = named.slice(0, NAMED_CALLS).join(", ");
  return `Tool calls made before the failure (they are not undone): ${listed}${more}`;
}

export type ResultBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly data: string; readonly mimeType: string };

/** The blocks of a tool result, as a model reads a run. */
export function resultBlocks(result: RunResult, shown: ShownRun): ResultBlock[] {
  const seconds = (result.durationMs / 1000).toFixed(1);
  const head = `${result.ok ? "Script completed" : "Script failed"}\nWall time ${seconds} seconds\nOutput:\n`;
  const blocks: ResultBlock[] = [{ type: "text", text: head }];
  let texts: string[] = [];
  const flush = () => {
    if (texts.length > 0) blocks.push({ type: "text", text: texts.join("\n") });
    texts = [];
  };
  const itemTexts = textsOf(shown.items);
  for (const [index, item] of shown.items.entries()) {
    texts.push(itemTexts[index]!);
    if (item.type === "text") continue;
    flush();
    blocks.push({ type: "image", data: item.data, mimeType: item.mimeType });
  }
  texts.push(...layOut([], shown.console));
  if (shown.error !== undefined) texts.push(`Script error:\n${shown.error}`);
  flush();
  return blocks;
}
