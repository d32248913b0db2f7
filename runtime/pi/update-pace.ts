/**
 * How often something that changes is shown: at once after a pause, else ten times a second, whatever a server or a script does
 * meanwhile. The last state is always shown. Holds no state itself: `show` shows the one there is.
 */

const INTERVAL_MS = 100;

export class UpdatePace {
  readonly #show: () => void;
  #shownAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(show: () => void) {
    this.#show = show;
  }

  /** There is something new to be shown. */
  changed(): void {
    if (this.#timer !== undefined || this.#isOver) return;
    const waitMs = this.#shownAt + INTERVAL_MS - performance.now();
    if (waitMs <= 0) this.#now();
    else this.#timer = setTimeout(() => this.#now(), waitMs);
  }

  /** Shows what waits for its turn, and nothing from then on. */
  end(): void {
    if (this.#timer !== undefined) this.#now();
    this.#isOver = true;
  }

  #now(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#shownAt = performance.now();
    this.#show();
  }
}
