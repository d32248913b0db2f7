/** Why a text is no script: where the parser gave up, or what of TypeScript can't be erased and would have to be translated. */
import { ts } from "ts-morph";
import { type Draft, draft, shown } from "./draft.ts";
import type { ScriptProgram } from "./program.ts";
import { endedEarly, endOf } from "./script-text.ts";

/** The first thing that is wrong: what a parser says after that is mostly about its own confusion. */
export function syntaxFinding(program: ScriptProgram, source: string): Draft | undefined {
  const { script, syntax, semantic } = program;
  const special = notErasable(script);
  if (special !== undefined) return special;
  const end = endOf(source);
  const parsed = first(syntax);
  const closed = closedTooSoon(script);
  if (closed !== undefined && closed.start < end && closed.start <= (parsed?.start ?? end)) return closed;
  if (parsed !== undefined && parsed.start >= end && !parsed.message.startsWith("Unterminated")) {
    return { ...parsed, message: "the script ends too soon: a bracket or brace is still open" };
  }
  return parsed ?? first(semantic().filter(isGrammar));
}

function closedTooSoon(script: ts.SourceFile): Draft | undefined {
  const at = endedEarly(script);
  if (at === undefined) return undefined;
  return { severity: "error", kind: "syntax", message: "this brace closes nothing", start: at, end: at + 1 };
}

/** Rules of the grammar that TypeScript looks at after parsing have the numbers of syntax errors. */
function isGrammar({ code }: ts.Diagnostic): boolean {
  return code >= 1000 && code < 2000;
}

function first(diagnostics: readonly ts.Diagnostic[]): Draft | undefined {
  const [found] = [...diagnostics].sort((a, b) => (a.start ?? 0) - (b.start ?? 0));
  if (found === undefined) return undefined;
  const message = ts.flattenDiagnosticMessageText(found.messageText, " ").replace(/\.$/, "");
  const start = found.start ?? 0;
  return { severity: "error", kind: "syntax", message: shown(message), start, end: start + (found.length ?? 0) };
}

function notErasable(script: ts.SourceFile): Draft | undefined {
  let found: Draft | undefined;
  const visit = (node: ts.Node): void => {
    const why = found === undefined ? whyNotErasable(node) : undefined;
    if (why !== undefined) found = draft(nameOf(node), why, { kind: "syntax" });
    else if (found === undefined) ts.forEachChild(node, visit);
  };
  visit(script);
  return found;
}

function nameOf(node: ts.Node): ts.Node {
  return ts.isEnumDeclaration(node) || ts.isModuleDeclaration(node) ? node.name : node;
}

function whyNotErasable(node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node) || ts.isImportEqualsDeclaration(node)) {
    return "a script can't import: what it needs is in its globals and in tools";
  }
  if (ts.isExportDeclaration(node) || ts.isExportAssignment(node)) return "a script can't export: use return";
  if (!ts.isStatement(node) && !ts.isParameter(node) && !ts.isTypeAssertionExpression(node) && !ts.isDecorator(node)) {
    return undefined;
  }
  const words = ts.canHaveModifiers(node) ? (ts.getModifiers(node) ?? []).map(({ kind }) => kind) : [];
  if (words.includes(ts.SyntaxKind.DeclareKeyword)) return undefined;
  if (ts.isStatement(node) && words.includes(ts.SyntaxKind.ExportKeyword)) return "a script can't export: use return";
  if (ts.isEnumDeclaration(node)) return "types are only erased, and an enum is more: write an object of constants";
  if (ts.isModuleDeclaration(node)) return "types are only erased, and a namespace is more: write an object";
  if (ts.isTypeAssertionExpression(node)) return "write `value as Type`: the angle brackets can't be erased";
  if (ts.isDecorator(node)) return "the sandbox has no decorators";
  if (ts.isParameter(node) && words.length > 0) return "types are only erased: declare the property and assign it";
  return undefined;
}
