/**
 * What in a script comes from declarations, the tools' or annotations of its own, and what it made up as it went. Only the former can be
 * contradicted: code without types is right if it runs.
 */
import { ts } from "ts-morph";
import { DECLARATIONS_FILE, GLOBALS_FILE, SCRIPT_FILE, type ScriptProgram } from "./program.ts";

export class Declared {
  readonly checker: ts.TypeChecker;
  /** Variables whose object the script builds up: `x.a = …`, `x[key] = …`, `Object.assign(x, …)`. */
  readonly #builtUp = new Set<ts.Symbol>();
  /** Names that are assigned to without being declared anywhere, and names asked for with `typeof`. */
  readonly assignedNames = new Set<string>();
  readonly guardedNames = new Set<string>();
  /** Members that the script asks for first: `"name" in tools`. */
  readonly guardedMembers = new Set<string>();
  readonly #told = new Set<string>();

  constructor({ checker, script }: ScriptProgram) {
    this.checker = checker;
    const visit = (node: ts.Node): void => {
      if (isAssignment(node)) this.#noteAssigned(node.left);
      if (ts.isCallExpression(node) && isObjectAssign(node)) this.#noteBuiltUp(node.arguments[0]);
      if (isMembershipTest(node)) this.guardedMembers.add(node.left.text);
      if (ts.isTypeOfExpression(node) && ts.isIdentifier(node.expression)) this.guardedNames.add(node.expression.text);
      ts.forEachChild(node, visit);
    };
    visit(script);
  }

  /** True from the second time on that the same name is asked for. */
  isToldOf(name: string): boolean {
    const told = this.#told.has(name);
    this.#told.add(name);
    return told;
  }

  /** Declared for tools or by the host. */
  isOurs(node: ts.Node | undefined): boolean {
    const file = node?.getSourceFile().fileName;
    return file === DECLARATIONS_FILE || file === GLOBALS_FILE;
  }

  isOurSymbol(symbol: ts.Symbol | undefined): boolean {
    return symbol?.declarations?.some((declaration) => this.isOurs(declaration)) === true;
  }

  /** The value's type is what a declaration says, of itself, of the property it was read from or of the list's elements. */
  isDeclared(type: ts.Type, expression?: ts.Node): boolean {
    if (this.isOurSymbol(type.aliasSymbol) || this.isOurSymbol(type.symbol) || this.#isAnnotated(type)) return true;
    const element = this.elementOf(type);
    if (element !== undefined && this.isDeclared(element)) return true;
    if (type.isUnion() && type.types.some((one) => this.isDeclared(one))) return true;
    return expression !== undefined && this.isOurSymbol(this.symbolAt(expression));
  }

  /** What the elements of a list are; undefined for what is no list. */
  elementOf(type: ts.Type): ts.Type | undefined {
    if (!this.checker.isArrayType(type) && !this.checker.isTupleType(type)) return undefined;
    return this.checker.getTypeArguments(type as ts.TypeReference)[0];
  }

  /** The symbol of the last name of an expression. */
  symbolAt(expression: ts.Node): ts.Symbol | undefined {
    return this.checker.getSymbolAtLocation(ts.isPropertyAccessExpression(expression) ? expression.name : expression);
  }

  /** An object that gets members after its literal was written, so that its type tells only a part. */
  isBuiltUp(expression: ts.Expression): boolean {
    if (ts.isIdentifier(expression)) {
      const symbol = this.checker.getSymbolAtLocation(expression);
      return symbol !== undefined && this.#builtUp.has(symbol);
    }
    if (!ts.isObjectLiteralExpression(expression)) return false;
    return expression.properties.some((one) => ts.isSpreadAssignment(one) && this.isBuiltUp(one.expression));
  }

  /** A type written down in the script itself. */
  #isAnnotated(type: ts.Type): boolean {
    const declaration = type.symbol?.declarations?.[0];
    if (declaration?.getSourceFile().fileName !== SCRIPT_FILE) return false;
    return ts.isInterfaceDeclaration(declaration) || ts.isTypeLiteralNode(declaration);
  }

  #noteAssigned(target: ts.Expression): void {
    if (ts.isIdentifier(target)) this.assignedNames.add(target.text);
    if (ts.isPropertyAccessExpression(target) || ts.isElementAccessExpression(target)) {
      this.#noteBuiltUp(target.expression);
    }
  }

  #noteBuiltUp(object: ts.Expression | undefined): void {
    if (object === undefined || !ts.isIdentifier(object)) return;
    const symbol = this.checker.getSymbolAtLocation(object);
    if (symbol !== undefined) this.#builtUp.add(symbol);
  }
}

export function isAssignment(node: ts.Node): node is ts.BinaryExpression {
  if (!ts.isBinaryExpression(node)) return false;
  const { kind } = node.operatorToken;
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
}

/** Written to, counted up or deleted rather than read. */
export function isTarget(node: ts.Expression): boolean {
  const { parent } = node;
  if (isAssignment(parent)) return parent.left === node;
  if (!ts.isPrefixUnaryExpression(parent)) return ts.isDeleteExpression(parent) || ts.isPostfixUnaryExpression(parent);
  return parent.operator === ts.SyntaxKind.PlusPlusToken || parent.operator === ts.SyntaxKind.MinusMinusToken;
}

function isMembershipTest(node: ts.Node): node is ts.BinaryExpression & { readonly left: ts.StringLiteralLike } {
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.InKeyword) return false;
  return ts.isStringLiteralLike(node.left);
}

function isObjectAssign({ expression }: ts.CallExpression): boolean {
  if (!ts.isPropertyAccessExpression(expression)) return false;
  return expression.getText() === "Object.assign" || expression.getText() === "Object.defineProperty";
}
