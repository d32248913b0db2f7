/**
 * Arguments that a tool doesn't take, or doesn't take like this: unknown and missing names, values that can't fit. Held to
 * are calls of what was declared, and places that the script itself annotated.
 */
import { ts } from "ts-morph";
import type { Declared } from "./declared.ts";
import { type Draft, draft, shown, suggest } from "./draft.ts";
import { mayFit, missingMembers } from "./may-fit.ts";
import { isOpen, slipOf } from "./member-findings.ts";
import {
  calleeName,
  calleeNode,
  enclosingCall,
  hasText,
  memberName,
  nameText,
  pathWithin,
  type Site,
  siteOf,
  valueAt,
} from "./typed-places.ts";

/** What is to be said where TypeScript finds that a value doesn't fit. */
export function misfit(node: ts.Node, declared: Declared): Draft | undefined {
  const site = siteOf(node, declared);
  if (site === undefined) return undefined;
  const { checker } = declared;
  const name = memberName(node);
  if (name !== undefined && ts.isObjectLiteralExpression(name.parent.parent)) {
    const literal = name.parent.parent;
    const target = checker.getContextualType(literal);
    const known = target === undefined ? [] : membersOf(target, checker);
    if (target !== undefined && !known.includes(name.text) && target.getStringIndexType() === undefined) {
      return unknownArgument(name, literal, site, known);
    }
  }
  const value = valueAt(node) ?? site.root;
  const target = checker.getContextualType(value);
  if (target === undefined || declared.isBuiltUp(value)) return undefined;
  const source = checker.getTypeAtLocation(value);
  if (mayFit(checker, source, target)) return undefined;
  return (
    missingArgument(value, source, target, site, declared) ?? wrongType(node, value, source, target, site, declared)
  );
}

/** What is to be said where TypeScript counts too few or too many arguments. */
export function miscounted(node: ts.Node, declared: Declared): Draft | undefined {
  const call = enclosingCall(node);
  if (call === undefined || !declared.isOurs(declared.checker.getResolvedSignature(call)?.declaration))
    return undefined;
  if (call.arguments?.some(ts.isSpreadElement)) return undefined;
  const name = calleeName(call);
  const { checker } = declared;
  const parameters = checker.getResolvedSignature(call)!.getParameters();
  const given = call.arguments?.length ?? 0;
  if (given > parameters.length) {
    const takes =
      parameters.length === 0
        ? "no arguments"
        : parameters.length === 1
          ? "one argument"
          : `${parameters.length} arguments`;
    return draft(call.arguments![parameters.length]!, `${name} takes ${takes}`);
  }
  const wanted = parameters[given]!;
  const needs = requiredNames(checker.getTypeOfSymbol(wanted), checker);
  const what = needs.length === 0 ? wanted.name : needs.map((one) => `"${shown(one)}"`).join(", ");
  return draft(calleeNode(call), `${name}: ${needs.length > 1 ? "arguments" : "argument"} ${what} missing`);
}

/**
 * What TypeScript lets pass: any name where a tool takes none at all, and where a schema is open, one that is a slip away from a
 * declared one.
 */
export function unseenArguments(literal: ts.ObjectLiteralExpression, declared: Declared): readonly Draft[] {
  const { checker } = declared;
  const target = checker.getContextualType(literal);
  if (target === undefined) return [];
  if (isEmpty(target, checker)) return noArguments(literal, declared);
  if (!isOpen(target, declared)) return [];
  const given = literal.properties.flatMap((one) => (one.name === undefined ? [] : [nameText(one.name)]));
  return literal.properties.flatMap((one) => {
    const name = one.name === undefined ? undefined : nameText(one.name);
    const near = name === undefined ? undefined : slipOf(name, target, checker);
    if (name === undefined || near === undefined || given.includes(near)) return [];
    return [draft(one.name!, `${shown(name)} is not declared here`, { severity: "warning", suggestion: near })];
  });
}

function isEmpty(type: ts.Type, checker: ts.TypeChecker): boolean {
  const isPlain = isObject(type) && type.getCallSignatures().length === 0;
  return isPlain && type.getProperties().length === 0 && checker.getIndexInfosOfType(type).length === 0;
}

function noArguments(literal: ts.ObjectLiteralExpression, declared: Declared): readonly Draft[] {
  const name = literal.properties[0]?.name;
  const site = siteOf(literal, declared);
  if (name === undefined || !hasText(name) || site?.root !== literal || !site.isCall) return [];
  return [draft(name, `${site.name} takes no arguments`)];
}

