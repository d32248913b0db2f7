/** What is known of a server that failed, as the error that the caller of its tool meets. */
import type { Diagnostic } from "../schemas/diagnostic.ts";
import type { OpenOutcome } from "./connect/open.ts";
import { ServerError } from "./errors.ts";

export function unopened(server: string, outcome: Extract<OpenOutcome, { ok: false }>): ServerError {
  return serverError(server, outcome.diagnostic, outcome.diagnostic, outcome.stderr);
}

export function serverError(
  server: string,
  { message, notes }: Pick<Diagnostic, "message" | "notes">,
  cause: unknown,
  stderr: readonly string[] = [],
): ServerError {
  return new ServerError([message, ...notes].join("; "), {
    server,
    cause,
    ...(stderr.length > 0 && { stderrTail: stderr.join("\n") }),
  });
}
