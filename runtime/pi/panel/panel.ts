/**
 * The panel of `/mcp` in the terminal: a list of servers and a view of each, with actions by key. Draws what there is at that
 * moment and again whenever something changes, configuration files that somebody edits included; an action goes on while the
 * panel is used or closed. Questions are asked in Pi's own dialogs, which lie on top of it.
 */
import type { KeybindingsManager, Theme } from "@earendil-works/pi-coding-agent";
import type * as PiTui from "@earendil-works/pi-tui";
import { configurationSignature } from "../../connect/configuration-files.ts";
import type { McpSurroundings } from "../command/run-mcp.ts";
import { inBackground } from "../in-background.ts";
import type { ActionOutcome } from "../servers/action-outcome.ts";
import { type CurrentServers, currentServers } from "../servers/current-servers.ts";
import type { ServerActions } from "../servers/server-actions.ts";
import type { ServerRow } from "../servers/server-overview.ts";
import { actionOf, type KeyAction } from "./keys.ts";
import { listLines } from "./list-view.ts";
import { PanelActions } from "./panel-actions.ts";
import { Screen } from "./screen.ts";
import { serverLines } from "./server-view.ts";

export async function showPanel(around: McpSurroundings, actions: ServerActions): Promise<void> {
  const measure = await around.host.tui();
  const current = await currentServers(around.session);
  await around.ctx.ui.custom<void>(
    (tui, theme, keybindings, done) =>
      new Panel({
        around,
        actions: new PanelActions(around, actions),
        current,
        tui,
        theme,
        keybindings,
        measure,
        close: () => done(),
      }),
  );
}

export interface PanelOptions {
  readonly around: Pick<McpSurroundings, "session">;
  readonly actions: PanelActions;
  readonly current: CurrentServers;
  readonly tui: { readonly terminal: { readonly rows: number }; requestRender(): void };
  readonly theme: Pick<Theme, "fg" | "bold">;
  readonly keybindings: Pick<KeybindingsManager, "matches">;
  readonly measure: Pick<
    typeof PiTui,
    "truncateToWidth" | "visibleWidth" | "wrapTextWithAnsi" | "decodeKittyPrintable"
  >;
  readonly close: () => void;
}

/** Lines around a list: titles, facts and help, and Pi's own below. */
const LINES_AROUND = 18;
const [FEWEST_ROWS, MOST_ROWS] = [3, 20];
/** How often the configuration files are looked at while the panel is open; none is read where none has changed. */
const LOOK_MS = 1000;

export class Panel implements PiTui.Component {
  /** Page keys are the list's and scroll no transcript. */
  readonly capturesViewportInput = true;
  readonly #options: PanelOptions;
  readonly #busy = new Map<string, string>();
  readonly #outcomes = new Map<string, ActionOutcome>();
  readonly #unsubscribe: () => void;
  readonly #looking: NodeJS.Timeout;
  /** Of the configuration files that are shown. */
  #signature: string | undefined;
  #current: CurrentServers;
  /** By name, so that a list that changes doesn't move the choice. */
  #server: string | undefined;
  #tool: string | undefined;
  #isOpen = false;
  #isClosed = false;
  #refreshing: Promise<void> | undefined;
  #isStale = false;

  constructor(options: PanelOptions) {
    this.#options = options;
    this.#current = options.current;
    this.#server = this.#rows[0]?.name;
    this.#unsubscribe = options.around.session.onChange(() => this.#refresh());
    this.#looking = setInterval(() => this.#look(), LOOK_MS);
    this.#looking.unref();
  }

