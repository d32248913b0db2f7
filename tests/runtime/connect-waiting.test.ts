/** Waiting that ends, and leaves nothing on a signal that outlives it. */
import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { pause, settled, within } from "../../runtime/connect/waiting.ts";

const never = new Promise<void>(() => {});
const soon = () => new Promise<void>((resolve) => setTimeout(resolve, 5));

test.each<[string, (signal: AbortSignal) => Promise<void>]>([
  ["settled, by its promise", (signal) => settled(soon(), 60_000, signal)],
  ["settled, by the time", (signal) => settled(never, 5, signal)],
  ["settled, by a promise that rejects", (signal) => settled(Promise.reject(new Error("x")), 60_000, signal)],
  ["within", (signal) => within(soon(), 60_000, signal)],
  ["within, overdue", (signal) => within(never, 5, signal)],
  ["pause", (signal) => pause(5, signal)],
])("%s", async (_, wait) => {
  const { signal } = new AbortController();
  const waiting = wait(signal).catch(() => undefined);
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  await waiting;
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("settled ends with the signal, and at once where that is aborted already", async () => {
  const abort = new AbortController();
  const waiting = settled(never, 60_000, abort.signal);
  abort.abort();
  await waiting;
  await settled(never, 60_000, abort.signal);
});
