import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { interpretResult } from "../../runtime/calls/results.ts";
import type { CallToolResult } from "../../runtime/codegen/result.ts";
import { findEncodedRuns } from "../../runtime/limits/base64.ts";
import { countEntries } from "../../runtime/limits/json-counts.ts";
import { extensionFor } from "../../runtime/limits/mime.ts";
import { createOutputStore, type OutputStore } from "../../runtime/limits/output-store.ts";
import { limitResult } from "../../runtime/limits/result.ts";

const folder = await mkdtemp(join(tmpdir(), "pimcp-test-"));
afterAll(() => rm(folder, { recursive: true, force: true }));
const store = createOutputStore(folder);

/** Pseudo-random bytes that begin like a PNG: the same in every run. */
function pngBytes(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let index = 0, state = 1; index < length; index++) {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
    bytes[index] = state >> 16;
  }
  Buffer.from("89504e470d0a1a0a", "hex").copy(bytes);
  return bytes;
}

function limit(result: unknown, options: { maxBytes?: number; store?: OutputStore; readResourceTool?: string } = {}) {
  return limitResult(result as CallToolResult, { server: "docs", tool: "t", maxBytes: 20_480, store, ...options });
}

async function textFor(result: unknown, options = {}): Promise<string> {
  const { content } = await limit(result, options);
  return content.map((block) => (block.type === "text" ? block.text : `<image ${block.mimeType}>`)).join("\n");
}

const savedPath = (text: string) => /(?:saved to|Full output:) (\S+?)(?:\]| \()/.exec(text)![1]!;

