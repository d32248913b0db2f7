/** Waiting that ends: by its time limit, or because the caller gave up. */

/** Node's timers take no more. */
export const MAX_TIMER_MS = 2_147_483_647;

export class OverdueError extends Error {}

/** Rejects when the time is up or the signal is aborted: a transport that is closed may leave its `start` unsettled. */
export function within(started: Promise<void>, limitMs: number, signal: AbortSignal): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new OverdueError()), limitMs);
    const onAbort = () => reject(new Error("cancelled"));
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    started.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    });
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

/** Resolves when `promise` does, the time is up, or the signal is aborted. */
export async function settled(promise: Promise<void>, timeoutMs: number, signal?: AbortSignal): Promise<void> {
  const given = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
  if (given.aborted) return;
  await Promise.race([
    promise,
    new Promise<void>((resolve) => given.addEventListener("abort", () => resolve(), { once: true })),
  ]);
}
