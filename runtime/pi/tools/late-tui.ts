/**
 * Pi's component for text, loaded after a session has started: nothing is drawn before, and loading it takes time. Until then,
 * and where there is no screen, plain lines stand in for it.
 */
import type { PiHost } from "../host.ts";
import type { PiTui } from "./renderers.ts";

export class LateTui implements PiTui {
  readonly #host: Pick<PiHost, "tui">;
  #loaded: PiTui | undefined;

  constructor(host: Pick<PiHost, "tui">) {
    this.#host = host;
  }

  get Text(): PiTui["Text"] {
    return this.#loaded?.Text ?? (PlainLines as unknown as PiTui["Text"]);
  }

  async load(): Promise<void> {
    this.#loaded ??= await this.#host.tui();
  }
}

class PlainLines {
  readonly #lines: readonly string[];

  constructor(text: string) {
    this.#lines = text.split("\n");
  }

  render(): readonly string[] {
    return this.#lines;
  }

  invalidate(): void {}
}
