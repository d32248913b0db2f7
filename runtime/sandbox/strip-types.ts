/**
 * TypeScript to JavaScript by blanking what is only type: every other character stays at its line and column, so that an error's
 * place is that of the file. What would have to be translated (enums, namespaces, parameter properties) is an error. Runs nothing.
 *
 * Amaro is node's own eraser (swc) as a package: TypeScript need not be there. It costs a tenth of a second to load, so what is
 * plain JavaScript never gets to it.
 */
import { createRequire } from "node:module";
import { Script } from "node:vm";
import type { ScriptFinding } from "../../schemas/script-finding.ts";

/** What is told of a script whose types could not be checked. */
export function notChecked(reason: string): ScriptFinding {
  return { severity: "warning", kind: "types", message: `types were not checked: ${reason}`, line: 1, column: 1 };
}

export type Stripped =
  | { readonly ok: true; readonly js: string }
  | { readonly ok: false; readonly finding: ScriptFinding };

const BEFORE = "async()=>{";
const AFTER = "\n}";
/** May be a call with type arguments: `f<T>(x)` is JavaScript too, and means two comparisons there. */
const MAY_END_TYPE_ARGUMENTS = /[^=]>\s*(?:[(`]|\/[/*])/;
// biome-ignore lint/complexity/useArrowFunction: an async function's constructor is wanted, and an arrow has the same one
const AsyncFunction = async function () {}.constructor as new (body: string) => unknown;

/** Whether the body of an async function is JavaScript as it stands, and can't be meant as TypeScript that looks like it. */
export function isPlainJavaScript(source: string): boolean {
  const at = source.search(MAY_END_TYPE_ARGUMENTS);
  const opens = source.indexOf("<");
  return (at < 0 || opens < 0 || source.lastIndexOf(">") < opens) && isFunctionBody(source);
}

/** The script without types; `plain` JavaScript as it is. An error tells the first thing that is wrong. */
export async function stripTypes(source: string, plain = false): Promise<Stripped> {
  if (plain) return { ok: true, js: source };
  eraser ??= loadEraser();
  let js: string;
  try {
    const { code } = eraser.transformSync(`${BEFORE}${source}${AFTER}`, { mode: "strip-only" });
    js = withSemicolons(source, code.slice(BEFORE.length, code.length - AFTER.length));
  } catch (complaint) {
    if (typeof complaint === "string") return { ok: false, finding: located(complaint) };
    // Its engine trapped, out of stack, and answers nonsense from then on.
    eraser = undefined;
    return { ok: false, finding: TOO_DEEP };
  }
  return isFunctionBody(js) ? { ok: true, js } : { ok: false, finding: syntaxError(js) };
}

const TOO_DEEP: ScriptFinding = {
  severity: "error",
  kind: "syntax",
  message: "the script can't be read: it is nested too deep",
  line: 1,
  column: 1,
};

type Eraser = typeof import("amaro");
let eraser: Eraser | undefined;

/** One with an engine of its own: node keeps the one before, so that has to be forgotten. */
function loadEraser(): Eraser {
  const require = createRequire(import.meta.url);
  delete require.cache[require.resolve("amaro")];
  return require("amaro") as Eraser;
}

/**
 * The semicolon behind `type A = 1` ends the statement before it too, and amaro blanks it: `n = 1; type A = 1; [n] = [2]` without
 * semicolons but the last would go on as `1 [n]`. Types have none that only blanks part from what stays.
 */
function withSemicolons(source: string, js: string): string {
  const pieces: string[] = [];
  let from = 0;
  for (let at = source.indexOf(";"); at >= 0; at = source.indexOf(";", at + 1)) {
    if (js[at] === ";") continue;
    let next = at + 1;
    while (next < source.length && /\s/.test(source[next]!)) next++;
    if (js[next] !== source[next]) continue;
    pieces.push(js.slice(from, at), ";");
    from = at + 1;
  }
  return pieces.join("") + js.slice(from);
}

/** Compiles without running; the language has this check built in, a wrapper of text could be closed by the script. */
function isFunctionBody(source: string): boolean {
  try {
    return new AsyncFunction(source) !== undefined;
  } catch (error) {
    // Nested deeper than a parser's stack: somebody else will say so.
    if (error instanceof SyntaxError || error instanceof RangeError) return false;
    throw error;
  }
}

/** Amaro's complaint is a drawing: the message, the lines around, and a mark under the place. */
function located(drawing: string): ScriptFinding {
  const message = /^\s*x (.*)$/m.exec(drawing)?.[1] ?? "not a script";
  const drawn = /^ *(\d+) \| (.*)\n *: ( *)[\^|]/m.exec(drawing);
  const line = drawn === null ? 1 : Number(drawn[1]);
  const marked = drawn === null ? 0 : drawn[3]!.length;
  const column = Math.max(0, line === 1 ? marked - BEFORE.length : marked) + 1;
  return { severity: "error", kind: "syntax", message: message.replace(/\.$/, ""), line, column };
}

/** Where V8 says that JavaScript is wrong; without a place where only the end of the body is. */
function syntaxError(js: string): ScriptFinding {
  const finding = { severity: "error", kind: "syntax", line: 1, column: 1 } as const;
  try {
    new Script(`${BEFORE}${js}${AFTER}`, { filename: "script" });
  } catch (error) {
    if (error instanceof RangeError) return TOO_DEEP;
    if (!(error instanceof SyntaxError)) throw error;
    const [, line, blanks] = /^script:(\d+)\n.*\n( *)\^/.exec(error.stack ?? "") ?? [];
    const column = (blanks?.length ?? 0) - (line === "1" ? BEFORE.length : 0);
    return { ...finding, message: error.message, line: Number(line ?? 1), column: Math.max(0, column) + 1 };
  }
  return { ...finding, message: "a closing brace of the script closes nothing" };
}
