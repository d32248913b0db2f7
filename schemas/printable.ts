/** Text of servers made fit to be shown on one line. Pure. */

/** Escapes, control characters and bidirectional marks made visible as `\u001b`; line ends and tabs become blanks. */
export function printable(text: string): string {
  return escaped(text.replace(/[\t\n\r\u2028\u2029]+/g, " "));
}

/** The same for text that keeps its line feeds and tabs. */
export function escaped(text: string): string {
  return text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
