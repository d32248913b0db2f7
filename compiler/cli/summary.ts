/** What `pimcp compile` prints for a person: servers, tools, exposure, what the declarations cost, what was written. */
import type { ScopeReport, ServerReport } from "../compile.ts";
import { type Look, paint } from "./print.ts";

const STATUS_STYLE = { compiled: "green", unchanged: "dim", stale: "yellow", failed: "red", disabled: "dim" } as const;

/** Lines for one scope. `folder` is the output folder as it should be shown. */
export function summaryLines(report: ScopeReport, folder: string, look: Look): string[] {
  const width = Math.max(6, ...report.servers.map((server) => server.name.length));
  const rows = report.servers.map((server) => serverRow(server, width, look));
  return [`${paint(look, "bold", folder)} (${report.scope} servers)`, ...rows, ...totals(report, look)];
}

function serverRow(server: ServerReport, width: number, look: Look): string {
  const tools = server.status === "failed" || server.status === "disabled" ? "" : `${server.tools} tools`;
  const status = paint(look, STATUS_STYLE[server.status], server.status.padEnd(9));
  const from = server.source === "cache" ? ", from cache" : "";
  const version = server.protocolVersion ? `${server.era} ${server.protocolVersion}${from}` : "";
  return `  ${server.name.padEnd(width)}  ${tools.padStart(9)}  ${status}  ${version}`.trimEnd();
}

function totals(report: ScopeReport, look: Look): string[] {
  const exposures = Object.entries(report.exposures).sort(([, a], [, b]) => b - a);
  const tools = exposures.reduce((sum, [, count]) => sum + count, 0);
  const exposure = exposures.map(([name, count]) => `${grouped(count)} ${name}`).join(", ");
  const { tokens } = report;
  const changed = report.files.filter((file) => file.status !== "unchanged");
  return [
    ...(tools > 0 ? [`  ${grouped(tools)} tools: ${exposure}`] : []),
    ...(tokens
      ? [`  ${grouped(tokens.declared)} of ${grouped(tokens.budget)} tokens declared (${grouped(tokens.total)} for all)`]
      : []),
    ...(report.files.length > 0 ? [paint(look, changed.length > 0 ? "bold" : "dim", `  ${fileCounts(report)}`)] : []),
  ];
}

function fileCounts({ files }: ScopeReport): string {
  const counts = (["created", "updated", "removed", "unchanged"] as const).flatMap((status) => {
    const count = files.filter((file) => file.status === status).length;
    return count > 0 ? [`${count} ${status}`] : [];
  });
  return `${files.length} files: ${counts.join(", ")}`;
}

/** 12345 → `12,345`, the same in every locale. */
export function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}
