/**
 * Takes a member out of an object of a configuration file, with its line or its comma. Only where it stands alone: a
 * comment beside it may be about it or about its neighbour, and nothing is taken out that wasn't asked for. Pure.
 */
import { beginsLine, commaAfter, lineStart, lineStop, type Member, type Splice, spanOf } from "./edit-layout.ts";
import type { Node } from "./jsonc.ts";

/** Undefined where it can't be taken out alone. */
export function removalFrom(
  json: string,
  object: Node,
  members: readonly Member[],
  index: number,
): readonly Splice[] | undefined {
  const { start, end } = spanOf(members[index]!.node);
  if (members.length === 1) return onlyMember(json, object, start, end);
  return wholeLine(json, members, index) ?? withinLine(json, members, index);
}

function onlyMember(json: string, object: Node, start: number, end: number): readonly Splice[] | undefined {
  const { start: open, end: close } = spanOf(object);
  const isAlone = isBlank(json.slice(open + 1, start)) && /^[ \t\r\n]*,?[ \t\r\n]*$/.test(json.slice(end, close - 1));
  return isAlone ? [{ start: open + 1, end: close - 1, text: "" }] : undefined;
}

function wholeLine(json: string, members: readonly Member[], index: number): readonly Splice[] | undefined {
  const { start, end } = spanOf(members[index]!.node);
  const stop = lineStop(json, end);
  const rest = /^[ \t]*(,?)[ \t]*$/.exec(json.slice(end, stop));
  if (!beginsLine(json, start) || rest === null || stop === json.length) return undefined;
  const hasComma = rest[1] === ",";
  // A comma on another line than what it follows would be left behind.
  if (!hasComma && commaAfter(json, end) !== undefined) return undefined;
  const next = json.startsWith("\r\n", stop) ? stop + 2 : stop + 1;
  const line: Splice = { start: lineStart(json, start), end: next, text: "" };
  if (hasComma || index === 0) return [line];
  // It was the last one, and the comma before it separates nothing any more.
  const comma = commaAfter(json, spanOf(members[index - 1]!.node).end)!;
  return [{ start: comma - 1, end: comma, text: "" }, line];
}

function withinLine(json: string, members: readonly Member[], index: number): readonly Splice[] | undefined {
  const { start, end } = spanOf(members[index]!.node);
  const [before, after] = [members[index - 1], members[index + 1]];
  if (after !== undefined) {
    const from = spanOf(after.node).start;
    return isComma(json.slice(end, from)) ? [{ start, end: from, text: "" }] : undefined;
  }
  const from = spanOf(before!.node).end;
  return isComma(json.slice(from, start)) ? [{ start: from, end, text: "" }] : undefined;
}

function isBlank(text: string): boolean {
  return /^[ \t\r\n]*$/.test(text);
}

function isComma(text: string): boolean {
  return /^[ \t]*,[ \t]*$/.test(text);
}
