/**
 * The fields of a form as a person meets them: what kind each is, what it is called, what it takes. Reads the
 * restricted schemas of MCP's elicitation in every spelling there has been (`enum`, `enumNames`, `oneOf` with titles,
 * lists of either). Names, titles and options come from a server, so every text here is cleaned. Nothing is asked.
 */
import { printable } from "../../schemas/printable.ts";
import { isRecord } from "../../schemas/record.ts";
import { describeSchema } from "../calls/expectation.ts";
import { describeErrors } from "../calls/validation-errors.ts";
import { validatorFor } from "../calls/validator.ts";
import { fits } from "./form-content.ts";

export type FieldValue = string | number | boolean | readonly string[];

export interface FieldOption {
  readonly value: string;
  /** Title, and the value itself where the two differ. */
  readonly label: string;
}

export type Field = FieldBase &
  (
    | { readonly kind: "text" }
    | { readonly kind: "number" }
    | { readonly kind: "boolean" }
    | { readonly kind: "choice"; readonly options: readonly FieldOption[] }
    | { readonly kind: "choices"; readonly options: readonly FieldOption[] }
  );

interface FieldBase {
  /** As it goes back to the server. */
  readonly name: string;
  /** The title, with the name beside it where the two differ: a title could say anything. */
  readonly label: string;
  readonly description?: string | undefined;
  /** What it takes, in a few words. */
  readonly expects: string;
  readonly required: boolean;
  readonly schema: Readonly<Record<string, unknown>>;
  /** Valid. */
  readonly initial?: FieldValue | undefined;
}

export type ReadForm =
  | { readonly ok: true; readonly fields: readonly Field[] }
  /** Why nobody can fill it in here. */
  | { readonly ok: false; readonly reason: string };

/** More fields than anybody would fill in. */
const MAX_FIELDS = 100;
const MAX_OPTIONS = 1000;
const MAX_LABEL = 120;
const MAX_DESCRIPTION = 500;

