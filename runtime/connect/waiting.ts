/** Waiting that ends: by its time limit, or because the caller gave up. */

/** Node's timers take no more. */
export const MAX_TIMER_MS = 2_147_483_647;

export class OverdueError extends Error {}

/** Rejects when the time is up or the signal is aborted: a transport that is closed may leave its `start` unsettled. */
export function within(started: Promise<void>, limitMs: number, signal: AbortSignal): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const end = (settle: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      settle();
    };
    const onAbort = () => end(() => reject(new Error("cancelled")));
    const timer = setTimeout(() => end(() => reject(new OverdueError())), limitMs);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    started.then(
      () => end(resolve),
      (error: unknown) => end(() => reject(error)),
    );
  });
}

/** Resolves after `ms` milliseconds, or when the signal is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done, { once: true });
    if (signal?.aborted) done();
  });
}

/** Resolves when `promise` does, the time is up, or the signal is aborted. Leaves nothing behind on the signal. */
export function settled(promise: Promise<void>, timeoutMs: number, signal?: AbortSignal): Promise<void> {
  const over = new AbortController();
  const onAbort = () => over.abort();
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted) onAbort();
  return Promise.race([promise, pause(timeoutMs, over.signal)]).finally(() => {
    signal?.removeEventListener("abort", onAbort);
    over.abort();
  });
}
