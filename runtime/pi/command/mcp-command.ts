/**
 * `/mcp`: registered with the extension, everything else loaded when it is used. That the command is registered is also how
 * Pi knows that this extension replaces its own MCP support.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { PiHost } from "../host.ts";
import type { PiSession } from "../session.ts";

export function registerMcpCommand(pi: ExtensionAPI, host: PiHost, session: () => PiSession | undefined): void {
  pi.registerCommand("mcp", {
    description: "MCP servers: state, sign in and out, reconnect, enable and disable, exposure",
    getArgumentCompletions: async (prefix) => {
      const current = session();
      if (current === undefined) return null;
      const { completeMcp } = await import("./mcp-completion.ts");
      return completeMcp(current, prefix);
    },
    handler: async (args, ctx) => {
      const current = session();
      if (current === undefined) return ctx.ui.notify("There is no session.", "error");
      const { runMcp } = await import("./run-mcp.ts");
      await runMcp(args, { session: current, ctx, host });
    },
  });
}