/** Reads `requestedSchema`. Forms without fields are forms too: a question of yes or no. */
export async function readForm(schema: unknown): Promise<ReadForm> {
  const properties = isRecord(schema) && isRecord(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  if (properties.length > MAX_FIELDS) return { ok: false, reason: `the form has ${properties.length} fields` };
  const required = new Set(isRecord(schema) && Array.isArray(schema["required"]) ? schema["required"] : []);
  const fields: Field[] = [];
  for (const [name, property] of properties) {
    const field = isRecord(property) ? await readField(name, property, required.has(name)) : undefined;
    if (field === undefined)
      return { ok: false, reason: `the field "${short(name)}" is of a kind that forms don't have` };
    fields.push(field);
  }
  const missing = [...required].find((name) => !fields.some((field) => field.name === name));
  if (missing !== undefined)
    return { ok: false, reason: `the form requires "${short(String(missing))}", which it hasn't` };
  return { ok: true, fields };
}

async function readField(
  name: string,
  schema: Readonly<Record<string, unknown>>,
  required: boolean,
): Promise<Field | undefined> {
  const { title, description } = schema;
  const base = {
    name,
    label: labelOf(name, title),
    description: typeof description === "string" ? short(description, MAX_DESCRIPTION) : undefined,
    expects: inWords(describeSchema(schema)),
    required,
    schema,
    initial: (await isOffered(schema)) ? (schema["default"] as FieldValue) : undefined,
  };
  const options = optionsOf(schema);
  if (options)
    return options.length > 0 && options.length <= MAX_OPTIONS ? { ...base, kind: "choice", options } : undefined;
  switch (schema["type"]) {
    case "string":
      return { ...base, kind: "text" };
    case "integer":
    case "number":
      return { ...base, kind: "number" };
    case "boolean":
      return { ...base, kind: "boolean" };
    case "array": {
      const items = isRecord(schema["items"]) ? optionsOf(schema["items"]) : undefined;
      if (items === undefined || items.length === 0 || items.length > MAX_OPTIONS) return undefined;
      return { ...base, kind: "choices", options: items, expects: countOf(schema) };
    }
    default:
      return undefined;
  }
}

/** As people say it, who know texts and not strings. */
function inWords(expected: string): string {
  return printable(expected.replace(/\bstring\b/, "text"));
}

/** A default is offered when the field takes it and it can be shown as it is. */
async function isOffered(schema: Readonly<Record<string, unknown>>): Promise<boolean> {
  const { default: value } = schema;
  if (typeof value === "string" && (printable(value) !== value || value.length > MAX_DESCRIPTION)) return false;
  return fits(schema, value);
}

/** Of `enum` (with `enumNames`), or of `oneOf`/`anyOf` whose members have a `const` each; only texts can be chosen. */
function optionsOf(schema: Readonly<Record<string, unknown>>): FieldOption[] | undefined {
  const { enum: values, enumNames: names } = schema;
  if (Array.isArray(values)) {
    const titles = Array.isArray(names) ? names : [];
    return values.flatMap((value, index) => (typeof value === "string" ? [option(value, titles[index])] : []));
  }
  const members = schema["oneOf"] ?? schema["anyOf"];
  if (!Array.isArray(members)) return undefined;
  return members.flatMap((member) =>
    isRecord(member) && typeof member["const"] === "string" ? [option(member["const"], member["title"])] : [],
  );
}

function option(value: string, title: unknown): FieldOption {
  return { value, label: labelOf(value, title) };
}

function labelOf(name: string, title: unknown): string {
  const shown = typeof title === "string" ? short(title) : "";
  if (shown === "") return short(name) || '""';
  return shown === short(name) ? shown : `${shown} (${short(name)})`;
}

/** One printable line. */
function short(text: string, length = MAX_LABEL): string {
  const line = printable(text.slice(0, length * 4)).trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}

function countOf({ minItems, maxItems }: Readonly<Record<string, unknown>>): string {
  const bounds = [
    ...(typeof minItems === "number" ? [`at least ${minItems}`] : []),
    ...(typeof maxItems === "number" ? [`at most ${maxItems}`] : []),
  ];
  return bounds.length > 0 ? bounds.join(", ") : "any of them";
}

export type Typed =
  /** Without a value: left out. */
  { readonly ok: true; readonly value: FieldValue | undefined } | { readonly ok: false; readonly reason: string };

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** What somebody typed or chose, as the field's value; the reason where the field doesn't take it. */
export async function checkField(field: Field, typed: string | boolean | readonly string[]): Promise<Typed> {
  if (typed === "" && !(field.kind === "choice")) {
    return field.required ? { ok: false, reason: "this one is required" } : { ok: true, value: undefined };
  }
  if (field.kind === "number" && typeof typed === "string") {
    const number = NUMBER.test(typed.trim()) ? Number(typed) : Number.NaN;
    return Number.isFinite(number) ? validated(field, number) : { ok: false, reason: `expected ${field.expects}` };
  }
  if (Array.isArray(typed) && typed.length === 0 && !field.required) return { ok: true, value: undefined };
  return validated(field, typed);
}

async function validated(field: Field, value: FieldValue): Promise<Typed> {
  const validator = await validatorFor(field.schema, "all");
  if (!validator.ok) return { ok: false, reason: validator.reason };
  const outcome = validator.validate(value);
  if (outcome.kind === "valid") return { ok: true, value };
  if (outcome.kind === "unchecked") return { ok: false, reason: outcome.reason };
  // Of a list the whole is what was chosen, and its bounds say more than the first of its errors.
  const expected = field.kind === "choices" ? undefined : describeErrors(outcome.errors, field.name)[0]?.expected;
  return { ok: false, reason: `expected ${expected === undefined ? field.expects : inWords(expected)}` };
}

/** A value in one printable line. */
export function shownValue(field: Field, value: FieldValue | undefined): string {
  if (value === undefined) return "(left out)";
  if (typeof value === "boolean") return value ? "yes" : "no";
  const labelled = (one: string) =>
    "options" in field ? (field.options.find((option) => option.value === one)?.label ?? short(one)) : short(one, 200);
  return typeof value === "object" ? value.map(labelled).join(", ") || "(none)" : labelled(String(value));
}
