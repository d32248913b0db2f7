/** What a server says above a question: kept behind its bar, whatever it is made of. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { heading } from "../../cli/asking/heading.ts";
import { widthOf } from "../../cli/columns.ts";

const shown = (message: string, width: number) =>
  heading("asks", { message }, { server: "s" } as never, { colour: false, width })
    .split("\n")
    .slice(2, -1);

test("tabs don't carry a line over its end", () => {
  const lines = shown(`a${"\t".repeat(30)}? Send it? Yes`, 60);
  expect(lines.join("")).toContain("? Send it? Yes");
  for (const line of lines) {
    expect(line).toMatch(/^ {2}│ [^\t]*$/);
    expect(widthOf(line)).toBeLessThanOrEqual(60);
  }
});

test("no message has a line without the bar, or one that is too wide", () => {
  const text = fc.string({ unit: fc.constantFrom(..."ab \t\n\r\u001b\u2028漢é\u202e😀"), maxLength: 300 });
  fc.assert(
    fc.property(text, fc.integer({ min: 40, max: 120 }), (message, width) => {
      for (const line of shown(message, width)) {
        expect(line.startsWith("  │ ") || line === "  … (the message goes on)").toBe(true);
        expect(line).not.toMatch(/[\t\r\u001b\u202e]/);
        expect(widthOf(line)).toBeLessThanOrEqual(width);
      }
    }),
  );
});
