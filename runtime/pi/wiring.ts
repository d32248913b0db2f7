/**
 * What the extension listens to, and to whom it passes that on. One session at a time, made on `session_start` and ended on
 * `session_shutdown`, whatever the reason for either: a start, a reload, a fork, a resumed session.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { ToolTable } from "../../schemas/artifacts/tool-table.ts";
import { registerMcpCommand } from "./mcp-command.ts";
import { openSession, type PiHost, type Preloaded, preload } from "./open-session.ts";
import { resourceTools } from "./resource-tools.ts";
import { SERVERS_SECTION } from "./servers-section.ts";
import type { PiSession } from "./session.ts";
import { compiledTools, type ToolSurroundings } from "./session-tools.ts";
import { answerToolMeta } from "./tool-meta.ts";
import { ToolRegistry } from "./tool-registry.ts";

export async function wire(pi: ExtensionAPI, host: PiHost): Promise<void> {
  let session: PiSession | undefined;
  const around: ToolSurroundings = {
    tui: host.tui,
    session: () => {
      if (session === undefined) throw new Error("the session that this tool belongs to has ended");
      return session;
    },
  };
  const registry = new ToolRegistry(pi);
  const toolsOf = (table: ToolTable) => [...compiledTools(table, around), ...resourceTools(table, around)];

  // Before Pi is ready a registration costs nothing; each one later has Pi go through all its tools. The resource tools wait:
  // two extensions that register one name this early keep Pi from starting, and theirs are names that others use.
  let early: Preloaded | undefined = await preload(host);
  registry.registerEarly(compiledTools(early.loadout.runtime.table, around));

  pi.on("session_start", async (_event, ctx) => {
    await session?.close();
    const register = (table: ToolTable) => registry.replaceAll(toolsOf(table));
    const opened = await openSession({ pi, ctx, host, early, register });
    session = opened;
    early = undefined;
    await opened.begin();
    // Once the first request is on its way: a process of its own, and only where something was never compiled.
    setImmediate(() => void import("./compile-missing.ts").then(({ compileMissing }) => compileMissing(opened)));
  });
  pi.on("session_shutdown", async () => {
    const ending = session;
    session = undefined;
    await ending?.close();
  });
  pi.on("before_agent_start", ({ systemPromptOptions: { sections } }) => {
    const section = session?.serversSection;
    if (section === undefined) delete sections[SERVERS_SECTION];
    else sections[SERVERS_SECTION] = section;
  });
  answerToolMeta(pi, () => session?.table);
  registerMcpCommand(pi, () => session);
}
