/**
 * The GET stream on which a server of 2025 speaks unasked over HTTP, kept up. The SDK opens it again when it ends; when it
 * does so is decided here: never at the pace that a server alone asks for, later each time that it fails, and with some
 * chance in it, because servers restart and their clients should not all come back at the same moment.
 */

const LEAST_PAUSE_MS = 250;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** Without a wish for notices only broken answers are resumed, and those not for long. */
const FEW_RETRIES = 2;

export class NoticeStream {
  /** The stream is open again: what the server said meanwhile is lost. */
  onRestored: (() => void) | undefined;
  /** It could not be opened again: the server may have forgotten the session. */
  onTrouble: (() => void) | undefined;
  readonly #isWanted: boolean;
  readonly #random: () => number;
  #wasOpen = false;

  /** `random` gives numbers between 0 and 1. */
  constructor(isWanted: boolean, random: () => number = Math.random) {
    this.#isWanted = isWanted;
    this.#random = random;
  }

  /** What the SDK's transport takes. */
  get settings() {
    return {
      reconnectionOptions: {
        initialReconnectionDelay: FIRST_PAUSE_MS,
        maxReconnectionDelay: LONGEST_PAUSE_MS,
        reconnectionDelayGrowFactor: 2,
        maxRetries: this.#isWanted ? Number.MAX_SAFE_INTEGER : FEW_RETRIES,
      },
      reconnectionScheduler: (reconnect: () => void, delayMs: number, attempt: number) => {
        if (attempt > 0 && this.#wasOpen) this.onTrouble?.();
        // A request that waits for its answer has a timer of its own; nothing else keeps a program going.
        const timer = setTimeout(reconnect, this.pauseMs(delayMs, attempt)).unref();
        return () => clearTimeout(timer);
      },
    };
  }

  /** Milliseconds until the next attempt; `askedMs` is what the server, or else the SDK, would have. */
  pauseMs(askedMs: number, attempt: number): number {
    const leastMs = attempt === 0 ? LEAST_PAUSE_MS : FIRST_PAUSE_MS * 2 ** Math.min(attempt, 10);
    const pauseMs = Math.min(Math.max(askedMs, leastMs), LONGEST_PAUSE_MS);
    return pauseMs * (1 + this.#random() / 4);
  }

  /** A request for the stream has been answered. */
  answered(isOpen: boolean): void {
    if (isOpen && this.#wasOpen) this.onRestored?.();
    this.#wasOpen ||= isOpen;
  }
}