describe("content within the limit", () => {
  const rows: [what: string, result: unknown, want: string | RegExp][] = [
    [
      "text blocks stay apart",
      {
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
      "a\nb",
    ],
    ["structured content without text is shown as JSON", { content: [], structuredContent: [1, 2] }, "[\n  1,\n  2\n]"],
    ["null structured content too", { content: [], structuredContent: null }, "null"],
    ["text hides its structured mirror", { content: [{ type: "text", text: "3" }], structuredContent: { n: 3 } }, "3"],
    ["an error without text says so", { content: [], isError: true }, "MCP tool docs/t returned an error"],
    [
      "an embedded text resource has its URI",
      { content: [{ type: "resource", resource: { uri: "file:///a.md", text: "# A" } }] },
      "[Resource file:///a.md]\n# A",
    ],
    [
      "a blob of text is text",
      { content: [{ type: "resource", resource: { uri: "x:a", mimeType: "text/csv; charset=utf-8", blob: "YSxi" } }] },
      "[Resource x:a]\na,b",
    ],
    [
      "an image resource is an image",
      { content: [{ type: "resource", resource: { uri: "x:a", mimeType: "image/png", blob: "AAAA" } }] },
      "<image image/png>",
    ],
    [
      "an MCP App's interface is left out",
      { content: [{ type: "resource", resource: { uri: "ui://a", mimeType: "text/html", text: "<b>" } }] },
      "[Resource ui://a omitted: the interface of an MCP App]",
    ],
    [
      "a link names its server",
      { content: [{ type: "resource_link", uri: "x:a", name: "a", mimeType: "text/plain", size: 2048 }] },
      '[Resource x:a "a" (text/plain, 2.0 KB). From server "docs"]',
    ],
    [
      "audio is saved",
      { content: [{ type: "audio", data: "AAAA", mimeType: "audio/wav" }] },
      /^\[Audio \(audio\/wav, 3 B\) saved to .*\.wav\]$/,
    ],
    [
      "an image block that isn't an image is saved",
      { content: [{ type: "image", data: "AAAA", mimeType: "application/pdf" }] },
      /^\[Image \(application\/pdf, 3 B\) saved to .*\.pdf\]$/,
    ],
    ["an unknown block is named", { content: [{ type: "hologram" }] }, '[Unsupported MCP content "hologram"]'],
  ];
  test.each(rows)("%s", async (_what, result, want) => {
    const text = await textFor(result);
    if (typeof want === "string") expect(text).toBe(want);
    else expect(text).toMatch(want);
  });

  test("a link names the tool that reads it, where there is one", async () => {
    const link = { type: "resource_link", uri: "x:a", name: "a", title: "A", description: "first" };
    const text = await textFor({ content: [link] }, { readResourceTool: "read_mcp_resource" });
    expect(text).toBe('[Resource x:a "A": first. Read it with read_mcp_resource (server "docs")]');
  });
});

test("whatever JSON a server sends, a model can read what is made of it", async () => {
  const nowhere: OutputStore = { save: async () => ({ ok: false, reason: "full" }) };
  const kinds = fc.constantFrom("text", "image", "audio", "resource", "resource_link", "hologram");
  const strings = fc.constantFrom("a", "image/png", "ui://x", "text/plain", "A".repeat(2000));
  const value = fc.oneof(strings, fc.jsonValue());
  const resource = fc.record({ uri: value, text: value, blob: value, mimeType: value }, { requiredKeys: ["uri"] });
  const block = fc.record(
    { type: kinds, text: value, data: value, mimeType: value, uri: value, name: value, size: value, resource },
    { requiredKeys: ["type"] },
  );
  const result = fc.record({ content: fc.array(block), structuredContent: value }, { requiredKeys: ["content"] });
  await fc.assert(
    fc.asyncProperty(result, async (raw) => {
      const interpreted = await interpretResult(raw);
      const { content } = await limit(interpreted.result, { store: nowhere });
      for (const shown of content) {
        expect(typeof (shown.type === "text" ? shown.text : shown.data)).toBe("string");
      }
    }),
    { numRuns: 300 },
  );
});

test("a link whose other members are no text is still one", async () => {
  const odd = { toString: null };
  const link = { type: "resource_link", uri: "x:a", name: "a", title: odd, mimeType: odd, description: odd, size: odd };
  expect(await textFor({ content: [link] })).toBe('[Resource x:a "a". From server "docs"]');
});

test("structured content that nests without end is named, not thrown over", async () => {
  const nested = JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`);
  expect(await textFor({ content: [], structuredContent: nested })).toMatch(/^\[JSON that can't be shown: /);
});

describe("binary data never becomes text (claude-code #70280, codex #44126)", () => {
  const png = pngBytes(300 * 1024);
  const data = png.toString("base64");
  const image = { type: "image", data, mimeType: "image/png" };

  test("an image mirrored in structured content stays an image", async () => {
    const { content, cut } = await limit({ content: [image], structuredContent: { image: data, width: 3 } });
    expect(cut).toBe(false);
    expect(content[0]).toEqual(image);
    expect(content.slice(1)).toEqual([
      { type: "text", text: '{\n  "image": "[base64 image/png, 300.0 KB, shown as an image]",\n  "width": 3\n}' },
    ]);
  });

  test.each([
    ["as JSON", (base64: string) => JSON.stringify({ image: base64, width: 3 })],
    [
      "as JSON with escaped slashes",
      (base64: string) => JSON.stringify({ image: base64, width: 3 }).replaceAll("/", "\\/"),
    ],
    ["bare", (base64: string) => `here: ${base64} done`],
  ])("nor when mirrored in text, %s", async (_what, mirror) => {
    const text = await textFor({
      content: [image, { type: "text", text: mirror(data) }],
      structuredContent: { image: data },
    });
    expect(text).toContain("[base64 image/png, 300.0 KB, shown as an image]");
    expect(text.length).toBeLessThan(200);
  });

  test("an even picture is known by its block alone", async () => {
    const blank = Buffer.alloc(3000).toString("base64");
    const text = await textFor({
      content: [
        { type: "image", data: blank, mimeType: "image/png" },
        { type: "text", text: `{"image":"${blank}"}` },
      ],
    });
    expect(text).toBe('<image image/png>\n{"image":"[base64 image/png, 2.9 KB, shown as an image]"}');
  });

  test.each([
    ["known by how it begins", { shot: data }, "image/png"],
    ["a data URI", { shot: `data:image/webp;base64,${data}` }, "image/webp"],
    [
      "known by a type beside it",
      { shot: { mimeType: "audio/wav", data: Buffer.alloc(3072).toString("base64") } },
      "audio/wav",
    ],
    ["an even mix of letters", { shot: png.subarray(9).toString("base64") }, "data"],
  ])("base64 in structured content alone is saved: %s", async (_what, structuredContent, type) => {
    const text = await textFor({ content: [], structuredContent });
    expect(text).toMatch(new RegExp(`\\[base64 ${type}, [0-9.]+ KB, saved to .*\\]`));
    expect(text.length).toBeLessThan(400);
    expect((await stat(savedPath(text))).mode & 0o777).toBe(0o600);
  });

  test("a data URI in prose is saved and decoded", async () => {
    const text = await textFor({ content: [{ type: "text", text: `![shot](data:image/png;base64,${data}) end` }] });
    expect(text).toMatch(/^!\[shot\]\(\[base64 image\/png, 300\.0 KB, saved to .*\.png\]\) end$/);
    expect((await readFile(savedPath(text))).equals(png)).toBe(true);
  });

  test("a PDF resource of 10 KB is saved owner-only, with path, type and size", async () => {
    const blob = png.subarray(0, 10_240);
    const resource = { uri: "file:///../../etc/x.exe", mimeType: "application/pdf", blob: blob.toString("base64") };
    const text = await textFor({ content: [{ type: "resource", resource }] });
    expect(text).toMatch(
      /^\[Binary resource file:\/\/\/\.\.\/\.\.\/etc\/x\.exe \(application\/pdf, 10\.0 KB\) saved to .*\.pdf\]$/,
    );
    const path = savedPath(text);
    expect(dirname(path)).toBe(folder);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await readFile(path)).equals(blob)).toBe(true);
  });

  test.each([
    ["a DNA sequence", "ACGT".repeat(1000)],
    ["a hex digest list", "0123456789abcdef".repeat(200)],
    ["a line of x", "x".repeat(5000)],
    ["long words", `${"supercalifragilistic/".repeat(100)}`],
  ])("%s is text", async (_what, text) => {
    expect(await textFor({ content: [], structuredContent: { text } })).toContain(text);
    expect(await textFor({ content: [{ type: "text", text }] })).toBe(text);
  });

  test("runs are found wherever they stand", () => {
    const run = pngBytes(1500).toString("base64");
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-z \n"]{0,1600}$/),
        fc.stringMatching(/^[a-z \n"]{0,700}$/),
        (before, after) => {
          const text = `${before} ${run}"${after}`;
          const start = before.length + 1;
          const want = [{ start, end: start + run.length, base64: run, mimeType: "image/png" }];
          expect(findEncodedRuns(text, new Map())).toEqual(want);
        },
      ),
    );
  });
});

