/** The checker as the sandbox uses it: its own thread, from the build, with the tools of compiled artifacts. */
import { cpSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import type * as Checker from "../../runtime/sandbox/script-checker.ts";
import { layerArtifacts } from "../../schemas/artifacts/layer.ts";
import type { ToolTable } from "../../schemas/artifacts/tool-table.ts";
import type { CheckedTool } from "../../schemas/script-finding.ts";
import { openSpec } from "../artifacts-builder.ts";
import { scratchFolder } from "../scratch.ts";

const root = join(import.meta.dirname, "..", "..");
const dist = process.env["PIMCP_DIST"] ?? join(root, "dist");
const { createScriptChecker, forbidsRunning } = (await import(
  join(dist, "runtime", "sandbox", "script-checker.js")
)) as typeof Checker;

const closed = (properties: object, required: string[] = []) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const TEXT = { type: "string" };

function tableWith(more: number): ToolTable {
  const tools = Array.from({ length: more }, (_, index) => ({
    name: `tool_${index}`,
    inputSchema: closed({ a: TEXT }, ["a"]),
  }));
  const project = openSpec({
    servers: [
      { name: "github", tools: [{ name: "create_issue", inputSchema: closed({ title: TEXT }, ["title"]) }] },
      { name: "many", tools },
      { name: "secret", exposure: "hidden", tools: [{ name: "create_isue", inputSchema: closed({}) }] },
    ],
  });
  return layerArtifacts({ project, user: undefined }).value;
}

const table = tableWith(20);
const checker = createScriptChecker();
afterAll(() => checker.close());

test("a script nested too deep is refused, and the next one is read", async () => {
  const deep = `tools; const a: number = ${"(".repeat(20_000)}1${")".repeat(20_000)}`;
  const { findings } = await checker.checkScript({ source: deep, table });
  expect(forbidsRunning(findings, "warn")).toBe(true);
  expect(findings[0]).toMatchObject({ kind: "syntax", message: expect.stringContaining("nested too deep") });
  expect(await checker.checkScript({ source: "tools; const a: number = 1", table })).toMatchObject({
    findings: [],
    js: "tools; const a         = 1",
  });
});

describe("findings", () => {
  test.each([
    ["tools.mcp__github__create_isue({})", "mcp__github__create_issue"],
    ["tools.github.create_issue({ title: 'a' })", "mcp__github__create_issue"],
    ["tools.create_issue({ title: 'a' })", "mcp__github__create_issue"],
    ["tools['mcp__github__createIssue']({ title: 'a' })", "mcp__github__create_issue"],
  ])("%s: the tool that was meant is named, a hidden one never", async (call, meant) => {
    const { findings, checked } = await checker.checkScript({ source: `await ${call}`, table });
    expect(checked).toBe(true);
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatchObject({ severity: "error", line: 1, suggestion: meant });
    expect(findings[0]).not.toHaveProperty("unknownTool");
  });

  test("a hidden tool is one that isn't there", async () => {
    const { findings } = await checker.checkScript({ source: "await tools.mcp__secret__create_isue({})", table });
    expect(findings[0]!.message).toMatch(/^there is no tool mcp__secret__create_isue;/);
  });

  test("TypeScript is checked and stripped, each place that of the file", async () => {
    const source = "type T = string\nconst t: T = 'x'\nawait tools.mcp__github__create_issue({ tilte: t as string })";
    const { js, findings } = await checker.checkScript({ source, table });
    expect(js).toBe("               \nconst t    = 'x'\nawait tools.mcp__github__create_issue({ tilte: t           })");
    expect(findings).toEqual([
      {
        severity: "error",
        kind: "types",
        message: 'mcp__github__create_issue takes no argument "tilte"; did you mean "title"?',
        line: 3,
        column: 41,
        endColumn: 46,
        suggestion: "title",
      },
    ]);
  });

  test("syntax errors keep the source and say where", async () => {
    const source = "text(1)\nawait tools.mcp__github__create_issue({ title: })";
    const { js, findings } = await checker.checkScript({ source, table });
    expect(js).toBe(source);
    expect(findings).toMatchObject([{ kind: "syntax", line: 2, column: 48 }]);
    expect(forbidsRunning(findings, "warn")).toBe(true);
  });

  test("what a host declares is known", async () => {
    const host = {
      tools: new Map([["bash", "bash(args: {command: string}): Promise<{output: string}>;"]]),
      globals: "declare const models: {classify(model: {id: string}): Promise<number>};",
    };
    const right = "await tools.bash({ command: 'ls' }); return models.classify({ id: 'a' })";
    expect((await checker.checkScript({ source: right, table, host })).findings).toEqual([]);
    const wrong = "return models.clasify({ id: 'a' })";
    expect((await checker.checkScript({ source: wrong, table, host })).findings).toMatchObject([
      { suggestion: "classify" },
    ]);
    const misspelt = "return tools.bahs({ command: 'ls' })";
    expect((await checker.checkScript({ source: misspelt, table, host })).findings).toMatchObject([
      { suggestion: "bash" },
    ]);
  });

  test("a host's tools by their schemas are known, before the table's and whatever their names", async () => {
    const sum = {
      name: "sum",
      inputSchema: closed({ a: TEXT }, ["a"]),
      outputSchema: TEXT,
      resolvesTo: "value",
    } as const;
    const endless: { properties?: object } = {};
    endless.properties = { endless };
    const schemas = new Map<string, CheckedTool>([
      ["sum", sum],
      ["my-tool", { name: "my-tool", resolvesTo: "value" } as const],
      ["odd", { ...sum, name: "odd", inputSchema: { ...sum.inputSchema, toText: () => "" } }],
      ["endless", { name: "endless", inputSchema: endless }],
      ["mcp__github__create_issue", { ...sum, name: "mcp__github__create_issue" }],
    ]);
    const told = async (source: string) => (await checker.checkScript({ source, table, host: { schemas } })).findings;
    expect(await told(`return (await tools.sum({ a: "x" })).trim() + (await tools["my-tool"]()).b`)).toEqual([]);
    expect(await told(`return tools.mcp__github__create_issue({ a: "x" })`)).toEqual([]);
    expect(await told(`return [tools.odd({ a: "x" }), tools.endless({ b: 1 }), (await tools.endless()).c]`)).toEqual(
      [],
    );
    expect(await told(`return tools.sum({})`)).toMatchObject([{ severity: "error" }]);
    expect(await told(`return tools.smu({ a: "x" })`)).toMatchObject([{ suggestion: "sum" }]);
  });

  test("a tool's declaration is written in full", async () => {
    const tool = {
      name: "sum",
      inputSchema: closed({ a: TEXT }, ["a"]),
      outputSchema: TEXT,
      resolvesTo: "value",
    } as const;
    expect(await checker.declare(tool)).toBe("sum(args: {a: string}): Promise<string>;");
    expect(await checker.declare({ ...tool, description: "Adds" })).toBe(
      "// Adds\nsum(args: {a: string}): Promise<string>;",
    );
  });
});

describe("what is spared", () => {
  test("JavaScript without tools, or with checking off, starts no thread", async () => {
    const idle = createScriptChecker({ timeoutMs: 1 });
    const source = "return nothing_of_this_name";
    expect(await idle.checkScript({ source, table })).toEqual({ js: source, findings: [], checked: false });
    const off = "return tools.mcp__nothing()";
    expect(await idle.checkScript({ source: off, table, mode: "off" })).toEqual({
      js: off,
      findings: [],
      checked: false,
    });
  });

  test("with checking off TypeScript is only stripped", async () => {
    const source = "return tools.nothing() as string";
    expect(await checker.checkScript({ source, table, mode: "off" })).toEqual({
      js: "return tools.nothing()          ",
      findings: [],
      checked: false,
    });
  });

  test("a script reads the definitions of the tools it names and of no other", async () => {
    const asked: string[] = [];
    const large = tableWith(3_000);
    const watched = new Proxy(large, {
      get: (target, key) => {
        const value = Reflect.get(target, key, target) as unknown;
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          if (key === "definition") asked.push(String(args[0]));
          return (value as (...args: unknown[]) => unknown).apply(target, args);
        };
      },
    });
    const source =
      "for (const n of [7, 8]) await tools.mcp__many__tool_7({ a: '' }); await tools.mcp__many__tool_2999({ b: 1 })";
    const { findings } = await checker.checkScript({ source, table: watched });
    expect(asked).toEqual(["mcp__many__tool_2999", "mcp__many__tool_7"]);
    expect(findings).toMatchObject([{ line: 1 }]);
  });
});

