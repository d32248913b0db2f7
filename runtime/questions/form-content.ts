/**
 * What a filled-in form must be: an object that fits the schema the server asked with, its values text, numbers, yes/no
 * or lists of text, which is all that MCP's forms can carry. Fields left out get the default the schema
 * has for them. Schema and defaults are untrusted. Messages name places and what is expected there, never what
 * was given, which may be a secret. Loads ajv with the first form.
 */
import { isRecord } from "../../schemas/record.ts";
import { describeErrors } from "../calls/validation-errors.ts";
import { validatorFor } from "../calls/validator.ts";

export type FittedContent =
  | { readonly ok: true; readonly content: Record<string, unknown> }
  /** `errors` are lines such as `content.age: expected integer ≥ 0`. `schema` blames the question. */
  | { readonly ok: false; readonly blame: "answer" | "schema"; readonly errors: readonly string[] };

/** Never rejects. `content` may be absent: a form can be accepted as its defaults have it. */
export async function fitContent(schema: unknown, content: unknown): Promise<FittedContent> {
  if (content !== undefined && !isRecord(content)) return unfit("content: expected an object");
  const filled = await withDefaults(schema, content ?? {});
  const odd = Object.entries(filled).find(([, value]) => !isFieldValue(value));
  if (odd) return unfit(`content.${odd[0].slice(0, 200)}: expected text, a number, true, false or a list of texts`);
  const validator = await validatorFor(schema ?? true, "all");
  if (!validator.ok) return { ok: false, blame: "schema", errors: [validator.reason] };
  const outcome = validator.validate(filled);
  if (outcome.kind === "valid") return { ok: true, content: filled };
  if (outcome.kind === "unchecked") return { ok: false, blame: "schema", errors: [outcome.reason] };
  return unfit(
    ...describeErrors(outcome.errors, "content").map(({ path, expected }) => `${path}: expected ${expected}`),
  );
}

/** A copy with the schema's default for each field that is missing; a default that its own schema refuses is none. */
async function withDefaults(schema: unknown, content: Readonly<Record<string, unknown>>) {
  const properties = isRecord(schema) && isRecord(schema["properties"]) ? schema["properties"] : {};
  const added: [string, unknown][] = [];
  for (const [name, property] of Object.entries(properties)) {
    if (Object.hasOwn(content, name) || !isRecord(property) || !Object.hasOwn(property, "default")) continue;
    if (await fits(property, property["default"])) added.push([name, property["default"]]);
  }
  // Not by assignment: a field may be called `__proto__`.
  return Object.fromEntries([...Object.entries(content).filter(([, value]) => value !== undefined), ...added]);
}

/** Whether a value is one the field takes. */
export async function fits(field: unknown, value: unknown): Promise<boolean> {
  if (!isFieldValue(value)) return false;
  const validator = await validatorFor(field, "first");
  return validator.ok && validator.validate(value).kind === "valid";
}

function isFieldValue(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((item) => typeof item === "string");
  if (typeof value === "number") return Number.isFinite(value);
  return typeof value === "string" || typeof value === "boolean";
}

function unfit(...errors: string[]): FittedContent {
  return { ok: false, blame: "answer", errors };
}
