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

/** Longer than any character; a segmenter's step costs time in proportion to the whole text it was given. */
const WINDOW = 256;

/** One at a time: whoever has enough stops, however long the text goes on. */
function* characters(text: string): Generator<string> {
  graphemes ??= new Intl.Segmenter("und", { granularity: "grapheme" });
  for (let start = 0; start < text.length; ) {
    const found = [...graphemes.segment(text.slice(start, start + WINDOW))];
    // The last one may go on behind the window: the next window begins with it.
    if (start + WINDOW < text.length && found.length > 1) found.pop();
    for (const { segment } of found) {
      yield segment;
      start += segment.length;
    }
  }
}

function characterWidth(character: string): number {
  if (NO_WIDTH.test(character)) return 0;
  return WIDE.test(character) || EMOJI.test(character) ? 2 : 1;
}

/** Columns that `text` takes. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  return columnsUpTo(text, Number.POSITIVE_INFINITY);
}

/** Columns that `text` takes; counting ends once they are more than `most`. */
function columnsUpTo(text: string, most: number): number {
  let width = 0;
  for (const character of characters(text)) {
    width += characterWidth(character);
    if (width > most) break;
  }
  return width;
}

function isWider(text: string, width: number): boolean {
  return ASCII.test(text) ? text.length > width : columnsUpTo(text, width) > width;
}

/** `text`, or its beginning and `…` where it is wider than `width` columns. */
export function cut(text: string, width: number): string {
  if (!isWider(text, width)) return text;
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
  for (const word of text.split(" ").filter((part) => part !== "")) {
    if (line !== "" && !isWider(word, room - 1 - widthOf(line))) {
      line += ` ${word}`;
      continue;
    }
    if (line !== "") lines.push(line);
    const pieces = isWider(word, room) ? piecesOf(word, room) : [word];
    line = pieces.pop()!;
    for (const piece of pieces) lines.push(piece);
  }
  return line === "" ? lines : [...lines, line];
}

function startOf(text: string, width: number): string {
  let taken = "";
  let columns = 0;
  for (const character of characters(text)) {
    columns += characterWidth(character);
    if (columns > width) break;
    taken += character;
  }
  return taken;
}

/** In one pass: a word of a megabyte is as many lines as it takes. */
function piecesOf(word: string, width: number): string[] {
  const pieces: string[] = [];
  let piece = "";
  let columns = 0;
  for (const character of characters(word)) {
    const more = characterWidth(character);
    if (columns + more > width) {
      pieces.push(piece);
      piece = "";
      columns = 0;
    }
    piece += character;
    columns += more;
  }
  return [...pieces, piece];
}
