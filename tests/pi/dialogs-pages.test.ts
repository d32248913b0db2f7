/** Pages that servers want visited: shown in the dialogs of a real Pi before anything is opened. */
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventually } from "../servers/run.ts";
import { Asking, type Call, resultOf, TEST_MS } from "./asking.ts";

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
