/**
 * `/mcp`: which servers this session has, in plain text. That the command is registered is also how Pi knows that this
 * extension replaces its own MCP support. Reads nothing from servers.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { PiSession } from "./session.ts";

export function registerMcpCommand(pi: ExtensionAPI, session: () => PiSession | undefined): void {
  pi.registerCommand("mcp", {
    description: "Show MCP servers, their tools and what needs attention",
    handler: async (_args, ctx) => {
      const current = session();
      ctx.ui.notify(current ? statusText(current) : "There is no session.", "info");
    },
  });
}

/** A line for each server, then what loading the artifacts and calling had to say. */
export function statusText({ table, notices, isProjectTrusted }: PiSession): string {
  const servers = table.servers().filter((server) => table.isReachable(server));
  const lines = servers.map(({ name, scope, exposure, compiled }) => {
    const tools = table.tools({ server: name }).length;
    return `${name}: ${tools} ${tools === 1 ? "tool" : "tools"}, ${exposure}, ${scope}, ${compiled.transport} ${compiled.protocolVersion}`;
  });
  if (lines.length === 0) lines.push("No MCP servers are compiled; run `pimcp compile` where mcp.json is.");
  if (!isProjectTrusted) lines.push("No configuration of a project is used.");
  return [...lines, ...notices.map(({ severity, message }) => `${severity}: ${message}`)].join("\n");
}
