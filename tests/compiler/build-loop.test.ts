import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { BuildLoop } from "../../compiler/watch/build-loop.ts";

/** A loop whose builds end when the test says so. */
function controlled() {
  const builds: { reasons: string[]; end: () => void; fail: (error: Error) => void }[] = [];
  const errors: unknown[] = [];
  const loop = new BuildLoop({
    quietMs: 100,
    onError: (error) => errors.push(error),
    build: (reasons) =>
      new Promise<void>((resolve, reject) => builds.push({ reasons: [...reasons], end: resolve, fail: reject })),
  });
  return { loop, builds, errors };
}

describe("builds of a watch", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("a burst is one build with all its reasons", async () => {
    const { loop, builds } = controlled();
    for (let i = 0; i < 50; i++) loop.request(`file ${i % 2}`);
    await vi.advanceTimersByTimeAsync(100);
    expect(builds.map((build) => build.reasons)).toEqual([["file 0", "file 1"]]);
  });

  test("changes during a build are one build after it", async () => {
    const { loop, builds } = controlled();
    loop.request("a");
    await vi.advanceTimersByTimeAsync(100);
    for (const reason of ["b", "c", "b"]) {
      loop.request(reason);
      await vi.advanceTimersByTimeAsync(150);
    }
    expect(builds).toHaveLength(1);
    builds[0]!.end();
    await vi.advanceTimersByTimeAsync(1000);
    expect(builds.map((build) => build.reasons)).toEqual([["a"], ["b", "c"]]);
    builds[1]!.end();
    await vi.advanceTimersByTimeAsync(1000);
    expect(builds).toHaveLength(2);
  });

  test("a build that fails is reported and the next one runs", async () => {
    const { loop, builds, errors } = controlled();
    loop.request("a");
    await vi.advanceTimersByTimeAsync(100);
    builds[0]!.fail(new Error("no"));
    await vi.advanceTimersByTimeAsync(0);
    loop.request("b");
    await vi.advanceTimersByTimeAsync(100);
    expect(errors).toEqual([new Error("no")]);
    expect(builds).toHaveLength(2);
  });

  test("after stop nothing starts, and the build under way is waited for", async () => {
    const { loop, builds } = controlled();
    loop.request("a");
    await vi.advanceTimersByTimeAsync(100);
    loop.request("b");
    let stopped = false;
    const stopping = loop.stop().then(() => {
      stopped = true;
    });
    await vi.advanceTimersByTimeAsync(1000);
    expect(stopped).toBe(false);
    builds[0]!.end();
    await stopping;
    await vi.advanceTimersByTimeAsync(1000);
    expect(builds).toHaveLength(1);
  });
});
