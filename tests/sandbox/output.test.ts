/** A run as a model reads it: Pi's result format, cut and saved. */
import { readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { createOutputStore } from "../../runtime/limits/output-store.ts";
import { resultBlocks, showRun } from "../../runtime/sandbox/output.ts";
import { scratchFolder } from "../scratch.ts";
import { PNG, sandboxOf } from "./sandbox.ts";

const sandbox = sandboxOf({ echo: (args) => args });

async function blocksOf(source: string, maxOutputTokens?: number) {
  const result = await sandbox.run(source);
  const store = createOutputStore(scratchFolder());
  const shown = await showRun(result, { store, ...(maxOutputTokens !== undefined && { maxOutputTokens }) });
  const blocks = resultBlocks(result, shown).map((block) =>
    block.type === "text" ? block.text.replace(/Wall time [\d.]+/, "Wall time N") : block.mimeType,
  );
  return { blocks, shown };
}

test("one text stands alone, several under their numbers, the console in a block at the end", async () => {
  expect((await blocksOf("return 1")).blocks).toEqual(["Script completed\nWall time N seconds\nOutput:\n", "1"]);
  const { blocks } = await blocksOf('text("a"); console.log("c1"); console.log("c2"); return "b"');
  const console = "<console_output>\nc1\nc2\n</console_output>";
  expect(blocks[1]).toBe(`==> text 1/2 <==\na\n==> text 2/2 <==\nb\n${console}`);
});

test("an image follows the line that names its file, which is the owner's alone; shown twice it is saved once", async () => {
  const { blocks, shown } = await blocksOf(
    `const i = "data:image/png;base64,${PNG}"; image(i); text("between"); image(i)`,
  );
  const paths = shown.items.flatMap((item) => (item.type === "image" ? [item.path!] : []));
  expect(paths[0]).toBe(paths[1]);
  expect(readFileSync(paths[0]!).toString("base64")).toBe(PNG);
  expect(statSync(paths[0]!).mode & 0o777).toBe(0o600);
  expect(blocks[1]).toContain(`[Image saved to ${paths[0]} (image/png, `);
  expect(blocks.slice(2)).toEqual(["image/png", expect.stringContaining("between\n[Image saved to"), "image/png"]);
});

test("a failed script keeps its output, and says what it had done", async () => {
  const { blocks } = await blocksOf('text("kept"); await tools.echo({});\nthrow new Error("mine")');
  expect(blocks[0]).toContain("Script failed");
  expect(blocks[1]).toMatch(/^kept\nScript error:\nError: mine\n2 \| throw new Error\("mine"\)\n +\^/);
  expect(blocks[1]).toContain("Tool calls made before the failure (they are not undone): echo (ok)");
});

test("an error is cut too, whoever wrote it, and calls of one kind are counted", async () => {
  const long = [
    'throw new Error("start" + "x".repeat(1e6))',
    'const e = new Error("start"); e.stack = "script:1:1\\n".repeat(1e5); throw e',
    'const e = new Error("end"); e.name = "start" + "n".repeat(1e6); throw e',
    'throw { start: "y".repeat(1e6) }',
  ];
  for (const source of long) {
    const { blocks } = await blocksOf(`for (let n = 0; n < 300; n++) await tools.echo({});\n${source}`);
    const text = blocks.join("");
    expect(text.length).toBeLessThan(10_000);
    expect(text).toContain("start");
    expect(text).toMatch(/\(they are not undone\): 300 × echo \(ok\)/);
    const path = /\[Full output: (\S+)/.exec(text)?.[1];
    expect(readFileSync(path!, "utf8").length).toBeGreaterThan(1e6);
  }
});

test("past 10,000 tokens the start and the end are shown, and the file has all", async () => {
  const { blocks, shown } = await blocksOf('text("start" + "x".repeat(100000) + "end"); console.log("line")');
  const [item] = shown.items;
  expect(item?.type === "text" && item.path && readFileSync(item.path, "utf8")).toContain("x".repeat(100_000));
  expect(blocks[1]!.length).toBeLessThan(40_000 + 500);
  expect(blocks[1]).toMatch(/truncated output[\s\S]*start[\s\S]*chars truncated…[\s\S]*line\n<\/console_output>/);
  const { shown: few } = await blocksOf('// @options: {"max_output_tokens": 10}\nreturn "y".repeat(100)');
  expect(few.items[0]!.type === "text" && few.items[0]!.path).toBeTruthy();
});
