/** Runs `/mcp …`: the panel where there is a terminal, everything else as text. A missing server is chosen by the user, or is the only one. */
import type { ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import { unknownServer } from "../../../schemas/artifacts/target.ts";
import { nearestAll } from "../../../schemas/nearest.ts";
import { type AskForAddress, askInDialog, dialogSignIn } from "../dialogs/dialog-sign-in.ts";
import type { PiHost } from "../host.ts";
import type { ActionOutcome } from "../servers/action-outcome.ts";
import { currentServers, isEligible } from "../servers/current-servers.ts";
import { type ActionOptions, ServerActions } from "../servers/server-actions.ts";
import { type ServerChange, toolExposureChange } from "../servers/server-change.ts";
import type { ServerRow } from "../servers/server-overview.ts";
import type { PiSession } from "../session.ts";
import { terminalText } from "../terminal-text.ts";
import { piTrust } from "../trust/pi-trust.ts";
import { type McpRequest, readMcpArguments, USAGE } from "./mcp-arguments.ts";
import { overviewText, serverText } from "./mcp-text.ts";

export interface McpSurroundings {
  readonly session: PiSession;
  readonly ctx: ExtensionCommandContext;
  readonly host: PiHost;
}

type Kind = "info" | "warning" | "error";

const PROGRESS = "pimcp";
const actionsOf = new WeakMap<PiSession, ServerActions>();

/** One for each session: actions take turns, wherever they come from. */
function sessionActions({ session, host }: Pick<McpSurroundings, "session" | "host">): ServerActions {
  const known = actionsOf.get(session) ?? new ServerActions(session, piTrust(session.pi, host, session.files));
  actionsOf.set(session, known);
  return known;
}

export async function runMcp(text: string, around: McpSurroundings): Promise<void> {
  const request = readMcpArguments(text);
  switch (request.kind) {
    case "overview": {
      if (around.ctx.mode !== "tui") return showStatus(around, undefined);
      const { showPanel } = await import("../panel/panel.ts");
      return showPanel(around, sessionActions(around));
    }
    case "help":
      return say(around, USAGE, "info");
    case "usage":
      return say(around, `${request.message}\n${USAGE}`, "warning");
    case "status":
      return showStatus(around, request.server);
    default:
      return act(request, around);
  }
}

type Action = Exclude<McpRequest, { readonly kind: "overview" | "help" | "usage" | "status" }>;

async function act(request: Action, around: McpSurroundings): Promise<void> {
  const name = await chosenServer(request, around);
  if (name === undefined) return;
  const { session } = around;
  const onProgress = (text: string | undefined) => session.dialogs.status(PROGRESS, text && terminalText(text));
  const outcome = await outcomeOf(request, name, { ...around, options: { onProgress } });
  if (!session.signal.aborted) say(around, outcome.text, outcome.ok ? "info" : "error");
}

async function outcomeOf(
  request: Action,
  name: string,
  around: McpSurroundings & { readonly options: ActionOptions },
): Promise<ActionOutcome> {
  const actions = sessionActions(around);
  const { options, session, ctx } = around;
  switch (request.kind) {
    case "login": {
      const cancel = new AbortController();
      const ask = await addressQuestion(around);
      const interactive = dialogSignIn({ session, cancel, ask, say: (text) => say(around, text, "info") });
      return actions.signIn(name, interactive, { ...options, signal: cancel.signal });
    }
    case "logout":
      return actions.signOut(name, options);
    case "reconnect":
      return actions.reconnect(name, options);
    case "compile":
      return actions.compile(name, options);
    default: {
      const change = changeOf(request, name, session);
      if ("ok" in change) return change;
      const confirm = (title: string, text: string) => session.dialogs.confirm(title, text);
      return actions.change(name, change, {
        ...options,
        inProject: request.inProject,
        ...(ctx.hasUI && { confirm }),
      });
    }
  }
}

/** How an address is asked for: as comfortably as there is a screen for it, or not at all. */
async function addressQuestion({ ctx, host }: McpSurroundings): Promise<AskForAddress | undefined> {
  if (ctx.mode !== "tui") return ctx.hasUI ? askInDialog(ctx.ui) : undefined;
  const { askInTerminal } = await import("../panel/sign-in-view.ts");
  return askInTerminal(ctx, host);
}

function changeOf(
  request: Extract<Action, { readonly inProject: boolean }>,
  name: string,
  { table }: PiSession,
): ServerChange | ActionOutcome {
  if (request.kind !== "exposure") return { kind: "enabled", enabled: request.kind === "enable" };
  const { tool, exposure } = request;
  if (tool === undefined) return exposure === "inherit" ? { ok: false, text: USAGE } : { kind: "exposure", exposure };
  if (table.byTool(name, tool, { includeHidden: true }) === undefined) {
    const names = table.tools({ server: name, includeHidden: true }).map((one) => one.tool);
    const close = nearestAll(tool, names, 3);
    const remedy = close.length > 0 ? `; did you mean ${close.join(" or ")}?` : "";
    return { ok: false, text: `"${name}" has no tool "${tool}"${remedy}` };
  }
  return toolExposureChange(table, { server: name, tool }, exposure);
}

/** The server that was named, the only one there is a point in, or the one the user chooses. */
async function chosenServer({ kind, server }: Action, around: McpSurroundings): Promise<string | undefined> {
  if (server !== undefined) return server;
  const rows = (await currentServers(around.session)).rows.filter((row) => isEligible(kind, row));
  if (rows.length === 0) return void say(around, NONE.get(kind) ?? "There is no MCP server for that.", "info");
  if (rows.length === 1) return rows[0]!.name;
  if (around.ctx.hasUI) {
    const choices = rows.map(({ name, kind: state }) => ({ label: `${name} (${state})`, value: name }));
    return around.session.dialogs.take((dialogs) => dialogs.select(`/mcp ${kind}: which server?`, choices));
  }
  const names = rows.map(({ name }) => name).join(", ");
  return void say(around, `/mcp ${kind} takes a server: ${names}`, "error");
}

const NONE = new Map<string, string>([
  ["login", "There is no MCP server that anybody signs in to."],
  ["logout", "There is no MCP server that anybody signs in to."],
  ["enable", "No MCP server is disabled."],
  ["disable", "No MCP server is enabled."],
  ["reconnect", "There is no compiled MCP server to connect to."],
]);

async function showStatus(around: McpSurroundings, name: string | undefined): Promise<void> {
  const { rows, problems } = await currentServers(around.session);
  const { isProjectTrusted } = around.session;
  if (name === undefined) return say(around, overviewText(rows, { problems, isProjectTrusted }), "info");
  const row = rows.find((one) => one.name === name);
  if (row === undefined)
    return say(
      around,
      unknownServer(
        rows.map((one: ServerRow) => one.name),
        name,
      ).message,
      "error",
    );
  say(around, serverText(row), "info");
}

/** Without a UI on stderr: in JSON mode stdout belongs to Pi's events. */
function say({ ctx, session }: McpSurroundings, text: string, kind: Kind): void {
  const shown = terminalText(text);
  if (ctx.hasUI) session.dialogs.notify(shown, kind);
  else process.stderr.write(`${shown}\n`);
}
