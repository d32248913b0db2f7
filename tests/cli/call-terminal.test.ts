/** `pimcp call`, `read` and `prompt` on a terminal: progress that fits, and servers that can't steer it. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { widthOf } from "../../cli/columns.ts";
import { COMMANDS } from "../../cli/commands.ts";
import type { Io } from "../../cli/io.ts";
import { compiled, type RuntimeProject, script } from "../runtime/runtime-project.ts";
import { scratchFolder } from "../scratch.ts";
import { project } from "./call-project.ts";
import { tool } from "./pimcp.ts";

describe("on a terminal", () => {
  /** Runs a command in this process, with a terminal of `width` columns that may be acted upon. */
  async function onTerminal(work: RuntimeProject, argv: [string, ...string[]], width: number) {
    let [out, err] = ["", ""];
    const look = { colour: false, width, terminal: true };
    const io: Io = {
      ...work.surroundings,
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
      outLook: look,
      errLook: look,
      interactive: true,
      signal: new AbortController().signal,
    };
    const { run } = await COMMANDS.find(({ name }) => name === argv[0])!.load();
    const code = await run({ operands: argv.slice(1), flags: {} }, io);
    return { code, out, err };
  }

  test.each([[0], [1], [10], [80]])("a progress line fits %i columns and is wiped", async (width) => {
    const work = await compiled({ s: script("legacy.mjs") });
    const { code, out, err } = await onTerminal(work, ["call", "s", "count", "steps=3", "ms=5"], width);
    expect({ code, out }).toEqual({ code: 0, out: "counted to 3\n" });
    const lines = err.split("\r\u001b[2K").slice(1);
    expect(lines).toHaveLength(4);
    expect(lines.at(-1)).toBe("");
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(Math.max(0, width - 1));
    if (width === 80) expect(lines.slice(0, 3)).toEqual(["1/3", "2/3", "3/3"]);
  });

  test("a progress message of wide characters fits too", async () => {
    const folder = scratchFolder();
    const work = await compiled({ t: script("tasks.mjs", { TASKS_STORE: join(folder, "store") }) });
    // Still at work when it is first asked about, however slow the machine is.
    const plan = { workMs: 3000, intervalMs: 100, messages: ["漢字".repeat(5000)] };
    const { code, err } = await onTerminal(work, ["call", "t", "run", `plan:=${JSON.stringify(plan)}`], 30);
    expect(code).toBe(0);
    const lines = err.split("\r\u001b[2K").filter((line) => line.includes("漢"));
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(29);
  });

  test("what a server sends can't steer it", async () => {
    const hostile = "a\u001b]52;c;ZXZpbA==\u0007\r\nb\u009b2Jc\u202ed\te";
    const content = [
      { type: "text", text: hostile },
      { type: "image", data: "", mimeType: "image/\u001b[2J" },
    ];
    const { work } = await project([tool("t")], {
      capabilities: { tools: {}, resources: {}, prompts: {} },
      replies: {
        "tools/call": { result: { content } },
        "resources/list": { result: { resources: [] } },
        "prompts/list": { result: { prompts: [] } },
        "resources/read": { result: { contents: [{ uri: "u", text: hostile }] } },
        "prompts/get": { result: { messages: [{ role: "user", content: content[0] }] } },
      },
    });
    for (const argv of [
      ["call", "s/t"],
      ["read", "s", "u"],
      ["prompt", "s", "p"],
    ] as [string, ...string[]][]) {
      const { code, out } = await onTerminal(work, argv, 80);
      expect(code).toBe(0);
      expect(out).toMatch(/a\\u001b\]52;c;ZXZpbA==\\u0007\nb\\u009b2Jc\\u202ed\te/);
      expect(out).not.toMatch(/[\u0007\u001b\u009b\u202e\r]/);
    }
    // Into a file or a pipe it goes as it came.
    expect((await work.run("call", "s/t")).stdout).toContain(hostile);
  });
});
