/**
 * What the extension listens to, and to whom it passes that on. One session at a time, made on `session_start` and ended on
 * `session_shutdown`, whatever the reason for either: a start, a reload, a fork, a resumed session.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { ToolTable } from "../../schemas/artifacts/tool-table.ts";
import type { Diagnostic } from "../../schemas/diagnostic.ts";
import { AfterFirstRequest } from "./after-first-request.ts";
import { chooseEngine } from "./codemode/codemode-engine.ts";
import { registerMcpCommand, tellCommandName } from "./command/mcp-command.ts";
import { sessionHandlers } from "./dialogs/session-handlers.ts";
import { SERVERS_SECTION } from "./discovery/servers-section.ts";
import type { PiHost } from "./host.ts";
import { inBackground } from "./in-background.ts";
import { openSession } from "./open-session.ts";
import { PromptCommands } from "./prompts/prompt-commands.ts";
import { followRegistrations, settleRegistrations, watchRegistrations } from "./registered/registered-servers.ts";
import { startServersAhead } from "./scripts/servers-ahead.ts";
import { checkScripts } from "./scripts/type-check-hook.ts";
import { compileMissing } from "./servers/compile-missing.ts";
import type { PiSession } from "./session.ts";
import { LateTui } from "./tools/late-tui.ts";
import { sessionTools, type ToolSelection, type ToolSurroundings } from "./tools/session-tools.ts";
import { answerToolMeta } from "./tools/tool-meta.ts";
import { ownedByAnother, ToolRegistry } from "./tools/tool-registry.ts";

export function wire(pi: ExtensionAPI, host: PiHost): void {
  let session: PiSession | undefined;
  /** Counts starts and ends: a session whose start somebody was still asked about when it ended is none. */
  let turn = 0;
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

  const register = (table: ToolTable, selection: ToolSelection): readonly Diagnostic[] => {
    prompts.show(table);
    const { value, diagnostics } = sessionTools(table, around, selection);
    return [...diagnostics, ...registry.replaceAll(value).map(ownedByAnother)];
  };

  pi.on("session_start", async (_event, ctx) => {
    const own = ++turn;
    await session?.close();
    if (ctx.mode === "tui") await tui.load();
    const opened = await openSession({ pi, ctx, host, register, handlers: () => session && sessionHandlers(session) });
    if (own !== turn) return opened.close();
    session = opened;
    await chooseEngine(opened, host);
    await opened.begin();
    setImmediate(() => {
      inBackground(opened, "servers can't be compiled", () => compileMissing(opened));
      watchRegistrations(opened);
      tellCommandName(opened);
    });
    quiet.run(opened, () => {
      opened.complete();
      inBackground(opened, "results can't be drawn", () => tui.load());
      settleRegistrations(opened);
      inBackground(opened, "tasks of earlier sessions can't be offered", async () => {
        const { offerTasks } = await import("./dialogs/resume-tasks.ts");
        await offerTasks(opened);
      });
    });
  });
  pi.on("mcp_servers_change", () => session && followRegistrations(session));
  pi.on("session_shutdown", async () => {
    turn++;
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
  startServersAhead(pi, () => session);
  checkScripts(pi, () => session);
  registerMcpCommand(pi, host, () => session);
}
