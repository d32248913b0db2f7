/**
 * A script as a TypeScript file: the body of an async function, so that `return` and `await` stand where they may. What is put
 * before it stands on its first line, so only offsets differ; places given out are those of the script itself.
 */
import { ts } from "ts-morph";

const BEFORE = "(async()=>{";
const AFTER = "\n});";
const LINE_BREAK = /\r\n|[\n\r\u2028\u2029]/g;

export interface Place {
  /** 1-based; the column in UTF-16 units. */
  readonly line: number;
  readonly column: number;
  readonly endColumn?: number;
}

/** The text of the file that holds `source`. */
export function asFunctionBody(source: string): string {
  return `${BEFORE}${source}${AFTER}`;
}

/** Where in the file the script's last line ends. */
export function endOf(source: string): number {
  return BEFORE.length + source.trimEnd().length;
}

/** Where `start` to `end` of the file are in the script; what lies behind it is put behind its last character. */
export function placeOf(source: string, start: number, end: number): Place {
  const last = source.trimEnd().length;
  const from = Math.min(Math.max(0, start - BEFORE.length), last);
  const to = Math.min(Math.max(from, end - BEFORE.length), last);
  let line = 1;
  let lineStart = 0;
  let lineEnd = source.length;
  for (const { index, 0: mark } of source.matchAll(LINE_BREAK)) {
    if (index + mark.length > from) {
      lineEnd = index;
      break;
    }
    line++;
    lineStart = index + mark.length;
  }
  const ends = to > from && to <= lineEnd;
  return { line, column: from - lineStart + 1, ...(ends && { endColumn: to - lineStart + 1 }) };
}

/** Where a closing brace of the script ended the function early, as an offset in the file; undefined where none did. */
export function endedEarly(file: ts.SourceFile): number | undefined {
  const body = firstFunction(file)?.body;
  if (body === undefined) return 0;
  return file.statements.length === 1 && body.end === file.text.length - AFTER.length + 2 ? undefined : body.end - 1;
}

function firstFunction(node: ts.Node): ts.ArrowFunction | undefined {
  return ts.isArrowFunction(node) ? node : ts.forEachChild(node, firstFunction);
}
