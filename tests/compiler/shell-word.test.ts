/** Words for a shell: what comes out of one is what went in, whatever it holds. */
import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { shellWord } from "../../schemas/shell-word.ts";

test.each([
  ["weather/get_forecast", "weather/get_forecast"],
  ["mcp__a__b", "mcp__a__b"],
  ["a b", "'a b'"],
  ["$(id)", "'$(id)'"],
  ["it's", "'it'\\''s'"],
  ["-rf", "'-rf'"],
  ["~", "'~'"],
  ["", "''"],
])("%j is %s", (text, word) => {
  expect(shellWord(text)).toBe(word);
});

test.skipIf(process.platform === "win32")("a shell gives it back as it was", () => {
  const text = fc.string({ unit: fc.constantFrom(..."ab '\"$`\\!;|&<>*?(){}[]#~-\n\té=") });
  fc.assert(
    fc.property(fc.array(text, { minLength: 20, maxLength: 20 }), (texts) => {
      const script = `for word in ${texts.map(shellWord).join(" ")}; do printf '%s\\0' "$word"; done`;
      const said = execFileSync("/bin/sh", ["-c", script], { encoding: "utf8" });
      expect(said.split("\0").slice(0, -1)).toEqual(texts);
    }),
    { numRuns: 20 },
  );
});
