/** What `pimcp call` prints and saves of a result. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { compiled, script } from "../runtime/runtime-project.ts";
import { scratchFolder } from "../scratch.ts";
import { answer, project } from "./call-project.ts";
import { Stub, tool } from "./pimcp.ts";

describe("results", () => {
  const block = (text: string) => ({ type: "text", text });

  test("--json is the CallToolResult, exactly", async () => {
    const result = {
      content: [block("\ud800 é"), { type: "odd", x: 1 }, { type: "image", data: "AAAA", mimeType: "image/png" }],
      structuredContent: null,
      _meta: { a: [1] },
      extra: { b: 2 },
    };
    const { work } = await answer(result);
    const { code, stdout } = await work.run("call", "s", "t", "--json");
    expect(code).toBe(0);
    expect(stdout).toBe(`${JSON.stringify(result)}\n`);
  });

  test.each([[[]], [["--json"]]])("a tool's error is printed and exits with 1: %j", async (flags) => {
    const result = { content: [block("no such city")], isError: true };
    const { work } = await answer(result);
    const { code, stdout } = await work.run("call", "s", "t", ...flags);
    expect(code).toBe(1);
    expect(stdout).toBe(flags.length > 0 ? `${JSON.stringify(result)}\n` : "no such city\n");
  });

  test("a protocol error exits with 1 and has its code in --json", async () => {
    const error = { code: -32050, message: "quota exceeded" };
    const { work } = await project([tool("t")], { replies: { "tools/call": { error } } });
    const run = await work.run("call", "s", "t");
    expect({ code: run.code, stdout: run.stdout }).toEqual({ code: 1, stdout: "" });
    expect(run.stderr).toMatch(/^pimcp call: .*quota exceeded/);
    const json = await work.run("call", "s", "t", "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { name: "ServerError", server: "s", code: -32050 } });
  });

  test("text is limited, and the file with all of it named; --json is not", async () => {
    const text = Array.from({ length: 5000 }, (_, n) => `line ${n} é`).join("\n");
    const stub = new Stub({ tools: [tool("t")], replies: { "tools/call": { result: { content: [block(text)] } } } });
    const work = await compiled({ s: { ...stub.entry, maxOutputBytes: 2000 } });
    const { code, stdout } = await work.run("call", "s", "t");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Warning: truncated output.*\nTotal output lines: 5000\n/);
    expect(stdout).toContain("line 0 é\n");
    expect(stdout).toContain("line 4999 é");
    expect(Buffer.byteLength(stdout)).toBeLessThan(2600);
    const path = /Full output: (\S+)/.exec(stdout)![1]!;
    expect(readFileSync(path, "utf8")).toBe(text);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(JSON.parse((await work.run("call", "s", "t", "--json")).stdout).content[0].text).toBe(text);
  });

  test("--out saves binary content under names of ours; without it images are named", async () => {
    const [png, pdf, wav] = ["png bytes", "pdf bytes", "wav bytes"].map((text) => Buffer.from(text).toString("base64"));
    const content = [
      block("see:"),
      { type: "image", data: png, mimeType: "image/png" },
      { type: "resource", resource: { uri: "file:///../../evil.sh", blob: pdf, mimeType: "application/pdf" } },
      { type: "audio", data: wav, mimeType: "audio/wav; ../../x" },
      { type: "resource", resource: { uri: "u", text: "just text" } },
    ];
    const { work } = await answer({ content });
    const plain = await work.run("call", "s", "t");
    expect(plain.stdout).toMatch(/^see:\n\[image\/png image; --out DIR saves it\]\n/);
    const { code, stderr } = await work.run("call", "s", "t", "--out", "got/pictures");
    expect(code).toBe(0);
    const folder = join(work.project, "got", "pictures");
    const saved = readdirSync(folder).sort();
    expect(saved.map((name) => readFileSync(join(folder, name), "utf8"))).toEqual([
      "png bytes",
      "pdf bytes",
      "wav bytes",
    ]);
    expect(saved.slice(0, 2)).toEqual(["1.png", "2.pdf"]);
    expect(stderr.match(/^saved .*$/gm)).toHaveLength(3);
    expect(existsSync(join(work.project, "got", "evil.sh"))).toBe(false);
    const json = await work.run("call", "s", "t", "--json", "--out", "json");
    expect(JSON.parse(json.stdout)).toEqual({ content });
    expect(readdirSync(join(work.project, "json"))).toHaveLength(3);
  });
});

describe("what can't be done with a result", () => {
  test("--out into something that is no folder is said, and the result printed all the same", async () => {
    const { work } = await answer({ content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] });
    const { code, stdout, stderr } = await work.run("call", "s", "t", "--out", "mcp.json");
    expect(code).toBe(1);
    expect(stdout).toContain("image/png");
    expect(stderr).toMatch(/^pimcp call: can't write to .*mcp\.json \(EEXIST\)\n$/);
  });

  test("nesting that no JSON writer can follow", async () => {
    const folder = scratchFolder();
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    writeFileSync(join(folder, "answer.json"), `{"content":[],"structuredContent":${deep}}`);
    const work = await compiled({ s: script("raw-answer.mjs", { ANSWER: join(folder, "answer.json") }) });
    const json = await work.run("call", "s", "t", "--json");
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout).error.message).toMatch(/nested too deeply/);
    const text = await work.run("call", "s", "t");
    expect(text.stderr).toBe("");
    expect(text.stdout).toMatch(/can't be shown/);
  });
});
