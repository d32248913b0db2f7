/**
 * Members that aren't there: a tool's misspelt name, a field that no output schema has, a result read before it was
 * awaited. Members of objects that the script made itself are its own business.
 */
import { ts } from "ts-morph";
import { editDistance } from "../../schemas/edit-distance.ts";
import { type Declared, isTarget } from "./declared.ts";
import { type Draft, draft, shown, suggest } from "./draft.ts";

/** An access to a member by name, whichever way it is written. */
export interface MemberAccess {
  readonly name: ts.Node & { readonly text: string };
  /** What the member is of; a pattern for `const { member } = …`. */
  readonly of: ts.Node;
  /** The access as an expression, where it is one. */
  readonly whole: ts.Expression | undefined;
}

export function memberAccess(node: ts.Node): MemberAccess | undefined {
  const { parent } = node;
  if (parent === undefined) return undefined;
  if (ts.isPropertyAccessExpression(parent) && parent.name === node && ts.isIdentifier(node)) {
    return { name: node, of: parent.expression, whole: parent };
  }
  if (ts.isElementAccessExpression(parent) && parent.argumentExpression === node && ts.isStringLiteralLike(node)) {
    return { name: node, of: parent.expression, whole: parent };
  }
  if (!ts.isBindingElement(parent) || !ts.isObjectBindingPattern(parent.parent) || parent.dotDotDotToken) {
    return undefined;
  }
  const name = parent.propertyName ?? parent.name;
  const named = name === node && (ts.isIdentifier(name) || ts.isStringLiteral(name));
  return named ? { name, of: parent.parent, whole: undefined } : undefined;
}

/** What is to be said of a member that TypeScript doesn't find. */
export function missingMember(access: MemberAccess, declared: Declared): Draft | undefined {
  const { name, of, whole } = access;
  const { checker } = declared;
  if (isTools(of, declared)) return declared.guardedMembers.has(name.text) ? undefined : unknownTool(access);
  const type = checker.getTypeAtLocation(of);
  if (whole !== undefined && isTarget(whole)) return undefined;
  const promised = checker.getAwaitedType(type);
  if (promised !== undefined && promised !== type) return notAwaited(access, promised, declared);
  // Which variant a value is, a script finds out as it runs.
  if (type.isUnion() && type.types.some((one) => checker.getPropertyOfType(one, name.text))) return undefined;
  const near = suggest(
    name.text,
    checker.getPropertiesOfType(type).map((member) => member.name),
  );
  if (declared.isDeclared(type, of)) return fieldMissing(access, type, near, declared);
  const made = type.symbol?.declarations?.some((one) => one.getSourceFile() === of.getSourceFile()) === true;
  const called = whole !== undefined && ts.isCallExpression(whole.parent) && whole.parent.expression === whole;
  if (made || !called) return undefined;
  return draft(name, `${shown(of.getText())}.${shown(name.text)} is not a function`, near);
}

/** `tools["name"]`: of a member in brackets that isn't there TypeScript says nothing to code without types. */
export function unseenMember(access: MemberAccess, declared: Declared): Draft | undefined {
  if (access.whole === undefined || !ts.isElementAccessExpression(access.whole)) return undefined;
  const type = declared.checker.getTypeAtLocation(access.of);
  const isOpen = type.getStringIndexType() !== undefined || (type.flags & ts.TypeFlags.Any) !== 0;
  if (isOpen || declared.checker.getPropertyOfType(type, access.name.text) !== undefined) return undefined;
  return missingMember(access, declared);
}

/**
 * Where a schema leaves an object open, any name may be right; one that is a slip away from a declared one is worth a
 * word. TypeScript says nothing of these.
 */
export function doubtfulMember(access: MemberAccess, declared: Declared): Draft | undefined {
  const { name, of, whole } = access;
  if (whole !== undefined && isTarget(whole)) return undefined;
  const { checker } = declared;
  const type = checker.getTypeAtLocation(of);
  if (!isOpen(type, declared)) return undefined;
  const near = slipOf(name.text, type, checker);
  if (near === undefined) return undefined;
  const message = `${shown(name.text)} is not declared here`;
  return draft(name, message, { severity: "warning", suggestion: near });
}

/** Declared, with members by name and room for others. */
export function isOpen(type: ts.Type, declared: Declared): boolean {
  return type.getStringIndexType() !== undefined && type.getProperties().length > 0 && declared.isDeclared(type);
}

/** The declared name that `name` is one or two slips away from. */
export function slipOf(name: string, type: ts.Type, checker: ts.TypeChecker): string | undefined {
  const names = checker.getPropertiesOfType(type).map((member) => member.name);
  if (name.length < 4 || names.includes(name)) return undefined;
  const most = name.length < 7 ? 1 : 2;
  const near = suggest(name, names).suggestion;
  return near !== undefined && editDistance(name.toLowerCase(), near.toLowerCase(), most) <= most ? near : undefined;
}

/** `tools` itself, or another name for it. */
function isTools(of: ts.Node, declared: Declared): boolean {
  const value = ts.isObjectBindingPattern(of) && ts.isVariableDeclaration(of.parent) ? of.parent.initializer : of;
  // The type of an object without tools has no declaration to be known by.
  const named = value !== undefined && ts.isIdentifier(value) ? declared.symbolAt(value)?.valueDeclaration : undefined;
  const owner = declared.checker.getTypeAtLocation(of).symbol?.declarations?.[0]?.parent;
  return [named, owner].some(
    (one) =>
      one !== undefined && ts.isVariableDeclaration(one) && one.name.getText() === "tools" && declared.isOurs(one),
  );
}

/** The right name is found by those who know them all. */
function unknownTool({ name, whole }: MemberAccess): Draft {
  const after = whole?.parent;
  const member = after !== undefined && ts.isPropertyAccessExpression(after) ? after.name.text : undefined;
  const unknown = { name: name.text, ...(member !== undefined && { member }) };
  return draft(name, `there is no tool ${shown(name.text)}`, { unknownTool: unknown });
}

function notAwaited({ name, of }: MemberAccess, promised: ts.Type, declared: Declared): Draft | undefined {
  if (declared.checker.getPropertyOfType(promised, name.text) === undefined) return undefined;
  const message = `${shown(of.getText())} is a promise; ${shown(name.text)} is there once it is awaited`;
  return { ...draft(name, message), suggestion: `(await ${shown(of.getText())}).${shown(name.text)}` };
}

function fieldMissing(access: MemberAccess, type: ts.Type, near: { suggestion?: string }, declared: Declared): Draft {
  const { name, of } = access;
  const { checker } = declared;
  const what = ts.isObjectBindingPattern(of) ? "the value" : shown(of.getText());
  const element = declared.elementOf(type);
  if (element !== undefined && checker.getPropertyOfType(element, name.text) !== undefined) {
    return draft(
      name,
      `${what} is a list; its elements have ${shown(name.text)}, as in ${what}[0].${shown(name.text)}`,
    );
  }
  const fields = checker.getPropertiesOfType(type).map((member) => member.name);
  const listed = element === undefined && near.suggestion === undefined && isRecordLike(type) ? fieldList(fields) : "";
  return draft(name, `${what} has no ${shown(name.text)}${listed}`, near);
}

function isRecordLike(type: ts.Type): boolean {
  return (type.flags & ts.TypeFlags.Object) !== 0 && type.getCallSignatures().length === 0;
}

function fieldList(fields: readonly string[]): string {
  if (fields.length === 0) return "";
  return `; it has ${shown(fields.slice(0, 12).join(", "))}${fields.length > 12 ? ", …" : ""}`;
}
