/**
 * Signing in, in the terminal: where to go, as a link and to be copied whole (a long address that a terminal wraps can't be
 * selected as one), and a line for the address of a browser on another machine. Shows no token, and what is pasted nowhere else.
 */
import type { ExtensionContext, KeybindingsManager, Theme } from "@earendil-works/pi-coding-agent";
import type * as PiTui from "@earendil-works/pi-tui";
import { type AskForAddress, invitationText } from "../dialogs/dialog-sign-in.ts";
import type { PiHost } from "../host.ts";
import { terminalText } from "../terminal-text.ts";
import { Screen } from "./screen.ts";

/** Asks in a screen of its own, which closes when the browser comes back by itself. */
export function askInTerminal(ctx: Pick<ExtensionContext, "ui">, host: PiHost): AskForAddress {
  return async ({ invitation, rejected, ended }) => {
    const [measure, { copyToClipboard, keyText }] = await Promise.all([host.tui(), host.codingAgent()]);
    if (ended.aborted) return undefined;
    const blocked = { kind: "auth", message: `Sign in to ${invitation.server}` } as const;
    return ctx.ui.custom<string | undefined>(
      (tui, theme, keybindings, done) => {
        ended.addEventListener("abort", () => done(undefined), { once: true });
        const copyKey = keyText("app.message.copy");
        const texts = { intro: invitationText(invitation), rejected, address: invitation.url.href, copyKey };
        return new SignInView({ ...texts, tui, theme, keybindings, measure, copy: copyToClipboard, done });
      },
      { blocked },
    );
  };
}

export interface SignInViewOptions {
  readonly intro: string;
  /** Why what was pasted before was not taken; may be empty. */
  readonly rejected: string;
  readonly address: string;
  readonly copyKey: string;
  readonly tui: { requestRender(): void };
  readonly theme: Pick<Theme, "fg" | "bold">;
  readonly keybindings: Pick<KeybindingsManager, "matches">;
  readonly measure: Pick<typeof PiTui, "truncateToWidth" | "visibleWidth" | "wrapTextWithAnsi" | "hyperlink" | "Input">;
  readonly copy: (text: string) => Promise<void>;
  readonly done: (address: string | undefined) => void;
}

export class SignInView implements PiTui.Component, PiTui.Focusable {
  readonly #options: SignInViewOptions;
  readonly #input: PiTui.Input;
  #copied: string | undefined;

  constructor(options: SignInViewOptions) {
    this.#options = options;
    this.#input = new options.measure.Input();
  }

  get focused(): boolean {
    return this.#input.focused;
  }

  set focused(focused: boolean) {
    this.#input.focused = focused;
  }

  render(width: number): readonly string[] {
    const { theme, measure, intro, rejected, copyKey } = this.#options;
    const screen = new Screen({ theme, measure, width, rows: 0 });
    return [
      screen.rule(),
      ...screen.wrapped(terminalText(intro), "text", 4),
      "",
      ...this.#addressLines(screen),
      "",
      ...screen.wrapped(terminalText(rejected), "error", 3),
      ...screen.wrapped("If that browser is on another machine, paste the address it ends up at:", "text", 3),
      ...this.#input.render(screen.width),
      "",
      ...screen.wrapped(`enter submit · ${copyKey} copy the address · esc give up`, "dim", 3),
      ...screen.wrapped(this.#copied ?? "", "muted", 2),
      screen.rule(),
    ];
  }

  handleInput(data: string): void {
    const { keybindings, done, tui } = this.#options;
    const typed = this.#input.getValue().trim();
    if (keybindings.matches(data, "tui.select.cancel")) done(undefined);
    else if (keybindings.matches(data, "app.message.copy")) this.#copy();
    else if (!keybindings.matches(data, "tui.select.confirm")) this.#input.handleInput(data);
    else if (typed !== "") done(typed);
    tui.requestRender();
  }

  invalidate(): void {
    this.#input.invalidate();
  }

  /** Every line is the whole link, for terminals that know links. */
  #addressLines(screen: Screen): readonly string[] {
    const { address, measure } = this.#options;
    const shown = terminalText(address);
    const lines: string[] = [];
    for (let at = 0; at < shown.length; at += screen.width) {
      lines.push(screen.paint("accent", measure.hyperlink(shown.slice(at, at + screen.width), shown)));
    }
    return lines;
  }

  #copy(): void {
    const { address, copy, tui } = this.#options;
    const say = (text: string) => {
      this.#copied = text;
      tui.requestRender();
    };
    copy(address).then(
      () => say("copied"),
      (error: unknown) => say(error instanceof Error ? terminalText(error.message) : "could not be copied"),
    );
  }
}
