/**
 * Why a request could not be signed. Made in this folder alone and turned into a failure like any other by `failure.ts`.
 * The message is one printable line without secrets.
 */
import type { DiagnosticCode } from "../../../schemas/diagnostic.ts";

export type AuthErrorCode = Extract<
  DiagnosticCode,
  "sign-in-needed" | "sign-in-failed" | "credentials-unusable" | "credentials-unwritable" | "server-unavailable"
>;

/** What helps where a server sends us to the wrong authorization server. */
export const OVERRIDE_HINT = "if the server names the wrong authorization server, set oauth.authServerMetadataUrl";

export class AuthError extends Error {
  readonly code: AuthErrorCode;
  /** What helps. */
  readonly notes: readonly string[];

  constructor(code: AuthErrorCode, message: string, details: { notes?: readonly string[]; cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "AuthError";
    this.code = code;
    this.notes = details.notes ?? [];
  }
}

/** What `work` comes to, or why not. Rejects with what is no `AuthError`: a bug. */
export async function orAuthError<T>(work: Promise<T>): Promise<T | AuthError> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof AuthError) return error;
    throw error;
  }
}
