/**
 * Whoever is told no and asks again, and again, keeps a person from everything else: a dialog is in the way of stopping the
 * model. From the third time on it is asked first whether the server is to be heard at all; where it isn't, its questions are
 * cancelled for a minute without being shown.
 */
import type { Dialogs } from "./dialog-queue.ts";
import { shortName } from "./dialog-text.ts";

const PATIENCE = 2;
const DEAF_MS = 60_000;

export class Patience {
  /** Times that a server was told no, since it was last given an answer. */
  readonly #refused = new Map<string, number>();
  /** When it is heard again, by `performance.now()`. */
  readonly #deafUntil = new Map<string, number>();

  /** What `ask` comes to; undefined where the server isn't heard. `isGiven` tells an answer from a no. */
  async hear<T>(
    dialogs: Dialogs,
    server: string,
    ask: () => Promise<T>,
    isGiven: (answer: T) => boolean,
  ): Promise<T | undefined> {
    if (!(await this.#listens(dialogs, server))) return undefined;
    const answer = await ask();
    if (isGiven(answer)) this.#refused.delete(server);
    else this.#refused.set(server, (this.#refused.get(server) ?? 0) + 1);
    return answer;
  }

  async #listens(dialogs: Dialogs, server: string): Promise<boolean> {
    if ((this.#deafUntil.get(server) ?? 0) > performance.now()) return false;
    const refused = this.#refused.get(server) ?? 0;
    if (refused < PATIENCE) return true;
    const name = shortName(server);
    const title = `Server "${name}" asks once more. It was told no ${refused} times in a row.`;
    const isHeard = await dialogs.select(title, [
      { label: "Let it ask", value: true },
      { label: "No, and nothing else that it asks in the next minute", value: false },
    ]);
    if (isHeard !== false) return isHeard === true;
    this.#deafUntil.set(server, performance.now() + DEAF_MS);
    dialogs.notify(`What server "${name}" asks in the next minute is cancelled.`, "info");
    return false;
  }
}
