/**
 * A form as far as it is filled in: what would be sent, with the defaults of what was left out because they go along, and
 * what keeps it from being sent. Sends nothing.
 */
import { type Field, type FieldValue, shownValue } from "./fields.ts";
import { fitContent } from "./form-content.ts";

export interface Draft {
  readonly content: Record<string, unknown>;
  /** Why the server's schema doesn't take it; empty where it does. */
  readonly errors: readonly string[];
  /** `City: Oslo`, as it would be sent. */
  readonly line: (field: Field) => string;
}

/** `values` without a value are left out. */
export async function draftOf(
  requestedSchema: unknown,
  values: ReadonlyMap<Field, FieldValue | undefined>,
): Promise<Draft> {
  const given = Object.fromEntries(
    [...values].flatMap(([{ name }, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const fitted = await fitContent(requestedSchema, given);
  const content: Record<string, unknown> = fitted.ok ? fitted.content : given;
  const valueIn = ({ name }: Field) => (Object.hasOwn(content, name) ? (content[name] as FieldValue) : undefined);
  return {
    content,
    errors: fitted.ok ? [] : fitted.errors,
    line: (field) => `${field.label}: ${shownValue(field, valueIn(field))}`,
  };
}
