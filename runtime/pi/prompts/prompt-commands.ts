/**
 * Prompts of MCP servers as commands: `/mcp__<server>__<prompt>`. They are registered from the artifacts, so that a session
 * knows them with no server started; the server is asked when a command is run, or when the user asks to complete a
 * value and the server is one that does that. Prompts of a hidden server are not among them.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { type PromptEntry, promptsOf } from "../../../schemas/artifacts/prompts.ts";
import type { ToolTable } from "../../../schemas/artifacts/tool-table.ts";
import { usageOf } from "../../../schemas/prompt-list.ts";
import type { PiSession } from "../session.ts";
import { shortened, terminalLine } from "../terminal-text.ts";

/** UTF-16 units of what a command says of itself. */
const MAX_DESCRIPTION_LENGTH = 300;

export class PromptCommands {
  readonly #pi: ExtensionAPI;
  readonly #session: () => PiSession | undefined;
  readonly #entries = new Map<string, PromptEntry>();
  /** Names that Pi has, and what it was told of each. Pi can't unregister a command. */
  readonly #registered = new Map<string, string>();

  constructor(pi: ExtensionAPI, session: () => PiSession | undefined) {
    this.#pi = pi;
    this.#session = session;
  }

  /** Makes the prompts of `table` those that there are. One that is gone stays a command which says so. */
  show(table: ToolTable): void {
    this.#entries.clear();
    for (const entry of promptsOf(table)) this.#entries.set(entry.name, entry);
    let added = false;
    for (const entry of this.#entries.values()) {
      added ||= !this.#registered.has(entry.name);
      this.#register(entry.name, describe(entry));
    }
    for (const name of this.#registered.keys()) if (!this.#entries.has(name)) this.#register(name, "No longer offered");
    // The editor has a list of commands of its own, made when the session began; only this makes it anew.
    const ctx = this.#session()?.ctx;
    if (added && ctx?.mode === "tui") ctx.ui.addAutocompleteProvider((before) => before);
  }

  #register(name: string, description: string): void {
    if (this.#registered.get(name) === description) return;
    this.#registered.set(name, description);
    this.#pi.registerCommand(name, {
      description,
      getArgumentCompletions: async (typed) => {
        const [entry, session] = [this.#entries.get(name), this.#session()];
        if (!entry?.completes || !entry.arguments || !session) return null;
        const { completeArgument } = await import("./complete-argument.ts");
        return completeArgument(session, entry, typed);
      },
      handler: async (typed, ctx) => {
        const { runPrompt } = await import("./run-prompt.ts");
        await runPrompt({ pi: this.#pi, ctx, session: this.#session(), name, entry: this.#entries.get(name), typed });
      },
    });
  }
}

/** `<city> [style] — What it does`, fit for one line of a terminal. */
function describe({ arguments: args, title, description, server, prompt }: PromptEntry): string {
  const what = terminalLine(description?.trim() || title?.trim() || `Prompt "${prompt}" of MCP server "${server}"`);
  const usage = terminalLine(usageOf(args));
  return shortened(usage === "" ? what : `${usage} — ${what}`, MAX_DESCRIPTION_LENGTH);
}
