/** Where in a script an error was thrown, read from a stack of the VM's, and how that is shown: the line and a caret under it. */
import { SCRIPT_FILE, SCRIPT_PREFIX } from "./protocol.ts";

export interface Place {
  /** Both 1-based; `column` in UTF-16 units. */
  readonly line: number;
  readonly column: number;
}

const FRAME = new RegExp(`(?:^|[\\s(])${SCRIPT_FILE}:(\\d+)(?::(\\d+))?`, "m");

/** The innermost frame of the script, within its lines. */
export function placeOf(stack: string, code: string): Place | undefined {
  const found = FRAME.exec(stack);
  if (!found) return undefined;
  const lines = code.split("\n");
  const line = Math.min(Number(found[1]), lines.length);
  // Past the last line is the bracket that closes what the script is wrapped in.
  if (line < Number(found[1])) return { line, column: lines[line - 1]!.length + 1 };
  const column = Number(found[2] ?? 1) - (line === 1 ? SCRIPT_PREFIX.length : 0);
  return { line, column: Math.max(1, column) };
}

/** A stack with the columns of the script as it was given, and its file's name. */
export function scriptStack(stack: string, file: string): string {
  return stack.replace(new RegExp(`\\b${SCRIPT_FILE}:(\\d+):(\\d+)`, "g"), (_, line: string, column: string) => {
    const given = line === "1" ? Math.max(1, Number(column) - SCRIPT_PREFIX.length) : Number(column);
    return `${file}:${line}:${given}`;
  });
}

const SHOWN = 120;

/** Two lines: the script's, cut around the place, and a caret. */
export function codeFrame(code: string, { line, column }: Place): string {
  const text = (code.split("\n")[line - 1] ?? "").replace(/\r$/, "").replaceAll("\t", " ");
  const start = Math.max(0, column - 1 - SHOWN / 2);
  const part = text.slice(start, start + SHOWN);
  const number = `${line} | `;
  return `${number}${part}\n${" ".repeat(number.length + column - 1 - start)}^`;
}
