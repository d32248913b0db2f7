/** What a host adds to scripts, and what servers can't: Pi's globals, tools in thousands, texts that would like to be code. */
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { findings, object, openCheck, TOOLS, told } from "./script-tools.ts";

beforeAll(openCheck);

/** As a Pi extension would declare what only Pi has. */
const PI = {
  hostTools: [
    "bash(args: {command: string; timeout?: number}): Promise<{output: string; truncated: boolean; full_output_path?: string; exit_code: number; wall_time_seconds: number}>;",
    "read(args: {path: string; offset?: number; limit?: number}): Promise<any>;",
    "edit(args: {path: string; oldText: string; newText: string}): Promise<string>;",
  ].join("\n"),
  hostGlobals: `
    interface ModelInfo { type?: "chat"|"image"|"classifier"; provider: string; id: string; name?: string; input?: ("text"|"image")[]; [key: string]: any }
    type Question = { type: "choice"; instructions: string; criteria: Record<string, string> } | { type: "score"; instructions: string; criteria: string[] } | { type: "bool"; instructions: string; criteria: { true: string; false: string } };
    type Block = { type: "text"; text: string } | { type: "image"; data: string; mimeType: string };
    declare const models: {
      getAvailableOfType(type: "chat"|"image"|"classifier", provider?: string): Promise<ModelInfo[]>;
      getModelOfType(type: "chat"|"image"|"classifier", provider: string, id: string): Promise<ModelInfo | undefined>;
      classify(model: { provider: string; id: string }, context: { state: Record<string, unknown>; images?: { type: "image"; data: string; mimeType: string }[]; questions: Record<string, Question> }): Promise<{ answers: Record<string, any>; stopReason: "stop"|"error"|"aborted"; errorMessage?: string }>;
      generateImages(model: { provider: string; id: string }, context: { input: Block[] }): Promise<{ output: Block[]; stopReason: "stop"|"error"|"aborted"; errorMessage?: string }>;
    };`,
};

describe("a host's own tools and globals", () => {
  const right: [what: string, source: string][] = [
    [
      "classifying",
      `const messages = ["good", "bad"];
      const model = await models.getModelOfType("classifier", "maker", "small");
      const results = await Promise.all(messages.map((message) => models.classify(model, {
        state: { message },
        questions: {
          mood: { type: "choice", instructions: "How is it meant?", criteria: { good: "Happy", bad: "Unhappy" } },
          haste: { type: "score", instructions: "How soon?", criteria: ["never", "soon", "now"] },
        },
      })));
      return results.map((result, i) => result.stopReason === "stop"
        ? { message: messages[i], mood: result.answers.mood.choice, haste: result.answers.haste.score }
        : { message: messages[i], error: result.errorMessage });`,
    ],
    [
      "an image among the state",
      `const photo = await tools.read({ path: "a.png" });
      const result = await models.classify({ provider: "maker", id: "sees" }, { state: { page: 1 }, images: [photo],
        questions: { broken: { type: "bool", instructions: "Broken?", criteria: { true: "Cut off", false: "Whole" } } } });
      return result.answers.broken.probability > 0.5;`,
    ],
    [
      "generating",
      `// @options: {"timeout_ms": 300000}
      const [painter] = await models.getAvailableOfType("image");
      const result = await models.generateImages(painter, { input: [{ type: "text", text: "A fox" }] });
      if (result.stopReason !== "stop") return result.errorMessage;
      for (const block of result.output) { if (block.type === "image") image(block); else text(block.text); }`,
    ],
    [
      "a shell",
      "const { output, exit_code } = await tools.bash({ command: 'ls' }); return exit_code ? output.trim() : ''",
    ],
    ["beside MCP tools", "return [await tools.bash({ command: 'a' }), await tools.mcp__docs__ping()]"],
  ];
  test.each(right)("%s", (_, source) => {
    expect(told(source, PI)).toEqual([]);
  });

  test("are checked like the others", () => {
    expect(told("await tools.bash({ cmd: 'ls' }); models.classfy({}); return tools.red", PI)).toEqual([
      '1:20 error: bash takes no argument "cmd"; it takes command, timeout',
      '1:41 error: models has no classfy; did you mean "classify"?',
      "1:67 error: there is no tool red",
    ]);
  });

  test("are unknown where no host declares them", () => {
    expect(told("return models.classify")).toEqual(["1:8 error: there is no models"]);
    expect(told("return tools.bash({})", { tools: [] })).toEqual(["1:14 error: there is no tool bash"]);
  });
});

