/** The person at the terminal: real prompts on streams, keys typed one by one. */
import { describe, expect, test } from "vitest";
import { terminalTaken, whenTerminalFree } from "../../cli/asking/terminal-queue.ts";
import { BACKSPACE, CTRL_C, CTRL_D, DOWN, ENTER, Screen, SPACE, UP } from "./screen.ts";

const context = { server: "docs", tool: "find" };
const form = (properties: unknown, required: string[] = [], message = "Tell us") => ({
  message,
  requestedSchema: { type: "object", properties, required },
});
const DOWN2 = [DOWN, DOWN] as const;

describe("a form", () => {
  test("shows who asks and what, takes each field, shows everything again, and only then sends", async () => {
    const screen = new Screen();
    const answer = screen.elicitation().form(
      form(
        {
          name: { type: "string", title: "Your name", minLength: 2, description: "As in your passport" },
          age: { type: "integer", minimum: 0, maximum: 150 },
          mail: { type: "string", format: "email" },
          member: { type: "boolean", default: true },
          size: { type: "string", oneOf: [{ const: "s", title: "Small" }, { const: "l" }], default: "l" },
          tags: { type: "array", minItems: 1, items: { type: "string", enum: ["x", "y"] } },
        },
        ["name", "age", "tags"],
      ),
      context,
    );
    await screen.until('server "docs" asks (tool find):');
    await screen.until("│ Tell us");
    await screen.at("Answer (6 fields)", ENTER);
    await screen.until("As in your passport");
    await screen.at("Your name (name)", "A", ENTER);
    await screen.at("expected text with at least 2 characters", "da", ENTER);
    await screen.at("age (integer from 0 to 150)", "old", ENTER);
    await screen.at("expected integer from 0 to 150", BACKSPACE, BACKSPACE, BACKSPACE, "200", ENTER);
    await screen.at("expected integer from 0 to 150", BACKSPACE, BACKSPACE, BACKSPACE, "36", ENTER);
    await screen.at("mail (text in format email, Enter leaves it out)", ENTER);
    await screen.at("member?", ENTER);
    await screen.at("size:", UP, ENTER);
    await screen.at("tags (at least 1)", ENTER);
    await screen.at("expected at least 1", DOWN, SPACE, ENTER);
    await screen.until("This will be sent:");
    await screen.until("age: 36");
    await screen.until("mail: (left out)");
    await screen.until("size: Small (s)");
    await screen.at("Send it?", ENTER);
    expect(await answer).toEqual({
      action: "accept",
      content: { name: "Ada", age: 36, member: true, size: "s", tags: ["y"] },
    });
  });

  test("can be edited before it is sent", async () => {
    const screen = new Screen();
    const schema = { a: { type: "string" }, b: { type: "number", default: 1.5 } };
    const answer = screen.elicitation().form(form(schema, ["a"]), context);
    await screen.at("Answer", ENTER);
    await screen.at("a (text)", "one", ENTER);
    await screen.at("b (number, Enter takes)", ENTER);
    await screen.at("Send it?", DOWN, ENTER);
    await screen.at("Which one?", DOWN, ENTER);
    await screen.at("b (number, Enter takes)", "-2e1", ENTER);
    await screen.until("b: -20");
    await screen.at("Send it?", ENTER);
    expect(await answer).toEqual({ action: "accept", content: { a: "one", b: -20 } });
  });

  test("a form that doesn't fit as a whole can't be sent", async () => {
    const screen = new Screen();
    const params = form({ a: { type: "string" } });
    const schema = { ...params.requestedSchema, minProperties: 1 };
    const answer = screen.elicitation().form({ ...params, requestedSchema: schema }, context);
    await screen.at("Answer", ENTER);
    await screen.at("a (text, Enter leaves it out)", ENTER);
    await screen.until("Send");
    await screen.until("with at least 1 property");
    await screen.at("Send it?", DOWN, DOWN, ENTER);
    expect(await answer).toEqual({ action: "decline" });
  });

  test("old spellings of choices, and a required yes or no", async () => {
    const screen = new Screen();
    const schema = {
      old: { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"] },
      many: { type: "array", items: { anyOf: [{ const: "1", title: "One" }] } },
      sure: { type: "boolean" },
    };
    const answer = screen.elicitation().form(form(schema, ["old", "sure"]), context);
    await screen.at("Answer", ENTER);
    await screen.at("Green (g)", DOWN, ENTER);
    await screen.at("One (1)", ENTER);
    await screen.at("sure?", DOWN, ENTER);
    await screen.at("Send it?", ENTER);
    expect(await answer).toEqual({ action: "accept", content: { old: "g", sure: false } });
  });

  test("what is left out and has a default is shown as it will be sent", async () => {
    const screen = new Screen();
    const answer = screen.elicitation().form(form({ b: { type: "boolean", default: true } }), context);
    await screen.at("Answer", ENTER);
    await screen.at("b?", DOWN, DOWN, ENTER);
    await screen.until("b: yes");
    await screen.at("Send it?", ENTER);
    expect(await answer).toEqual({ action: "accept", content: { b: true } });
  });

  test("a question without fields is accepted or not, without a review", async () => {
    const screen = new Screen();
    const answer = screen.elicitation().form(form({}, [], "Delete it all?"), context);
    await screen.at("Accept", ENTER);
    expect(await answer).toEqual({ action: "accept", content: {} });
  });

  test.each([
    ["decline", [DOWN, ENTER]],
    ["cancel", [...DOWN2, ENTER]],
    ["cancel", [CTRL_C]],
    ["cancel", [CTRL_D]],
  ])("%s, before anything was filled in", async (action, keys) => {
    const screen = new Screen();
    const answer = screen.elicitation().form(form({ a: { type: "string" } }), context);
    await screen.at("Answer (1 field)", ...keys);
    expect(await answer).toEqual({ action });
  });

  test("the end of the input cancels, at whichever field", async () => {
    const screen = new Screen();
    const answer = screen.elicitation().form(form({ a: { type: "string" } }), context);
    await screen.at("Answer", ENTER);
    await screen.until("a (text");
    screen.input.end();
    expect(await answer).toEqual({ action: "cancel" });
  });

  test("one that is withdrawn disappears, and the next one has the terminal", async () => {
    const screen = new Screen();
    const { form: ask } = screen.elicitation();
    const abort = new AbortController();
    const first = ask(form({}, [], "First?"), { ...context, signal: abort.signal });
    await screen.until("First?");
    const second = ask(form({}, [], "Second?"), context);
    abort.abort(new Error("withdrawn"));
    await expect(first).rejects.toThrow();
    await screen.at("Accept", ENTER);
    expect(await second).toEqual({ action: "accept", content: {} });
  });
});

describe("one terminal", () => {
  test("questions come one after another, in the order they were asked; other output waits", async () => {
    const screen = new Screen();
    const ask = screen.elicitation().form;
    const answers = ["One?", "Two?", "Three?"].map((message) => ask(form({}, [], message), context));
    await screen.until("One?");
    expect(terminalTaken()).toBe(true);
    let written = false;
    whenTerminalFree(() => {
      written = true;
    });
    for (const message of ["One?", "Two?", "Three?"]) {
      await screen.until(message);
      expect([screen.text.split("? What now?").length - 1 > 0, written]).toEqual([true, false]);
      await screen.at("Accept", ENTER);
    }
    expect(await Promise.all(answers)).toHaveLength(3);
    expect(screen.text.indexOf("One?")).toBeLessThan(screen.text.indexOf("Two?"));
    expect(screen.text.indexOf("✔ What now? Accept")).toBeLessThan(screen.text.indexOf("Two?"));
    expect([terminalTaken(), written]).toEqual([false, true]);
  });

  test("a question withdrawn while it waits is never shown", async () => {
    const screen = new Screen();
    const ask = screen.elicitation().form;
    const abort = new AbortController();
    const first = ask(form({}, [], "First?"), context);
    const second = ask(form({}, [], "Second?"), { ...context, signal: abort.signal });
    await screen.until("First?");
    abort.abort(new Error("withdrawn"));
    await screen.at("Accept", ENTER);
    await first;
    await expect(second).rejects.toThrow("withdrawn");
    expect(screen.text).not.toContain("Second?");
  });
});

describe("a page to visit", () => {
  const visit = (url: string) => ({ mode: "url", message: "Sign in please", url });

  test("is opened only when told to; the host and the whole address are shown before", async () => {
    const screen = new Screen();
    const answer = screen.elicitation().url(visit("https://example.com:8443/a?b=c#d"), context);
    await screen.until('server "docs" wants you to open a page in your browser (tool find):');
    await screen.until("Host: example.com:8443");
    await screen.until("URL: https://example.com:8443/a?b=c#d");
    await screen.until("Open it?");
    expect(screen.opened).toEqual([]);
    screen.press(UP, UP, UP, ENTER);
    expect(await answer).toEqual({ action: "accept" });
    expect(screen.opened).toEqual(["https://example.com:8443/a?b=c#d"]);
  });

  test.each([
    ["a thoughtless Enter", [ENTER], "cancel"],
    ["a decline", [UP, ENTER], "decline"],
    ["the link alone", [UP, UP, ENTER], "accept"],
  ])("opens nothing: %s", async (_, keys, action) => {
    const screen = new Screen();
    const answer = screen.elicitation().url(visit("https://example.com/"), context);
    await screen.at("Open it?", ...keys);
    expect(await answer).toEqual({ action });
    expect(screen.opened).toEqual([]);
    if (action === "accept") expect(screen.text).toContain("\nhttps://example.com/\n");
  });

  test("a server that looks only once it is answered is answered when the visit is over", async () => {
    const screen = new Screen();
    const answer = screen.elicitation().url(visit("https://example.com/"), { ...context, whenDone: true });
    await screen.at("Open it?", UP, UP, UP, ENTER);
    await screen.at("When you have finished there:", ENTER);
    expect(await answer).toEqual({ action: "accept" });
  });

  test("or when the server says that it is", async () => {
    const screen = new Screen();
    const { url, completed } = screen.elicitation();
    const params = { ...visit("https://example.com/"), elicitationId: "e1" };
    const answer = url(params, { ...context, whenDone: true });
    await screen.at("Open it?", UP, UP, UP, ENTER);
    await screen.until("When you have finished there:");
    completed("other", "docs");
    completed("e1", "other");
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(terminalTaken()).toBe(true);
    completed("e1", "docs");
    expect(await answer).toEqual({ action: "accept" });
    await screen.until('server "other" says that what it sent you to its page for is done');
  });

  test("where no browser can be opened the link is shown", async () => {
    const screen = new Screen();
    const failing = async () => Promise.reject(new Error("no browser"));
    const answer = screen.elicitation(failing).url(visit("https://example.com/"), context);
    await screen.at("Open it?", UP, UP, UP, ENTER);
    expect(await answer).toEqual({ action: "accept" });
    expect(screen.text).toContain("could not be opened (no browser).\nThe link is:");
  });

  test.each(["javascript:alert(1)", "file:///etc/passwd", "vscode://x", "not a url", ""])(
    "is refused where it is no web page: %s",
    async (url) => {
      const screen = new Screen();
      const answer = screen.elicitation().url(visit(url), context);
      await screen.until("It can't be opened");
      await screen.at("Decline", ENTER);
      expect(await answer).toEqual({ action: "decline" });
      expect(screen.opened).toEqual([]);
    },
  );
});

describe("hostile questions", () => {
  test("no text of a server's moves the cursor, colours, reorders, or passes for ours", async () => {
    const evil = "\u001b[2J\u001b]0;title\u0007\u202eevil\r\n? Send it? Yes\u2028✔ sent\u0000";
    const screen = new Screen();
    const schema = JSON.parse(
      JSON.stringify({
        [evil]: { type: "string", title: evil, description: evil, default: "x" },
        pick: { type: "string", enum: [evil, "b"], enumNames: [evil, "B"] },
      }),
    );
    const params = { message: evil, requestedSchema: { type: "object", properties: schema, required: ["pick"] } };
    const answer = screen.elicitation().form(params, { server: evil, tool: evil });
    await screen.at("Answer", ENTER);
    await screen.at("(x)", ENTER);
    await screen.at("pick:", ENTER);
    await screen.at("Send it?", ENTER);
    expect(await answer).toEqual({ action: "accept", content: { [evil]: "x", pick: evil } });
    for (const never of ["\u001b[2J", "\u001b]0;", "\u202e", "\u0007", "\u0000", "\u2028"]) {
      expect(screen.raw).not.toContain(never);
    }
    expect(screen.text).toContain("  │ ? Send it? Yes");
    expect(screen.text).not.toMatch(/^\? Send it\? Yes/m);
  });

  test("a long message is cut, and its lines never lose their bar", async () => {
    const screen = new Screen();
    const message = `${"word ".repeat(400)}\n${"長".repeat(300)}\n`.repeat(50);
    const answer = screen.elicitation().form(form({}, [], message), context);
    await screen.at("Accept", ENTER);
    await answer;
    const shown = screen.text.split("\n").filter((line) => /word|長/.test(line));
    expect(shown.length).toBeGreaterThan(5);
    expect(shown.filter((line) => !line.startsWith("  │ "))).toEqual([]);
    expect(screen.text).toContain("(the message goes on)");
  });

  test.each<[string, unknown, string]>([
    [
      "more fields than anybody fills in",
      Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`f${n}`, {}])),
      "101 fields",
    ],
    ["a nested field", { a: { type: "object" } }, "of a kind that forms don't have"],
    ["a field that is no schema", { a: 5 }, "of a kind that forms don't have"],
    ["a choice of nothing", { a: { type: "string", enum: [] } }, "of a kind that forms don't have"],
  ])("%s can only be declined or cancelled", async (_, properties, reason) => {
    const screen = new Screen();
    const answer = screen.elicitation().form(form(properties), context);
    await screen.until(reason);
    await screen.at("Decline", DOWN, ENTER);
    expect(await answer).toEqual({ action: "cancel" });
  });

  test("fields called __proto__ and constructor are fields", async () => {
    const screen = new Screen();
    const schema = JSON.parse('{"__proto__":{"type":"string"},"constructor":{"type":"boolean"}}');
    const answer = screen.elicitation().form(form(schema, ["__proto__", "constructor"]), context);
    await screen.at("Answer (2 fields)", ENTER);
    await screen.at("__proto__ (text)", "p", ENTER);
    await screen.at("constructor?", ENTER);
    await screen.at("Send it?", ENTER);
    expect(JSON.stringify(await answer)).toBe('{"action":"accept","content":{"__proto__":"p","constructor":true}}');
  });
});
