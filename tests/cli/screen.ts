/** A terminal made of two streams: keys are typed into one, and what a person would have seen is read from the other. */
import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { onTestFinished } from "vitest";
import { terminalElicitation } from "../../cli/asking/terminal.ts";
import { eventually } from "../servers/run.ts";

export const ENTER = "\r";
export const DOWN = "\u001b[B";
export const UP = "\u001b[A";
export const SPACE = " ";
export const BACKSPACE = "\u007f";
export const CTRL_C = "\u0003";
export const CTRL_D = "\u0004";

export class Screen {
  readonly input = new PassThrough();
  readonly output = new PassThrough();
  /** Pages that were opened. */
  readonly opened: string[] = [];
  #raw = "";
  #read = 0;

  constructor() {
    this.output.setEncoding("utf8").on("data", (text: string) => {
      this.#raw += text;
    });
    // A test that fails leaves its prompt, or it would keep the terminal from the next one.
    onTestFinished(() => void this.input.end());
  }

  /** Everything so far, control sequences and all. */
  get raw(): string {
    return this.#raw;
  }

  get text(): string {
    return stripVTControlCharacters(this.#raw);
  }

  /** Waits for words that were not there when keys were last pressed, wherever the lines break. */
  async until(words: string): Promise<void> {
    const fresh = () => stripVTControlCharacters(this.#raw.slice(this.#read)).replace(/\s+/g, " ");
    await eventually(() => fresh().includes(words), `"${words}" on the screen`, 4000).catch((cause: unknown) => {
      throw new Error(`never "${words}" on the screen, which has\n${fresh()}`, { cause });
    });
  }

  press(...keys: readonly string[]): void {
    this.#read = this.#raw.length;
    for (const key of keys) this.input.write(key);
  }

  /** Waits for words, then presses keys. */
  async at(words: string, ...keys: readonly string[]): Promise<void> {
    await this.until(words);
    this.press(...keys);
  }

  elicitation(openUrl?: (url: string) => Promise<void>) {
    return terminalElicitation({
      input: this.input,
      output: this.output,
      look: { colour: false, width: 80, terminal: true },
      openUrl: openUrl ?? (async (url) => void this.opened.push(url)),
    });
  }
}
