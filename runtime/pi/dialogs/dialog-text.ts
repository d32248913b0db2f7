/**
 * The words of dialogs: who asks, and what a server says, set apart so that nothing in it can pass for words of ours. Pure.
 */
import type { QuestionContext } from "../../client-features.ts";
import { shortLine, terminalText } from "../terminal-text.ts";

/** The ways out of every question. */
export const DECLINE = { label: "Decline: say no to the server", value: "decline" } as const;
export const CANCEL = { label: "Cancel: give no answer", value: "cancel" } as const;

/** With what stands around them they fit on a screen of 24 lines. */
const MAX_LINES = 12;
const MAX_CHARACTERS = 4000;
const MAX_NAME = 80;

/** `Server "docs" asks (tool find):`. Names are cleaned, and are all of it that a server can choose. */
export function whoAsks(does: string, { server, tool, taskId }: QuestionContext): string {
  const during = [
    ...(tool === undefined ? [] : [`tool ${shortName(tool)}`]),
    ...(taskId === undefined ? [] : [`task ${shortName(taskId)}`]),
  ];
  return `Server "${shortName(server)}" ${does}${during.length > 0 ? ` (${during.join(", ")})` : ""}:`;
}

/** Who asks, and below that the server's own words, where there are any. */
export function questionHead(does: string, message: unknown, context: QuestionContext, columns: number): string {
  return below(whoAsks(does, context), typeof message === "string" ? quoted(message, columns) : undefined);
}

export function shortName(name: string): string {
  return shortLine(name, MAX_NAME);
}

/** Every line begins with a bar, and is folded so that the terminal breaks none into one without. Empty for no text. */
export function quoted(text: string, columns: number, maxLines = MAX_LINES): string {
  if (text === "") return "";
  const all = quotedLines(text.slice(0, MAX_CHARACTERS), columns);
  const isCut = text.length > MAX_CHARACTERS || all.length > maxLines;
  return [...all.slice(0, maxLines), ...(isCut ? ["│ … (it goes on)"] : [])].join("\n");
}

/** All of it, however long. */
export function quotedLines(text: string, columns: number): string[] {
  const width = Math.max(20, columns - 2);
  return terminalText(text)
    .trimEnd()
    .split("\n")
    .flatMap((line) => folded(line, width))
    .map((line) => `│ ${line}`);
}

/** Characters that aren't ASCII count as two columns, which is never too few. */
function folded(line: string, width: number): string[] {
  const lines: string[] = [];
  let [current, columns] = ["", 0];
  for (const character of line) {
    const taken = character < "\u007f" ? 1 : 2;
    if (columns + taken > width) {
      const blank = current.lastIndexOf(" ");
      const rest = blank > width / 2 ? current.slice(blank + 1) : "";
      lines.push(blank > width / 2 ? current.slice(0, blank) : current);
      [current, columns] = [rest, columnsOf(rest)];
    }
    current += character;
    columns += taken;
  }
  return [...lines, current];
}

function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += character < "\u007f" ? 1 : 2;
  return columns;
}

/** Lines that are there, one below the other. */
export function below(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join("\n");
}
