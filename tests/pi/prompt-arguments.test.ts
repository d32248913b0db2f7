/** What is typed behind a prompt's command, as arguments, and what completes it. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fillArguments, typedArgument } from "../../runtime/pi/prompts/prompt-arguments.ts";
import { usageOf } from "../../schemas/prompt-list.ts";

const CITY = { name: "city", required: true as const };
const STYLE = { name: "style" };
const ARGS = [CITY, STYLE];

describe("arguments", () => {
  test.each<[string, Record<string, string>]>([
    ["", {}],
    ["Oslo", { city: "Oslo" }],
    ["  Oslo  dry ", { city: "Oslo", style: "dry" }],
    ["Oslo as dry  as\nsand ", { city: "Oslo", style: "as dry  as\nsand" }],
    ['"New York" dry', { city: "New York", style: "dry" }],
    ["'New York'", { city: "New York" }],
    ['"say \\"hi\\"" x', { city: 'say "hi"', style: "x" }],
    ["it's x", { city: "it's", style: "x" }],
    ['"unclosed', { city: '"unclosed' }],
    ['"a"b c', { city: '"a"b', style: "c" }],
    ['""', { city: "" }],
    ["style=dry Oslo", { style: "dry", city: "Oslo" }],
    ['style="very dry" Oslo', { style: "very dry", city: "Oslo" }],
    ["city=Oslo", { city: "Oslo" }],
    ["city=", { city: "" }],
    ["colour=red", { city: "colour=red" }],
    ["city=Oslo city=Bergen", { city: "Oslo", style: "city=Bergen" }],
    ["style=dry New York", { style: "dry", city: "New York" }],
    ["New style=dry York", { style: "dry", city: "New York" }],
  ])("%j", (typed, values) => {
    expect(fillArguments(ARGS, typed)).toMatchObject({ ok: true, values });
    expect((fillArguments(ARGS, typed) as { values: object }).values).toEqual(values);
  });

  test("what is required and missing, in order", () => {
    const both = [CITY, STYLE, { name: "year", required: true as const }];
    expect(fillArguments(both, "style=x")).toMatchObject({ missing: [{ name: "city" }, { name: "year" }] });
    expect(fillArguments(both, "Oslo x 1999")).toMatchObject({ missing: [] });
  });

  test("too many", () => {
    expect(fillArguments([], "x")).toEqual({ ok: false, problem: "it takes no arguments" });
    expect(fillArguments([CITY], "city=Oslo x")).toEqual({ ok: false, problem: "it takes no more than <city>" });
    expect(fillArguments(undefined, " ")).toMatchObject({ ok: true, values: {} });
  });

  test("names that objects have are names like any other", () => {
    const args = [{ name: "__proto__" }, { name: "constructor" }];
    const filled = fillArguments(args, "a constructor=b");
    expect(filled.ok && Object.entries(filled.values)).toEqual([
      ["constructor", "b"],
      ["__proto__", "a"],
    ]);
  });

  test("usage", () => {
    expect([usageOf(ARGS), usageOf([]), usageOf(undefined)]).toEqual(["<city> [style]", "", ""]);
  });
});

describe("completion", () => {
  test.each<[string, [name: string, value: string, given: Record<string, string>, completed: string] | undefined]>([
    ["", ["city", "", {}, "Ulm"]],
    ["O", ["city", "O", {}, "Ulm"]],
    ["Oslo ", ["style", "", { city: "Oslo" }, "Oslo Ulm"]],
    ["Oslo d", ["style", "d", { city: "Oslo" }, "Oslo Ulm"]],
    ["Oslo d ", undefined],
    ["Oslo dry as", undefined],
    ["style=d", ["style", "d", {}, "style=Ulm"]],
    ["style=dry ", ["city", "", { style: "dry" }, "style=dry Ulm"]],
    ["city=Oslo style=", ["style", "", { city: "Oslo" }, "city=Oslo style=Ulm"]],
    ["city=Oslo city=", undefined],
    ['"New Yo', ["city", "New Yo", {}, "Ulm"]],
    ['Oslo style="very d', ["style", "very d", { city: "Oslo" }, "Oslo style=Ulm"]],
    ['"New York" x', ["style", "x", { city: "New York" }, '"New York" Ulm']],
  ])("%j", (typed, wanted) => {
    const found = typedArgument(ARGS, typed);
    const shown = found && [found.argument.name, found.value, found.given, found.complete("Ulm")];
    expect(shown).toEqual(wanted);
  });

  test("a completed value is read back as it is, or not offered", () => {
    const head = fc.constantFrom("", "Oslo ", "style=", "Oslo style=");
    fc.assert(
      fc.property(head, fc.string(), (typed, value) => {
        const found = typedArgument(ARGS, typed)!;
        const completed = found.complete(value);
        if (completed === undefined) return;
        expect(completed.startsWith(typed)).toBe(true);
        const filled = fillArguments(ARGS, completed);
        expect(filled.ok && filled.values[found.argument.name]).toBe(value);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([["New York"], ['the "big" one'], ["it's"], ["a=b"], ["style=x"], [""]])("%j can be completed", (value) => {
    expect(typedArgument(ARGS, "")!.complete(value)).toBeDefined();
  });

  test.each([["two\nlines"], ["ends in \\"]])("%j can't", (value) => {
    expect(typedArgument(ARGS, "")!.complete(value)).toBeUndefined();
  });
});
