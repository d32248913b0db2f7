/**
 * `/mcp`: registered with the extension, everything else loaded when it is used. That the command is registered is also how
 * Pi knows that this extension replaces its own MCP support.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { PiHost } from "../host.ts";
import type { PiSession } from "../session.ts";

const NAME = "mcp";
const DESCRIPTION = "MCP servers: state, sign in and out, reconnect, enable and disable, exposure";

/** Pi numbers the commands of extensions that want the same name: `/mcp:1`, `/mcp:2`. Tells the user which of them is ours. */
export function tellCommandName(session: Pick<PiSession, "pi" | "signal" | "tell">): void {
  if (session.signal.aborted) return;
  const commands = session.pi.getCommands();
  const own = commands.find(({ source, description }) => source === "extension" && description === DESCRIPTION);
  if (own === undefined || own.name === NAME) return;
  session.tell(`Another extension has a command /${NAME} too; the one of pimcp is /${own.name} here.`, "info");
}

export function registerMcpCommand(pi: ExtensionAPI, host: PiHost, session: () => PiSession | undefined): void {
  pi.registerCommand(NAME, {
    description: DESCRIPTION,
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
