/** A finding before its place in the script is counted in lines and columns, and the words all findings share. */
import type { ts } from "ts-morph";
import { nearest } from "../../schemas/nearest.ts";
import type { CheckFinding } from "../../schemas/script-finding.ts";

export interface Draft extends Omit<CheckFinding, "line" | "column" | "endColumn"> {
  /** Offsets in the file. */
  readonly start: number;
  readonly end: number;
}

/** Characters of a type or a name that a message shows; servers decide how long they are. */
const MAX_SHOWN = 100;

export function draft(
  node: ts.Node,
  message: string,
  more: Partial<Pick<Draft, "severity" | "kind" | "suggestion" | "unknownTool">> = {},
): Draft {
  const { suggestion } = more;
  const hint = suggestion === undefined ? "" : `; did you mean "${shown(suggestion)}"?`;
  return { severity: "error", kind: "types", ...more, message: message + hint, start: node.getStart(), end: node.end };
}

/** `{ suggestion }` when one of `names` is near to `name`. */
export function suggest(name: string, names: Iterable<string>): { suggestion?: string } {
  const suggestion = nearest(name, names);
  return suggestion === undefined ? {} : { suggestion };
}

/** A name or type of a server's or the script's in a message: one line, cut where it goes on and on. */
export function shown(text: string): string {
  const line = text.replace(/\s+/gu, " ");
  if (line.length <= MAX_SHOWN) return line;
  const cut = line.slice(0, MAX_SHOWN);
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}
