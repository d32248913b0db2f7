/** Who asks, and what it says, above every question: the one thing a server can't choose the words of. */
import type { QuestionContext } from "../../runtime/client-features.ts";
import { wrap } from "../columns.ts";
import { type Look, paint, printable, verbatim } from "../print.ts";

const MAX_LINES = 30;
const MAX_CHARACTERS = 4000;

/** `server "docs" asks (tool find):` and the server's message, cleaned and set apart by a bar that no message can draw over. */
export function heading(
  does: string,
  params: Readonly<Record<string, unknown>>,
  { server, tool, taskId }: QuestionContext,
  look: Look,
): string {
  const during = [
    ...(tool === undefined ? [] : [`tool ${printable(tool)}`]),
    ...(taskId === undefined ? [] : [`task ${printable(taskId)}`]),
  ];
  const who = `server "${printable(server)}" ${does}${during.length > 0 ? ` (${during.join(", ")})` : ""}:`;
  const message = typeof params["message"] === "string" ? params["message"] : "";
  return `\n${paint(look, "bold", who)}\n${quoted(message, look)}`;
}

/** Every line begins with a bar, so that nothing in it can pass for a line of ours. */
function quoted(text: string, look: Look): string {
  if (text === "") return "";
  const lines = verbatim(text.slice(0, MAX_CHARACTERS), { ...look, terminal: true }).split(/\n|\u2028|\u2029/);
  const shown = lines.slice(0, MAX_LINES).flatMap((line) => folded(line, Math.max(20, look.width - 4)));
  const isCut = text.length > MAX_CHARACTERS || lines.length > MAX_LINES;
  return [...shown, ...(isCut ? ["… (the message goes on)"] : [])].map((line) => `  │ ${line}\n`).join("");
}

/** To the width, so that the terminal doesn't break a line and leave its rest without a bar. */
function folded(text: string, width: number): string[] {
  // A tab takes as many columns as the terminal likes.
  const line = text.replaceAll("\t", "    ");
  const indent = /^\s{0,8}/.exec(line)![0];
  const parts = wrap(line, width - indent.length).map((part) => `${indent}${part}`);
  return parts.length > 0 ? parts : [""];
}
