/**
 * How findings and tables look. Diagnostics are data until they get here; this is the only place that
 * knows about colour and width. Text from servers has its control and bidirectional characters taken
 * out, so that nothing a server says can move the cursor or reorder a line.
 */
import { isAbsolute, relative } from "node:path";
import { styleText } from "node:util";
import type { Diagnostic } from "../schemas/diagnostic.ts";
import { escaped, printable } from "../schemas/printable.ts";
import { wrap } from "./columns.ts";

export { printable };

export interface Look {
  readonly colour: boolean;
  /** Columns of the terminal; text is cut or wrapped to it where that helps. */
  readonly width: number;
  /** What is written is acted upon by a terminal. */
  readonly terminal?: boolean;
}

type Style = Parameters<typeof styleText>[0];

/** Colours text where the stream takes colours. */
export function paint(look: Look, style: Style, text: string): string {
  return look.colour ? styleText(style, text, { validateStream: false } as never) : text;
}

/**
 * Text of a server's that goes out as it is, line ends and all. Where a terminal would act on it, escapes, control
 * characters and what reorders a line are made visible.
 */
export function verbatim(text: string, look: Look): string {
  return look.terminal ? escaped(text.replaceAll("\r\n", "\n")) : text;
}

/**
 * `mcp.json:9:19: error: message [code]`, notes indented below (DESIGN section 4). One without a place starts with
 * its severity, so that editors and people can tell both apart.
 */
export function diagnosticLines(found: Diagnostic, look: Look): string[] {
  const place = found.file
    ? `${printable(found.file)}${found.line ? `:${found.line}${found.column ? `:${found.column}` : ""}` : ""}: `
    : "";
  const style: Style = found.severity === "error" ? "red" : found.severity === "warning" ? "yellow" : "cyan";
  const head = `${place}${paint(look, style, `${found.severity}:`)} ${printable(found.message)} ${paint(look, "dim", `[${found.code}]`)}`;
  const where = whereAmong(found);
  return [head, ...[...(where ? [where] : []), ...found.notes].map((note) => `  note: ${printable(note)}`)];
}

/** Server, tool and pointer, where the message has no file to point at. */
function whereAmong({ server, tool, pointer }: Diagnostic): string | undefined {
  if (pointer === undefined) return undefined;
  return [server && `server "${server}"`, tool && `tool "${tool}"`, pointer || "/"].filter(Boolean).join(", ");
}

/** An entry of a list: what it is called, and below that what it is for, wrapped to the terminal. */
export function entryText(name: string, text: string, look: Look): string {
  return asText([printable(name), ...wrap(printable(text), look.width - 2).map((line) => `  ${line}`)]);
}

/** Lines as they go to a stream. */
export function asText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

/** `1 error, 2 warnings`, or undefined when there is nothing to count. */
function countLine(found: readonly Diagnostic[]): string | undefined {
  const counts = (["error", "warning"] as const).flatMap((severity) => {
    const count = found.filter((one) => one.severity === severity).length;
    return count > 0 ? [`${count} ${severity}${count === 1 ? "" : "s"}`] : [];
  });
  return counts.length > 0 ? counts.join(", ") : undefined;
}

/**
 * All findings as text: errors and warnings in full, and how many there are. Infos are shown only when asked for
 * (`--verbose`), otherwise counted by code: they are the normal noise of real servers.
 */
export function diagnosticsText(found: readonly Diagnostic[], look: Look, verbose = false): string {
  const shown = found.filter((one) => verbose || one.severity !== "info");
  const lines = shown.flatMap((one) => diagnosticLines(one, look));
  const hidden = found.length - shown.length;
  const count = countLine(found);
  const more = hidden > 0 ? `${hidden} remark${hidden === 1 ? "" : "s"} more with --verbose` : undefined;
  const summary = [count, more].filter((part) => part !== undefined).join("; ");
  return asText([...lines, ...(summary ? [summary] : [])]);
}

/** A folder below the working folder is shown as it is reached from there, any other one whole. */
export function shownFolder(folder: string, cwd: string): string {
  const path = relative(cwd, folder);
  return path === "" ? "." : path.startsWith("..") || isAbsolute(path) ? folder : path;
}