describe("tools that resolve to a value of their own", () => {
  const tools = [
    {
      name: "sum",
      inputSchema: object({ a: { type: "number" } }, ["a"]),
      outputSchema: object({ n: { type: "number" } }, ["n"]),
      resolvesTo: "value",
    },
    { name: "say", inputSchema: object({}), outputSchema: { type: "string" }, resolvesTo: "value" },
    { name: "my-tool", resolvesTo: "value" },
  ] as const;

  test.each([
    ["an object", "const { n } = await tools.sum({ a: 1 }); return n + 1", []],
    ["a text", "return (await tools.say({})).trim()", []],
    ["anything where nobody says", `return (await tools["my-tool"]({ x: 1 })).a.b[0]`, []],
    [
      "no result around it",
      "return (await tools.sum({ a: 1 })).structuredContent",
      ["1:36 error: (await tools.sum({ a: 1 })) has no structuredContent; it has n"],
    ],
    ["arguments", "return tools.sum({ b: 1 })", ['1:20 error: sum takes no argument "b"; it takes a']],
  ])("%s", (_, source, want) => {
    expect(told(source, { tools })).toEqual(want);
  });
});

test("a tool that a script asks for first may be missing", () => {
  expect(told(`return "bash" in tools ? await tools.bash({ command: "ls" }) : undefined`)).toEqual([]);
  expect(told(`return "bash" in tools ? await tools.bsh({}) : undefined`)).toEqual([
    "1:38 error: there is no tool bsh",
  ]);
});

test("where the host adds no structured there is none", () => {
  const source = `return (await tools.mcp__docs__search({ query: "x" })).structured.total`;
  expect(told(source)).toEqual([]);
  expect(told(source, { plainResults: true }).join()).toMatch(/has no structured/);
});

describe("what servers send", () => {
  test.each([
    "x */ } zqx9(); /*",
    "x\n};\ndeclare const zqx9: never;\n//",
    "\u2028}; zqx9; {",
    "`${zqx9}`",
    '"); zqx9(); ("',
    "__proto__",
    "constructor",
  ])("%j stays a name, a word, a text", (text) => {
    const tool = {
      name: "mcp__docs__odd",
      description: text,
      inputSchema: object({ [text]: { type: "string", description: text }, kind: { enum: [text, "b"] } }, [text]),
      outputSchema: object({ [text]: { type: "string" } }, [text]),
    };
    const tools = [tool];
    expect(told("return zqx9", { tools })).toEqual(["1:8 error: there is no zqx9"]);
    const call = `const r = await tools.mcp__docs__odd({ [${JSON.stringify(text)}]: "a", kind: ${JSON.stringify(text)} });`;
    expect(told(`${call} return r.structuredContent[${JSON.stringify(text)}].length`, { tools })).toEqual([]);
    expect(told("await tools.mcp__docs__odd({ kind: 'b' })", { tools })).toHaveLength(1);
  });

  test("any schema at all leaves a script without tools alone", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (inputSchema, outputSchema) => {
        const tools = [{ name: "mcp__a__b", inputSchema, outputSchema }];
        expect(told("text(typeof tools.mcp__a__b); return 1", { tools })).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  test("two tools' types of one name don't get into each other's way", () => {
    const node = (value: string) => ({
      $ref: "#/$defs/Node",
      $defs: { Node: object({ [value]: { type: "string" }, next: { $ref: "#/$defs/Node" } }, [value]) },
    });
    const tools = ["a", "b"].map((value) => ({ name: `mcp__x__${value}`, inputSchema: node(value) }));
    expect(
      told("await tools.mcp__x__a({ a: '', next: { a: '' } }); await tools.mcp__x__b({ b: '' })", { tools }),
    ).toEqual([]);
    expect(told("await tools.mcp__x__a({ a: '', next: { b: '' } })", { tools })).toHaveLength(1);
  });
});

test("the same script gets the same findings, whatever was checked before and in whatever order tools come", () => {
  const source = "await tools.mcp__docs__search({ qurey: 1, filter: { form: 2 } }); return tools.mcp__docs__png()";
  const first = findings(source);
  findings("return tools.mcp__geo__find({ at: 5 }).nothing");
  expect(first.length).toBeGreaterThan(1);
  expect(findings(source, { tools: [...TOOLS].reverse() })).toEqual(first);
});

test("a script has fifty findings at most", () => {
  expect(findings("nothing_1(); nothing_2();\n".repeat(100))).toHaveLength(50);
});
