/** Time and chance as the following of a task needs them, so that tests can do without either. */

export interface Clock {
  /** Milliseconds since 1970: handles outlive the process, so no clock that starts with it will do. */
  now(): number;
  /** From 0 up to, and not including, 1. */
  random(): number;
  /** Resolves after `ms`, or as soon as the signal is aborted. Keeps the program going meanwhile. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** Node's timers take no more. */
const MAX_TIMER_MS = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  wait(ms, signal) {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(ms, MAX_TIMER_MS));
      signal.addEventListener("abort", done, { once: true });
      if (signal.aborted) done();
    });
  },
};
