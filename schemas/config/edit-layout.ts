/**
 * How a configuration file is laid out, as far as a change has to fit in: its line ends, its step of indentation, what
 * stands between a key and its value. Shared by the changes of edit-source.ts. Pure.
 */

import type { ConfigValue } from "./edit-source.ts";
import { createScanner, type Node } from "./jsonc.ts";

/** `text` in place of what is between two offsets. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface Member {
  readonly key: string;
  /** Key, colon and value. */
  readonly node: Node;
  readonly value: Node;
}

export interface Layout {
  readonly lineEnd: string;
  /** One step of indentation. */
  readonly step: string;
  /** Between a key and its value. */
  readonly colon: string;
  /** Inside braces and behind commas on one line. */
  readonly blank: string;
}

/** jsonc-parser's token kinds are a `const enum`, which isolated modules can't read. */
const COMMA = 5;
const LINE_COMMENT = 12;
const BLANK = 15;

export function spliced(text: string, splices: readonly Splice[]): string {
  const ordered = splices.toSorted((a, b) => b.start - a.start);
  return ordered.reduce((edited, { start, end, text }) => edited.slice(0, start) + text + edited.slice(end), text);
}

export function spanOf({ offset, length }: Node): { readonly start: number; readonly end: number } {
  return { start: offset, end: offset + length };
}

export function membersOf(object: Node): readonly Member[] {
  return (object.children ?? []).flatMap((node) => {
    const [key, value] = node.children ?? [];
    return key && value ? [{ key: String(key.value), node, value }] : [];
  });
}

export function layoutOf(json: string): Layout {
  const lineEnd = /\r\n|\n|\r/.exec(json)?.[0] ?? "\n";
  const step = /[\r\n]([ \t]+)"/.exec(json)?.[1] ?? "  ";
  const colon = /"([ \t]*:[ \t]*)(?=["{[\w-])/.exec(json)?.[1] ?? ": ";
  return { lineEnd, step, colon, blank: colon.endsWith(" ") ? " " : "" };
}

/** Where the line that holds `offset` begins. */
export function lineStart(json: string, offset: number): number {
  let start = offset;
  while (start > 0 && !isLineEnd(json[start - 1]!)) start--;
  return start;
}

/** Where it ends, before its line end. */
export function lineStop(json: string, offset: number): number {
  let end = offset;
  while (end < json.length && !isLineEnd(json[end]!)) end++;
  return end;
}

/** The blanks at the beginning of the line. */
export function indentAt(json: string, offset: number): string {
  return /^[ \t]*/.exec(json.slice(lineStart(json, offset)))![0];
}

/** Nothing but blanks stands before it on its line. */
export function beginsLine(json: string, offset: number): boolean {
  return /^[ \t]*$/.test(json.slice(lineStart(json, offset), offset));
}

/** The end of the comma that follows `offset`, comments in between passed over. */
export function commaAfter(json: string, offset: number): number | undefined {
  const scanner = createScanner(json, true);
  scanner.setPosition(offset);
  return (scanner.scan() as number) === COMMA ? scanner.getPosition() : undefined;
}

/** Nothing but blanks and whole comments stands between `offset` and the end of its line. */
export function endsLine(json: string, offset: number): boolean {
  const stop = lineStop(json, offset);
  const scanner = createScanner(json, false);
  scanner.setPosition(offset);
  while (scanner.getPosition() < stop) {
    const kind: number = scanner.scan();
    const isTrivia = kind === BLANK || kind === LINE_COMMENT || kind === LINE_COMMENT + 1;
    if (!isTrivia || scanner.getPosition() > stop) return false;
  }
  return true;
}

export interface PrintOptions {
  /** Of the line on which the value begins. */
  readonly indent: string;
  /** An object has its members on lines of their own. */
  readonly isMultiLine: boolean;
}

export function printed(value: ConfigValue, layout: Layout, options: PrintOptions): string {
  if (typeof value !== "object") return JSON.stringify(value);
  if (value.size === 0) return "{}";
  const { lineEnd, step, blank } = layout;
  const { indent, isMultiLine } = options;
  const inner = { indent: indent + step, isMultiLine };
  const members = [...value].map(([key, item]) => printedMember(key, item, layout, inner));
  if (!isMultiLine) return `{${blank}${members.join(`,${blank}`)}${blank}}`;
  return `{${lineEnd}${inner.indent}${members.join(`,${lineEnd}${inner.indent}`)}${lineEnd}${indent}}`;
}

export function printedMember(key: string, value: ConfigValue, layout: Layout, options: PrintOptions): string {
  return `${JSON.stringify(key)}${layout.colon}${printed(value, layout, options)}`;
}

function isLineEnd(character: string): boolean {
  return character === "\n" || character === "\r";
}