describe("content over the limit", () => {
  test("has totals, both ends and an owner-only file with all of it, in an owner-only folder", async () => {
    const text = `start ${"日本語\n".repeat(5000)}end`;
    const own = createOutputStore();
    const image = { type: "image", data: "AAAA", mimeType: "image/png" };
    const limited = await limit({ content: [{ type: "text", text }, image] }, { store: own, maxBytes: 100 });
    expect(limited.cut).toBe(true);
    const [first, second] = limited.content;
    const shown = first!.type === "text" ? first!.text : "";
    expect(shown).toMatch(
      /^Warning: truncated output \(original token count: 12503\)\nTotal output lines: 5001\n\nstart 日[^…]*…\d+ chars truncated…[^…]*end\n\n\[Full output: \S+\.txt \(read it with offset\/limit\)\]$/,
    );
    expect(second).toEqual(image);
    expect(limited.path).toBe(savedPath(shown));
    expect(await readFile(limited.path!, "utf8")).toBe(text);
    expect((await stat(limited.path!)).mode & 0o777).toBe(0o600);
    expect((await stat(dirname(limited.path!))).mode & 0o777).toBe(0o700);
    await rm(dirname(limited.path!), { recursive: true });
    // The system's cleaning took the folder: the next result is saved all the same.
    const again = await limit({ content: [{ type: "text", text }] }, { store: own, maxBytes: 100 });
    expect(await readFile(again.path!, "utf8")).toBe(text);
    await rm(dirname(again.path!), { recursive: true });
  });

  test("says so when the full text can't be saved, and is cut all the same", async () => {
    const file = join(folder, "a-file");
    await writeFile(file, "");
    const broken = createOutputStore(join(file, "sub"));
    const limited = await limit(
      { content: [{ type: "text", text: "x".repeat(1000) }] },
      { store: broken, maxBytes: 10 },
    );
    expect(limited).toMatchObject({ cut: true });
    expect(limited.path).toBeUndefined();
    expect(limited.content[0]).toMatchObject({
      text: expect.stringMatching(/xxxxx…990 chars truncated…xxxxx\n\n\[Could not save the full output: .+\]$/),
    });
  });

  test("a 200 KB object is marked cut, with counts (pi #10416, adapter #585)", async () => {
    const items = Array.from({ length: 5000 }, (_, id) => ({ id, name: `item "${id}" {[`, tags: ["a,b", "c"] }));
    for (const result of [
      { content: [], structuredContent: { total: 5000, items } },
      { content: [{ type: "text", text: JSON.stringify({ total: 5000, items }) }] },
    ]) {
      const text = await textFor(result);
      const counts = /Shown whole: 1 of 2 keys; (\d+) of 5000 items of "items"/.exec(text);
      const [, cut] = /\n\n([\s\S]*)\n\n\[Full output/.exec(text)!;
      const whole = cut!.match(/"id": ?\d+,\s*"name": ?"item \\"\d+\\" \{\[",\s*"tags": ?\[\s*"a,b",\s*"c"\s*\]\s*\}/g);
      expect(Number(counts![1])).toBe(whole!.length);
    }
  });

  test.each([
    ["an array", "[1,2,3,4,5,6]", 4, 9, [{ path: [], kind: "array", total: 6, shown: 4 }]],
    [
      "an object cut in a value",
      '{"a":1,"b":[1,2,3,4],"c":3}',
      14,
      17,
      [
        { path: [], kind: "object", total: 3, shown: 2 },
        { path: ["b"], kind: "array", total: 4, shown: 2 },
      ],
    ],
    ["brackets in strings", '["[,{\\"",2,3]', 8, 10, [{ path: [], kind: "array", total: 3, shown: 2 }]],
    ["prose in brackets", "[see below] and so on", 3, 6, []],
    ["no container", "1234567", 3, 4, []],
    ["not closed", "[1,2,3", 2, 3, []],
    ["empty", "{}", 1, 1, [{ path: [], kind: "object", total: 0, shown: 0 }]],
  ])("counts of %s", (_what, text, start, end, want) => {
    expect(countEntries(text, start, end)).toEqual(want);
  });
});

