/** Scripts of Pi's own codemode, checked before they run: what is refused, what never is, and what happens where nothing can check. */
import { cpSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { DIST, Stub, tool } from "../cli/pimcp.ts";
import { scratchFolder } from "../scratch.ts";
import { type Answer, compiledWorkspace, type FinishedPi, type PiOptions, runPi, textOf } from "./pi.ts";

// Each test starts Pi several times, and a compile before.
vi.setConfig({ testTimeout: 180_000 });

const OTHER_TOOLS = join(import.meta.dirname, "script-extension.mjs");
const REFUSED = "Script not run";

const SEARCH = {
  name: "search",
  description: "Searches",
  inputSchema: {
    type: "object",
    properties: { query: { type: "string" }, limit: { type: "integer" } },
    required: ["query"],
    additionalProperties: false,
  },
  outputSchema: {
    type: "object",
    properties: { hits: { type: "array", items: { type: "string" } } },
    required: ["hits"],
    additionalProperties: false,
  },
};
const FOUND = { content: [{ type: "text", text: "two" }], structuredContent: { hits: ["a", "b"] } };

interface Scripted {
  readonly pi: FinishedPi;
  /** What the model read of each script, in order. */
  readonly results: readonly string[];
  /** Calls that the server got. */
  readonly calls: () => number;
}

/** Runs scripts one after the other in one session. */
async function running(scripts: readonly string[], topLevel: object = {}, options: Partial<PiOptions> = {}) {
  const stub = new Stub({ tools: [SEARCH, tool("echo")], replies: { "tools/call": { result: FOUND } } });
  const quiet = { ...stub.entry, toolExposure: { echo: "hidden" } };
  const workspace = await compiledWorkspace({ docs: stub.entry, quiet }, topLevel);
  const answers: Answer[] = [...scripts.map((code): Answer => ({ call: ["codemode", { code }] })), { text: "done" }];
  const pi = await runPi(workspace, { args: ["--approve"], answers, extensions: [OTHER_TOOLS], ...options });
  const own = pi.ended.filter(({ toolName, parentToolCallId }) => toolName === "codemode" && !parentToolCallId);
  const calls = () => stub.log().filter(({ method }) => method === "tools/call").length;
  return { pi, results: own.map(textOf), calls } satisfies Scripted;
}

test("what can't be right is refused before anything is called, with place, line and spelling", async () => {
  const before = `await tools.mcp__docs__search({ query: "x" });\n`;
  const rows: readonly (readonly [script: string, ...said: string[]])[] = [
    [
      `${before}await tools.mcp__docs__serch({ query: "x" });`,
      "2:13: error:",
      'did you mean "mcp__docs__search"',
      "2 | ",
    ],
    [`${before}await tools.docs.search({ query: "x" });`, 'did you mean "mcp__docs__search"'],
    [`await tools.mcp__docs__search({ qurey: "x" });`, "1:33: error:", 'did you mean "query"'],
    [`await tools.mcp__docs__search({ query: 7 });`, "1:33: error:", "query"],
    [`await tools.mcp__docs__search({});`, "query"],
    [`const r = await tools.mcp__docs__search({ query: "x" }); return r.structuredContent.hit`, "1:85:", '"hits"'],
    [`const r = await tools.mcp__docs__search({ query: "x" }); return r.structured.hits`, "structured"],
    [`// @options: {"timeout_ms": 5000}\n\tawait tools.mcp__docs__search({ qurey: "x" });`, "2:34: error:"],
    [`${before}await tools.plian_tool({ word: "x" });`, 'did you mean "plain_tool"'],
    [`${before}await tools.plain_tool({ wrod: "x" });`, "word"],
    [`${before}await tools.hidden_tool({});`, "there is no tool hidden_tool"],
    [`${before}await tools.mcp__quiet__echo({});`, "there is no tool mcp__quiet__echo"],
    [`${before}await tools.bash({ comand: "ls" });`, "command"],
    [`${before}const x = ;`, "2:11: error:", "it can't be parsed"],
    [`${before}await fetch("http://localhost");`, "there is no fetch"],
  ];
  const { results, calls } = await running(rows.map(([script]) => script));
  const wrong = rows.flatMap(([script, ...said], index) =>
    [REFUSED, ...said].filter((text) => !results[index]!.includes(text)).map((text) => [script, text, results[index]]),
  );
  expect(wrong).toEqual([]);
  expect(results[0]).toContain("2 | await tools.mcp__docs__serch");
  expect(results[0]).toContain("No tool calls were made.");
  expect(calls()).toBe(0);
});

test("a script that is right is never refused, whatever it calls", async () => {
  const rows: readonly (readonly [script: string, result: string])[] = [
    [`const r = await tools.mcp__docs__search({ query: "x" }); return r.structuredContent.hits.length`, "2"],
    [`const r = await tools.mcp__docs__echo({ text: "x", more: [1] }); return r.content[0].text`, "two"],
    [`return (await tools.bash({ command: "echo $((6*7))" })).output.trim()`, "42"],
    [`await tools.write({ path: "a.txt", content: "one" }); return await tools.read({ path: "a.txt" })`, "one"],
    [`return await tools.edit({ path: "a.txt", edits: [{ oldText: "one", newText: "two" }] })`, ""],
    [`return await tools.edit({ path: "a.txt", oldText: "two", newText: "three" })`, ""],
    [`return await tools.plain_tool({ word: "w" })`, "plain w"],
    [`const { sum } = await tools.typed_tool({ a: 1, b: 2 }); return sum`, "3"],
    [`return [await tools.my_tool({}), await tools["my-tool"]({})]`, '["dashed","dashed"]'],
    [`const name = "plain_" + "tool"; return await tools[name]({ word: "w" })`, "plain w"],
    [`return await tools.mcp__late__echo({ text: "came late" })`, "came late"],
    [`try { await tools.image_tool({}) } catch (error) { return error.message }`, "no image"],
    [`return ALL_TOOLS.some((tool) => tool.name === "plain_tool")`, "true"],
    [`const [first] = await searchTools("search", { limit: 1 }); return typeof first.description`, "string"],
    [`return (await describeNamespace("docs")).tools.length + (await describeTool("plain_tool")).length > 2`, "true"],
    [`store("n", { a: 1 }); return load("n").a`, "1"],
    [`return (await models.getModelsOfType("chat", "scripted")).map((model) => model.id)`, '["one"]'],
    [`const known = await models.getModelOfType("image", "a", "b"); return String(known)`, "undefined"],
    [`// @options: {"max_output_tokens": 200, "timeout_ms": 60000}\ntext("a"); console.log(1, {}); return 2`, "2"],
    [
      `interface Hit { name: string }\nconst n = (h: Hit): string => h.name;\nreturn n({ name: "typed" } as Hit)`,
      "typed",
    ],
    ['```ts\n// @options: {"timeout_ms": 60000}\nconst n: number = 5;\nreturn n\n```', "5"],
    [JSON.stringify({ code: "return 6" }), "6"],
    [`var x = 1; x += "1"; y = x; return y`, "11"],
  ];
  const { results } = await running(rows.map(([script]) => script));
  const wrong = rows.filter(
    ([, want], index) => !results[index]!.startsWith("Script completed") || !results[index]!.includes(want),
  );
  expect(wrong.map(([script]) => [script, results[rows.findIndex(([one]) => one === script)]])).toEqual([]);
});

test("nothing that checks or runs scripts is there before the model writes one", async () => {
  const stub = new Stub({ tools: [tool("echo")] });
  const workspace = await compiledWorkspace({ docs: stub.entry });
  const count: Answer = { call: ["count_threads", {}] };
  const script: Answer = {
    call: ["codemode", { code: `return (await tools.mcp__docs__echo({ text: "x" })).isError` }],
  };
  const answers = [count, script, count, { text: "done" }];
  const { ended } = await runPi(workspace, { args: ["--approve"], answers, extensions: [OTHER_TOOLS] });
  const counted = ended.filter(({ toolName }) => toolName === "count_threads").map((event) => Number(textOf(event)));
  expect(counted[0]).toBe(0);
  expect(counted[1]).toBeGreaterThan(0);
});

describe("what type errors do", () => {
  const wrong = [
    `const r = await tools.mcp__docs__search({ query: "x" });`,
    "return [r.isError, r.structuredContent.hit]",
  ];

  test.each([
    ["error", false, true],
    ["warn", true, true],
    ["off", true, false],
  ] as const)('"typecheck": "%s" runs the script: %s, and tells them: %s', async (typecheck, runs, tells) => {
    const { results, calls } = await running([wrong.join("\n")], { codemode: { typecheck } });
    expect(results[0]!.includes("Script completed")).toBe(runs);
    expect(calls()).toBe(runs ? 1 : 0);
    expect(results[0]!.includes('2:40: error: r.structuredContent has no hit; did you mean "hits"?')).toBe(tells);
  });

  test("types are taken away when checking is off, too", async () => {
    const { results } = await running(["const n: number = 5; return n"], { typecheck: "off" });
    expect(results[0]).toMatch(/^Script completed.*5$/s);
  });

  test("a place in a script's own error is one in what the model wrote", async () => {
    const { results } = await running([`const word: string = "x";\n\n  throw new Error(word as string)`]);
    expect(results[0]).toMatch(/Script failed.*:3:/s);
  });
});

describe("where nothing can check", () => {
  const scripts = [
    `return (await tools.mcp__docs__search({ query: "x" })).structuredContent.hit === undefined`,
    `return await tools.plain_tool({ word: "w" })`,
  ];

  /** A copy of the build in which `change` breaks something; Pi loads it as any other extension. */
  function brokenBuild(change: (dist: string) => void): string {
    const folder = scratchFolder();
    const dist = join(folder, "dist");
    cpSync(DIST, dist, { recursive: true });
    cpSync(join(DIST, "..", "package.json"), join(folder, "package.json"));
    symlinkSync(join(import.meta.dirname, "..", "..", "node_modules"), join(folder, "node_modules"));
    change(dist);
    return join(dist, "runtime", "pi", "extension.ts");
  }

  test.each([
    [
      "the compiler is not there",
      (dist: string) => rmSync(join(dist, "compiler"), { recursive: true }),
      "not installed",
    ],
    [
      "the thread ends",
      (dist: string) => writeFileSync(join(dist, "runtime", "sandbox", "checker-worker.js"), "process.exit(3)"),
      "were not checked: the thread for it ended",
    ],
    [
      "the compiler can't be loaded",
      (dist: string) => writeFileSync(join(dist, "compiler", "scripts", "check-script.js"), "throw new Error('torn')"),
      "were not checked: torn",
    ],
  ])("%s: scripts run, and the user is told once", async (_what, change, said) => {
    const extension = brokenBuild(change);
    const { pi, results } = await running(scripts, {}, { extensions: [OTHER_TOOLS, extension], bare: true });
    expect(results.map((text) => text.startsWith("Script completed"))).toEqual([true, true]);
    expect(pi.stderr.split(said)).toHaveLength(2);
  });
});
