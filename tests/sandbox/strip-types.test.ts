/** Types are blanked and nothing else moves; what is JavaScript is known without the eraser; what can't be erased says where. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isPlainJavaScript, stripTypes } from "../../runtime/sandbox/strip-types.ts";

async function stripped(source: string): Promise<string> {
  const result = await stripTypes(source);
  if (!result.ok) throw new Error(`${result.finding.line}:${result.finding.column} ${result.finding.message}`);
  return result.js;
}

/** Runs what came out, as the sandbox does. */
async function run(js: string): Promise<unknown> {
  const AsyncFunction = (async () => {}).constructor as new (body: string) => () => Promise<unknown>;
  return new AsyncFunction(js)();
}

describe("TypeScript", () => {
  const rows: [source: string, value: unknown][] = [
    ["const x: number = 1; return x as any", 1],
    ["return 1 satisfies number", 1],
    ["const f = <T,>(x: T): T => x; return f<string>('a')", "a"],
    ["const f = <T extends object>(x: T) => x; return f<{ a: number }>({ a: 2 }).a", 2],
    ["const f = async (\n a: number,\n): Promise<\n number\n> => { return a + 1 }; return await f(1)", 2],
    ["return new Set<string>(['a']).size + new Map<string, number[]>().size", 1],
    ["type A = { a: string }\ninterface B extends A { b?: number }\nconst b: B = { a: 'x' }\nreturn b.a", "x"],
    ["let n = 1\ntype A = 1\n;[n] = [2]\nreturn n", 2],
    ["let n = 1; type A = 1; type B = { a: 1; }; [n] = [2]; return n", 2],
    ["const f = <T,>(x: number) => x\nconst y = f<{ a: 1; b: 2; }>(3)\ndeclare const z: 1;\n(() => {})()\nreturn y", 3],
    [
      "class A<T> { private readonly x!: T; static y?: string; declare z: T; constructor(x: T) { this.x = x } get(this: A<T>): T { return this.x! } }\nreturn new A<number>(3).get()",
      3,
    ],
    [
      "abstract class A { abstract m(): void; n() { return 4 } }\nclass B extends A { override m() {} }\nreturn new B().n()",
      4,
    ],
    ["function f(a: string): string\nfunction f(a: any) { return a }\nreturn f('x')", "x"],
    ["declare const nothing: string\nreturn typeof nothing", "undefined"],
    ["const o = { a: { b: 5 } } as const\nreturn o!.a!.b", 5],
    ["for (const x of [1, 2] as number[]) if ((x as number) > 1) return x", 2],
    ["try { throw new Error('e') } catch (error: unknown) { return (error as Error).message }", "e"],
    ["const { a, ...rest }: { a: number; b?: number } = { a: 1, b: 6 }; return rest.b", 6],
    ["let é: \"日本語😀\" | string = 'x'; return é.length", 1],
    ["const t = (s: TemplateStringsArray) => s[0]; return t`<a>` as string", "<a>"],
    ['// @options: {"timeout_ms": 5}\nconst x: number = 7\nreturn x', 7],
  ];
  test.each(rows)("%j", async (source, value) => {
    const js = await stripped(source);
    expect(js).toHaveLength(source.length);
    expect(js.split("\n").map((line) => line.length)).toEqual(source.split("\n").map((line) => line.length));
    expect(await run(js)).toEqual(value);
    expect(isPlainJavaScript(source)).toBe(false);
  });

  test("an error's place stays that of the file", async () => {
    const js = await stripped("type A = {\n a: string\n}\nconst x: A = { a: '' }, y = (x as any).b.c");
    expect(js.split("\n")[3]!.indexOf(".b.c")).toBe("const x: A = { a: '' }, y = (x as any)".length);
  });
});

describe("JavaScript is known at once", () => {
  test.each([
    "return 1",
    "const a = b < c, d = e > (f)",
    "if (a < b && c > d) { text(`${a}`) }",
    "return [1, 2].map((x) => (x > 1 ? x : 0))",
    "a: for (;;) break a",
    "return '<b>(x)'.length",
    "// enum A {}\nreturn /<T>/",
    "const type = 1, as = 2, satisfies = 3; return type + as",
  ])("%j", (source) => {
    // Some may be meant as calls with types: they go through the eraser, and come out as they were.
    expect(isPlainJavaScript(source) || source.includes(">")).toBe(true);
  });

  test("and what only looks like it isn't", () => {
    for (const source of ["f<T>(x)", "new Set<string>(list)", "f<{ a: string }>\n(x)", "f<T>/* c */(x)", "tag<T>`x`"]) {
      expect(isPlainJavaScript(source), source).toBe(false);
    }
  });

  test("what passes through the eraser without types stays the same", async () => {
    for (const source of ["return a < b && c > (d)", "return [3].filter((x) => x < 5 || x > (2)).length", "x => (x)"]) {
      expect(await stripped(source)).toBe(source);
    }
  });

  test("no text makes it throw, and a body that closes its function is no JavaScript", () => {
    fc.assert(fc.property(fc.string({ unit: "grapheme" }), (source) => typeof isPlainJavaScript(source) === "boolean"));
    expect(isPlainJavaScript("}); evil(); (async () => {")).toBe(false);
    expect(isPlainJavaScript("} evil(); {")).toBe(false);
  });
});

describe("what can't be erased says where", () => {
  const rows: [source: string, want: string][] = [
    ["enum A { B }", "1:1 TypeScript enum is not supported in strip-only mode"],
    ["text(1)\nenum A { B }", "2:1 TypeScript enum is not supported in strip-only mode"],
    [
      "  namespace N { export const a = 1 }",
      "1:3 TypeScript namespace declaration is not supported in strip-only mode",
    ],
    [
      "class A {\n  constructor(private x: number) {}\n}",
      "2:23 TypeScript parameter property is not supported in strip-only mode",
    ],
    ["const x = ;", "1:11 Expression expected"],
    ["let a = 1;\n let a = 2;", "2:6 Identifier 'a' has already been declared"],
    ["} text(1); {", "1:1 Expected ';', '}' or <eof>"],
    ["import x from 'y'", "1:1 'import', and 'export' cannot be used outside of module code"],
  ];
  test.each(rows)("%j", async (source, want) => {
    const result = await stripTypes(source);
    expect(result.ok).toBe(false);
    if (result.ok) return;
    const { line, column, message, severity, kind } = result.finding;
    expect(`${line}:${column} ${message}`).toBe(want);
    expect({ severity, kind }).toEqual({ severity: "error", kind: "syntax" });
  });

  const DEEP = `${"(".repeat(20_000)}1${")".repeat(20_000)}`;
  test("nesting that no parser's stack holds is told, and the next script is read", async () => {
    for (const source of [`return ${DEEP}`, `const a: number = ${DEEP}`]) {
      expect(isPlainJavaScript(source)).toBe(false);
      expect(await stripTypes(source)).toMatchObject({
        ok: false,
        finding: { message: expect.stringContaining("nested too deep") },
      });
      expect(await stripped("const a: number = 1")).toBe("const a         = 1");
    }
  });
});

test("a script of very many types is read in time that grows with its length alone", { timeout: 20_000 }, async () => {
  const count = 60_000;
  const js = await stripped("n = 1\ntype A = 1;".repeat(count));
  expect(js.split(";")).toHaveLength(count + 1);
  expect(js.length).toBe("n = 1\ntype A = 1;".length * count);
});