  render(width: number): readonly string[] {
    const { theme, measure, tui } = this.#options;
    const rows = Math.min(Math.max(tui.terminal.rows - LINES_AROUND, FEWEST_ROWS), MOST_ROWS);
    const screen = new Screen({ theme, measure, width, rows });
    const shared = { busy: this.#busy, outcomes: this.#outcomes };
    const row = this.#row;
    if (this.#isOpen && row) return serverLines({ ...shared, row, selected: this.#toolIndex }, screen);
    const { isProjectTrusted } = this.#options.around.session;
    const { problems } = this.#current;
    return listLines({ ...shared, rows: this.#rows, selected: this.#index, problems, isProjectTrusted }, screen);
  }

  handleInput(data: string): void {
    const { keybindings, measure, tui } = this.#options;
    const is = (name: "up" | "down" | "pageUp" | "pageDown" | "confirm" | "cancel") =>
      keybindings.matches(data, `tui.select.${name}`);
    if (is("cancel")) this.#leave();
    else if (is("up")) this.#move(-1);
    else if (is("down")) this.#move(1);
    else if (is("pageUp")) this.#move(-10);
    else if (is("pageDown")) this.#move(10);
    else if (is("confirm")) this.#confirm();
    else {
      const action = actionOf(measure.decodeKittyPrintable(data) ?? data, this.#row);
      if (action !== undefined) this.#act(action);
    }
    tui.requestRender();
  }

  invalidate(): void {}

  dispose(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    clearInterval(this.#looking);
  }

  get #rows(): readonly ServerRow[] {
    return this.#current.rows;
  }

  get #index(): number {
    return Math.max(
      this.#rows.findIndex(({ name }) => name === this.#server),
      0,
    );
  }

  get #row(): ServerRow | undefined {
    return this.#rows[this.#index];
  }

  get #toolIndex(): number {
    const tools = this.#row?.tools ?? [];
    return Math.max(
      tools.findIndex(({ tool }) => tool === this.#tool),
      0,
    );
  }

  #leave(): void {
    if (this.#isOpen) this.#isOpen = false;
    else this.#options.close();
  }

  /** Steps by one go around the ends, longer ones stop there. */
  #move(by: number): void {
    const length = this.#isOpen ? (this.#row?.tools.length ?? 0) : this.#rows.length;
    if (length === 0) return;
    const index = (this.#isOpen ? this.#toolIndex : this.#index) + by;
    const next = Math.abs(by) === 1 ? (index + length) % length : Math.min(Math.max(index, 0), length - 1);
    if (this.#isOpen) this.#tool = this.#row?.tools[next]?.tool;
    else this.#server = this.#rows[next]?.name;
  }

  #confirm(): void {
    const row = this.#row;
    if (row === undefined) return;
    if (!this.#isOpen) {
      this.#isOpen = true;
      this.#server = row.name;
      this.#tool = row.tools[0]?.tool;
      return;
    }
    const tool = row.tools[this.#toolIndex];
    if (tool) this.#run(row, (onProgress) => this.#options.actions.toolExposure(row, tool, onProgress));
  }

  #act(action: KeyAction): void {
    const row = this.#row;
    if (row) this.#run(row, (onProgress) => this.#options.actions.run(action, row, onProgress));
  }

  /** One action for a server at a time: a key pressed twice does nothing twice. */
  #run(
    { name }: ServerRow,
    action: (onProgress: (text: string | undefined) => void) => Promise<ActionOutcome | undefined>,
  ): void {
    if (this.#busy.has(name)) return;
    const onProgress = (text: string | undefined) => {
      if (text === undefined) this.#busy.delete(name);
      else this.#busy.set(name, text);
      this.#redraw();
    };
    this.#outcomes.delete(name);
    onProgress("waiting…");
    const settle = (outcome: ActionOutcome | undefined) => {
      if (outcome) this.#outcomes.set(name, outcome);
      onProgress(undefined);
      this.#refresh();
    };
    // A bug in an action must not end Pi: it is shown like any other failure.
    action(onProgress).then(settle, (error: unknown) => settle({ ok: false, text: String(error) }));
  }

  #look(): void {
    const { session } = this.#options.around;
    if (session.signal.aborted) return;
    inBackground(session, "the configuration can't be looked at", async () => {
      const signature = await configurationSignature(session.files);
      if (signature === this.#signature) return;
      this.#signature = signature;
      this.#refresh();
    });
  }

  /** Reads the configuration anew; changes while that goes on make one more reading. */
  #refresh(): void {
    this.#isStale = true;
    if (this.#refreshing !== undefined || this.#isClosed) return;
    const { session } = this.#options.around;
    const again = async () => {
      while (this.#isStale && !this.#isClosed && !session.signal.aborted) {
        this.#isStale = false;
        this.#current = await currentServers(session);
        this.#redraw();
      }
    };
    this.#refreshing = again().finally(() => {
      this.#refreshing = undefined;
    });
    inBackground(session, "the panel can't be brought up to date", () => this.#refreshing!);
  }

  #redraw(): void {
    if (!this.#isClosed) this.#options.tui.requestRender();
  }
}
