/** `pimcp logout`: forgets the sign-in to one server, Pi's too, and tells its authorization server where that listens. */
import { type LogOutOutcome, logOut } from "../runtime/connect/auth/log-out.ts";
import { findingsOf, loggedOutText } from "../runtime/connect/auth/outcome-text.ts";
import type { Diagnostic } from "../schemas/diagnostic.ts";
import type { Invocation } from "./commands.ts";
import { EXIT, type Io } from "./io.ts";
import { asText, diagnosticLines } from "./print.ts";
import { findSignableServer } from "./signable-server.ts";

/** What `--json` prints; `revoked` says whether the tokens are worthless from now on. Signed out and not `ok`: some are left behind. */
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
  const diagnostics = findingsOf(outcome, server);
  if (invocation.flags["json"]) io.out(`${JSON.stringify(jsonOf(outcome, server, diagnostics))}\n`);
  else if (outcome.kind !== "failed") io.out(`${loggedOutText(outcome, server)}\n`);
  for (const one of diagnostics) io.err(asText(diagnosticLines(one, io.errLook)));
  return diagnostics.length === 0 ? EXIT.ok : EXIT.reported;
}

function jsonOf(outcome: LogOutOutcome, server: string, diagnostics: readonly Diagnostic[]): LogoutJson {
  const { kind: status } = outcome;
  const ok = diagnostics.length === 0;
  return { ok, server, status, ...(status === "signed-out" && { revoked: outcome.revoked }), diagnostics };
}