function unknownArgument(
  name: ts.Node & { readonly text: string },
  literal: ts.ObjectLiteralExpression,
  site: Site,
  known: readonly string[],
): Draft {
  const given = new Set(literal.properties.flatMap((one) => (one.name === undefined ? [] : [nameText(one.name)])));
  const near = suggest(
    name.text,
    known.filter((one) => !given.has(one)),
  );
  const path = pathWithin(literal, site.root);
  const what = site.isCall
    ? path === ""
      ? `${site.name} takes no argument`
      : `${path} of ${site.name} has no`
    : `${site.name} has no`;
  const listed =
    near.suggestion !== undefined || known.length === 0 ? "" : `; it takes ${shown(known.slice(0, 12).join(", "))}`;
  return draft(name, `${what} "${shown(name.text)}"${site.isCall && path === "" ? listed : ""}`, near);
}

function missingArgument(
  value: ts.Expression,
  source: ts.Type,
  target: ts.Type,
  site: Site,
  declared: Declared,
): Draft | undefined {
  const { checker } = declared;
  if (
    target.isUnion() ||
    (source.flags & target.flags & ts.TypeFlags.Object) === 0 ||
    declared.elementOf(target) ||
    declared.elementOf(source)
  ) {
    return undefined;
  }
  const missing = missingMembers(checker, source, target);
  if (missing.length === 0) return undefined;
  const path = pathWithin(value, site.root);
  const where = path === "" ? site.name : `${path} of ${site.name}`;
  const known = membersOf(target, checker);
  if (ts.isObjectLiteralExpression(value)) {
    for (const { name } of value.properties) {
      if (name === undefined || !hasText(name) || known.includes(name.text)) continue;
      if (suggest(name.text, missing).suggestion !== undefined) return unknownArgument(name, value, site, missing);
    }
  }
  const names = missing.map((one) => `"${shown(one)}"`).join(", ");
  return draft(value, `${where}: ${missing.length > 1 ? "arguments" : "argument"} ${names} missing`);
}

function wrongType(
  node: ts.Node,
  value: ts.Expression,
  source: ts.Type,
  target: ts.Type,
  site: Site,
  declared: Declared,
): Draft {
  const { checker } = declared;
  const whole = pathWithin(value, site.root);
  const wrong = innermost(checker, { path: whole, source, target });
  const at = value === site.root || memberName(node) === undefined ? value : node;
  if (wrong.path === "" && site.isCall && isObject(wrong.target) && !isObject(wrong.source)) {
    return draft(at, `${site.name} takes one object: ${shown(`{ ${signature(wrong.target, checker)} }`)}`);
  }
  const what =
    wrong.path === ""
      ? site.isCall
        ? `${site.parameter} of ${site.name}`
        : site.name
      : `${shown(wrong.path)} of ${site.name}`;
  const near = wrong.source.isStringLiteral() ? suggest(wrong.source.value, wordsOf(wrong.target)) : {};
  return draft(
    at,
    `${what} must be ${shown(checker.typeToString(wrong.target))}, not ${shown(checker.typeToString(wrong.source))}`,
    near,
  );
}

interface Misfit {
  readonly path: string;
  readonly source: ts.Type;
  readonly target: ts.Type;
}

/** Where in two objects the first members lie that don't fit. */
function innermost(checker: ts.TypeChecker, misfit: Misfit): Misfit {
  const { path, source, target } = misfit;
  if (!isObject(source) || !isObject(target) || target.isUnion()) return misfit;
  for (const member of checker.getPropertiesOfType(target)) {
    const own = source.getProperty(member.name);
    if (own === undefined || member.name.startsWith("__@")) continue;
    const inner = { source: checker.getTypeOfSymbol(own), target: checker.getTypeOfSymbol(member) };
    if (mayFit(checker, inner.source, inner.target)) continue;
    if (checker.isArrayType(target) || checker.isArrayType(source)) return misfit;
    return innermost(checker, { ...inner, path: path === "" ? member.name : `${path}.${member.name}` });
  }
  return misfit;
}

const isObject = (type: ts.Type): boolean => (type.flags & ts.TypeFlags.Object) !== 0;

/** `query, limit?`, the required ones first. */
function signature(type: ts.Type, checker: ts.TypeChecker): string {
  const members = checker.getPropertiesOfType(type);
  const isOptional = (member: ts.Symbol) => (member.flags & ts.SymbolFlags.Optional) !== 0;
  const required = members.filter((member) => !isOptional(member)).map((member) => member.name);
  return [...required, ...members.filter(isOptional).map((member) => `${member.name}?`)].join(", ");
}

function wordsOf(target: ts.Type): string[] {
  const types = target.isUnion() ? target.types : [target];
  return types.flatMap((type) => (type.isStringLiteral() ? [type.value] : []));
}

function membersOf(type: ts.Type, checker: ts.TypeChecker): string[] {
  const types = type.isUnion() ? type.types : [type];
  return types.flatMap((one) => checker.getPropertiesOfType(one).map((member) => member.name));
}

function requiredNames(type: ts.Type, checker: ts.TypeChecker): readonly string[] {
  if (!isObject(type)) return [];
  const required = checker.getPropertiesOfType(type).filter((member) => (member.flags & ts.SymbolFlags.Optional) === 0);
  return required.map((member) => member.name);
}
