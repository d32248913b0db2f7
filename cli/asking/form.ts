/**
 * A form, from who asks to what is sent: first who and what, and whether to answer at all; then field by field, each
 * checked as it is typed; then everything once more before anything leaves. Nothing is sent that wasn't shown.
 */
import type { QuestionContext } from "../../runtime/client-features.ts";
import { draftOf } from "../../runtime/questions/draft.ts";
import { checkField, type Field, type FieldValue, readForm } from "../../runtime/questions/fields.ts";
import { type Look, paint, printable } from "../print.ts";
import { heading } from "./heading.ts";
import { CANCEL, type Choice, DECLINE, type Prompts } from "./prompts.ts";

type Params = Readonly<Record<string, unknown>>;
type Result = Record<string, unknown>;
type Values = Map<Field, FieldValue | undefined>;

/** `skip` is what an optional field is left out by. */
const SKIP = Symbol("skip");

export async function askForm(prompts: Prompts, params: Params, context: QuestionContext, look: Look): Promise<Result> {
  const form = await readForm(params["requestedSchema"]);
  prompts.write(heading("asks", params, context, look));
  if (!form.ok) {
    prompts.write(`${paint(look, "yellow", `It can't be filled in here: ${form.reason}.`)}\n`);
    return { action: await prompts.select("What now?", [DECLINE, CANCEL]) };
  }
  const { fields } = form;
  const begin = await prompts.select<"accept" | "decline" | "cancel">("What now?", [
    { value: "accept", name: fields.length === 0 ? "Accept" : `Answer (${count(fields.length, "field")})` },
    DECLINE,
    CANCEL,
  ]);
  if (begin !== "accept") return { action: begin };
  const values: Values = new Map();
  for (const field of fields) values.set(field, await askField(prompts, field, field.initial, look));
  return fields.length === 0 ? { action: "accept", content: {} } : review(prompts, params, values, look);
}

async function review(prompts: Prompts, params: Params, values: Values, look: Look): Promise<Result> {
  for (;;) {
    const { content, errors, line } = await draftOf(params["requestedSchema"], values);
    prompts.write(`\n${paint(look, "bold", "This will be sent:")}\n`);
    for (const field of values.keys()) prompts.write(`  ${line(field)}\n`);
    const wrong = errors.length === 0 ? undefined : printable(errors.join("; "));
    const next = await prompts.select<"send" | "edit" | "decline" | "cancel">("Send it?", [
      { value: "send", name: "Send", ...(wrong !== undefined && { disabled: wrong }) },
      { value: "edit", name: "Edit" },
      DECLINE,
      CANCEL,
    ]);
    if (next === "send") return { action: "accept", content };
    if (next !== "edit") return { action: next };
    const field = await prompts.select(
      "Which one?",
      [...values.keys()].map((field): Choice<Field> => ({ value: field, name: line(field) })),
    );
    values.set(field, await askField(prompts, field, values.get(field), look));
  }
}

async function askField(
  prompts: Prompts,
  field: Field,
  initial: FieldValue | undefined,
  look: Look,
): Promise<FieldValue | undefined> {
  if (field.description) prompts.write(`${paint(look, "dim", `  ${field.description}`)}\n`);
  const refusal = async (typed: string | boolean | readonly string[]) => {
    const checked = await checkField(field, typed);
    return checked.ok ? undefined : checked.reason;
  };
  const chosen = await choose(prompts, field, initial, refusal);
  if (chosen === SKIP) return undefined;
  const checked = await checkField(field, chosen);
  return checked.ok ? checked.value : undefined;
}

async function choose(
  prompts: Prompts,
  field: Field,
  initial: FieldValue | undefined,
  refusal: (typed: string | boolean | readonly string[]) => Promise<string | undefined>,
): Promise<string | boolean | readonly string[] | typeof SKIP> {
  const skip: readonly Choice<typeof SKIP>[] = field.required ? [] : [{ value: SKIP, name: "(leave it out)" }];
  switch (field.kind) {
    case "boolean": {
      const choices: Choice<boolean | typeof SKIP>[] = [
        { value: true, name: "Yes" },
        { value: false, name: "No" },
        ...skip,
      ];
      return prompts.select(`${field.label}?`, choices, initialOf(initial, field));
    }
    case "choice": {
      const choices: Choice<string | typeof SKIP>[] = [
        ...field.options.map(({ value, label }) => ({ value, name: label })),
        ...skip,
      ];
      return prompts.select(`${field.label}:`, choices, initialOf(initial, field));
    }
    case "choices": {
      const before = new Set(Array.isArray(initial) ? initial : []);
      const choices = field.options.map(({ value, label }) => ({ value, name: label, checked: before.has(value) }));
      return prompts.checkbox(`${field.label} (${field.expects}):`, choices, refusal);
    }
    default: {
      const hint = field.required ? field.expects : `${field.expects}, Enter leaves it out`;
      const shown = initial === undefined ? undefined : String(initial);
      const note = shown === undefined ? hint : `${field.expects}, Enter takes`;
      return prompts.input(`${field.label} (${note}):`, refusal, { initial: shown });
    }
  }
}

/** The choice that the cursor starts at; leaving an optional field out, unless there is a value. */
function initialOf<T>(initial: FieldValue | undefined, field: Field): { initial?: T } {
  const start = initial ?? (field.required ? undefined : SKIP);
  return start === undefined ? {} : { initial: start as T };
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
