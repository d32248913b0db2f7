/** The result of a task of 2025-11-25: the request that is open when its task ends. */
import { expect, test } from "vitest";
import { AwaitedResult } from "../../runtime/tasks/awaited-result.ts";
import type { Reply, TaskPeer } from "../../runtime/tasks/task-peer.ts";

test("answers in its own time, and no timer outlives it", async () => {
  let answer: (reply: Reply<Record<string, unknown>>) => void = () => {};
  const sent: string[] = [];
  const peer = {
    result(_: AbortSignal, patience: string) {
      sent.push(patience);
      return new Promise((resolve) => {
        answer = resolve;
      });
    },
  } as unknown as TaskPeer;
  const waits: AbortSignal[] = [];
  const clock = {
    now: () => 0,
    random: () => 0,
    wait: (_: number, signal: AbortSignal) => {
      waits.push(signal);
      return new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    },
  };
  const awaited = new AwaitedResult({ peer, clock, stop: new AbortController().signal, onChange: () => {} });
  awaited.open();
  awaited.open();
  const fetched = awaited.fetch();
  answer({ ok: true, value: { content: [] } });
  expect(await fetched).toEqual({ ok: true, value: { content: [] } });
  expect(sent).toEqual(["waiting"]);
  expect(waits.map(({ aborted }) => aborted)).toEqual([true]);
});