describe("the thread", () => {
  test("many scripts at once each get their own answer", async () => {
    const sources = Array.from(
      { length: 12 },
      (_, index) => `${"\n".repeat(index)}await tools.mcp__many__tool_1({ b: 1 })`,
    );
    const results = await Promise.all(sources.map((source) => checker.checkScript({ source, table })));
    expect(results.map(({ findings }) => findings[0]?.line)).toEqual(sources.map((_, index) => index + 1));
  });

  test("an abort rejects with its reason, and the next script is checked", async () => {
    const controller = new AbortController();
    const pending = checker.checkScript({ source: "tools.mcp__many__tool_1()", table, signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(pending).rejects.toThrow("enough");
    await expect(checker.checkScript({ source: "1", table, signal: controller.signal })).rejects.toThrow("enough");
    expect((await checker.checkScript({ source: "tools.mcp__many__tool_1()", table })).findings).toHaveLength(1);
  });

  test("a script that takes too long is told to be unchecked, stripped all the same", async () => {
    const hasty = createScriptChecker({ timeoutMs: 1 });
    const source = "return tools.mcp__many__tool_1() as string";
    const { js, findings, checked } = await hasty.checkScript({ source, table });
    expect(checked).toBe(false);
    expect(js).toBe("return tools.mcp__many__tool_1()          ");
    expect(findings).toMatchObject([{ severity: "warning", message: expect.stringContaining("longer than 1 ms") }]);
    expect(forbidsRunning(findings, "error")).toBe(false);
  });

  describe("one that a script won't give back", () => {
    /** A build whose thread answers at once, but never for a source with `hang` in it, and dies of one with `die`. */
    async function stubborn(timeoutMs: number) {
      const folder = scratchFolder();
      cpSync(dist, join(folder, "dist"), { recursive: true });
      cpSync(join(root, "package.json"), join(folder, "package.json"));
      symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
      writeFileSync(
        join(folder, "dist/runtime/sandbox/checker-worker.js"),
        `import { parentPort } from "node:worker_threads";
         parentPort.on("message", ({ source }) => {
           while (source.includes("hang"));
           if (source.includes("die")) process.exit(1);
           parentPort.postMessage({ js: source, findings: [], checked: true, absent: false });
         });`,
      );
      const built = (await import(join(folder, "dist/runtime/sandbox/script-checker.js"))) as typeof Checker;
      const one = built.createScriptChecker({ timeoutMs });
      onTestFinished(() => one.close());
      return (name: string, signal?: AbortSignal) =>
        one.checkScript({ source: `tools.${name}()`, table, ...(signal && { signal }) });
    }

    test.each([
      ["never ends", "hang", "longer than 3000 ms"],
      ["ends the thread", "die", "the thread for it ended"],
    ])("one that %s costs its own check and no other's", async (_, name, why) => {
      const check = await stubborn(3_000);
      const results = await Promise.all(["a", name, "b", "c"].map((one) => check(one)));
      expect(results.map(({ checked }) => checked)).toEqual([true, false, true, true]);
      expect(results[1]!.findings).toMatchObject([{ message: expect.stringContaining(why) }]);
      expect(results.map(({ js }) => js)).toEqual(["tools.a()", `tools.${name}()`, "tools.b()", "tools.c()"]);
    });

    test("and where it was given up, what came after it is checked all the same", async () => {
      const check = await stubborn(3_000);
      const abort = new AbortController();
      const given = check("hang", abort.signal);
      const [second, third] = [check("a"), check("b", abort.signal)];
      abort.abort(new Error("enough"));
      await expect(given).rejects.toThrow("enough");
      await expect(third).rejects.toThrow("enough");
      expect((await second).checked).toBe(true);
    });
  });

  test("after close and after idling a script starts a new one", async () => {
    const own = createScriptChecker({ idleMs: 1 });
    const source = "tools.mcp__many__tool_1()";
    const first = await own.checkScript({ source, table });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await own.checkScript({ source, table })).toEqual(first);
    await own.close();
    expect(await own.checkScript({ source, table })).toEqual(first);
    await own.close();
  });

  test("a thread that was warmed for nothing ends", async () => {
    const ended = new Promise<void>((resolve) => {
      process.once("worker", (worker) => worker.once("exit", () => resolve()));
    });
    createScriptChecker({ idleMs: 1 }).warm();
    await ended;
  });

  test("without the compiler scripts are stripped and run unchecked", async () => {
    const folder = scratchFolder();
    cpSync(dist, join(folder, "dist"), { recursive: true });
    cpSync(join(root, "package.json"), join(folder, "package.json"));
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    rmSync(join(folder, "dist", "compiler"), { recursive: true });
    const alone = (await import(join(folder, "dist/runtime/sandbox/script-checker.js"))) as typeof Checker;
    const lone = alone.createScriptChecker();
    const source = "return tools.nothing_there() as string";
    const want = { js: "return tools.nothing_there()          ", findings: [], checked: false, absent: true };
    expect(await lone.checkScript({ source, table })).toEqual(want);
    const { findings } = await lone.checkScript({ source: "tools.x(1);\nenum A { B }", table });
    expect(findings).toMatchObject([{ kind: "syntax", line: 2, column: 1 }]);
    expect(await lone.declare({ name: "a" })).toBeUndefined();
    await lone.close();
  });
});

test("a mode decides what errors do", () => {
  const finding = { severity: "error", kind: "types", message: "", line: 1, column: 1 } as const;
  expect(forbidsRunning([finding], "error")).toBe(true);
  expect(forbidsRunning([finding], "warn")).toBe(false);
  expect(forbidsRunning([{ ...finding, severity: "warning" }], "error")).toBe(false);
  expect(forbidsRunning([{ ...finding, kind: "syntax" }], "off")).toBe(true);
});
