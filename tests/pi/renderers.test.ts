/** How a call and its result are drawn in Pi: short until they are expanded, on any width, and never as the terminal's orders. */
import { Text } from "@earendil-works/pi-tui";
import { describe, expect, test } from "vitest";
import { callRenderers } from "../../runtime/pi/tools/renderers.ts";

type Renderers = ReturnType<typeof callRenderers>;
type Result = Parameters<Renderers["renderResult"]>[0];

const { renderCall, renderResult } = callRenderers({ Text }, "docs/echo");

/** Each colour that was asked for, and the lines without any. */
function drawn(draw: (theme: never) => { render(width: number): readonly string[] }, width = 80) {
  const colours = new Set<string>();
  const fg = (colour: string, text: string) => {
    colours.add(colour);
    return text;
  };
  const lines = draw({ fg, bold: (text: string) => text } as never).render(width);
  return { lines: lines.map((line) => line.trimEnd()), colours };
}

const call = (args: object, expanded = false) =>
  drawn((theme) => renderCall(args as never, theme, { expanded } as never)).lines;

function result(text: string, { expanded = false, isError = false, width = 80, details = {} } = {}) {
  const context = { isError, keyHint: (key: string, what: string) => `${key} ${what}` };
  const made = { content: [{ type: "text", text }], details } as Result;
  return drawn((theme) => renderResult(made, { expanded } as never, theme, context as never), width);
}

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`);

describe("a call", () => {
  test("is one line, with its arguments as far as they fit", () => {
    expect(call({})).toEqual(["docs/echo"]);
    expect(call({ text: "hi", n: 1 })).toEqual(['docs/echo {"text":"hi","n":1}']);
    expect(call({ text: "x".repeat(100_000) }).join("").length).toBeLessThan(200);
  });
  test("shows all of its arguments when it is expanded", () => {
    expect(call({ text: "hi", n: 1 }, true)).toEqual(["docs/echo", "{", '  "text": "hi",', '  "n": 1', "}"]);
  });
});

describe("a result", () => {
  test("of five lines is shown whole", () => expect(result(lines(5).join("\n")).lines).toEqual(lines(5)));
  test("of more is five lines and how to see the others", () => {
    const shown = [...lines(5), "… 15 more lines, app.tools.expand to expand"];
    expect(result(lines(20).join("\n")).lines).toEqual(shown);
  });
  test("is shown whole when it is expanded", () => {
    expect(result(lines(20).join("\n"), { expanded: true }).lines).toEqual(lines(20));
  });
  test("of one long line is five lines of the terminal's width", () => {
    const shown = result("word ".repeat(500), { width: 40 }).lines;
    expect(shown).toHaveLength(6);
    expect(shown[5]).toMatch(/^… \d+ more lines/);
    for (const line of shown.slice(0, 5)) expect(line.length).toBeLessThanOrEqual(40);
  });
  test("names the file with the rest, expanded or not", () => {
    const details = { fullOutputPath: "/tmp/whole.txt" };
    for (const expanded of [false, true])
      expect(result("cut", { expanded, details }).lines).toEqual(["cut", "Full output: /tmp/whole.txt"]);
  });
  test("that is an error has the colour of one", () => {
    expect([...result("no", { isError: true }).colours]).toEqual(["error"]);
    expect([...result("yes").colours]).toEqual(["toolOutput"]);
  });
  test("gives the terminal no orders, and an image is named", () => {
    expect(result("a\u001b[2Jb\u009bc").lines).toEqual(["a\\u001b[2Jb\\u009bc"]);
    const image = { content: [{ type: "image", data: "", mimeType: "image/png" }], details: {} } as Result;
    const { lines: shown } = drawn((theme) => renderResult(image, {} as never, theme, { isError: false } as never));
    expect(shown).toEqual(["[image/png image]"]);
  });
});