describe("the output store", () => {
  test("never writes through a link, and no server chooses a name", async () => {
    const inner = join(folder, "linked");
    await mkdir(inner);
    await symlink("/nonexistent", join(inner, "output-0.txt"));
    const saved = await createOutputStore(inner).save("x", ".txt");
    expect(saved).toMatchObject({ ok: true, bytes: 1 });
    expect(saved.ok && saved.path).toMatch(/output-[0-9a-f]{16}\.txt$/);
  });

  test.each([
    ["application/pdf", ".pdf"],
    ["IMAGE/PNG; x=y", ".png"],
    ["application/x-sh", ".bin"],
    ["../../x", ".bin"],
    [undefined, ".bin"],
    ["__proto__", ".bin"],
    ["text/html", ".txt"],
  ])("the extension of %s is %s", (mimeType, want) => {
    expect(extensionFor(mimeType)).toBe(want);
  });

  test("text is written whole where its pieces meet, lone surrogates as U+FFFD", async () => {
    const text = `${"a".repeat((1 << 19) - 1)}😀${"é".repeat(1 << 19)}\ud83d`;
    const saved = await store.save(text, ".txt");
    expect(saved.ok && (await readFile(saved.path, "utf8"))).toBe(`${text.slice(0, -1)}\ufffd`);
    expect(saved.ok && saved.bytes).toBe(Buffer.byteLength(text));
  });
});
