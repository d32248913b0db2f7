/**
 * The output limit for everything a model reads. Within the limit content is handed on block by block; over
 * it the model gets one text with its middle taken out, exact totals, and the path of a file with all of it.
 * Scripts and stubs never come here: they get the whole result.
 */
import type { CallToolResult } from "../codegen/result.ts";
import { type BlockContext, type ModelBlock, renderBlocks } from "./blocks.ts";
import { countEntries, describeCounts } from "./json-counts.ts";
import type { OutputStore } from "./output-store.ts";
import { type LimitedText, limitText } from "./text.ts";

export interface LimitResultOptions extends BlockContext {
  /** UTF-8 bytes of text, images not counted. */
  readonly maxBytes: number;
  /** The tool's own name, for an error that has no text. */
  readonly tool?: string | undefined;
}

export interface LimitedResult {
  /** What the model reads: text and images. */
  readonly content: ModelBlock[];
  readonly cut: boolean;
  /** File with the full text, when it was cut and could be saved. */
  readonly path?: string;
}

export interface LimitedOutput {
  readonly text: string;
  readonly cut: boolean;
  readonly path?: string;
}

/** A tool's result as a model reads it. */
export async function limitResult(result: CallToolResult, options: LimitResultOptions): Promise<LimitedResult> {
  const content = await renderBlocks(result, options);
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  if (result.isError === true && texts.every((text) => text === "")) {
    const name = options.tool === undefined ? options.server : `${options.server}/${options.tool}`;
    content.push({ type: "text", text: `MCP tool ${name} returned an error` });
    return { content, cut: false };
  }
  const limited = await limitOutput(texts.length === 1 ? texts[0]! : texts.join("\n"), options);
  if (!limited.cut) return { content, cut: false };
  const images = content.filter((block) => block.type === "image");
  return {
    content: [{ type: "text", text: limited.text }, ...images],
    cut: true,
    ...(limited.path === undefined ? {} : { path: limited.path }),
  };
}

/**
 * Any text within a limit: itself, or its first and last half under a warning with the original token count
 * (4 bytes a token) and line count, followed by the path of a file with all of it.
 */
export async function limitOutput(
  text: string,
  options: { readonly maxBytes: number; readonly store: OutputStore },
): Promise<LimitedOutput> {
  const limited = limitText(text, options.maxBytes);
  if (!limited.cut) return { text, cut: false };
  const saved = await options.store.save(text, ".txt");
  const where = saved.ok
    ? `[Full output: ${saved.path} (read it with offset/limit)]`
    : `[Could not save the full output: ${saved.reason}]`;
  return {
    text: `${warningFor(text, limited)}\n\n${limited.text}\n\n${where}`,
    cut: true,
    ...(saved.ok ? { path: saved.path } : {}),
  };
}

function warningFor(text: string, limited: LimitedText): string {
  const tokens = Math.ceil(limited.totalBytes / 4);
  const counts = describeCounts(countEntries(text, limited.head.length, text.length - limited.tail.length));
  const lines = [
    `Warning: truncated output (original token count: ${tokens})`,
    `Total output lines: ${limited.totalLines}`,
    ...(counts === undefined ? [] : [counts]),
  ];
  return lines.join("\n");
}
