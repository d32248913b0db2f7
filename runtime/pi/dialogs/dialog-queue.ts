/**
 * Dialogs of Pi for whoever has something to ask the user: one at a time, in the order they were asked for. A turn is
 * held for as many dialogs as belong together. One that is no longer wanted is closed, or never shown. Works wherever Pi has
 * a UI: in the terminal, and in RPC mode, where another program shows the dialogs.
 */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { terminalText } from "../terminal-text.ts";
import { Turns } from "../turns.ts";
import { Patience } from "./dialog-patience.ts";

export interface Choice<T> {
  /** One printable line. */
  readonly label: string;
  readonly value: T;
}

/** Texts must be fit for a terminal. */
export interface Dialogs {
  /** Columns that lines are folded to; none where another program shows them. */
  readonly columns: number;
  /** Undefined when it was dismissed, or closed. The first choice is the one that Enter alone takes. */
  select<T>(title: string, choices: readonly Choice<T>[]): Promise<T | undefined>;
  /** Undefined when it was dismissed, or closed. */
  input(title: string, placeholder?: string): Promise<string | undefined>;
  notify(text: string, kind: "info" | "warning" | "error"): void;
}

export interface TurnOptions {
  /** Aborted when the answer is no longer wanted. */
  readonly signal?: AbortSignal | undefined;
  /** What the user is told when a dialog disappears for that. */
  readonly withdrawn?: string | undefined;
  /** Milliseconds after which a dialog that nobody answers is dismissed. */
  readonly timeoutMs?: number | undefined;
}

const WIDEST = 100;
const USUAL = 80;
/** Of the frame around a dialog. */
const MARGIN = 6;

export class DialogQueue {
  readonly #ctx: Pick<ExtensionContext, "ui" | "mode">;
  readonly #ended: AbortSignal;
  readonly patience = new Patience();
  readonly #statuses = new Set<string>();
  readonly #turns = new Turns();

  /** `ended` is aborted with the session that `ctx` belongs to. */
  constructor(ctx: Pick<ExtensionContext, "ui" | "mode">, ended: AbortSignal) {
    this.#ctx = ctx;
    this.#ended = ended;
    // A program that shows them in RPC mode would go on doing so. At this moment the session's ui still works.
    const clear = () => {
      for (const key of this.#statuses) ctx.ui.setStatus(key, undefined);
    };
    ended.addEventListener("abort", clear, { once: true });
  }

  /** Runs `ask` when those before it are done. Rejects where it isn't wanted any more by then. */
  take<T>(ask: (dialogs: Dialogs) => Promise<T>, options: TurnOptions = {}): Promise<T> {
    const signal = options.signal ? AbortSignal.any([options.signal, this.#ended]) : this.#ended;
    return this.#turns.take(() => {
      signal.throwIfAborted();
      return ask(this.#dialogs(signal, options));
    });
  }

  /** Whether the answer is yes; Enter alone says no. */
  async confirm(title: string, text: string): Promise<boolean> {
    const choices: readonly Choice<boolean>[] = [
      { label: "No", value: false },
      { label: "Yes", value: true },
    ];
    const asked = terminalText(`${title}\n\n${text}`);
    return (await this.take((dialogs) => dialogs.select(asked, choices))) === true;
  }

  /** Something that needs no answer and waits for no turn. */
  notify(text: string, kind: "info" | "warning" | "error"): void {
    if (!this.#ended.aborted) this.#ctx.ui.notify(text, kind);
  }

  /** A line in the footer for as long as something goes on; undefined takes it away. */
  status(key: string, text: string | undefined): void {
    if (this.#ended.aborted) return;
    if (text === undefined) this.#statuses.delete(key);
    else this.#statuses.add(key);
    this.#ctx.ui.setStatus(key, text);
  }

  #dialogs(signal: AbortSignal, { withdrawn, timeoutMs }: TurnOptions): Dialogs {
    const { ui, mode } = this.#ctx;
    const options = { signal, ...(timeoutMs !== undefined && { timeout: timeoutMs }) };
    let isTold = false;
    const shown = async <T>(show: () => Promise<T | undefined>): Promise<T | undefined> => {
      if (signal.aborted) return undefined;
      const answer = await show();
      if (!signal.aborted) return answer;
      // In RPC mode the program that shows it hears of this in no other way.
      if (withdrawn !== undefined && !isTold) this.notify(withdrawn, "info");
      isTold = true;
      return undefined;
    };
    return {
      columns: mode === "tui" ? Math.min(WIDEST, (process.stdout.columns || USUAL) - MARGIN) : Number.POSITIVE_INFINITY,
      select: async (title, choices) => {
        const labels = distinct(choices.map(({ label }) => label));
        const chosen = await shown(() => ui.select(title, [...labels], options));
        return chosen === undefined ? undefined : choices[labels.indexOf(chosen)]?.value;
      },
      input: (title, placeholder) => shown(() => ui.input(title, placeholder, options)),
      notify: (text, kind) => this.notify(text, kind),
    };
  }
}

/** What comes back is the text of a choice, so no two may be the same. */
function distinct(labels: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  return labels.map((label) => {
    let name = label;
    for (let n = 2; taken.has(name); n++) name = `${label} (${n})`;
    taken.add(name);
    return name;
  });
}
