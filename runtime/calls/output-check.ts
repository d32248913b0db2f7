/**
 * Checks structured content against a tool's `outputSchema`. Both come from the server, so the check is bounded
 * in time and stops at the first fault; it only ever adds words to a result. Imports ajv lazily.
 */
import { describeErrors } from "./validation-errors.ts";
import { validatorFor } from "./validator.ts";

export interface StructuredCheck {
  /** Known to fit: false also where it couldn't be checked. */
  readonly fits: boolean;
  readonly mismatch?: string;
  /** Why it couldn't be checked. */
  readonly notice?: string;
}

export async function checkStructured(structured: unknown, outputSchema: unknown): Promise<StructuredCheck> {
  const validator = await validatorFor(outputSchema, "first");
  if (!validator.ok) return { fits: false, notice: `structuredContent was not checked: ${validator.reason}` };
  if (structured === undefined) return { fits: false };
  const outcome = validator.validate(structured);
  switch (outcome.kind) {
    case "valid":
      return { fits: true };
    case "unchecked":
      return { fits: false, notice: `structuredContent was not checked: ${outcome.reason}` };
    case "invalid": {
      const [first] = describeErrors(outcome.errors, "structuredContent");
      const detail = first === undefined ? "" : `: ${first.path}: expected ${first.expected}, got ${first.got}`;
      return { fits: false, mismatch: `structuredContent does not match the tool's outputSchema${detail}` };
    }
  }
}
