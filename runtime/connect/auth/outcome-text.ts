/** What became of a sign-in or a sign-out, in words for the person who asked for it. Holds no token. Pure. */
import { type Diagnostic, diagnostic } from "../../../schemas/diagnostic.ts";
import { printable } from "../../../schemas/printable.ts";
import type { LogInOutcome } from "./log-in.ts";
import type { LogOutOutcome } from "./log-out.ts";

export function loggedInText(outcome: Exclude<LogInOutcome, { kind: "failed" }>, server: string): string {
  if (outcome.kind === "not-needed") return `"${server}" asks for no sign-in; nothing was changed`;
  const scope = outcome.scope ? `, with the scopes ${printable(outcome.scope)}` : "";
  const where =
    outcome.store === "keyring" ? "kept in the system's keyring, which Pi doesn't read" : "Pi is signed in too";
  return `signed in to "${server}"${scope}; ${where}`;
}

export function loggedOutText(outcome: Exclude<LogOutOutcome, { kind: "failed" }>, server: string): string {
  if (outcome.kind === "not-signed-in") return `nobody was signed in to "${server}"`;
  switch (outcome.revoked) {
    case "yes":
      return `signed out of "${server}"; the tokens are revoked`;
    case "not-offered":
      return `signed out of "${server}"`;
    case "failed":
      return `signed out of "${server}", but the tokens could not be revoked (${printable(outcome.reason ?? "")}): they are good until they expire`;
  }
}

/** What went wrong, and what was left behind though it went well. */
export function findingsOf(outcome: LogInOutcome | LogOutOutcome, server: string): readonly Diagnostic[] {
  if (outcome.kind === "failed") return [outcome.diagnostic];
  if (outcome.kind === "signed-in") return outcome.isLeftInKeyring ? [leftInKeyring(server)] : [];
  const left = outcome.kind === "signed-out" ? outcome.leftInKeyring : undefined;
  return left === undefined ? [] : [leftInKeyring(server, left)];
}

/** Tokens that nobody uses any more, on this machine all the same. */
function leftInKeyring(server: string, why?: string): Diagnostic {
  const message = `the tokens of "${server}" in the system's keyring could not be deleted${why === undefined ? "" : `: ${printable(why)}`}`;
  const notes = [
    `nothing uses them any more; once the keyring can be used, delete them with: pimcp logout ${printable(server)}`,
  ];
  return diagnostic("credentials-unwritable", message, { severity: "warning", server, notes });
}
