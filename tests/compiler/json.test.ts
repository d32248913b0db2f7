import fc from "fast-check";
import { expect, test } from "vitest";
import { artifactJson, plainJson } from "../../compiler/emit/json.ts";

test("what an editor hides or reorders is escaped, and the value stays the same", () => {
  const value = { "\u202ekey": "a\u200bb\u2028c\u0085d\ufeff", plain: "größe 🎉 日本" };
  for (const text of [plainJson(value), artifactJson(value)]) {
    expect(text).not.toMatch(/[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/);
    expect(text).toContain("größe 🎉 日本");
    expect(JSON.parse(text)).toEqual(value);
  }
});

test("any JSON value comes back, on lines of at most 120 columns where a value allows it", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      const text = artifactJson(value);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      for (const line of text.split("\n")) {
        // A longer line holds one value that can't be broken.
        if (line.length > 120) expect(line).toMatch(/^ *(?:"(?:[^"\\]|\\.)*": )?(?:"(?:[^"\\]|\\.)*"|[-\d.eE+]+),?$/);
      }
    }),
  );
});
