/** What servers ask of the user, in the dialogs of a real Pi: forms, pages to visit, and what happens where nobody is there. */
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { askField } from "../../runtime/pi/dialogs/dialog-field.ts";
import { DialogQueue } from "../../runtime/pi/dialogs/dialog-queue.ts";
import { quoted } from "../../runtime/pi/dialogs/dialog-text.ts";
import { readForm } from "../../runtime/questions/fields.ts";
import { Stub, tool, Workspace } from "../cli/pimcp.ts";
import { advertised, readAskingLog } from "../servers/asking-log.ts";
import { eventually } from "../servers/run.ts";
import { type Answer, type PiOptions, runPi, textOf } from "./pi.ts";
import { RpcPi } from "./rpc.ts";

const DONE: Answer = { text: "done" };
const TEST_MS = 90_000;
const WHY = "nobody can be asked: Pi runs without a user interface here (print or JSON mode)";
const server = join(import.meta.dirname, "..", "servers", "asking.mjs");

type Call = readonly [tool: string, args?: object];

class Asking {
  readonly workspace = new Workspace();
  readonly log = join(this.workspace.root, "asking.log");

  static async compiled(env: Readonly<Record<string, string>> = {}): Promise<Asking> {
    const asking = new Asking();
    const entry = { command: process.execPath, args: [server], env: { LOG: asking.log, ...env }, exposure: "direct" };
    asking.workspace.servers({ asking: entry });
    expect((await asking.workspace.compile()).code).toBe(0);
    return asking;
  }

  answers(calls: readonly Call[]): Answer[] {
    return [...calls.map(([tool, args = {}]): Answer => ({ call: [`mcp__asking__${tool}`, args] })), DONE];
  }

  /** Prompts a Pi whose model makes these calls one after the other. */
  pi(calls: readonly Call[], options: Partial<PiOptions> = {}): RpcPi {
    const pi = new RpcPi(this.workspace, { answers: this.answers(calls), ...options });
    pi.prompt();
    return pi;
  }

  /** Client capabilities that the server was told of by sessions, not by the compile. */
  advertised(): unknown[] {
    return advertised(readAskingLog(this.log)).slice(1);
  }
}

