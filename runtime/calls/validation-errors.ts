/**
 * Turns ajv's errors into a few sentences a model or a person can act on: where, what was expected, what
 * came. The many errors of a union's branches become the one that says something.
 */
import type { ErrorObject } from "ajv";
import { nearest } from "../../schemas/nearest.ts";
import { describeSchema, describeValue } from "./expectation.ts";
import { acceptedKinds, isSchema, kindOf } from "./schema-kinds.ts";

export interface ArgumentError {
  /** `arguments.days`, `arguments.places[0]["post code"]`. */
  readonly path: string;
  /** `integer ≥ 1`. */
  readonly expected: string;
  /** `"three"`, `nothing`. */
  readonly got: string;
  /** A declared name that an unknown property is close to. */
  readonly suggestion?: string;
}

/** At most this many are described. */
export const MAX_ERRORS = 10;

/** The errors worth reading, at most ten, each place and expectation once; `rootName` begins every path. */
export function describeErrors(errors: readonly ErrorObject[], rootName: string): ArgumentError[] {
  const described = new Map<string, ArgumentError>();
  for (const error of foldUnions(errors)) {
    const one = describeError(error, rootName);
    if (one !== undefined) described.set(`${one.path}\0${one.expected}`, one);
    if (described.size === MAX_ERRORS) break;
  }
  return [...described.values()];
}

/** One line: `arguments.days: expected integer ≥ 1, got "three"`. */
export function errorLine(error: ArgumentError): string {
  if (error.suggestion !== undefined) return `${error.path}: unknown property; did you mean "${error.suggestion}"?`;
  return `${error.path}: expected ${error.expected}, got ${error.got}`;
}

/**
 * Drops what only repeats: errors of union branches that a value of this kind can't be meant for, `if`, and the
 * insides of `propertyNames`. Errors inside the one branch that fits the value's kind stay, in place of the union's.
 */
function foldUnions(errors: readonly ErrorObject[]): ErrorObject[] {
  const kept: ErrorObject[] = [];
  for (const error of errors) {
    if (error.propertyName !== undefined) continue;
    if (error.keyword !== "anyOf" && error.keyword !== "oneOf") {
      kept.push(error);
      continue;
    }
    const inner: ErrorObject[] = [];
    while (kept.length > 0 && isInside(kept.at(-1)!, error)) inner.unshift(kept.pop()!);
    kept.push(...meantBranch(inner, error));
  }
  const telling = kept.filter((error) => error.keyword !== "if");
  return telling.length > 0 ? telling : kept;
}

/** ajv reports a branch's errors before the union's, under its path, or under a definition's where it is a reference. */
function isInside(error: ErrorObject, union: ErrorObject): boolean {
  if (!isWithin(error.instancePath, union.instancePath)) return false;
  if (error.schemaPath.startsWith(`${union.schemaPath}/`)) return true;
  return definitionOf(error.schemaPath) !== definitionOf(union.schemaPath);
}

function definitionOf(schemaPath: string): string {
  return /^#\/(?:\$defs|definitions)\/[^/]+/.exec(schemaPath)?.[0] ?? schemaPath.replace(/#.*$/s, "#");
}

function isWithin(path: string, ancestor: string): boolean {
  return path === ancestor || path.startsWith(`${ancestor}/`);
}

function meantBranch(inner: readonly ErrorObject[], union: ErrorObject): readonly ErrorObject[] {
  if (!Array.isArray(union.schema)) return [union];
  const kind = kindOf(union.data);
  // A branch that is a reference may accept anything as far as can be seen from here.
  const fitting = union.schema.filter((branch) => acceptedKinds(branch, undefined).has(kind));
  if (fitting.length !== 1 || kindsKnown(union.schema) === false) return [union];
  const telling = inner.filter((error) => error.instancePath !== union.instancePath || error.keyword !== "type");
  return telling.length > 0 ? telling : [union];
}

function kindsKnown(branches: readonly unknown[]): boolean {
  return branches.every((branch) => isSchema(branch) && branch["$ref"] === undefined);
}

function describeError(error: ErrorObject, rootName: string): ArgumentError | undefined {
  const path = formatPath(error.instancePath, rootName);
  const parent: unknown = error.parentSchema;
  const params = error.params as Readonly<Record<string, unknown>>;
  switch (error.keyword) {
    case "required":
    case "dependentRequired":
    case "dependencies": {
      const name = String(params["missingProperty"]);
      return { path: path + formatStep(name), expected: describeSchema(declaredIn(parent, name)), got: "nothing" };
    }
    case "additionalProperties":
    case "unevaluatedProperties":
      return unknownProperty(error, path, String(params["additionalProperty"] ?? params["unevaluatedProperty"]));
    case "propertyNames":
      return {
        path: path + formatStep(String(params["propertyName"])),
        expected: `a property name that is a ${describeSchema(error.schema)}`,
        got: describeValue(params["propertyName"]),
      };
    case "uniqueItems":
      return { path, expected: "distinct items", got: `items ${params["j"]} and ${params["i"]} alike` };
    case "contains":
      return { path, expected: `an array containing ${describeSchema(error.schema)}`, got: describeValue(error.data) };
    case "not":
      return { path, expected: `anything but ${describeSchema(error.schema)}`, got: describeValue(error.data) };
    case "oneOf":
      if (Array.isArray(params["passingSchemas"])) {
        return { path, expected: "a value that fits exactly one alternative", got: describeValue(error.data) };
      }
      return { path, expected: describeSchema(parent), got: describeValue(error.data) };
    case "false schema":
      return { path, expected: "nothing", got: describeValue(error.data) };
    default:
      return { path, expected: describeSchema(parent), got: describeValue(error.data) };
  }
}

function unknownProperty(error: ErrorObject, path: string, name: string): ArgumentError {
  const properties = isSchema(error.parentSchema) ? error.parentSchema["properties"] : undefined;
  const declared = isSchema(properties) ? Object.keys(properties) : [];
  const suggestion = nearest(name, declared);
  const listed = `${declared.slice(0, 20).join(", ")}${declared.length > 20 ? ", …" : ""}`;
  return {
    path: path + formatStep(name),
    expected: declared.length === 0 ? "no properties" : `only the properties ${listed}`,
    got: describeValue(ownMember(error.data, name)),
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

function declaredIn(schema: unknown, name: string): unknown {
  return isSchema(schema) ? ownMember(schema["properties"], name) : undefined;
}

function ownMember(holder: unknown, name: string): unknown {
  const owns = typeof holder === "object" && holder !== null && Object.hasOwn(holder, name);
  return owns ? (holder as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** `/places/0/post code` → `arguments.places[0]["post code"]`. */
function formatPath(pointer: string, rootName: string): string {
  const steps = pointer.split("/").slice(1);
  return rootName + steps.map((step) => formatStep(step.replaceAll("~1", "/").replaceAll("~0", "~"))).join("");
}

function formatStep(step: string): string {
  if (/^\d+$/.test(step)) return `[${step}]`;
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
}
