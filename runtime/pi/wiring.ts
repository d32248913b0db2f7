/**
 * What the extension listens to, and to whom it passes that on. One session at a time, made on `session_start` and ended on
 * `session_shutdown`, whatever the reason for either: a start, a reload, a fork, a resumed session.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { ToolTable } from "../../schemas/artifacts/tool-table.ts";
import { AfterFirstRequest } from "./after-first-request.ts";
import { chooseEngine } from "./codemode-engine.ts";
import { compileMissing } from "./compile-missing.ts";
import { sessionHandlers } from "./dialogs.ts";
import type { PiHost } from "./host.ts";
import { inBackground } from "./in-background.ts";
import { LateTui } from "./late-tui.ts";
import { registerMcpCommand } from "./mcp-command.ts";
import { openSession } from "./open-session.ts";
import { PromptCommands } from "./prompt-commands.ts";
import { followRegistrations, watchRegistrations } from "./registered-servers.ts";
import { resourceTools } from "./resource-tools.ts";
import { SERVERS_SECTION } from "./servers-section.ts";
import type { PiSession } from "./session.ts";
import { compiledTools, type ToolSurroundings } from "./session-tools.ts";
import { answerToolMeta } from "./tool-meta.ts";
import { ToolRegistry } from "./tool-registry.ts";
import { checkScripts } from "./type-check-hook.ts";

export function wire(pi: ExtensionAPI, host: PiHost): void {
  let session: PiSession | undefined;
  const tui = new LateTui(host);
  const quiet = new AfterFirstRequest(pi);
  const around: ToolSurroundings = {
    tui,
    session: () => {
      if (session === undefined) throw new Error("the session that this tool belongs to has ended");
      return session;
    },
  };
  const registry = new ToolRegistry(pi);
  const prompts = new PromptCommands(pi, () => session);
  const toolsOf = (table: ToolTable) => [...compiledTools(table, around), ...resourceTools(table, around)];

  const register = (table: ToolTable) => {
    prompts.show(table);
    return registry.replaceAll(toolsOf(table));
  };

  pi.on("session_start", async (_event, ctx) => {
    await session?.close();
    if (ctx.mode === "tui") await tui.load();
    const opened = await openSession({ pi, ctx, host, register, handlers: () => session && sessionHandlers(session) });
    session = opened;
    await chooseEngine(opened, host);
    await opened.begin();
    setImmediate(() => {
      inBackground(opened, "servers can't be compiled", () => compileMissing(opened));
      watchRegistrations(opened);
    });
    quiet.run(opened, () => {
      inBackground(opened, "results can't be drawn", () => tui.load());
      inBackground(opened, "tasks of earlier sessions can't be offered", async () => {
        const { offerTasks } = await import("./resume-tasks.ts");
        await offerTasks(opened);
      });
    });
  });
  pi.on("mcp_servers_change", () => session && followRegistrations(session));
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
  checkScripts(pi, () => session);
  registerMcpCommand(pi, host, () => session);
}
