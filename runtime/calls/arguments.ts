/**
 * What happens to a call's arguments before they are sent: the habits of models to send an object or array as a JSON
 * string and `null` for what they leave open are undone, one layer deep, and the whole is checked against the tool's
 * input schema. Arguments that need nothing are sent as they came, the same object. A schema that can't be used never
 * keeps a call back.
 */
import { setOwn } from "./dialect.ts";
import { describeValue } from "./expectation.ts";
import { acceptedKinds, forEachPart, isSchema, kindOf, propertySchemas } from "./schema-kinds.ts";
import { type ArgumentError, describeErrors, errorLine, MAX_ERRORS } from "./validation-errors.ts";
import { validatorFor } from "./validator.ts";

export type PreparedArguments =
  | {
      readonly ok: true;
      readonly args: Readonly<Record<string, unknown>>;
      /** Why they were not checked, when they weren't. */
      readonly notice?: string;
    }
  | {
      readonly ok: false;
      /** At most ten. */
      readonly errors: readonly ArgumentError[];
      /** All of them, a line each. */
      readonly message: string;
    };

/** Arguments ready to send, or everything that is wrong with them. `undefined` and `null` are no arguments. */
export async function prepareArguments(inputSchema: unknown, args: unknown): Promise<PreparedArguments> {
  const given = unwrapArguments(args ?? {});
  if (!isSchema(given)) {
    const got = describeValue(given);
    return failed([{ path: "arguments", expected: "object", got }], 1);
  }
  const unwrapped = withoutOpen(unwrapProperties(given, inputSchema), inputSchema);
  if (inputSchema === undefined) return { ok: true, args: unwrapped };
  const validator = await validatorFor(inputSchema, "all");
  if (!validator.ok) return { ok: true, args: unwrapped, notice: `arguments were not checked: ${validator.reason}` };
  const outcome = validator.validate(unwrapped);
  switch (outcome.kind) {
    case "valid":
      return { ok: true, args: unwrapped };
    case "unchecked":
      return { ok: true, args: unwrapped, notice: `arguments were not checked: ${outcome.reason}` };
    case "invalid":
      return failed(describeErrors(outcome.errors, "arguments"), outcome.errors.length);
  }
}

function failed(errors: readonly ArgumentError[], found: number): PreparedArguments {
  const lines = errors.map(errorLine);
  if (found > errors.length && errors.length === MAX_ERRORS) lines.push("… and more");
  return { ok: false, errors, message: lines.join("\n") };
}

/** Arguments sent as the JSON text of an object. */
function unwrapArguments(args: unknown): unknown {
  const parsed = typeof args === "string" ? parseContainer(args) : undefined;
  return kindOf(parsed) === "object" ? parsed : args;
}

/** Properties sent as JSON text where the schema wants an object or array there and would not have a string. */
function unwrapProperties(
  args: Readonly<Record<string, unknown>>,
  inputSchema: unknown,
): Readonly<Record<string, unknown>> {
  let copy: Record<string, unknown> | undefined;
  for (const [name, value] of Object.entries(args)) {
    if (typeof value !== "string") continue;
    const parsed = parseContainer(value);
    if (parsed === undefined) continue;
    const kinds = kindsOfProperty(inputSchema, name);
    if (kinds.has("string") || !kinds.has(kindOf(parsed))) continue;
    copy ??= copyOwn(args);
    setOwn(copy, name, parsed);
  }
  return copy ?? args;
}

/** Without optional properties that are `null` where the schema would not have it: not given is what that means. */
function withoutOpen(args: Readonly<Record<string, unknown>>, inputSchema: unknown): Readonly<Record<string, unknown>> {
  const open = Object.keys(args).filter((name) => {
    if (args[name] !== null || isRequired(inputSchema, name)) return false;
    const schemas = propertySchemas(inputSchema, name, inputSchema);
    return schemas.length > 0 && !schemas.some((schema) => acceptedKinds(schema, inputSchema).has("null"));
  });
  if (open.length === 0) return args;
  const copy = copyOwn(args);
  for (const name of open) delete copy[name];
  return copy;
}

function isRequired(inputSchema: unknown, name: string): boolean {
  let required = false;
  forEachPart(inputSchema, inputSchema, (part) => {
    const names = part["required"];
    required ||= Array.isArray(names) && names.includes(name);
  });
  return required;
}

function kindsOfProperty(inputSchema: unknown, name: string): ReadonlySet<string> {
  const schemas = propertySchemas(inputSchema, name, inputSchema);
  // Nothing said about a property: its string is meant as one.
  if (schemas.length === 0) return new Set(["string"]);
  return new Set(schemas.flatMap((schema) => [...acceptedKinds(schema, inputSchema)]));
}

/** Undefined for text that isn't a JSON object or array. */
function parseContainer(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    // Not JSON: the string stays, and the check says what was expected of it.
    return undefined;
  }
}

function copyOwn(source: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(source)) setOwn(copy, key, value);
  return copy;
}
