/**
 * `pimcp login`: signs in to a server with a browser and keeps the sign-in where Pi keeps it, for both. Says what it did on
 * stdout and everything on the way on stderr. Prints no token.
 */
import { type LogInOutcome, logIn } from "../runtime/connect/auth/log-in.ts";
import { findingsOf, loggedInText } from "../runtime/connect/auth/outcome-text.ts";
import { tracedFetch, WireTrace } from "../runtime/connect/trace.ts";
import { type Diagnostic, diagnostic } from "../schemas/diagnostic.ts";
import { browserSignIn } from "./browser-sign-in.ts";
import type { Invocation } from "./commands.ts";
import { fail } from "./fail.ts";
import { EXIT, type Io, interruptedExit } from "./io.ts";
import { asText, diagnosticLines } from "./print.ts";
import { findSignableServer } from "./signable-server.ts";

/** What `--json` prints; `expiresAt` is ISO 8601, of the access token. */
export interface LoginJson {
  readonly ok: boolean;
  readonly server: string;
  readonly status: "signed-in" | "not-needed" | "failed";
  readonly scope?: string;
  readonly expiresAt?: string;
  readonly renewable?: boolean;
  /** Where the sign-in is kept. */
  readonly store?: "file" | "keyring";
  readonly diagnostics: readonly Diagnostic[];
}

const STORES = ["file", "keyring"] as const;

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { operands, flags } = invocation;
  const server = operands[0]!;
  const store = STORES.find((one) => one === flags["store"]);
  if (flags["store"] !== undefined && store === undefined) {
    return fail("login", invocation, io, `--store is one of ${STORES.join(", ")}`, EXIT.usage);
  }
  const found = await findSignableServer(invocation, io);
  if (!found.ok) return report({ kind: "failed", diagnostic: found.diagnostic }, server, invocation, io);
  const { config, resolved, agentDir, fetch } = found;
  const outcome = await logIn(config, resolved, {
    agentDir,
    fetch: io.trace ? tracedFetch(fetch, new WireTrace(io.trace, server, resolved.secrets)) : fetch,
    interactive: browserSignIn(io, { openBrowser: flags["no-browser"] !== true, readsInput: true }),
    signal: io.signal,
    // Without a wish it stays where it is.
    ...(store !== undefined && { signIns: store }),
    ...(typeof flags["scope"] === "string" && { scope: flags["scope"] }),
  });
  if (outcome.kind === "failed" && io.signal.aborted) return cancelled(server, invocation, io);
  return report(outcome, server, invocation, io);
}

function cancelled(server: string, invocation: Invocation, io: Io): number {
  const found = diagnostic("sign-in-failed", "the sign-in was cancelled", { server });
  report({ kind: "failed", diagnostic: found }, server, invocation, io);
  return interruptedExit(io.signal);
}

function report(outcome: LogInOutcome, server: string, { flags }: Invocation, io: Io): number {
  const ok = outcome.kind !== "failed";
  const found = findingsOf(outcome, server);
  if (flags["json"]) io.out(`${JSON.stringify(jsonOf(outcome, server, found))}\n`);
  else if (ok) io.out(`${loggedInText(outcome, server)}\n`);
  for (const one of found) io.err(asText(diagnosticLines(one, io.errLook)));
  return ok ? EXIT.ok : EXIT.reported;
}

function jsonOf(outcome: LogInOutcome, server: string, diagnostics: readonly Diagnostic[]): LoginJson {
  const { kind: status } = outcome;
  if (status === "failed") return { ok: false, server, status, diagnostics };
  if (status === "not-needed") return { ok: true, server, status, diagnostics };
  const { scope, expiresAt, isRenewable, store } = outcome;
  return {
    ok: true,
    server,
    status,
    ...(scope !== undefined && { scope }),
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
    renewable: isRenewable,
    store,
    diagnostics,
  };
}
