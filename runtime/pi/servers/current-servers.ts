/** The servers of a session as they are at this moment, and which of them a subcommand of `/mcp` has something to do for. */
import type { Diagnostic } from "../../../schemas/diagnostic.ts";
import { loadConfiguration } from "../../connect/configuration.ts";
import type { PiSession } from "../session.ts";
import { compileFinding } from "./compile-findings.ts";
import { isOn, type ServerRow, serverRows } from "./server-overview.ts";

export interface CurrentServers {
  readonly rows: readonly ServerRow[];
  /** Errors and warnings that no row says, each once; the latest last. */
  readonly problems: readonly Diagnostic[];
}

export async function currentServers(session: PiSession): Promise<CurrentServers> {
  const { table, files, runtime, registrations } = session;
  const { value, diagnostics } = await loadConfiguration(files);
  const rows = serverRows({
    table,
    configuration: value,
    diagnostics,
    status: (server) => runtime.status(server),
    finding: (server) => compileFinding(session, server),
    registered: [...registrations.servers, ...registrations.disabled],
    overridden: registrations.overridden,
  });
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  return { rows, problems: problemsBeside(rows, [...session.notices, ...errors]) };
}

/** Those that no row says already. */
export function problemsBeside(rows: readonly ServerRow[], found: readonly Diagnostic[]): readonly Diagnostic[] {
  const names = new Set(rows.map(({ name }) => name));
  const general = found.filter(
    ({ severity, server }) => severity !== "info" && !(server !== undefined && names.has(server)),
  );
  return [...new Map(general.map((one) => [one.message, one])).values()];
}

/** Servers that a subcommand does something to. */
export function isEligible(verb: string, row: ServerRow): boolean {
  switch (verb) {
    case "login":
    case "logout":
      return row.isSignable && row.kind !== "disabled";
    case "enable":
      return row.kind === "disabled";
    case "disable":
      return isOn(row);
    case "reconnect":
      return row.isCompiled && isOn(row);
    case "compile":
      return row.kind !== "disabled";
    default:
      return true;
  }
}
