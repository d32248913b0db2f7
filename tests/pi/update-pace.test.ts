/** What is shown of many changes in a short time, with a clock of the test's own. */
import type { CodemodeToolDetails } from "@earendil-works/pi-coding-agent";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CallRows } from "../../runtime/pi/codemode/call-rows.ts";
import type { ToolEntry } from "../../schemas/artifacts/tool-table.ts";
import { shownProgress } from "./shown-progress.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("the progress of a call", () => {
  const entry = { name: "mcp__s__t", server: "s", tool: "t", maxOutputBytes: 1000 } as ToolEntry;
  const progress = (run: (say: (progress: number) => void) => Promise<void>) =>
    shownProgress(entry, (tell) => run((step) => tell({ progress: step, total: 5000 })));

  test("is shown ten times a second, however often a server tells of it, and the last of it always", async () => {
    const said = await progress(async (say) => {
      for (let step = 1; step <= 5000; step++) {
        say(step);
        await vi.advanceTimersByTimeAsync(0.2);
      }
    });
    expect(said[0]).toBe("Progress 1/5000");
    expect(said.at(-1)).toBe("Progress 5000/5000");
    expect(said.length).toBeGreaterThanOrEqual(10);
    expect(said.length).toBeLessThanOrEqual(12);
  });

  test("is shown at once where there is little of it, and without another word from the server", async () => {
    const seen: number[] = [];
    const said = await progress(async (say) => {
      say(1);
      await vi.advanceTimersByTimeAsync(150);
      say(2);
      say(3);
      await vi.advanceTimersByTimeAsync(150);
      seen.push(vi.getTimerCount());
    });
    expect(said).toEqual(["Progress 1/5000", "Progress 2/5000", "Progress 3/5000"]);
    expect(seen).toEqual([0]);
  });
});

describe("the calls of a script", () => {
  test("are shown a hundred at a time, however many there are, with what became of the others", async () => {
    const shown: CodemodeToolDetails[] = [];
    const rows = new CallRows("1", ({ details }) => void (details && shown.push(details)));
    const slow = rows.begin("slow", "");
    for (let call = 1; call <= 20_000; call++) {
      rows.begin("t", `{"n":${call}}`)(call % 100 === 0 ? { status: "error", error: "no" } : { status: "ok", cost: 1 });
      if (call % 200 === 0) await vi.advanceTimersByTimeAsync(10);
    }
    expect(shown.length).toBeLessThanOrEqual(12);
    expect(Math.max(...shown.map(({ calls }) => calls.length))).toBe(101);
    expect(shown.at(-1)!.calls[0]).toMatchObject({
      status: "running",
      args: expect.stringMatching(/^1 running, \d+ failed$/),
    });
    slow({ status: "error", error: "too slow" });
    const { calls } = rows.end();
    expect(calls).toHaveLength(101);
    expect(calls[0]).toEqual({
      id: "1/earlier",
      name: "19901 earlier calls",
      args: "200 failed",
      status: "ok",
      cost: 19_701,
    });
    expect(calls.at(-1)).toMatchObject({ args: '{"n":20000}', status: "error", error: "no" });
    const before = shown.length;
    rows.begin("late", "");
    await vi.advanceTimersByTimeAsync(1000);
    expect(shown).toHaveLength(before);
  });
});
