/**
 * What a script says about itself before it runs: its options line. Lines stay where they are, so that a place in an error is one
 * in what was given. A script that came in a markdown fence, or as `{"code": …}`, is taken out of it: neither is ever a script of its own.
 */
import { MAX_TIMER_MS } from "../connect/waiting.ts";

export interface SourceOptions {
  /** Tokens of output shown, 4 characters each. */
  readonly maxOutputTokens?: number;
  readonly timeoutMs?: number;
}

export type ParsedSource =
  | { readonly ok: true; readonly code: string; readonly options: SourceOptions }
  | { readonly ok: false; readonly message: string; readonly line: number };

const PREFIX = "// @options:";
const FIELDS = { max_output_tokens: "maxOutputTokens", timeout_ms: "timeoutMs" } as const;

/** Options and code of a script; the options line is left empty. Errors: no code, a wrong or misplaced options line. */
export function parseSource(input: string): ParsedSource {
  const { text, first } = unwrap(input.replace(/^\ufeff/, ""));
  if (text.trim() === "") return { ok: false, message: "there is no script: it is empty", line: 1 };
  if (/^\s*```/.test(text)) {
    return { ok: false, message: "the script is in markdown; pass the code alone, without ``` and prose", line: 1 };
  }
  const lines = text.split("\n");
  const misplaced = lines.findIndex((line, index) => index !== first && line.trimStart().startsWith(PREFIX));
  if (misplaced !== -1) {
    const message = `${PREFIX} is only taken on the first line; this one is on line ${misplaced + 1}`;
    return { ok: false, message, line: misplaced + 1 };
  }
  const line = lines[first]!.trim();
  if (!line.startsWith(PREFIX)) return { ok: true, code: text, options: {} };
  const options = parseOptions(line.slice(PREFIX.length).trim());
  if (typeof options === "string") return { ok: false, message: `${PREFIX} ${options}`, line: first + 1 };
  lines[first] = "";
  const code = lines.join("\n");
  if (code.trim() === "") return { ok: false, message: `nothing follows the ${PREFIX} line`, line: first + 1 };
  return { ok: true, code, options };
}

/** `first`: index of the line that options may stand on. */
function unwrap(input: string): { readonly text: string; readonly first: number } {
  const fenced = /^(\s*)```[\w-]*[ \t]*\r?\n([\s\S]*?)\r?\n[ \t]*```\s*$/.exec(input);
  if (fenced && !fenced[2]!.includes("```")) {
    const before = fenced[1]!.split("\n").length;
    return { text: "\n".repeat(before) + fenced[2]!, first: before };
  }
  if (/^\s*\{\s*"code"\s*:/.test(input)) {
    try {
      const { code, ...others } = JSON.parse(input) as Record<string, unknown>;
      if (typeof code === "string" && Object.keys(others).length === 0) return { text: code, first: 0 };
    } catch {
      // Not JSON, so a script like any other; its syntax error will say what is wrong.
    }
  }
  return { text: input, first: 0 };
}

/** The options, or what is wrong with them. */
function parseOptions(json: string): SourceOptions | string {
  const known = Object.keys(FIELDS).join(" and ");
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    return `is followed by JSON such as {"max_output_tokens": 2000}: ${(error as Error).message}`;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return `is followed by an object with ${known}`;
  const options: { maxOutputTokens?: number; timeoutMs?: number } = {};
  for (const [key, given] of Object.entries(value)) {
    if (!Object.hasOwn(FIELDS, key)) return `takes ${known}, and not ${JSON.stringify(key)}`;
    const number = given as number;
    const least = key === "timeout_ms" ? 1 : 0;
    const most = key === "timeout_ms" ? MAX_TIMER_MS : Number.MAX_SAFE_INTEGER;
    if (!Number.isSafeInteger(number) || number < least || number > most) {
      return `${key} is a whole number from ${least} to ${most}`;
    }
    options[FIELDS[key as keyof typeof FIELDS]] = number;
  }
  return options;
}
