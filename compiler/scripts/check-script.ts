/**
 * Checks a script before it runs, against the declarations of the tools it names and its own annotations. Says only what would
 * fail at run time or contradicts a declaration: of what TypeScript finds wrong with code that was never meant
 * to have types, nothing is passed on. Pure but for its warm library; the same script gets the same findings.
 *
 * The runtime loads this module in a worker. It imports TypeScript, so nothing else may import it statically.
 */
import { readFileSync } from "node:fs";
import { ts } from "ts-morph";
import type { CheckFinding, CheckRequest, ScriptCheckModule } from "../../schemas/script-finding.ts";
import { renderDeclaration, renderDescription } from "../render/declaration.ts";
import { renderDeclarationsFile } from "../render/declarations-file.ts";
import { miscounted, misfit, unseenArguments } from "./argument-findings.ts";
import { Declared } from "./declared.ts";
import { type Draft, draft, shown } from "./draft.ts";
import { doubtfulMember, memberAccess, missingMember, unseenMember } from "./member-findings.ts";
import { absentName, missingName } from "./name-findings.ts";
import { DECLARATIONS_FILE, GLOBALS_FILE, SCRIPT_FILE, type ScriptProgram, WarmPrograms } from "./program.ts";
import { asFunctionBody, placeOf } from "./script-text.ts";
import { syntaxFinding } from "./syntax-findings.ts";

/** Findings of one script at most; who has more starts with these. */
const MAX_FINDINGS = 50;
/** Complaints that are looked into; near names for thousands of them would take seconds. */
const MAX_COMPLAINTS = 500;

/** What TypeScript complains of, by what it means for a script. Every number that isn't here is passed over. */
const MEMBER = new Set([2339, 2550, 2551]);
const NAME = new Set([2304, 2503, 2552, 2580, 2581, 2582, 2583, 2584, 2591, 2592, 2593, 2693, 18004]);
const FIT = new Set([2322, 2345, 2353, 2559, 2560, 2561, 2739, 2740, 2741, 2820, 2769]);
const COUNT = new Set([2554, 2555]);
const NOT_CALLABLE = new Set([2348, 2349, 2351]);
const NOT_ITERABLE = new Set([2461, 2488, 2494, 2495, 2548, 2549]);
const NEVER_EQUAL = 2367;
const CONSTANT = 2588;
const TOO_EARLY = new Set([2448, 2449]);

export const openScriptCheck: ScriptCheckModule["openScriptCheck"] = async () => {
  const programs = new WarmPrograms();
  const globals = readFileSync(new URL("../../templates/script-globals.d.ts", import.meta.url), "utf8");
  return {
    check: (request) => {
      const texts = new Map([
        [GLOBALS_FILE, `${globals}${request.hostGlobals}`],
        [DECLARATIONS_FILE, declarations(request)],
        [SCRIPT_FILE, asFunctionBody(request.source)],
      ]);
      const program = programs.open(texts);
      if (!request.broken) return placed(typeFindings(program), request.source);
      const wrong = syntaxFinding(program, request.source);
      return placed(wrong === undefined ? [] : [wrong], request.source);
    },
    declare: renderDescription,
  };
};

/** What codemode.d.ts would show of these tools, in the form for checking, and what the host adds. */
function declarations({ tools, hostTools, plainResults }: CheckRequest): string {
  const shown = tools.map((tool) => ({ declaration: renderDeclaration(tool, { form: "check" }) }));
  const file = renderDeclarationsFile([{ namespace: "mcp", name: "tools", total: shown.length, shown }], {
    check: true,
    ...(plainResults === true && { plainResults }),
  });
  return hostTools === ""
    ? file
    : file.replace("declare const tools: {\n", () => `declare const tools: {\n${hostTools}\n`);
}

