/** What `pimcp compile` prints for a person: servers, tools, exposure, what the declarations cost, what was written. */

import type { ScopeReport, ServerReport } from "../compiler/reports.ts";
import { byCodeUnit } from "../schemas/canonical.ts";
import { cell, widthOf, wrap } from "./columns.ts";
import { type Look, paint, printable } from "./print.ts";

const STATUS_STYLE = { compiled: "green", unchanged: "dim", stale: "yellow", failed: "red", disabled: "dim" } as const;

/** Lines for one scope, none wider than `look.width` columns. `folder` is the output folder as it should be shown. */
export function summaryLines(report: ScopeReport, folder: string, look: Look): string[] {
  const [head, ...rest] = wrap(`${printable(folder)} (${report.scope} servers)`, look.width);
  return [paint(look, "bold", head ?? ""), ...rest, ...serverRows(report.servers, look), ...totals(report, look)];
}

/** Columns from which it fits what was spoken beside a name. */
const ROOMY = 64;
const TOOLS_WIDTH = 9;
const STATUS_WIDTH = 9;

function serverRows(servers: readonly ServerReport[], look: Look): string[] {
  const spoken = servers.map((server) => (look.width >= ROOMY ? spokenWith(server) : ""));
  const names = servers.map((server) => printable(server.name));
  const taken =
    2 + 2 + TOOLS_WIDTH + 2 + STATUS_WIDTH + Math.max(0, ...spoken.map((text) => text.length && text.length + 2));
  const width = Math.max(6, Math.min(look.width - taken, Math.max(0, ...names.map(widthOf))));
  return servers.map((server, index) => {
    const tools = server.status === "failed" || server.status === "disabled" ? "" : countedTools(server.tools);
    const status = paint(look, STATUS_STYLE[server.status], server.status.padEnd(STATUS_WIDTH));
    return `  ${cell(names[index]!, width)}  ${tools.padStart(TOOLS_WIDTH)}  ${status}  ${spoken[index]}`.trimEnd();
  });
}

function spokenWith({ era, protocolVersion, source }: ServerReport): string {
  return protocolVersion ? `${era} ${protocolVersion}${source === "cache" ? ", from cache" : ""}` : "";
}

const countedTools = (count: number): string => `${grouped(count)} tool${count === 1 ? "" : "s"}`;

function totals(report: ScopeReport, look: Look): string[] {
  const exposures = Object.entries(report.exposures).sort(([a, x], [b, y]) => y - x || byCodeUnit(a, b));
  const tools = exposures.reduce((sum, [, count]) => sum + count, 0);
  const exposure = exposures.map(([name, count]) => `${grouped(count)} ${name}`).join(", ");
  const { tokens, files } = report;
  const indented = (text: string) => wrap(text, look.width - 2).map((line) => `  ${line}`);
  const style = files.some((file) => file.status !== "unchanged") ? "bold" : "dim";
  return [
    ...(tools > 0 ? indented(`${countedTools(tools)}: ${exposure}`) : []),
    ...(tokens
      ? indented(
          `${grouped(tokens.declared)} of ${grouped(tokens.budget)} tokens declared (${grouped(tokens.total)} for all)`,
        )
      : []),
    ...(files.length > 0 ? indented(fileCounts(report)).map((line) => paint(look, style, line)) : []),
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
function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}
