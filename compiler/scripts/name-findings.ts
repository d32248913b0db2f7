/** Names that mean nothing in a script: misspelt ones, and what the sandbox doesn't have. */
import { ts } from "ts-morph";
import { ABSENT_GLOBALS } from "../../schemas/absent-globals.ts";
import type { Declared } from "./declared.ts";
import { type Draft, draft, shown, suggest } from "./draft.ts";

/** Names of the language's library that the sandbox's engine leaves out, so that TypeScript finds them all the same. */
const LIBRARY_ONLY: ReadonlySet<string> = new Set(["Intl", "Atomics", "WebAssembly"]);

/** What is to be said of a name that TypeScript doesn't find. */
export function missingName(node: ts.Identifier, declared: Declared): Draft | undefined {
  const name = node.text;
  if (declared.guardedNames.has(name)) return undefined;
  const why = ABSENT_GLOBALS.get(name);
  if (why !== undefined) return draft(node, `there is no ${name}: ${why}`);
  const isType = ts.isTypeNode(node.parent) || ts.isExpressionWithTypeArguments(node.parent);
  const flags = isType ? ts.SymbolFlags.Type : ts.SymbolFlags.Value;
  const near = suggest(
    name,
    declared.checker.getSymbolsInScope(node, flags).map((symbol) => symbol.name),
  );
  if (isType) return draft(node, `there is no type ${shown(name)}`, { ...near, severity: "warning" });
  // Assigning makes it a global, so the script may run; it is rarely what was meant.
  if (declared.assignedNames.has(name)) {
    if (declared.isToldOf(name)) return undefined;
    return draft(node, `${shown(name)} is never declared`, { ...near, severity: "warning" });
  }
  return draft(node, `there is no ${shown(name)}`, near);
}

/** A name that the library declares and the sandbox hasn't got. */
export function absentName(node: ts.Identifier, declared: Declared): Draft | undefined {
  const { text, parent } = node;
  if (
    !LIBRARY_ONLY.has(text) ||
    declared.guardedNames.has(text) ||
    (ts.isPropertyAccessExpression(parent) && parent.name === node)
  ) {
    return undefined;
  }
  const from = declared.checker.getSymbolAtLocation(node)?.declarations?.[0]?.getSourceFile();
  if (from === undefined || from === node.getSourceFile() || ts.isQualifiedName(parent)) return undefined;
  return draft(node, `there is no ${text}: ${ABSENT_GLOBALS.get(text)}`);
}
