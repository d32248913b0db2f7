/**
 * Text laid out in terminal columns: how wide it is, cut to a width, wrapped to a width. East Asian wide
 * characters and emoji take two columns, combining marks none. Expects printable text (print.ts).
 */

const ASCII = /^[\x20-\x7e]*$/;
/** Blocks of East Asian Width W and F, as far as terminals agree on them. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const EMOJI = /\p{Emoji_Presentation}|\ufe0f/u;
const NO_WIDTH = /^(?:\p{M}|\p{Cf})+$/u;

let graphemes: Intl.Segmenter | undefined;

function characters(text: string): string[] {
  graphemes ??= new Intl.Segmenter("und", { granularity: "grapheme" });
  return [...graphemes.segment(text)].map(({ segment }) => segment);
}

function characterWidth(character: string): number {
  if (NO_WIDTH.test(character)) return 0;
  return WIDE.test(character) || EMOJI.test(character) ? 2 : 1;
}

/** Columns that `text` takes. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  return characters(text).reduce((width, character) => width + characterWidth(character), 0);
}

/** `text`, or its beginning and `…` where it is wider than `width` columns. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  return `${startOf(text, Math.max(0, width - 1))}…`;
}

/** `text` cut or filled with blanks to exactly `width` columns. */
export function cell(text: string, width: number): string {
  const shown = cut(text, width);
  return shown + " ".repeat(Math.max(0, width - widthOf(shown)));
}

/** `text` as lines of at most `width` columns each, broken at blanks; a longer word is broken where it must be. */
export function wrap(text: string, width: number): string[] {
  const room = Math.max(8, width);
  const lines: string[] = [];
  let line = "";
  for (let word of text.split(" ").filter((part) => part !== "")) {
    if (line !== "" && widthOf(line) + 1 + widthOf(word) <= room) {
      line += ` ${word}`;
      continue;
    }
    if (line !== "") lines.push(line);
    while (widthOf(word) > room) {
      const head = startOf(word, room);
      lines.push(head);
      word = word.slice(head.length);
    }
    line = word;
  }
  return line === "" ? lines : [...lines, line];
}

function startOf(text: string, width: number): string {
  if (ASCII.test(text)) return text.slice(0, width);
  let taken = "";
  let columns = 0;
  for (const character of characters(text)) {
    columns += characterWidth(character);
    if (columns > width) break;
    taken += character;
  }
  return taken;
}
