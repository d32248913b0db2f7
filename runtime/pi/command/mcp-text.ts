/** Servers and their tools as plain text, for where there is no panel. Pure; texts of servers are made fit to be shown. */
import type { Diagnostic } from "../../../schemas/diagnostic.ts";
import { placed } from "../../../schemas/placed.ts";
import { type ServerKind, type ServerRow, tokensOf } from "../servers/server-overview.ts";
import { terminalLine } from "../terminal-text.ts";

export const KIND_TEXT: Readonly<Record<ServerKind, string>> = {
  "needs-sign-in": "needs sign-in",
  failed: "failed",
  invalid: "not usable",
  "not-compiled": "not compiled",
  gone: "no longer configured",
  connecting: "connecting",
  connected: "connected",
  "not-connected": "not connected",
  disabled: "disabled",
};

/** A few words on what is out of step; empty where nothing is. */
export function remarksOn({ isStale, drift }: Pick<ServerRow, "isStale" | "drift">): readonly string[] {
  return [...(isStale ? ["stale"] : []), ...(drift ? [drift.isOfClient ? "other tools" : "tools changed"] : [])];
}

/** Whether what is out of step is worth a look. */
export function isOutOfStep({ isStale, drift }: Pick<ServerRow, "isStale" | "drift">): boolean {
  return isStale || (drift !== undefined && drift.isOfClient !== true);
}

/** How many tools, and what they cost; empty where there are none. */
export function costOf(row: Pick<ServerRow, "tools">): readonly string[] {
  const { declared, total } = tokensOf(row);
  const { length } = row.tools;
  return length === 0 ? [] : [count(length, "tool"), `${declared} of ${count(total, "token")} declared`];
}

/** Where it is defined, and what of others it goes before. */
export function originOf({ source, override, inPlaceOf }: ServerRow): readonly string[] {
  return [
    ...(source === "" ? [] : [`defined at ${source}`]),
    ...(override === undefined ? [] : [`overridden at ${override}`]),
    ...(inPlaceOf === undefined ? [] : [placeTaken(inPlaceOf)]),
  ];
}

export function placeTaken(extension: string): string {
  return `in place of the one that ${extension} registers`;
}

export const NO_SERVERS = "No MCP servers are configured; `pimcp init` writes a starter mcp.json.";
export const NO_PROJECT = "No configuration of a project is used.";

const MAX_PROBLEMS = 10;

export function overviewText(
  rows: readonly ServerRow[],
  { isProjectTrusted, problems }: { readonly isProjectTrusted: boolean; readonly problems: readonly Diagnostic[] },
): string {
  const lines = rows.flatMap((row) => [headOf(row), ...row.reason.map((line) => `    ${terminalLine(line)}`)]);
  if (rows.length === 0) lines.push(NO_SERVERS);
  if (!isProjectTrusted) lines.push(NO_PROJECT);
  const said = problems.slice(-MAX_PROBLEMS).map((one) => `${one.severity}: ${terminalLine(placed(one))}`);
  return [...lines, ...said].join("\n");
}

export function serverText(row: ServerRow): string {
  const { transport, reason, tools } = row;
  const width = Math.max(...tools.map(({ tool }) => tool.length), 0);
  return [
    headOf(row),
    ...originOf(row).map((line) => `  ${line}`),
    ...(transport === "" ? [] : [`  ${transport}`]),
    ...reason.map((line) => `  ${terminalLine(line)}`),
    ...tools.map(({ tool, exposure, tokens, isDeclared }) => {
      const cost = tokens === undefined ? "" : `  ${tokens} tokens${isDeclared ? "" : " (not declared)"}`;
      return `  ${terminalLine(tool).padEnd(width)}  ${exposure}${cost}`;
    }),
  ].join("\n");
}

function headOf(row: ServerRow): string {
  const { name, kind, exposure, scope } = row;
  const hint =
    kind === "needs-sign-in" ? `, run /mcp login ${name}` : kind === "not-compiled" ? `, run /mcp compile ${name}` : "";
  const more = [...remarksOn(row), ...costOf(row)].map((one) => `, ${one}`);
  return `${name}: ${KIND_TEXT[kind]}${hint}${more.join("")} (${exposure}, ${scope})`;
}

export function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
