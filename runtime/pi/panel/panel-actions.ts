/** The panel's actions: what has to be asked first is asked in Pi's dialogs, then the action itself runs. */
import { EXPOSURES, type Exposure } from "../../../schemas/config/server-config.ts";
import type { McpSurroundings } from "../command/run-mcp.ts";
import type { Choice } from "../dialogs/dialog-queue.ts";
import { dialogSignIn } from "../dialogs/dialog-sign-in.ts";
import type { ActionOutcome } from "../servers/action-outcome.ts";
import { currentServers } from "../servers/current-servers.ts";
import type { ActionOptions, ServerActions } from "../servers/server-actions.ts";
import { toolExposureChange } from "../servers/server-change.ts";
import type { ServerRow, ToolRow } from "../servers/server-overview.ts";
import { terminalLine } from "../terminal-text.ts";
import type { KeyAction } from "./keys.ts";
import { askInTerminal } from "./sign-in-view.ts";

type OnProgress = NonNullable<ActionOptions["onProgress"]>;

const EXPOSURE_TEXT: Readonly<Record<Exposure, string>> = {
  codemode: "called from codemode scripts, declared within the budget",
  "codemode-deferred": "called from codemode scripts, never declared",
  deferred: "found and loaded by tool_search",
  direct: "declared to the model like a built-in tool",
  hidden: "unreachable",
};

export class PanelActions {
  readonly #around: McpSurroundings;
  readonly #actions: ServerActions;

  constructor(around: McpSurroundings, actions: ServerActions) {
    this.#around = around;
    this.#actions = actions;
  }

  /** Undefined where the user thought better of it. */
  async run(action: KeyAction, row: ServerRow, onProgress: OnProgress): Promise<ActionOutcome | undefined> {
    const { name } = row;
    const enabled = row.kind === "disabled";
    switch (action) {
      case "toggle":
        return this.#actions.change(name, { kind: "enabled", enabled }, { onProgress });
      case "toggle-in-project": {
        const confirm = (title: string, text: string) => this.#around.session.dialogs.confirm(title, text);
        return this.#actions.change(name, { kind: "enabled", enabled }, { onProgress, inProject: true, confirm });
      }
      case "exposure": {
        const { exposure: now } = await this.#latest(row);
        const exposure = await this.#choose(`Exposure of ${terminalLine(name)}`, exposureChoices(now));
        if (exposure === undefined || exposure === now) return undefined;
        return this.#actions.change(name, { kind: "exposure", exposure }, { onProgress });
      }
      case "reconnect":
        return this.#actions.reconnect(name, { onProgress });
      case "compile":
        return this.#actions.compile(name, { onProgress });
      case "login":
        return this.#signIn(name, onProgress);
      case "logout":
        return this.#actions.signOut(name, { onProgress });
    }
  }

  async toolExposure(
    row: ServerRow,
    { tool, exposure: now }: ToolRow,
    onProgress: OnProgress,
  ): Promise<ActionOutcome | undefined> {
    const { name } = row;
    const inherit: Choice<Exposure | "inherit"> = { label: "  inherit: what the server's rules say", value: "inherit" };
    const title = `Exposure of ${terminalLine(name)}/${terminalLine(tool)}`;
    const exposure = await this.#choose(title, [...exposureChoices(now), inherit]);
    // What was compiled may not be what the file says by now.
    if (exposure === undefined || (exposure === now && !(await this.#latest(row)).isStale)) return undefined;
    const { table } = this.#around.session;
    return this.#actions.change(name, toolExposureChange(table, { server: name, tool }, exposure), { onProgress });
  }

  /** As the configuration has it at this moment: somebody may have edited it since the row was drawn. */
  async #latest(row: ServerRow): Promise<ServerRow> {
    const { rows } = await currentServers(this.#around.session);
    return rows.find(({ name }) => name === row.name) ?? row;
  }

  #choose<T>(title: string, choices: readonly Choice<T>[]): Promise<T | undefined> {
    return this.#around.session.dialogs.take((dialogs) => dialogs.select(title, choices));
  }

  async #signIn(name: string, onProgress: OnProgress): Promise<ActionOutcome> {
    const { session, ctx, host } = this.#around;
    const cancel = new AbortController();
    const say = (text: string) => session.dialogs.notify(text, "info");
    const interactive = dialogSignIn({ session, cancel, ask: askInTerminal(ctx, host), say });
    return this.#actions.signIn(name, interactive, { onProgress, signal: cancel.signal });
  }
}

function exposureChoices(now: Exposure): readonly Choice<Exposure>[] {
  const label = (one: Exposure) => `${one === now ? "✓" : " "} ${one}: ${EXPOSURE_TEXT[one]}`;
  // The first is what Enter alone takes: nothing changes.
  return [now, ...EXPOSURES.filter((one) => one !== now)].map((one) => ({ label: label(one), value: one }));
}
