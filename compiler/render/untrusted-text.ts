/**
 * Text from servers, made fit to stand in a `//` comment or a string literal of a declaration. What
 * comes out of `commentText` is one line without control, bidirectional or invisible characters, so
 * it can't end its comment or hide what it says; work is bounded by the cap, not by the text. Nothing
 * here judges what a text means.
 */

/**
 * Characters that show nothing or reorder what is shown: C0 (but white space), C1, soft hyphen, zero-width
 * space, bidirectional marks, embeddings and isolates, word joiners, BOM, annotation marks, tag characters,
 * lone surrogates. Zero-width joiners and variation selectors stay: emoji and several scripts need them.
 */
const INVISIBLE =
  /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}\ud800-\udfff]/gu;
const UNUSUAL = /[^\x20-\x7e]| {2}/;
const WHITE_SPACE = /\s+/g;

/** Characters a literal shows as `\uXXXX`: the invisible ones and the line terminators JSON leaves as they are. */
const LITERAL_ESCAPES =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udfff]/g;

/** One clean line of at most `cap` characters, cut after a sentence or a word with `…`; "" for what is no text. */
export function commentText(text: unknown, cap: number): string {
  if (typeof text !== "string") return "";
  // A server may send megabytes of blanks: look at no more than a window that surely fills the cap, or nearly.
  const windowed = text.length > cap * 4 ? text.trimStart().slice(0, cap * 4) : text;
  const clean = UNUSUAL.test(windowed)
    ? windowed.replace(INVISIBLE, "").replace(WHITE_SPACE, " ").trim()
    : windowed.trim();
  if (clean.length <= cap) return text.length > cap * 4 && clean !== "" ? `${clean}…` : clean;
  return cutAtWord(clean, cap);
}

/** The lines of a text, each clean; blank ones dropped. For places where the whole text is wanted. */
export function commentLines(text: unknown, cap: number): string[] {
  if (typeof text !== "string") return [];
  return text
    .slice(0, cap)
    .split(/[\n\r\u2028\u2029]+/)
    .map((line) => commentText(line, cap))
    .filter((line) => line !== "");
}

function cutAtWord(text: string, cap: number): string {
  const head = text.slice(0, cap - 1);
  const sentence = head.lastIndexOf(". ");
  if (sentence > cap * 0.6) return `${head.slice(0, sentence + 1)} …`;
  const word = head.lastIndexOf(" ");
  const kept = word > cap * 0.6 ? head.slice(0, word) : head;
  return `${kept.replace(/[\ud800-\udbff]$/, "")}…`;
}

/** A TypeScript string literal; hidden characters are visible as escapes. */
export function stringLiteral(text: string): string {
  const json = JSON.stringify(text);
  return UNUSUAL.test(json) ? json.replace(LITERAL_ESCAPES, escapeUnits) : json;
}

function escapeUnits(text: string): string {
  let escaped = "";
  for (let at = 0; at < text.length; at++) escaped += `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`;
  return escaped;
}