function typeFindings(program: ScriptProgram): readonly Draft[] {
  const declared = new Declared(program);
  const found: Draft[] = [];
  for (const { code, start, length } of program.semantic()) {
    if (found.length === MAX_COMPLAINTS) break;
    const node = start === undefined ? undefined : nodeAt(program.script, start, start + (length ?? 0));
    const one = node === undefined ? undefined : interpreted(code, node, declared);
    if (one !== undefined) found.push(one);
  }
  const add = (one: Draft | undefined) => {
    if (one !== undefined) found.push(one);
  };
  const visit = (node: ts.Node): void => {
    const access = memberAccess(node);
    if (access !== undefined) add(unseenMember(access, declared) ?? doubtfulMember(access, declared));
    if (ts.isIdentifier(node)) add(absentName(node, declared));
    if (ts.isObjectLiteralExpression(node)) found.push(...unseenArguments(node, declared));
    ts.forEachChild(node, visit);
  };
  visit(program.script);
  return found;
}

function interpreted(code: number, node: ts.Node, declared: Declared): Draft | undefined {
  if (MEMBER.has(code)) {
    const access = memberAccess(node);
    return access && missingMember(access, declared);
  }
  if (NAME.has(code)) return ts.isIdentifier(node) ? missingName(node, declared) : undefined;
  if (FIT.has(code)) return misfit(node, declared);
  if (COUNT.has(code)) return miscounted(node, declared);
  if (NOT_CALLABLE.has(code)) return unlessOwn(node, declared, "is not a function");
  if (NOT_ITERABLE.has(code)) return unlessOwn(node, declared, "is no list");
  if (code === NEVER_EQUAL) return neverEqual(node, declared);
  if (code === CONSTANT) return draft(node, `${shown(node.getText())} is a constant`);
  if (TOO_EARLY.has(code)) return draft(node, `${shown(node.getText())} is used before it is declared`);
  return undefined;
}

function unlessOwn(node: ts.Node, declared: Declared, words: string): Draft | undefined {
  const expression = ts.isIdentifier(node) && ts.isPropertyAccessExpression(node.parent) ? node.parent : node;
  const type = declared.checker.getTypeAtLocation(expression);
  if (!declared.isDeclared(type, expression)) return undefined;
  return draft(node, `${shown(expression.getText())} ${words}`);
}

/** A comparison with a word that a declared field never is. */
function neverEqual(node: ts.Node, declared: Declared): Draft | undefined {
  let whole = node;
  while (!ts.isBinaryExpression(whole)) {
    if (whole.parent === undefined || ts.isStatement(whole)) return undefined;
    whole = whole.parent;
  }
  const sides = [whole.left, whole.right];
  const [word] = sides.filter(ts.isStringLiteralLike);
  const other = sides.find((side) => side !== word);
  if (word === undefined || other === undefined || !declared.isOurSymbol(declared.symbolAt(other))) return undefined;
  const type = declared.checker.getTypeAtLocation(other);
  const words = (type.isUnion() ? type.types : [type]).map((one) => declared.checker.typeToString(one));
  const message = `${shown(other.getText())} is never ${shown(word.getText())}, only ${shown(words.join(", "))}`;
  return draft(whole, message, { severity: "warning" });
}

/** The node from `start` to `end`, the innermost where several are; else the innermost that starts there. */
function nodeAt(file: ts.SourceFile, start: number, end: number): ts.Node | undefined {
  let exact: ts.Node | undefined;
  let starting: ts.Node | undefined;
  const visit = (node: ts.Node): void => {
    if (start < node.getStart() || start >= node.end) return;
    if (node.getStart() === start) starting = node;
    if (node.getStart() === start && node.end === end) exact = node;
    ts.forEachChild(node, visit);
  };
  visit(file);
  return exact ?? starting;
}

/** In the order of the script, each once, errors before warnings at one place. */
function placed(found: readonly Draft[], source: string): CheckFinding[] {
  const sorted = [...found].sort(
    (a, b) => a.start - b.start || Number(a.severity === "warning") - Number(b.severity === "warning") || a.end - b.end,
  );
  const places = new Set<number>();
  const once = sorted.filter(({ start }) => !places.has(start) && places.add(start));
  return once
    .slice(0, MAX_FINDINGS)
    .map(({ start, end, ...finding }) => ({ ...finding, ...placeOf(source, start, end) }));
}
