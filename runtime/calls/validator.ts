/**
 * Compiles server-supplied schemas with ajv, one at a time and only when first needed, and checks values
 * with them. Schemas are untrusted, so: nothing is fetched, each gets an ajv of its own (an `$id` can't reach
 * another tool's schema), a pattern never sees a long string, and a check that could take unbounded time
 * runs under a time limit. A schema that can't be used is a reason in words, never a throw. ajv is imported lazily.
 */
import type { ErrorObject, Options, ValidateFunction } from "ajv";
import { compilePattern, type Dialect, normaliseSchema } from "./dialect.ts";

export type ValidationOutcome =
  | { readonly kind: "valid" }
  | { readonly kind: "invalid"; readonly errors: readonly ErrorObject[] }
  /** Too slow, too deep, or the check itself failed. */
  | { readonly kind: "unchecked"; readonly reason: string };

export type Validator =
  | { readonly ok: true; validate(value: unknown): ValidationOutcome }
  | { readonly ok: false; readonly reason: string };

/** Strings longer than this many UTF-16 units count as matching whatever pattern a server gave. */
export const MAX_PATTERN_INPUT = 10_000;
/** Milliseconds for one check with a schema that has patterns, references or `uniqueItems`. */
export const CHECK_TIMEOUT_MS = 500;

/** Whether a check collects every error or ends at the first. */
export type ErrorMode = "all" | "first";

const compiled: Readonly<Record<ErrorMode, WeakMap<object, Promise<Validator>>>> = {
  all: new WeakMap(),
  first: new WeakMap(),
};

/** The validator for `schema`, compiled at most once for each schema object and mode. */
export function validatorFor(schema: unknown, mode: ErrorMode): Promise<Validator> {
  if (typeof schema !== "object" || schema === null) return compileSchema(schema, mode);
  const cached = compiled[mode].get(schema);
  if (cached !== undefined) return cached;
  const validator = compileSchema(schema, mode);
  compiled[mode].set(schema, validator);
  return validator;
}

async function compileSchema(schema: unknown, mode: ErrorMode): Promise<Validator> {
  if (typeof schema !== "boolean" && (typeof schema !== "object" || schema === null || Array.isArray(schema))) {
    return { ok: false, reason: "its schema is neither an object nor a boolean" };
  }
  try {
    const normalised = normaliseSchema(schema);
    if (normalised === undefined) return { ok: false, reason: "its schema has more than 20,000 parts" };
    const check = await compileWithAjv(normalised.dialect, normalised.schema as object | boolean, mode);
    const guard = normalised.unbounded ? await timeGuard() : undefined;
    return { ok: true, validate: (value) => runCheck(check, value, guard) };
  } catch (error) {
    return { ok: false, reason: await describeCompileFailure(error) };
  }
}

async function compileWithAjv(dialect: Dialect, schema: object | boolean, mode: ErrorMode): Promise<ValidateFunction> {
  const [ajv, { default: formats }] = await Promise.all([createAjv(dialect, mode), import("ajv-formats")]);
  formats.default(ajv as unknown as Parameters<typeof formats.default>[0]);
  return ajv.compile(schema);
}

async function createAjv(dialect: Dialect, mode: ErrorMode) {
  const options: Options = {
    strict: false,
    allErrors: mode === "all",
    // Errors then carry the value and the schema they are about.
    verbose: true,
    logger: false,
    // Inherited properties such as `toString` are nobody's arguments.
    ownProperties: true,
    validateSchema: false,
    meta: false,
    code: { regExp: boundedPattern },
  };
  switch (dialect) {
    case "draft-07":
      return new (await import("ajv")).Ajv(options);
    case "2019-09":
      return new (await import("ajv/dist/2019.js")).Ajv2019(options);
    case "2020-12":
      return new (await import("ajv/dist/2020.js")).Ajv2020(options);
  }
}

/** A pattern that can't be read excludes nothing. */
const boundedPattern: NonNullable<NonNullable<Options["code"]>["regExp"]> = Object.assign(
  (pattern: string) => {
    const expression = compilePattern(pattern);
    return {
      test: (text: string) => expression === undefined || text.length > MAX_PATTERN_INPUT || expression.test(text),
    };
  },
  { code: "bounded pattern" },
);

type Guard = (check: () => unknown) => unknown;

function runCheck(check: ValidateFunction, value: unknown, guard: Guard | undefined): ValidationOutcome {
  try {
    const valid = guard === undefined ? check(value) : guard(() => check(value));
    return valid === true ? { kind: "valid" } : { kind: "invalid", errors: check.errors ?? [] };
  } catch (error) {
    if (isTimeout(error)) return { kind: "unchecked", reason: `the check took longer than ${CHECK_TIMEOUT_MS} ms` };
    if (error instanceof RangeError) return { kind: "unchecked", reason: "its schema or value nests too deeply" };
    return { kind: "unchecked", reason: `the check failed (${messageOf(error)})` };
  } finally {
    // Errors hold the value, which may be large; the validator lives as long as its schema.
    check.errors = null;
  }
}

let sharedGuard: Promise<Guard> | undefined;

/**
 * Runs a function under V8's termination timer, which also stops a regular expression in the midst of backtracking;
 * about 60 µs a call.
 */
function timeGuard(): Promise<Guard> {
  sharedGuard ??= import("node:vm").then((vm) => {
    const slot: { check: (() => unknown) | undefined } = vm.createContext({ check: undefined }) as typeof slot;
    const script = new vm.Script("check()");
    return (check) => {
      slot.check = check;
      try {
        return script.runInContext(slot, { timeout: CHECK_TIMEOUT_MS });
      } finally {
        slot.check = undefined;
      }
    };
  });
  return sharedGuard;
}

function isTimeout(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}

async function describeCompileFailure(error: unknown): Promise<string> {
  const { MissingRefError } = await import("ajv");
  if (error instanceof MissingRefError) {
    return `its schema refers to ${JSON.stringify(error.missingRef.slice(0, 200))}, which isn't part of it`;
  }
  return `its schema can't be compiled (${messageOf(error)})`;
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 200);
}
