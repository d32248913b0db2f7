/**
 * Text of servers and models made fit for a terminal: what would move the cursor, change colours, ring or reorder a line
 * is shown as `\u001b` instead of being obeyed. Pi draws texts as they are, so whatever it is given goes through here. Pure.
 */
import { escaped } from "../../schemas/printable.ts";

/** Lines stay; tabs become blanks, whose width a terminal and we agree on. */
export function terminalText(text: string): string {
  return messageText(text).replaceAll("\t", "    ");
}

/** For what a model reads as well, to whom a tab may matter. */
export function messageText(text: string): string {
  return escaped(text.replace(/\r\n?|[\u2028\u2029]/g, "\n"));
}

/** On one line. */
export function terminalLine(text: string): string {
  return terminalText(text).replace(/\s*\n\s*/g, " ");
}

/** On one line of at most `length` UTF-16 units; what is far too long costs nothing. */
export function shortLine(text: string, length: number): string {
  return shortened(terminalLine(text.slice(0, length * 4)).trim(), length);
}

/** At most `length` UTF-16 units, never ending in half a character. */
export function shortened(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text
    .slice(0, length - 1)
    .replace(/[\ud800-\udbff]$/, "")
    .trimEnd()}…`;
}
