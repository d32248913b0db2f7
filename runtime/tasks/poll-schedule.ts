/**
 * When a task is asked about next. Pure. Promises: never sooner after the last time than the latest `pollIntervalMs` of the server,
 * the first poll included; a little later than that by chance, so that many tasks don't knock at once; longer and
 * longer pauses where the server names none or can't be reached. One exception: a server that wants to be asked only
 * after its own `ttlMs` is asked once when that is over, as there may be nothing to ask about later.
 */

export interface PollSituation {
  /** Of the latest snapshot; absent where the server gave none that means anything. */
  readonly pollIntervalMs?: number | undefined;
  /** Polls since the server last named an interval. */
  readonly unpaced: number;
  /** Polls in a row that failed. */
  readonly failures: number;
  /** When the task was last asked about or made. */
  readonly lastAt: number;
  /** When the server may forget it; absent for never. */
  readonly deadline?: number | undefined;
  /** From 0 up to 1. */
  readonly chance: number;
}

/** Nobody is helped by more than ten polls a second. */
const LEAST_MS = 100;
/** Nobody means more than an hour. */
const MOST_MS = 60 * 60_000;
/** Where the server names no interval: the first, the growth, the longest. */
const UNPACED = { firstMs: 1000, growth: 1.5, longestMs: 15_000 };
export const LONGEST_FAILURE_PAUSE_MS = 30_000;
const FAILED = { firstMs: 1000, growth: 2, longestMs: LONGEST_FAILURE_PAUSE_MS };
/** Failed requests in a row before the task is left to a later resume. */
export const MOST_FAILURES = 6;
/** A task is looked at once more when its time is up, and given this much. */
export const DEADLINE_GRACE_MS = 50;
/** Part of the pause that chance may add, and its most. */
const JITTER = { part: 0.1, mostMs: 2000 };

/** The moment of the next poll. */
export function nextPollAt(situation: PollSituation): number {
  const { lastAt, deadline, chance } = situation;
  const pauseMs = pauseOf(situation);
  const at = lastAt + pauseMs + chance * Math.min(pauseMs * JITTER.part, JITTER.mostMs);
  if (deadline === undefined) return at;
  const last = deadline + DEADLINE_GRACE_MS;
  // Asked then already, and not answered: from there on it is paced like any other.
  return lastAt < last ? Math.min(at, last) : at;
}

function pauseOf({ pollIntervalMs, unpaced, failures }: PollSituation): number {
  const asked = pollIntervalMs === undefined ? grown(UNPACED, unpaced) : clamp(pollIntervalMs);
  return failures === 0 ? asked : Math.max(asked, failurePauseMs(failures));
}

/** The pause after so many failures in a row. */
export function failurePauseMs(failures: number): number {
  return grown(FAILED, failures - 1);
}

function grown(pace: { firstMs: number; growth: number; longestMs: number }, times: number): number {
  return Math.min(pace.longestMs, pace.firstMs * pace.growth ** Math.min(times, 50));
}

function clamp(ms: number): number {
  return Math.min(MOST_MS, Math.max(LEAST_MS, ms));
}
