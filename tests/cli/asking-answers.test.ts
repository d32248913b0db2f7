/** The answers file and the addresses of pages, without a process. */
import { describe, expect, test } from "vitest";
import { type Answers, parseAnswers } from "../../cli/answers-file.ts";
import { readAddress } from "../../runtime/questions/address.ts";

function answers(file: unknown): Answers {
  const parsed = parseAnswers(JSON.stringify(file), "a.json");
  if (parsed.answers === undefined) throw new Error(parsed.diagnostics.map(({ message }) => message).join("; "));
  return parsed.answers;
}
const found = (file: unknown) =>
  parseAnswers(typeof file === "string" ? file : JSON.stringify(file), "a.json").diagnostics;
const at = (server: string, tool?: string) => ({ server, tool });

describe("which answer is taken", () => {
  const accept = (name: string, more: object = {}) => ({ ...more, action: "accept", content: { name } });
  const form = { message: "Who is there?" };

  test("the first that fits, each once", async () => {
    const read = answers({ elicitation: [accept("b", { server: "b" }), accept("1"), accept("2", { tool: "t*" })] });
    const names = [];
    for (const context of [at("a", "x"), at("a", "x"), at("b"), at("a", "two")]) {
      const taken = await read.elicitation(form, context);
      names.push((taken?.["content"] as { name: string } | undefined)?.name);
    }
    expect(names).toEqual(["1", undefined, "b", "2"]);
    expect(read.unused()).toEqual([]);
  });

  test("one that repeats is taken any number of times, and is reported when it never was", async () => {
    const file = { elicitation: [accept("r", { repeat: true, message: "Who *" })] };
    const read = answers(file);
    for (let n = 0; n < 3; n++) expect(await read.elicitation(form, at("a"))).toMatchObject({ content: { name: "r" } });
    expect(read.unused()).toEqual([]);
    expect(answers(file).unused()).toMatchObject([{ code: "answer-unused", file: "a.json", line: 1 }]);
  });

  test("questions without a tool have no answer that names one", async () => {
    expect(await answers({ elicitation: [accept("t", { tool: "*" })] }).elicitation(form, at("a"))).toBeUndefined();
  });

  test("sampling by text or in whole", () => {
    const result = { model: "m", role: "assistant", content: [{ type: "text", text: "x" }] };
    const read = answers({ sampling: [{ result, server: "a" }, { text: "42" }] });
    expect(read.sampling({}, at("b"))).toMatchObject({ content: { type: "text", text: "42" } });
    expect(read.sampling({}, at("a"))).toEqual(result);
    expect(read.sampling({}, at("a"))).toBeUndefined();
  });

  test("comments and trailing commas are welcome, names such as __proto__ are names", async () => {
    const text = '{ // mine\n "elicitation": [{ "action": "accept", "content": { "__proto__": "p" } },], }';
    const { answers: read } = parseAnswers(text, "a.json");
    expect(JSON.stringify(await read!.elicitation(form, at("a")))).toBe(
      '{"action":"accept","content":{"__proto__":"p"}}',
    );
  });
});

describe("mistakes are all reported, at their places", () => {
  test.each<[string, unknown, string]>([
    ["a list", [], "answers are an object such as"],
    ["elicitation that is no list", { elicitation: {} }, "elicitation must be a list"],
    ["an answer that is none", { elicitation: ["yes"] }, "an elicitation answer must be an object"],
    ["no action", { elicitation: [{ content: {} }] }, "action is missing"],
    ["content that is no object", { elicitation: [{ action: "accept", content: [1] }] }, "content must be an object"],
    ["sampling with both", { sampling: [{ text: "a", result: {} }] }, "give either text or result"],
    ["sampling with neither", { sampling: [{}] }, "give either text or result"],
    ["a root on the web", { roots: [{ uri: "https://example.com" }] }, "uri must be a file: URI"],
    ["a root without uri", { roots: [{ name: "x" }] }, "uri is missing"],
    [
      "repeat that is no yes or no",
      { elicitation: [{ action: "cancel", repeat: "yes" }] },
      "repeat must be true or false",
    ],
  ])("%s", (_, file, message) => {
    const errors = found(file).filter(({ severity }) => severity === "error");
    expect(errors.map((one) => one.message).join("\n")).toContain(message);
    for (const one of errors) expect([one.file, one.line]).toEqual(["a.json", 1]);
  });

  test("what has no effect is a warning, and the file is used", () => {
    const file = { elicitation: [{ action: "decline", content: { a: 1 }, extra: 1 }], other: [] };
    expect(
      found(file)
        .map(({ severity, code }) => `${severity} ${code}`)
        .sort(),
    ).toEqual(["warning no-effect", "warning unknown-key", "warning unknown-key"]);
    expect(answers(file)).toBeDefined();
  });
});

describe("an address", () => {
  test.each<[string, string, RegExp[]]>([
    ["https://example.com/a", "example.com", []],
    ["https://example.com:8443", "example.com:8443", []],
    ["https://EXAMPLE.com", "example.com", []],
    ["https://google.com@evil.example/x", "evil.example", [/before @/]],
    ["https://xn--pple-43d.com", "xn--pple-43d.com (shown as аpple.com)", [/letters/]],
    ["https://аpple.com", "xn--pple-43d.com (shown as аpple.com)", [/letters/]],
    ["http://example.com", "example.com", [/not encrypted/]],
    ["http://localhost:3000/cb", "localhost:3000", [/own network/]],
    ["http://192.168.0.1/", "192.168.0.1", [/not encrypted/, /own network/]],
    ["http://2130706433/", "127.0.0.1", [/own network/]],
    ["https://[::1]/", "[::1]", [/own network/]],
    ["https://[::ffff:127.0.0.1]/", "[::ffff:7f00:1]", [/own network/]],
    ["https://0.0.0.0:8080/", "0.0.0.0:8080", [/own network/]],
    ["https://localhost./", "localhost.", [/own network/]],
  ])("%s is on %s", (url, host, warnings) => {
    const address = readAddress(url);
    if (!address.ok) throw new Error(address.reason);
    expect(address.host).toBe(host);
    expect(address.warnings).toHaveLength(warnings.length);
    for (const [index, warning] of warnings.entries()) expect(address.warnings[index]).toMatch(warning);
  });

  test("is shown in printable ASCII, whatever it holds", () => {
    const address = readAddress("https://example.com/\u202e\u001b[2J?q=\n\u0000é#\u2028");
    expect(address.ok && address.href).toMatch(/^https:\/\/example\.com\/[!-~]+$/);
  });

  test.each([`https://example.com/${"a".repeat(5000)}`, `https://example.com/${"é".repeat(1000)}`])(
    "too long to be read is opened by nobody",
    (text) => {
      expect(readAddress(text)).toMatchObject({ ok: false, reason: expect.stringContaining("characters") });
    },
  );

  test.each([
    "ftp://example.com",
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "//x",
    "",
    "https://",
  ])("that can't be opened: %j", (url) => {
    expect(readAddress(url).ok).toBe(false);
  });
});
