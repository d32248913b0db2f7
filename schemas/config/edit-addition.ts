/** Puts a member into an object of a configuration file, behind the last one and laid out like it. Pure. */
import {
  beginsLine,
  commaAfter,
  endsLine,
  indentAt,
  layoutOf,
  lineStop,
  membersOf,
  printedMember,
  type Splice,
  spanOf,
} from "./edit-layout.ts";
import type { ConfigValue } from "./edit-source.ts";
import type { Node } from "./jsonc.ts";

export function additionTo(json: string, object: Node, key: string, value: ConfigValue): readonly Splice[] {
  const last = membersOf(object).at(-1);
  if (last === undefined) return [intoEmpty(json, object, key, value)];
  const { start, end } = spanOf(last.node);
  const comma = commaAfter(json, end);
  const after = comma ?? end;
  const [separator, closing] = comma === undefined ? [",", ""] : ["", ","];
  const layout = layoutOf(json);
  if (beginsLine(json, start) && endsLine(json, after)) {
    const indent = indentAt(json, start);
    const at = lineStop(json, after);
    const member = printedMember(key, value, layout, { indent, isMultiLine: true });
    const line = `${layout.lineEnd}${indent}${member}${closing}`;
    // A comma and a line at one place are one splice: their order matters.
    if (at === end) return [{ start: at, end: at, text: `${separator}${line}` }];
    return [
      { start: end, end, text: separator },
      { start: at, end: at, text: line },
    ];
  }
  const member = printedMember(key, value, layout, { indent: "", isMultiLine: false });
  return [{ start: after, end: after, text: `${separator}${layout.blank}${member}${closing}` }];
}

function intoEmpty(json: string, object: Node, key: string, value: ConfigValue): Splice {
  const { start, end } = spanOf(object);
  const inner = json.slice(start + 1, end - 1);
  const layout = layoutOf(json);
  const outer = indentAt(json, start);
  const indent = outer + layout.step;
  // What is in it besides blanks are comments, which stay before what is added.
  const kept = inner.replace(/[ \t\r\n]+$/, "");
  const isMultiLine = kept === "" ? isOnLineOfItsOwn(json, object) : /[\r\n]/.test(inner);
  const member = printedMember(key, value, layout, { indent, isMultiLine });
  if (kept !== "") {
    const at = start + 1 + kept.length;
    return { start: at, end: at, text: isMultiLine ? `${layout.lineEnd}${indent}${member}` : ` ${member}` };
  }
  const text = isMultiLine
    ? `${layout.lineEnd}${indent}${member}${layout.lineEnd}${outer}`
    : `${layout.blank}${member}${layout.blank}`;
  return { start: start + 1, end: end - 1, text };
}

/** The root, or the value of a member that has its line to itself. */
function isOnLineOfItsOwn(json: string, object: Node): boolean {
  const { parent } = object;
  return parent === undefined || beginsLine(json, parent.offset);
}
