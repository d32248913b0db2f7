/**
 * Turns any number of reasons to build into as few builds as there can be: a burst is one build, a change during a
 * build is one more after it, never two at once and never more than one waiting. A build that throws is
 * reported and the loop goes on.
 */
export interface BuildLoopOptions {
  /** Called with everything that asked for this build. */
  readonly build: (reasons: ReadonlySet<string>) => Promise<void>;
  readonly onError: (error: unknown) => void;
  /** Milliseconds of quiet that end a burst. */
  readonly quietMs: number;
}

export class BuildLoop {
  readonly #options: BuildLoopOptions;
  #reasons = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(options: BuildLoopOptions) {
    this.#options = options;
  }

  /** Asks for a build once things are quiet. */
  request(reason: string): void {
    if (this.#stopped) return;
    this.#reasons.add(reason);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#start(), this.#options.quietMs);
  }

  /** Takes no more requests and resolves when the build under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #start(): void {
    // The build under way looks at what is waiting when it ends.
    if (this.#running || this.#stopped || this.#reasons.size === 0) return;
    const reasons = this.#reasons;
    this.#reasons = new Set();
    this.#running = this.#options
      .build(reasons)
      .catch(this.#options.onError)
      .finally(() => {
        this.#running = undefined;
        if (this.#reasons.size > 0) this.#start();
      });
  }
}
