/**
 * Text of servers made fit for the prompt: one line that can't end the section it stands in, begin another or hide
 * something from the person who reads along. Pure.
 */

const LINE_END = /[\r\n\v\f\u0085\u2028\u2029]/;

/** The first line of `text`. Angle brackets become quotation marks that look like them: no tag can be written with those. */
export function promptLine(text: string): string {
  const line = text.trim().split(LINE_END, 1)[0] ?? "";
  return visible(line).replaceAll("<", "‹").replaceAll(">", "›").trim();
}

/** All lines of `text` as one. */
export function promptText(text: string): string {
  return promptLine(text.trim().split(LINE_END).join(" "));
}

/**
 * Without control and format characters and halves of characters; a joiner within an emoji stays. The ranges are spelt out:
 * a session start would take longer to compile `\p{Cf}` than for all the rest of the section.
 */
function visible(line: string): string {
  return line
    .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd")
    .replaceAll("\t", " ")
    .replace(/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u202a-\u202e]/g, "")
    .replace(/[\u2060-\u206f\ue000-\uf8ff\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g, "");
}
