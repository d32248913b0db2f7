/**
 * Whether a value of one type can be what another asks for. Wider than TypeScript's own rule: `const unit = list[0]` is a
 * string to the compiler and may well be one of the words a tool takes. Says no only where no value would do.
 */
import { ts } from "ts-morph";

/** Deeper than this nobody looks; what is there may fit. */
const MAX_DEPTH = 6;
const LITERALS = ts.TypeFlags.Literal | ts.TypeFlags.TemplateLiteral | ts.TypeFlags.Enum;
const UNTOLD = ts.TypeFlags.Any | ts.TypeFlags.Unknown | ts.TypeFlags.Never | ts.TypeFlags.TypeParameter;
/** A primitive as a whole, with all its values. */
const WHOLE: readonly (readonly [whole: ts.TypeFlags, like: ts.TypeFlags])[] = [
  [ts.TypeFlags.String, ts.TypeFlags.StringLike],
  [ts.TypeFlags.Number, ts.TypeFlags.NumberLike],
  [ts.TypeFlags.Boolean, ts.TypeFlags.BooleanLike],
];

export function mayFit(checker: ts.TypeChecker, source: ts.Type, target: ts.Type, depth = 0): boolean {
  if (depth > MAX_DEPTH || (source.flags & UNTOLD) !== 0 || checker.isTypeAssignableTo(source, target)) return true;
  if (source.isUnion()) return source.types.some((one) => mayFit(checker, one, target, depth));
  if (target.isUnion()) return target.types.some((one) => mayFit(checker, source, one, depth));
  if (target.isIntersection()) return target.types.every((one) => mayFit(checker, source, one, depth));
  for (const [whole, like] of WHOLE) {
    if ((source.flags & whole) !== 0) return (target.flags & like) !== 0 && (target.flags & (LITERALS | whole)) !== 0;
  }
  if ((source.flags & ts.TypeFlags.Object) === 0 || (target.flags & ts.TypeFlags.Object) === 0) return false;
  return isList(checker, target) || isList(checker, source)
    ? listMayFit(checker, source, target, depth)
    : missingMembers(checker, source, target).length === 0 && membersMayFit(checker, source, target, depth);
}

/** Names of members that `target` requires and `source` can't have. */
export function missingMembers(checker: ts.TypeChecker, source: ts.Type, target: ts.Type): readonly string[] {
  if (checker.getIndexInfosOfType(source).length > 0) return [];
  return checker
    .getPropertiesOfType(target)
    .filter((member) => (member.flags & ts.SymbolFlags.Optional) === 0 && source.getProperty(member.name) === undefined)
    .map((member) => member.name);
}

function isList(checker: ts.TypeChecker, type: ts.Type): boolean {
  return checker.isArrayType(type) || checker.isTupleType(type);
}

function listMayFit(checker: ts.TypeChecker, source: ts.Type, target: ts.Type, depth: number): boolean {
  if (!isList(checker, source) || !isList(checker, target)) return false;
  const wanted = checker.getTypeArguments(target as ts.TypeReference);
  const given = checker.getTypeArguments(source as ts.TypeReference);
  // A list whose length nobody knows may have any; of two tuples each place counts.
  return given.every((one, place) => {
    const want = wanted[Math.min(place, wanted.length - 1)];
    return want === undefined || mayFit(checker, one, want, depth + 1);
  });
}

function membersMayFit(checker: ts.TypeChecker, source: ts.Type, target: ts.Type, depth: number): boolean {
  return checker.getPropertiesOfType(target).every((member) => {
    const own = source.getProperty(member.name);
    return (
      own === undefined || mayFit(checker, checker.getTypeOfSymbol(own), checker.getTypeOfSymbol(member), depth + 1)
    );
  });
}
