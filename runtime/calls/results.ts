/**
 * What a call's answer means to the caller: a valid result, its text, and its structured content whatever JSON
 * value that is. Nothing a server sends makes this throw, and nothing keeps a result from being delivered: what
 * is wrong with it is said in `mismatch` and `notices`. Loads ajv only for a tool with an `outputSchema`.
 */
import { jsonIn } from "../../schemas/json.ts";
import type { CallToolResult } from "../codegen/result.ts";
import { repairResult } from "./result-shape.ts";

export interface InterpretedResult {
  /** Valid; the very object the server sent where that was valid. */
  readonly result: CallToolResult;
  /**
   * `structuredContent`; without it the value of the only text block where that is a JSON object or array; else
   * undefined. `null` is a value.
   */
  readonly structured: unknown;
  /** Text blocks joined by newlines. */
  readonly text: string;
  /** How the structured content departs from the tool's `outputSchema`. The result is delivered all the same. */
  readonly mismatch?: string;
  /** What was malformed and repaired, or couldn't be checked. */
  readonly notices: readonly string[];
  /** Of the task that the call had become. */
  readonly taskId?: string;
}

/** Text longer than this many UTF-16 units isn't tried as JSON: `structured` is undefined then. */
const MAX_JSON_TEXT = 16 * 1024 * 1024;

/** Reads a `tools/call` answer; `outputSchema` is the tool's, as its server declares it. */
export async function interpretResult(raw: unknown, outputSchema?: unknown): Promise<InterpretedResult> {
  const { result, notices } = repairResult(raw);
  const text = textOf(result);
  const sent = result.structuredContent;
  const structured = sent !== undefined || result.isError === true ? sent : structuredFromText(result);
  const interpreted = { result, structured, text, notices };
  if (outputSchema === undefined || result.isError === true) return interpreted;
  const { checkStructured } = await import("./output-check.ts");
  const checked = await checkStructured(structured, outputSchema);
  const absent = "the tool declares an outputSchema, but the result has no structuredContent";
  const mismatch = sent === undefined ? absent : checked.mismatch;
  return {
    ...interpreted,
    // Text is taken for the structured content of a tool that has a schema only where it fits that schema.
    structured: sent === undefined && !checked.fits ? undefined : structured,
    notices: checked.notice === undefined ? notices : [...notices, checked.notice],
    ...(mismatch === undefined ? {} : { mismatch }),
  };
}

/** Everything that is to be said of a result beside the result. */
export function remarksOn({ notices, mismatch }: InterpretedResult): readonly string[] {
  return mismatch === undefined ? notices : [...notices, mismatch];
}

/** Text blocks joined by newlines. */
export function textOf(result: CallToolResult): string {
  const texts = result.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  return texts.length === 1 ? texts[0]! : texts.join("\n");
}

function structuredFromText(result: CallToolResult): unknown {
  const texts = result.content.filter((block) => block.type === "text");
  const text = texts.length === 1 ? texts[0]!.text : undefined;
  if (text === undefined || text.length > MAX_JSON_TEXT || !looksLikeContainer(text)) return undefined;
  // Prose in braces is text like any other.
  const value = jsonIn(text);
  return typeof value === "object" && value !== null ? value : undefined;
}

function looksLikeContainer(text: string): boolean {
  const first = /^\s*([{[])/.exec(text.slice(0, 256))?.[1];
  const last = /([}\]])\s*$/.exec(text.slice(-256))?.[1];
  return (first === "{" && last === "}") || (first === "[" && last === "]");
}
