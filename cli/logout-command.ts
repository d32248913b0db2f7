/** `pimcp logout`: forgets the sign-in to one server, Pi's too, and tells its authorization server where that listens. */
import { type LogOutOutcome, logOut } from "../runtime/connect/auth/log-out.ts";
import type { Diagnostic } from "../schemas/diagnostic.ts";
import type { Invocation } from "./commands.ts";
import { EXIT, type Io } from "./io.ts";
import { asText, diagnosticLines, printable } from "./print.ts";
import { findSignableServer } from "./signable-server.ts";

/** What `--json` prints; `revoked` says whether the tokens are worthless from now on. */
export interface LogoutJson {
  readonly ok: boolean;
  readonly server: string;
  readonly status: "signed-out" | "not-signed-in" | "failed";
  readonly revoked?: "yes" | "not-offered" | "failed";
  readonly diagnostics: readonly Diagnostic[];
}

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const server = invocation.operands[0]!;
  const found = await findSignableServer(invocation, io);
  const outcome: LogOutOutcome = found.ok
    ? await logOut(found.config, found.resolved, { agentDir: found.agentDir }, found.fetch)
    : { kind: "failed", diagnostic: found.diagnostic };
  const ok = outcome.kind !== "failed";
  if (invocation.flags["json"]) io.out(`${JSON.stringify(jsonOf(outcome, server))}\n`);
  if (!ok) io.err(asText(diagnosticLines(outcome.diagnostic, io.errLook)));
  else if (!invocation.flags["json"]) io.out(`${sentence(outcome, server)}\n`);
  return ok ? EXIT.ok : EXIT.reported;
}

function jsonOf(outcome: LogOutOutcome, server: string): LogoutJson {
  const { kind: status } = outcome;
  if (status === "failed") return { ok: false, server, status, diagnostics: [outcome.diagnostic] };
  return { ok: true, server, status, ...(status === "signed-out" && { revoked: outcome.revoked }), diagnostics: [] };
}

function sentence(outcome: Exclude<LogOutOutcome, { kind: "failed" }>, server: string): string {
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
