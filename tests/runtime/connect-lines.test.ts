/** Lines out of chunks: the framing beneath every stdio server. */
import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { LineReader } from "../../runtime/connect/lines.ts";

describe("framing", () => {
  function read(chunks: readonly Buffer[], maxBytes = 1000): string[] {
    const seen: string[] = [];
    const reader = new LineReader(maxBytes, {
      onLine: (line) => seen.push(line.toString("utf8")),
      onOversize: (head) => seen.push(`too long: ${head.subarray(0, 5)}`),
      onOversizeEnd: (bytes, tail) => seen.push(`was ${bytes}, ended ${tail.subarray(-3)}`),
    });
    for (const chunk of chunks) reader.push(chunk);
    reader.end();
    return seen;
  }

  test("lines are the same however the bytes are cut, inside characters too", () => {
    const line = fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", "é😀"));
    fc.assert(
      fc.property(fc.array(line, { minLength: 1 }), fc.array(fc.nat(200)), (lines, cuts) => {
        const bytes = Buffer.from(`${lines.join("\n")}\n`);
        const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
        const chunks = places.slice(1).map((place, index) => bytes.subarray(places[index], place));
        expect(read(chunks, 1_000_000)).toEqual(lines);
      }),
    );
  });

  test("a line over the limit is dropped as it streams and the next one is whole", () => {
    const chunks = ["abcde", "fghij", "klm\nnext\nlast"].map((text) => Buffer.from(text));
    expect(read(chunks, 8)).toEqual(["too long: abcde", "was 13, ended klm", "next", "last"]);
    expect(read([Buffer.from("12345678\n")], 8)).toEqual(["12345678"]);
  });

  test("each byte of a long line is copied once, in however many chunks it comes", () => {
    const concat = vi.spyOn(Buffer, "concat");
    onTestFinished(() => concat.mockRestore());
    const chunk = Buffer.alloc(1000, 0x61);
    const lengths: number[] = [];
    const reader = new LineReader(1e9, {
      onLine: (line) => lengths.push(line.length),
      onOversize: () => {},
      onOversizeEnd: () => {},
    });
    for (let n = 0; n < 20_000; n++) reader.push(chunk);
    reader.push(Buffer.from("\n"));
    const copied = concat.mock.results.reduce((sum, { value }) => sum + (value as Buffer).length, 0);
    expect(lengths).toEqual([20_000_000]);
    expect(copied).toBe(20_000_000);
  });

  test("a line that is being dropped keeps no more than its two ends", () => {
    const concat = vi.spyOn(Buffer, "concat");
    onTestFinished(() => concat.mockRestore());
    const reader = new LineReader(5000, { onLine: () => {}, onOversize: () => {}, onOversizeEnd: () => {} });
    for (let n = 0; n < 1000; n++) reader.push(Buffer.alloc(1000, 0x61));
    const largest = Math.max(...concat.mock.results.map(({ value }) => (value as Buffer).length));
    expect(largest).toBeLessThan(10_000);
  });
});
