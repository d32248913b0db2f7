/**
 * Places in a script whose type somebody wrote down, and how a message calls them: arguments of what was declared, and what
 * the script itself annotated.
 */
import { ts } from "ts-morph";
import type { Declared } from "./declared.ts";
import { shown } from "./draft.ts";
import { SCRIPT_FILE } from "./program.ts";

/** A place whose type somebody wrote down. */
export interface Site {
  /** In a message: `mcp__docs__search`, or what else is assigned to. */
  readonly name: string;
  readonly isCall: boolean;
  /** What stands there: `the argument`, or the name of the parameter where there are several. */
  readonly parameter: string;
  /** The expression that stands there as a whole. */
  readonly root: ts.Expression;
}

/** The declared place that `node` is in, going outwards as far as the first call or annotation. */
export function siteOf(node: ts.Node, declared: Declared): Site | undefined {
  for (let at = node; at.parent !== undefined; at = at.parent) {
    const { parent } = at;
    if ((ts.isCallExpression(parent) || ts.isNewExpression(parent)) && parent.expression !== at) {
      const declaration = declared.checker.getResolvedSignature(parent)?.declaration;
      const index = parent.arguments?.indexOf(at as ts.Expression) ?? -1;
      const parameter = declaration?.parameters[index];
      const isAnnotated =
        parameter !== undefined && ts.isParameter(parameter) && isOwn(parameter) && isTyped(parameter);
      if (!declared.isOurs(declaration) && !isAnnotated) return undefined;
      const named = declaration?.parameters.length === 1 ? "the argument" : shown(parameter?.name?.getText() ?? "");
      return { name: calleeName(parent), isCall: true, parameter: named, root: at as ts.Expression };
    }
    const holds =
      (ts.isVariableDeclaration(parent) || ts.isPropertyDeclaration(parent) || ts.isParameter(parent)) && parent;
    if (holds && holds.type !== undefined && (holds.initializer === at || holds.name === at) && holds.initializer) {
      return annotated(holds.name, holds.initializer);
    }
    if (ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.EqualsToken) {
      const isDeclared = declared.symbolAt(parent.left)?.declarations?.some(isTyped) === true;
      return isDeclared ? annotated(parent.left, parent.right) : undefined;
    }
    if (ts.isFunctionLike(parent) || ts.isStatement(parent)) return undefined;
  }
  return undefined;
}

function annotated(name: ts.Node, root: ts.Expression): Site {
  return { name: shown(name.getText()), isCall: false, parameter: "", root };
}

function isOwn(node: ts.Node): boolean {
  return node.getSourceFile().fileName === SCRIPT_FILE;
}

function isTyped(declaration: ts.Declaration): boolean {
  return (ts.isVariableDeclaration(declaration) || ts.isParameter(declaration)) && declaration.type !== undefined;
}

/** Where in the object that is passed a value stands: `filter.range`; "" for the object itself. */
export function pathWithin(node: ts.Node, root: ts.Node): string {
  let path = "";
  for (let at = node; at !== root && at.parent !== undefined; at = at.parent) {
    const { parent } = at;
    const name =
      ts.isPropertyAssignment(parent) || ts.isShorthandPropertyAssignment(parent) ? nameText(parent.name) : undefined;
    if (name !== undefined) path = path === "" || path.startsWith("[") ? name + path : `${name}.${path}`;
    if (ts.isArrayLiteralExpression(parent)) {
      const place = `[${parent.elements.indexOf(at as ts.Expression)}]`;
      path = path === "" || path.startsWith("[") ? place + path : `${place}.${path}`;
    }
  }
  return shown(path);
}

/** The name of the member that a complaint stands at. */
export function memberName(node: ts.Node): (ts.Node & { readonly text: string }) | undefined {
  const { parent } = node;
  const isName = ts.isObjectLiteralElement(parent) && parent.name === node;
  return isName && (ts.isIdentifier(node) || ts.isStringLiteralLike(node)) ? node : undefined;
}

/** The value that a complaint is about. */
export function valueAt(node: ts.Node): ts.Expression | undefined {
  const { parent } = node;
  if (ts.isPropertyAssignment(parent) && parent.name === node) return parent.initializer;
  if (ts.isVariableDeclaration(parent) && parent.name === node) return parent.initializer;
  if (ts.isBinaryExpression(parent) && parent.left === node) return parent.right;
  return ts.isExpression(node) ? node : undefined;
}

export function hasText(name: ts.PropertyName): name is ts.Identifier | ts.StringLiteral | ts.NumericLiteral {
  return ts.isIdentifier(name) || ts.isStringLiteral(name) || ts.isNumericLiteral(name);
}

export function nameText(name: ts.PropertyName): string | undefined {
  return hasText(name) ? name.text : undefined;
}

export function enclosingCall(node: ts.Node): ts.CallExpression | ts.NewExpression | undefined {
  for (let at: ts.Node | undefined = node; at !== undefined; at = at.parent) {
    if (ts.isCallExpression(at) || ts.isNewExpression(at)) return at;
  }
  return undefined;
}

export function calleeNode({ expression }: ts.CallExpression | ts.NewExpression): ts.Node {
  return ts.isPropertyAccessExpression(expression) ? expression.name : expression;
}

export function calleeName(call: ts.CallExpression | ts.NewExpression): string {
  const { expression } = call;
  if (ts.isElementAccessExpression(expression) && ts.isStringLiteralLike(expression.argumentExpression)) {
    return shown(expression.argumentExpression.text);
  }
  return shown(calleeNode(call).getText());
}
