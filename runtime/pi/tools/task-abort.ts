/**
 * Giving up a call that may have become a task. Pi aborts its calls both when the user stops the model and when the session
 * ends, and says only afterwards that it has ended. A plain call is cancelled at once either way. A task is given up at once
 * for the caller, and cancelled at its server a little later, unless the session has ended by then: the task then goes on, for
 * another session to resume.
 */

/** How long Pi may take from aborting its calls to saying that the session has ended. */
const GRACE_MS = 1000;

export interface CallAbort {
  /** For the call itself. */
  readonly signal: AbortSignal;
  /** From now on it is a task. */
  becomesTask(): void;
  /** What `call` comes to, or at once the error that `whenGivenUp` makes, if its task is given up first. */
  orGivenUp<T>(call: Promise<T>, whenGivenUp: () => Error): Promise<T>;
}

export interface CallAbortOptions {
  /** Of Pi's call. */
  readonly signal: AbortSignal | undefined;
  /** Of the session. */
  readonly ended: AbortSignal;
  /** Takes how the call ended after it was given up. */
  readonly onLateEnd: (error: unknown) => void;
}

export function callAbort({ signal, ended, onLateEnd }: CallAbortOptions): CallAbort {
  const cancel = new AbortController();
  const givenUp = new AbortController();
  let isTask = false;
  const onAbort = () => {
    if (!isTask) return cancel.abort();
    givenUp.abort();
    setTimeout(() => ended.aborted || cancel.abort(), GRACE_MS).unref();
  };
  // A task whose session ends is left to itself by the runtime as it closes.
  const onEnd = () => isTask || cancel.abort();
  if (signal?.aborted || ended.aborted) cancel.abort();
  return {
    signal: cancel.signal,
    becomesTask: () => {
      isTask = true;
    },
    async orGivenUp(call, whenGivenUp) {
      const gone = new Promise<never>((_, reject) => {
        givenUp.signal.addEventListener("abort", () => reject(whenGivenUp()), { once: true });
      });
      signal?.addEventListener("abort", onAbort, { once: true });
      ended.addEventListener("abort", onEnd, { once: true });
      call.catch((error: unknown) => {
        if (givenUp.signal.aborted) onLateEnd(error);
      });
      try {
        return await Promise.race([call, gone]);
      } finally {
        signal?.removeEventListener("abort", onAbort);
        ended.removeEventListener("abort", onEnd);
      }
    },
  };
}
