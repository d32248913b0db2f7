/**
 * A server's form in Pi's dialogs: first who asks and what, and whether to answer at all; then field by field, each checked
 * as it is given and asked again with the reason where it doesn't fit; then everything once more. Nothing is sent that
 * wasn't shown. Loads ajv.
 */
import type { QuestionContext } from "../../client-features.ts";
import { draftOf } from "../../questions/draft.ts";
import { type Field, type FieldValue, readForm } from "../../questions/fields.ts";
import { terminalLine } from "../terminal-text.ts";
import { askField, type GivenField } from "./dialog-field.ts";
import type { Choice, Dialogs } from "./dialog-queue.ts";
import { below, CANCEL, DECLINE, questionHead, shortName } from "./dialog-text.ts";

type Params = Readonly<Record<string, unknown>>;
type Result = Record<string, unknown>;
type Values = Map<Field, FieldValue | undefined>;
type Way = "decline" | "cancel";

export async function askForm(dialogs: Dialogs, params: Params, context: QuestionContext): Promise<Result> {
  const form = await readForm(params["requestedSchema"]);
  const head = questionHead("asks", params["message"], context, dialogs.columns);
  if (!form.ok) {
    const title = below(head, `It can't be filled in here: ${form.reason}.`);
    return { action: (await dialogs.select<Way>(title, [CANCEL, DECLINE])) ?? "cancel" };
  }
  const { fields } = form;
  const first = await dialogs.select<"accept" | Way>(head, opening(fields.length));
  if (first !== "accept") return { action: first ?? "cancel" };
  if (fields.length === 0) return { action: "accept", content: {} };
  const values: Values = new Map();
  for (const [index, field] of fields.entries()) {
    const place = `${index + 1} of ${fields.length}`;
    const given = await ask(dialogs, field, { context, place, before: field.initial });
    if (given.kind !== "value") return { action: given.kind };
    values.set(field, given.value);
  }
  return review(dialogs, params, context, values);
}

/**
 * Without fields the first answer is the last: since a dialog may come up while somebody types, Enter alone must not give it.
 */
function opening(fields: number): readonly Choice<"accept" | Way>[] {
  if (fields === 0) return [CANCEL, { label: "Accept", value: "accept" }, DECLINE];
  return [{ label: `Answer (${fields} ${fields === 1 ? "field" : "fields"})`, value: "accept" }, DECLINE, CANCEL];
}

interface Asking {
  readonly context: QuestionContext;
  /** `2 of 3`, where the fields are asked one after another. */
  readonly place?: string;
  readonly before: FieldValue | undefined;
}

/** A field, and whether the form is to be left when its dialog is dismissed. */
async function ask(
  dialogs: Dialogs,
  field: Field,
  { context, place, before }: Asking,
): Promise<Exclude<GivenField, { kind: "dismissed" }> | { readonly kind: "decline" }> {
  const head = `Server "${shortName(context.server)}" asks${place === undefined ? "" : `, ${place}`}:`;
  for (;;) {
    const given = await askField(dialogs, field, head, before);
    if (given.kind !== "dismissed") return given;
    const title = `Leave the form of server "${shortName(context.server)}"?`;
    const next = await dialogs.select<"on" | Way>(title, [{ label: "Go on with it", value: "on" }, DECLINE, CANCEL]);
    if (next !== "on") return { kind: next ?? "cancel" };
  }
}

async function review(dialogs: Dialogs, params: Params, context: QuestionContext, values: Values): Promise<Result> {
  for (;;) {
    const { content, errors, line } = await draftOf(params["requestedSchema"], values);
    const isFit = errors.length === 0;
    const title = below(
      `This goes to server "${shortName(context.server)}":`,
      ...[...values.keys()].map((field) => `  ${line(field)}`),
      isFit ? undefined : `It can't be sent as it is: ${terminalLine(errors.join("; "))}`,
    );
    const next = await dialogs.select<"send" | "change" | Way>(title, [
      ...(isFit ? ([{ label: "Send", value: "send" }] as const) : []),
      { label: "Change something", value: "change" },
      DECLINE,
      CANCEL,
    ]);
    if (next === "send") return { action: "accept", content };
    if (next !== "change") return { action: next ?? "cancel" };
    const fields = [...values.keys()].map((field) => ({ label: line(field), value: field }));
    const field = await dialogs.select("Change which one?", fields);
    if (field === undefined) continue;
    const given = await ask(dialogs, field, { context, before: values.get(field) ?? field.initial });
    if (given.kind !== "value") return { action: given.kind };
    values.set(field, given.value);
  }
}
