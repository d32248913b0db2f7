/** (g) Output limits: each reported fault, in what a script gets and in what a model reads. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Stub, tool } from "../cli/pimcp.ts";
import { call, callText, compiledProduct } from "./product.ts";

/** A server whose every call has this result. */
function replyingEntry(result: object) {
  return new Stub({ tools: [tool("t")], replies: { "tools/call": { result } } }).entry;
}

/** A project of one such server, and the files that its calls saved. */
async function answering(result: object) {
  const work = await compiledProduct({ s: replyingEntry(result) });
  const saved = () => {
    const found = readdirSync(join(work.root, "tmp"), { recursive: true, withFileTypes: true });
    return found.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
  };
  return { work, saved };
}

const text = (value: string) => ({ content: [{ type: "text", text: value }] });
const bytesOf = (value: string) => Buffer.byteLength(value);

/** Bytes that no compression or pattern makes short, as base64. */
function noise(size: number, start: readonly number[]): string {
  let state = 12_345;
  const bytes = Buffer.alloc(size, 0);
  for (let n = 0; n < size; n++) {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
    bytes[n] = start[n] ?? state >> 16;
  }
  return bytes.toString("base64");
}

test("claude-code #70280, codex #44126, adapter #324: base64 of an image or a blob never becomes text", async () => {
  const png = noise(300 * 1024, [0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
  const pdf = noise(10 * 1024, [...Buffer.from("%PDF-1.7\n")]);
  const result = {
    content: [
      { type: "image", data: png, mimeType: "image/png" },
      { type: "resource", resource: { uri: "file:///r.pdf", blob: pdf, mimeType: "application/pdf" } },
    ],
    structuredContent: { image: { data: png, mimeType: "image/png" } },
  };
  const { work, saved } = await answering(result);
  const read = await callText(work, "s", "t");
  expect(read).not.toMatch(/[A-Za-z0-9+/]{200}/);
  expect(read).toMatch(/image\/png/);
  expect(read.length).toBeLessThan(2000);
  const [note] = /\[Binary resource file:\/\/\/r\.pdf .*\]/.exec(read)!;
  expect(note).toMatch(/application\/pdf, 10(\.0)? ?K/i);
  const path = saved().find((file) => note.includes(file))!;
  expect((statSync(path).mode & 0o777).toString(8)).toBe("600");
  expect(readFileSync(path).toString("base64")).toBe(pdf);
  expect(path).toMatch(/\.pdf$/);
  // A script gets everything, and a person can have the files.
  expect((await call(work, ["s", "t"])).json).toEqual(result);
  await work.run("call", "s", "t", "--out", "pictures");
  expect(readFileSync(join(work.project, "pictures", "1.png")).toString("base64")).toBe(png);
});

test("claude-code #70280: a mirror of an image, as structured content or as text, is no text either", async () => {
  const data = noise(300 * 1024, [0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
  const image = { type: "image", data, mimeType: "image/png" };
  const mirror = { image, caption: "a picture" };
  const inText = [image, ...text(JSON.stringify(mirror)).content];
  const work = await compiledProduct({
    structured: replyingEntry({ content: [image], structuredContent: mirror }),
    text: replyingEntry({ content: inText, structuredContent: mirror }),
    unpictured: replyingEntry({ content: inText.slice(1), structuredContent: mirror }),
  });
  for (const server of ["structured", "text", "unpictured"]) {
    const read = await callText(work, server, "t");
    expect(read).not.toMatch(/[A-Za-z0-9+/]{200}/);
    expect(read).toContain("a picture");
    expect(read).toMatch(/image\/png, 300(\.0)? ?K/i);
    expect(read).not.toContain("truncated");
  }
});

test("pi #10416, adapter #585: structuredContent of [1,2] and null reaches the script as it is", async () => {
  const values = { list: [1, 2], none: null };
  const replying = (structuredContent: unknown) => replyingEntry({ content: [], structuredContent });
  const work = await compiledProduct({ list: replying(values.list), none: replying(values.none) });
  const runtime = await work.runtime();
  for (const [server, structuredContent] of Object.entries(values)) {
    expect((await runtime.call(server, "t")).structured).toEqual(structuredContent);
    expect((await call(work, [server, "t"])).json).toEqual({ content: [], structuredContent });
    expect(JSON.parse(await callText(work, server, "t"))).toEqual(structuredContent);
  }
  expect(work.notices).toEqual([]);
});

test("pi #10416, adapter #585: a 200 KB object is whole in the script and marked cut for the model, with counts", async () => {
  const rows = Array.from({ length: 2000 }, (_, id) => ({ id, name: `row ${id}`, note: "x".repeat(70) }));
  const { work, saved } = await answering({ content: [], structuredContent: { rows } });
  const runtime = await work.runtime();
  expect((await runtime.call("s", "t")).structured).toEqual({ rows });
  expect((await call(work, ["s", "t"])).json.structuredContent).toEqual({ rows });
  const read = await callText(work, "s", "t");
  expect(bytesOf(read)).toBeLessThan(20_480 + 1000);
  expect(read).toMatch(/^Warning: truncated output/);
  expect(read).toMatch(/…\d+ chars truncated…/);
  expect(read).toMatch(/of 2,?000\b/);
  const [path, ...more] = saved() as [string, ...string[]];
  expect(more).toEqual([]);
  expect(read).toContain(path);
  expect((statSync(path).mode & 0o777).toString(8)).toBe("600");
  const full = readFileSync(path, "utf8");
  expect(JSON.parse(full)).toEqual({ rows });
  expect(Number(/original token count: (\d+)/.exec(read)![1])).toBe(Math.ceil(bytesOf(full) / 4));
});

test("adapter #249, #181: one line of 500 KB is cut by its bytes", async () => {
  const line = `start ${"x".repeat(500 * 1024 - 10)} end`;
  const { work, saved } = await answering(text(line));
  const read = await callText(work, "s", "t");
  const { shown, cut } = partsOf(read);
  expect(bytesOf(shown)).toBeLessThanOrEqual(20_480);
  expect(bytesOf(shown)).toBeGreaterThan(20_000);
  expect(shown.length + cut).toBe(line.length);
  expect(read).toContain("Total output lines: 1\n");
  expect(read).toContain(`original token count: ${line.length / 4})`);
  expect(shown).toMatch(/^start .* end$/s);
  expect(readFileSync(saved()[0]!, "utf8")).toBe(line);
});

test("adapter #249, #181: bytes are counted as UTF-8, and the stated totals are exact", async () => {
  const lines = Array.from({ length: 5000 }, () => "é").join("\n");
  expect(bytesOf(lines)).toBe(14_999);
  // The default limit, one that just holds it, one a byte too small, and one that would hold as many UTF-16 units.
  const limits = { whole: 20_480, just: 14_999, under: 14_998, units: 9_999 };
  const servers = Object.entries(limits).map(([name, maxOutputBytes]) => [
    name,
    { ...replyingEntry(text(lines)), ...(name !== "whole" && { maxOutputBytes }) },
  ]);
  const work = await compiledProduct(Object.fromEntries(servers));
  for (const name of ["whole", "just"]) expect(await callText(work, name, "t")).toBe(`${lines}\n`);
  for (const name of ["under", "units"] as const) {
    const read = await callText(work, name, "t");
    expect(read).toContain("Total output lines: 5000\n");
    expect(read).toContain("original token count: 3750)");
    const { shown, cut } = partsOf(read);
    expect(bytesOf(shown)).toBeLessThanOrEqual(limits[name]);
    expect(shown.length + cut).toBe(lines.length);
    expect(shown).not.toContain("\ufffd");
  }
});

/** What a cut output shows of the text, and how many characters it says are missing. */
function partsOf(read: string): { readonly shown: string; readonly cut: number } {
  const found =
    /^Warning: [^\n]*\nTotal output lines: \d+\n\n(.*?)…(\d+) chars truncated…(.*)\n\n\[Full output: [^\n]*\]\n$/s.exec(
      read,
    );
  if (!found) throw new Error(`not a cut output: ${read.slice(0, 300)}`);
  return { shown: found[1]! + found[3]!, cut: Number(found[2]) };
}
