/** Dialogs without a Pi: their queue, their choices and how a server's text is quoted in them. */
import { describe, expect, test } from "vitest";
import { askField } from "../../runtime/pi/dialogs/dialog-field.ts";
import { DialogQueue } from "../../runtime/pi/dialogs/dialog-queue.ts";
import { quoted } from "../../runtime/pi/dialogs/dialog-text.ts";
import { readForm } from "../../runtime/questions/fields.ts";

describe("by themselves", () => {
  const never = new AbortController().signal;
  type Ui = ConstructorParameters<typeof DialogQueue>[0]["ui"];
  const queue = (ui: Partial<Ui>, ended = never) => new DialogQueue({ ui: ui as Ui, mode: "rpc" }, ended);

  test("choices that read the same are told apart", async () => {
    let shown: string[] = [];
    const dialogs = queue({
      select: async (_, options) => {
        shown = options;
        return options[1];
      },
    });
    const same = [1, 2, 3].map((value) => ({ label: "same", value }));
    expect(await dialogs.take((one) => one.select("?", same))).toBe(2);
    expect(shown).toEqual(["same", "same (2)", "same (3)"]);
  });

  test("a turn that fails holds up nobody, and one that is unwanted by then shows nothing", async () => {
    const titles: string[] = [];
    const dialogs = queue({
      input: async (title) => {
        titles.push(title);
        return "x";
      },
    });
    const unwanted = new AbortController();
    const first = dialogs.take(async () => {
      throw new Error("broken");
    });
    const second = dialogs.take((one) => one.input("second"), { signal: unwanted.signal });
    const third = dialogs.take((one) => one.input("third"));
    unwanted.abort();
    await expect(first).rejects.toThrow("broken");
    await expect(second).rejects.toThrow();
    expect(await third).toBe("x");
    expect(titles).toEqual(["third"]);
  });

  test("who always answers the same is asked only so often", async () => {
    const form = await readForm({ type: "object", properties: { age: { type: "integer" } }, required: ["age"] });
    let asked = 0;
    const dialogs = queue({
      input: async () => {
        asked++;
        return "no number";
      },
    });
    const [age] = form.ok ? form.fields : [];
    expect(await dialogs.take((one) => askField(one, age!, "?", undefined))).toEqual({ kind: "cancel" });
    expect(asked).toBeLessThan(50);
  });

  test.each([
    ["short", 80, "│ short"],
    ["", 80, ""],
    ["one two three four five six", 22, "│ one two three four\n│ five six"],
    ["x".repeat(25), 22, `│ ${"x".repeat(20)}\n│ xxxxx`],
    ["語".repeat(11), 22, `│ ${"語".repeat(10)}\n│ 語`],
    ["a\r\nb\u2028c", 80, "│ a\n│ b\n│ c"],
  ])("%j in %d columns", (text, columns, want) => {
    expect(quoted(text, columns)).toBe(want);
  });
});
