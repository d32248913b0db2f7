import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { limitText, measureText } from "../../runtime/limits/text.ts";

/** Any UTF-16 at all: ASCII, wide letters, pairs, and halves of pairs. */
const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom("a", "\n", "é", "日", "😀", "\ud83d", "\ude00", "\u200d", "\u0000"),
      fc.string({ unit: "binary" }),
    ),
    {
      maxLength: 80,
    },
  )
  .map((parts) => parts.join(""));

describe("limitText", () => {
  const rows: [what: string, text: string, maxBytes: number, want: string][] = [
    ["empty text fits any limit", "", 1, ""],
    ["text exactly at the limit is whole", "abcd", 4, "abcd"],
    ["one byte over is cut", "abcde", 4, "ab…1 chars truncated…de"],
    ["an odd limit gives its odd byte to the end", "abcdefgh", 5, "ab…3 chars truncated…fgh"],
    ["exactly at the limit in bytes of UTF-8", "éé", 4, "éé"],
    ["bytes count, not characters", "ééé", 5, "é…1 chars truncated…é"],
    ["a pair that doesn't fit is left out whole", "😀😀😀", 9, "😀…1 chars truncated…😀"],
    ["a limit smaller than any character", "日本", 1, "…2 chars truncated…"],
    ["lone halves are characters of three bytes", "\ud83d\ud83d\ud83d", 6, "\ud83d…1 chars truncated…\ud83d"],
  ];
  test.each(rows)("%s", (_what, text, maxBytes, want) => {
    expect(limitText(text, maxBytes).text).toBe(want);
  });

  test("what is kept and what is counted make up the original, within the limit", () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 120 }), (text, maxBytes) => {
        const limited = limitText(text, maxBytes);
        expect(limited.cut).toBe(Buffer.byteLength(text) > maxBytes);
        expect(limited.totalBytes).toBe(Buffer.byteLength(text));
        if (!limited.cut) {
          expect(limited.text).toBe(text);
          return;
        }
        expect(text.startsWith(limited.head)).toBe(true);
        expect(text.endsWith(limited.tail)).toBe(true);
        expect(Buffer.byteLength(limited.head)).toBeLessThanOrEqual(Math.floor(maxBytes / 2));
        expect(Buffer.byteLength(limited.head) + Buffer.byteLength(limited.tail)).toBeLessThanOrEqual(maxBytes);
        const middle = text.slice(limited.head.length, text.length - limited.tail.length);
        expect(limited.removedCharacters).toBe(Array.from(middle).length);
        // A boundary never falls inside a pair, so counting the parts counts the whole.
        const parts = [limited.head, middle, limited.tail].map((part) => Array.from(part).length);
        expect(parts.reduce((sum, length) => sum + length, 0)).toBe(Array.from(text).length);
        // Nothing more would have fitted.
        const next = Array.from(middle)[0]!;
        expect(Buffer.byteLength(limited.head + next)).toBeGreaterThan(Math.floor(maxBytes / 2));
      }),
      { numRuns: 500 },
    );
  });

  test("one line of 500 KB is cut like any other text", () => {
    const limited = limitText("x".repeat(500_000), 20_480);
    expect(limited).toMatchObject({ totalBytes: 500_000, totalLines: 1, removedCharacters: 479_520 });
    expect(limited.text).toBe(`${"x".repeat(10_240)}…479520 chars truncated…${"x".repeat(10_240)}`);
  });

  test("a text of 200 MB has exact figures too", () => {
    const text = `${"x".repeat(99)}\n`.repeat(2_000_000);
    const want = { totalBytes: 200_000_000, totalLines: 2_000_000, removedCharacters: 200_000_000 - 20_480 };
    expect(limitText(text, 20_480)).toMatchObject(want);
  });

  test("5,000 lines of é are counted as UTF-8", () => {
    const text = `${"é".repeat(10)}\n`.repeat(5_000);
    expect(limitText(text, 20_480)).toMatchObject({ cut: true, totalBytes: 105_000, totalLines: 5_000 });
    expect(limitText(text, 105_000).cut).toBe(false);
    expect(limitText(text, 104_999).cut).toBe(true);
  });
});

describe("measureText", () => {
  const naive = (text: string) => ({
    bytes: Buffer.byteLength(text),
    characters: Array.from(text).length,
    lines: text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0),
  });

  test("agrees with the slow way", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(measureText(text)).toEqual(naive(text));
      }),
      { numRuns: 300 },
    );
  });

  test("agrees where chunks of 65,536 units meet, whatever stands there", () => {
    const chunk = 1 << 16;
    for (const piece of ["😀", "\ud83d", "\ude00", "é", "\n", "\ud83d\ud83d\ude00"]) {
      for (const before of [chunk - 2, chunk - 1, chunk, 2 * chunk - 1]) {
        const text = `${"a".repeat(before)}${piece.repeat(3)}${"é\n".repeat(chunk)}${"b".repeat(chunk)}\n`;
        expect(measureText(text)).toEqual(naive(text));
      }
    }
  });
});
