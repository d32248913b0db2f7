/** Time and chance as the following of a task needs them, so that tests can do without either. */
import { MAX_TIMER_MS, pause } from "../connect/waiting.ts";

export interface Clock {
  /** Milliseconds since 1970: handles outlive the process, so no clock that starts with it will do. */
  now(): number;
  /** From 0 up to, and not including, 1. */
  random(): number;
  /** Resolves after `ms`, or as soon as the signal is aborted. Keeps the program going meanwhile. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  wait: (ms, signal) => pause(Math.min(ms, MAX_TIMER_MS), signal),
};
