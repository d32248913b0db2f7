/**
 * Text of servers and models made fit for a terminal: what would move the cursor, change colours, ring or reorder a line
 * is shown as `\u001b` instead of being obeyed. Pure.
 */

/** Everything but line ends and tabs; tabs become blanks, whose width a terminal and we agree on. */
export function terminalText(text: string): string {
  return text
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replaceAll("\t", "    ")
    .replace(
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
}

/** The same on one line. */
export function terminalLine(text: string): string {
  return terminalText(text).replace(/\s*\n\s*/g, " ");
}