const resultOf = async (pi: RpcPi, nth = 0) => JSON.parse(textOf(await pi.tool(nth))) as unknown;
const schema = (properties: object, required: readonly string[] = []) => ({ type: "object", properties, required });

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

  test("questions that come together are asked one after the other, each once", { timeout: TEST_MS }, async () => {
    const asking = await Asking.compiled();
    const pi = asking.pi([["pair"]]);
    for (const [message, name] of [
      ["First?", "Ann"],
      ["Second?", "Ben"],
    ] as const) {
      expect((await pi.answer("Answer")).title).toContain(message);
      await pi.answer(name);
      await pi.answer("Send");
    }
    expect(await resultOf(pi)).toEqual([
      { action: "accept", content: { name: "Ann" } },
      { action: "accept", content: { name: "Ben" } },
    ]);
    await pi.settled();
    expect(pi.dialogs()).toHaveLength(6);
  });

  test("the question of a call that is aborted goes away, and the next one is asked", {
    timeout: TEST_MS,
  }, async () => {
    const asking = await Asking.compiled();
    const pi = new RpcPi(asking.workspace, { answers: asking.answers([["greet"], ["greet"]]) });
    pi.prompt();
    const first = await pi.dialog();
    pi.send({ type: "abort" });
    expect(await pi.tool()).toMatchObject({ isError: true });
    await eventually(() => pi.notices().length > 0, "a notice");
    expect(pi.notices()).toEqual(['Server "asking" no longer waits for an answer.']);
    await pi.settled();
    pi.reply(first, "Answer");
    pi.prompt("again");
    await pi.answer("Answer");
    await pi.answer("Cy");
    await pi.answer("Send");
    expect(textOf(await pi.tool(1))).toBe("hello Cy");
  });

  test("a question ends with its session, and the next session asks its own", { timeout: TEST_MS }, async () => {
    const asking = await Asking.compiled();
    const pi = asking.pi([["greet"], ["greet"]]);
    await pi.dialog();
    expect(await pi.ask({ type: "new_session" })).toMatchObject({ success: true });
    pi.prompt("again");
    await pi.answer("Answer");
    await pi.answer("Dee");
    await pi.answer("Send");
    expect(textOf(await pi.tool(1))).toBe("hello Dee");
    const { code, stderr } = await pi.end();
    expect([code, stderr]).toEqual([0, ""]);
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

describe("pages", () => {
  test("host and address are shown, and nothing is opened before somebody says so", { timeout: TEST_MS }, async () => {
    const asking = await Asking.compiled();
    const opened = join(asking.workspace.root, "opened");
    asking.workspace.write("browser", `#!/bin/sh\necho "$1" >> ${opened}\n`);
    const browser = join(asking.workspace.root, "browser");
    chmodSync(browser, 0o755);
    const url = "http://example.com/a?b=1";
    const calls: Call[] = [
      ["visit", { url }],
      ["visit", { url }],
      ["visit", { url }],
      ["visit", { url }],
    ];
    const pi = asking.pi(calls, { env: { BROWSER: browser } });
    const first = await pi.dialog();
    expect(first.title.split("\n")).toEqual([
      'Server "asking" wants you to open a page (tool visit):',
      "│ Please visit",
      `URL:  ${url}`,
      "Host: example.com",
      "Careful: the connection is not encrypted (http).",
    ]);
    // Enter alone takes the first.
    expect(first.options![0]).toMatch(/^Cancel/);
    pi.reply(first, "Cancel");
    expect(await resultOf(pi, 0)).toEqual({ action: "cancel" });
    await pi.answer("Decline");
    expect(await resultOf(pi, 1)).toEqual({ action: "decline" });
    await pi.answer("Let it ask");
    await pi.answer("I open it myself");
    expect(await resultOf(pi, 2)).toEqual({ action: "accept" });
    expect(pi.notices()).toContain(`The page of server "asking":\n${url}`);
    expect(existsSync(opened)).toBe(false);
    await pi.answer("Open it in the browser");
    expect(await resultOf(pi, 3)).toEqual({ action: "accept" });
    await eventually(() => existsSync(opened), "the browser started");
    expect(readFileSync(opened, "utf8")).toBe(`${url}\n`);
    await eventually(
      () => pi.notices().some((text) => text.includes("has done") || text.includes("is done")),
      "the completion",
    );
  });

  test("an address that isn't a page is opened by nobody", { timeout: TEST_MS }, async () => {
    const asking = await Asking.compiled();
    const pi = asking.pi([["visit", { url: "file:///etc/passwd" }]]);
    const dialog = await pi.answer("Decline");
    expect(dialog.title).toContain("It can't be opened: only http and https pages are opened");
    expect(dialog.options).toHaveLength(2);
    expect(await resultOf(pi)).toEqual({ action: "decline" });
  });

  test("where the server asks once, the visit is waited for", { timeout: TEST_MS }, async () => {
    const asking = await Asking.compiled({ ERA: "modern" });
    const pi = asking.pi([["visit"], ["visit"]]);
    await pi.answer("I open it myself");
    expect((await pi.answer("Done")).title).toBe(
      'When you have finished on the page of server "asking":\nhttps://example.com/visit',
    );
    expect(await resultOf(pi)).toMatchObject({ action: "accept" });
    await pi.answer("Open it in the browser");
    // There is none here.
    await eventually(() => pi.notices().length > 1, "a second notice");
    expect(pi.notices()[1]).toMatch(/^No browser could be started here\. .*\nhttps:\/\/example\.com\/visit$/s);
    await pi.answer("Cancel");
    expect(await resultOf(pi, 1)).toMatchObject({ action: "cancel" });
  });
});

describe("without a user interface", () => {
  test("servers know that nobody can be asked, and are told the folder all the same", {
    timeout: TEST_MS,
  }, async () => {
    const asking = await Asking.compiled();
    const answers = asking.answers([["greet"], ["visit"], ["roots"]]);
    const { ended, code } = await runPi(asking.workspace, { args: ["--approve"], answers });
    expect(code).toBe(0);
    expect(ended.slice(0, 2)).toMatchObject([{ isError: true }, { isError: true }]);
    expect(textOf(ended[0])).toMatch(/does not support .*elicitation/);
    const { project } = asking.workspace;
    expect(JSON.parse(textOf(ended[2]))).toEqual([{ uri: pathToFileURL(project).href, name: "project" }]);
    expect(asking.advertised()).toEqual([{ roots: {} }]);
  });

  test("a server that asks nevertheless fails the call, and the model learns why", { timeout: TEST_MS }, async () => {
    const strict = await Asking.compiled({ ERA: "modern" });
    const refused = await runPi(strict.workspace, { args: ["--approve"], answers: strict.answers([["greet"]]) });
    expect(refused.ended[0]).toMatchObject({ isError: true });
    expect(textOf(refused.ended[0])).toContain("do not declare the required capability");
    expect(textOf(refused.ended[0])).toContain(WHY);

    const params = { message: "Who is there?", requestedSchema: schema({ name: { type: "string" } }) };
    const inputRequests = { who: { method: "elicitation/create", params } };
    const result = { resultType: "input_required", inputRequests };
    const stub = new Stub({ era: "modern", tools: [tool("greet")], replies: { "tools/call": { result } } });
    const workspace = new Workspace();
    workspace.servers({ asking: { ...stub.entry, exposure: "direct" } });
    expect((await workspace.compile()).code).toBe(0);
    const { ended } = await runPi(workspace, { args: ["--approve"], answers: strict.answers([["greet"]]) });
    expect(ended[0]).toMatchObject({ isError: true });
    expect(textOf(ended[0])).toContain(`it asked for elicitation ("Who is there?"), and ${WHY}`);
  });
});

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
    const form = await readForm(schema({ age: { type: "integer" } }, ["age"]));
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
