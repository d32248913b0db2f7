/** Forms that servers ask to be filled in, in the dialogs of a real Pi. */
import { describe, expect, test } from "vitest";
import { Asking, type Call, resultOf, schema, TEST_MS } from "./asking.ts";
import { textOf } from "./pi.ts";

describe("forms", () => {
  test("every kind of field is asked, checked, shown again and sent as the schema has it", {
    timeout: TEST_MS,
  }, async () => {
    const asking = await Asking.compiled();
    const fields = {
      name: { type: "string", title: "Your name", description: "As in the passport", minLength: 2 },
      age: { type: "integer", minimum: 0 },
      city: { type: "string", enum: ["osl", "bgo"], enumNames: ["Oslo", "Bergen"], default: "bgo" },
      window: { type: "boolean" },
      meals: { type: "array", items: { type: "string", enum: ["fish", "fruit"] }, minItems: 1 },
      note: { type: "string" },
      seats: { type: "integer", default: 1 },
    };
    const form = schema(fields, ["name", "age", "meals"]);
    const pi = asking.pi([["form", { message: "Book", schema: form }]]);
    expect(await pi.answer("Answer (7 fields)")).toMatchObject({
      method: "select",
      title: 'Server "asking" asks (tool form):\n│ Book',
    });

    const name = await pi.answer("A");
    expect(name).toMatchObject({ method: "input" });
    expect(name.title).toContain('Server "asking" asks, 1 of 7:\nYour name (name)\n│ As in the passport\nExpects text');
    expect((await pi.answer("Ann")).title).toMatch(/^That doesn't fit: expected /);
    await pi.answer("old");
    expect((await pi.answer("41")).title).toMatch(/^That doesn't fit: expected integer/);
    const city = await pi.answer("Oslo (osl)");
    expect(city.options).toEqual(["Bergen (bgo) (default)", "Oslo (osl)", "(leave it out)"]);
    const aisle = await pi.answer("No");
    expect(aisle).toMatchObject({ method: "select", options: ["(leave it out)", "Yes", "No"] });
    await pi.answer("Done");
    expect((await pi.answer("[ ] fruit")).title).toMatch(/^That doesn't fit: expected at least 1/);
    expect(await pi.answer("Done: fruit")).toMatchObject({ options: ["Done: fruit", "[ ] fish", "[x] fruit"] });
    expect((await pi.answer("")).title).toContain("Enter alone leaves it out");
    expect((await pi.answer("")).title).toContain("Enter alone takes: 1");

    const review = await pi.answer("Change");
    expect(review.title.split("\n")).toEqual([
      'This goes to server "asking":',
      "  Your name (name): Ann",
      "  age: 41",
      "  city: Oslo (osl)",
      "  window: no",
      "  meals: fruit",
      "  note: (left out)",
      "  seats: 1",
    ]);
    await pi.answer("age");
    await pi.answer("42");
    await pi.answer("Send");
    expect(await resultOf(pi)).toEqual({
      action: "accept",
      content: { name: "Ann", age: 42, city: "osl", window: false, meals: ["fruit"], seats: 1 },
    });
    expect(asking.advertised()).toEqual([{ elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }]);
  });

  test("declining, cancelling and dismissing are told apart, wherever it is done", { timeout: TEST_MS }, async () => {
    const asking = await Asking.compiled();
    const one: Call = ["form", { schema: schema({ name: { type: "string" } }) }];
    const empty: Call = ["form", { message: "Sure?", schema: schema({}) }];
    const odd: Call = ["form", { schema: schema({}, ["ghost"]) }];
    const pi = asking.pi([one, one, one, one, one, empty, empty, odd]);

    await pi.answer("Decline");
    expect(await resultOf(pi, 0)).toEqual({ action: "decline" });
    pi.dismiss(await pi.dialog());
    expect(await resultOf(pi, 1)).toEqual({ action: "cancel" });
    // In the middle: back into the form, and then out of it.
    await pi.answer("Let it ask");
    await pi.answer("Answer");
    pi.dismiss(await pi.dialog());
    expect((await pi.answer("Go on")).title).toBe('Leave the form of server "asking"?');
    await pi.answer("x");
    await pi.answer("Decline");
    expect(await resultOf(pi, 2)).toEqual({ action: "decline" });
    await pi.answer("Let it ask");
    await pi.answer("Answer");
    pi.dismiss(await pi.dialog());
    pi.dismiss(await pi.dialog());
    expect(await resultOf(pi, 3)).toEqual({ action: "cancel" });
    await pi.answer("Let it ask");
    await pi.answer("Answer");
    await pi.answer("");
    expect((await pi.answer("Send")).title).toContain("name: (left out)");
    expect(await resultOf(pi, 4)).toEqual({ action: "accept", content: {} });
    // A yes or no: Enter alone, meant for the editor, must not be a yes.
    expect((await pi.answer("Accept")).options![0]).toMatch(/^Cancel/);
    expect(await resultOf(pi, 5)).toEqual({ action: "accept", content: {} });
    await pi.answer("Decline");
    expect(await resultOf(pi, 6)).toEqual({ action: "decline" });
    expect((await pi.answer("Cancel")).title).toContain("It can't be filled in here");
    expect(await resultOf(pi, 7)).toEqual({ action: "cancel" });
  });

  test("whoever is told no and asks again is not heard any more", { timeout: TEST_MS }, async () => {
    const asking = await Asking.compiled();
    const form: Call = ["form", { schema: schema({}) }];
    const pi = asking.pi([form, form, form, form, ["greet"]]);
    await pi.answer("Decline");
    await pi.answer("Cancel");
    expect((await pi.answer("Let it ask")).title).toContain("It was told no 2 times in a row");
    await pi.answer("Decline");
    await pi.answer("No, and nothing else");
    expect(await resultOf(pi, 3)).toEqual({ action: "cancel" });
    expect(textOf(await pi.tool(4))).toBe("no name: cancel");
    await pi.settled();
    expect(pi.dialogs()).toHaveLength(5);
  });

  test("a question of 2026-07-28 looks the same", { timeout: TEST_MS }, async () => {
    const asking = await Asking.compiled({ ERA: "modern" });
    const pi = asking.pi([["greet"], ["greet"]]);
    expect((await pi.answer("Answer")).title).toBe('Server "asking" asks (tool greet):\n│ Who is there?');
    await pi.answer("Ann");
    await pi.answer("Send");
    expect(textOf(await pi.tool())).toBe("hello Ann");
    await pi.answer("Decline");
    expect(textOf(await pi.tool(1))).toBe("no name: decline");
    expect(asking.advertised()).toEqual([{ elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }]);
  });

  test("what a server says is set apart, harmless and short", { timeout: TEST_MS }, async () => {
    const asking = await Asking.compiled();
    const message = `\u001b[2Jhi\u202e\u0007\nServer "bank" asks:\n${"long ".repeat(2000)}`;
    const fields = {
      "a\u001b]0;x\u0007": { type: "string", title: "\u001b[31mred", enum: ["\u001b[1m"], default: "\u001b[1m" },
    };
    const pi = asking.pi([["form", { message, schema: schema(fields) }]]);
    const first = await pi.answer("Answer");
    const [who, ...said] = first.title.split("\n");
    expect(who).toBe('Server "asking" asks (tool form):');
    expect(said.length).toBeGreaterThan(2);
    for (const line of said) expect(line).toMatch(/^│ /);
    expect(said.at(-1)).toBe("│ … (it goes on)");
    expect(first.title.length).toBeLessThan(5000);
    const field = await pi.dialog();
    for (const text of [first.title, field.title, ...field.options!]) {
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    }
  });
});
