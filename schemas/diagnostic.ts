/**
 * What a run has to say, as data. Its look is decided when it is printed (`cli/print.ts`), so that
 * `--json`, the terminal and a test see the same findings. An expected failure is a value of this
 * kind; a throw is a bug.
 */
import type { Diagnostic as DiagnosticFile } from "./diagnostic.schema.ts";

export type Diagnostic = Readonly<Omit<DiagnosticFile, "notes">> & { readonly notes: readonly string[] };
export type Severity = Diagnostic["severity"];

/** The outcome of a pipeline stage: as much of a value as could be made, and everything found on the way. */
export interface Outcome<T> {
  readonly value: T;
  readonly diagnostics: readonly Diagnostic[];
}

/** Every code there is, with the severity it has by default. A code is never reused for another meaning. */
export const DIAGNOSTIC_CODES = {
  // configuration
  "config-syntax": "error",
  "config-unreadable": "error",
  "config-not-found": "error",
  "config-shape": "error",
  "config-unwritable": "error",
  "duplicate-key": "warning",
  "unknown-key": "warning",
  "no-effect": "warning",
  "invalid-value": "error",
  "invalid-exposure": "error",
  "invalid-server": "error",
  "invalid-server-name": "error",
  "server-name-collision": "error",
  "override-without-server": "warning",
  "unmatched-tool-exposure": "warning",
  "literal-secret": "warning",
  "issuer-unset": "warning",
  "no-servers": "warning",
  "unknown-server": "error",
  "unknown-tool": "error",
  "ambiguous-tool": "error",
  // introspection
  "unset-variable": "error",
  "command-failed": "error",
  "missing-cwd": "error",
  "unusable-ca-file": "error",
  "server-unreachable": "error",
  "server-stale": "warning",
  "sign-in-needed": "error",
  "sign-in-failed": "error",
  "no-sign-in": "error",
  "credentials-unusable": "error",
  "credentials-unwritable": "error",
  "access-denied": "error",
  "server-unavailable": "error",
  "protocol-mismatch": "error",
  "verdict-changed": "warning",
  "server-timeout": "error",
  "stdout-noise": "warning",
  "capability-lie": "info",
  "list-truncated": "warning",
  "tools-unlisted": "warning",
  "invalid-tool": "warning",
  "duplicate-tool": "warning",
  "invalid-prompt": "warning",
  "duplicate-prompt": "warning",
  "secret-echoed": "warning",
  "not-cached": "error",
  "cache-unwritable": "warning",
  // calls
  "tools-drifted": "warning",
  "call-notice": "info",
  // tasks
  "task-not-durable": "warning",
  "task-handle-stays": "warning",
  "task-handle-unreadable": "warning",
  "question-unanswered": "warning",
  "answer-unused": "warning",
  "trace-unwritable": "warning",
  // generation
  "tool-name-collision": "warning",
  "prompt-name-collision": "warning",
  "declaration-degraded": "info",
  "stub-type-unknown": "warning",
  "stub-type-widened": "info",
  "schema-external-ref": "info",
  // writing
  "output-unwritable": "error",
  "output-outside": "error",
  "output-foreign": "warning",
  "check-failed": "error",
  "artifacts-missing": "error",
  "artifacts-torn": "error",
  "artifacts-format": "error",
  "config-newer": "warning",
} as const satisfies Record<string, Severity>;
export type DiagnosticCode = keyof typeof DIAGNOSTIC_CODES;

/** Makes a diagnostic with its code's severity unless told otherwise; `undefined` details are left out. */
export function diagnostic(
  code: DiagnosticCode,
  message: string,
  details: {
    readonly [K in Exclude<keyof Diagnostic, "code" | "message">]?: Diagnostic[K] | undefined;
  } = {},
): Diagnostic {
  const present = Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined));
  return { code, severity: DIAGNOSTIC_CODES[code], message, notes: [], ...present };
}
