/**
 * One field of a form in Pi's dialogs: a list for what can be chosen, a line of text for the rest. What doesn't fit is asked
 * again, with what is expected; an optional field can be left out, and Enter alone takes the default where there is one.
 */
import { checkField, type Field, type FieldOption, type FieldValue, shownValue } from "../../questions/fields.ts";
import type { Choice, Dialogs } from "./dialog-queue.ts";
import { below, quoted } from "./dialog-text.ts";

export type GivenField =
  /** Without a value: left out. */
  | { readonly kind: "value"; readonly value: FieldValue | undefined }
  /** The person dismissed the dialog. */
  | { readonly kind: "dismissed" }
  /** Whoever answers never gives what fits. */
  | { readonly kind: "cancel" };

/** A program that answers dialogs by rote would go on for ever. */
const MOST_TRIES = 20;

interface Shown {
  readonly dialogs: Dialogs;
  readonly field: Field;
  /** The title, with what was wrong with the last answer. */
  readonly title: (wrong: string | undefined) => string;
}

/** `before` is what Enter alone takes: the value given earlier, else the default. */
export async function askField(
  dialogs: Dialogs,
  field: Field,
  head: string,
  before: FieldValue | undefined,
): Promise<GivenField> {
  const what = `${field.label}${field.required ? "" : " (optional)"}`;
  const title = (wrong: string | undefined) =>
    below(
      wrong === undefined ? undefined : `That doesn't fit: ${wrong}.`,
      head,
      what,
      quoted(field.description ?? "", dialogs.columns, 6),
    );
  const shown: Shown = { dialogs, field, title };
  switch (field.kind) {
    case "boolean":
      return choose(shown, YES_NO, before);
    case "choice":
      return choose(shown, field.options, before);
    case "choices":
      return chooseSeveral(shown, field.options, before);
    default:
      return type(shown, before);
  }
}

const YES_NO: readonly Choice<boolean>[] = [
  { label: "Yes", value: true },
  { label: "No", value: false },
];

/** What stands first is what Enter alone takes: the present value, else leaving it out. */
async function choose<T extends string | boolean>(
  { dialogs, field, title }: Shown,
  options: readonly Choice<T>[],
  before: FieldValue | undefined,
): Promise<GivenField> {
  type One = { readonly value: T | undefined };
  const choices: Choice<One>[] = options.map(({ label, value }) => ({ label, value: { value } }));
  const first = options.findIndex(({ value }) => value === before);
  const skip: Choice<One>[] = field.required ? [] : [{ label: "(leave it out)", value: { value: undefined } }];
  const [now] = first < 0 ? [] : choices.splice(first, 1);
  const mark = before === field.initial ? "default" : "as it is";
  const ordered = now ? [{ ...now, label: `${now.label} (${mark})` }, ...choices, ...skip] : [...skip, ...choices];
  const chosen = await dialogs.select(title(undefined), ordered);
  return chosen === undefined ? { kind: "dismissed" } : { kind: "value", value: chosen.value };
}

async function chooseSeveral(
  { dialogs, field, title }: Shown,
  options: readonly FieldOption[],
  before: FieldValue | undefined,
): Promise<GivenField> {
  const chosen = new Set(Array.isArray(before) ? before : []);
  let wrong: string | undefined;
  for (let tries = 0; tries < MOST_TRIES; ) {
    // In the order of the form, whatever the order they were chosen in.
    const values = options.map(({ value }) => value).filter((value) => chosen.has(value));
    const next = await dialogs.select<{ readonly toggle: string | undefined }>(
      below(title(wrong), `Choose ${field.expects}.`),
      [
        { label: `Done: ${shownValue(field, values)}`, value: { toggle: undefined } },
        ...options.map(({ value, label }) => ({
          label: `${chosen.has(value) ? "[x]" : "[ ]"} ${label}`,
          value: { toggle: value },
        })),
      ],
    );
    if (next === undefined) return { kind: "dismissed" };
    wrong = undefined;
    if (next.toggle === undefined) {
      tries++;
      const checked = await checkField(field, values);
      if (checked.ok) return { kind: "value", value: checked.value };
      wrong = checked.reason;
    } else if (!chosen.delete(next.toggle)) chosen.add(next.toggle);
  }
  return { kind: "cancel" };
}

async function type({ dialogs, field, title }: Shown, before: FieldValue | undefined): Promise<GivenField> {
  const shown = before === undefined ? undefined : shownValue(field, before);
  const enter = shown === undefined ? (field.required ? "" : "; Enter alone leaves it out") : "";
  let wrong: string | undefined;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const hint = `Expects ${field.expects}${enter}.`;
    const now = shown === undefined ? undefined : `Enter alone takes: ${shown}`;
    const typed = await dialogs.input(below(title(wrong), hint, now), shown);
    if (typed === undefined) return { kind: "dismissed" };
    if (typed === "" && before !== undefined) return { kind: "value", value: before };
    const checked = await checkField(field, typed);
    if (checked.ok) return { kind: "value", value: checked.value };
    wrong = checked.reason;
  }
  return { kind: "cancel" };
}
