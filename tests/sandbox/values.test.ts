/** Values on their way in and out: what JSON can't hold, and that everything else arrives as it was. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sandboxOf } from "./sandbox.ts";

const sandbox = sandboxOf({
  echo: (args) => args ?? null,
  big: (args) => ({ text: "x".repeat((args as { n: number }).n) }),
  odd: () => 10n,
});

describe("arguments that JSON can't hold are refused with their path", () => {
  const rows: [expression: string, message: string][] = [
    ["{ a: { b: [10n] } }", ".a.b[0] is a BigInt"],
    ["{ a: NaN }", ".a is NaN"],
    ["{ a: [1, -Infinity] }", ".a[1] is -Infinity"],
    ["{ 'odd key': () => 1 }", '["odd key"] is a function'],
    ["{ a: new Map() }", ".a is a Map"],
    ["{ a: new Set() }", ".a is a Set"],
    ["{ a: tools.echo() }", ".a is a promise; an `await` is missing"],
    ["(() => { const a = {}; a.self = { a }; return a })()", ".self.a refers back"],
  ];
  test.each(rows)("%s", async (expression, message) => {
    const result = await sandbox.run(`await tools.echo(${expression})`);
    expect(result).toMatchObject({
      ok: false,
      error: { name: "TypeError", message: expect.stringContaining(message) },
    });
  });

  test("several arguments are refused", async () => {
    expect(await sandbox.run('await tools.echo("a", "b")')).toMatchObject({
      error: { message: expect.stringContaining("one object") },
    });
  });
});

describe("what is shown or returned is converted as documented", () => {
  const rows: [expression: string, value: unknown][] = [
    ["{ a: 10n, b: NaN, c: [Infinity] }", { a: "10", b: "NaN", c: ["Infinity"] }],
    ["10n", "10"],
    ["{ f() {} }", { f: "[function f]" }],
    ["{ m: new Map([['a', 1]]), s: new Set([2]) }", { m: [["a", 1]], s: [2] }],
    ["{ e: Object.assign(new TypeError('bad'), { code: 5 }) }", { e: { name: "TypeError", message: "bad", code: 5 } }],
    ["{ r: /x/g, d: new Date(0) }", { r: "/x/g", d: "1970-01-01T00:00:00.000Z" }],
    ["{ u: undefined, s: Symbol('x'), a: [undefined, Symbol('x'), null] }", { a: [null, null, null] }],
    ["Symbol('x')", "Symbol(x)"],
    ["JSON.stringify({ m: new Map(), e: new Error('x') })", '{"m":{},"e":{}}'],
    [
      'JSON.parse(\'{"__proto__": {"a": 1}, "constructor": 2}\')',
      JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}'),
    ],
  ];
  test.each(rows)("%s", async (expression, value) => {
    const result = await sandbox.run(`return ${expression}`);
    expect(result).toMatchObject({ ok: true });
    expect(result.ok && JSON.stringify(result.value)).toBe(JSON.stringify(value));
  });

  const refused: [source: string, message: string][] = [
    ["return [tools.echo()]", "[0] is a promise; an `await` is missing"],
    ["const a = []; a.push({ a }); text(a)", "[0].a refers back"],
    ["return { get a() { throw new Error('mine') } }", "mine"],
  ];
  test.each(refused)("%s fails", async (source, message) => {
    expect(await sandbox.run(source)).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining(message) },
    });
  });
});

describe("thrown values", () => {
  const rows: [thrown: string, message: string][] = [
    ["'x'", "the script threw a string: x"],
    ["null", "the script threw null"],
    ["undefined", "the script threw undefined"],
    ["{ a: 1 }", 'the script threw an object: {"a":1}'],
    ["10n", "the script threw a bigint: 10"],
    ["{ toString() { throw 1 }, toJSON() { throw 2 } }", "the script threw an object"],
    ["Object.assign(new Error('m'), { name: null })", "m"],
    [
      "(() => { const e = new Error('m'); Object.defineProperty(e, 'message', { get() { throw 1 } }); return e })()",
      "can't be described",
    ],
  ];
  test.each(rows)("%s", async (thrown, message) => {
    expect(await sandbox.run(`throw ${thrown}`)).toMatchObject({
      ok: false,
      error: { kind: "script", message: expect.stringContaining(message) },
    });
  });

  test("a syntax error has its line, its column and a caret under it", async () => {
    const result = await sandbox.run("let x = 1;\n  let y = ;\n");
    expect(result).toMatchObject({
      error: { kind: "syntax", line: 2, column: 11, frame: `2 |   let y = ;\n${" ".repeat(14)}^` },
    });
  });

  test("a place on the first line is one of the script as given", async () => {
    expect(await sandbox.run("null.x")).toMatchObject({
      error: { line: 1, column: 5, stack: expect.stringContaining("script:1:5") },
    });
  });
});

test("a result that is no JSON fails its call alone", async () => {
  const result = await sandbox.run(
    "const r = await Promise.allSettled([tools.odd(), tools.echo({ a: 1 })]); return [r[0].reason.message, r[1].value]",
  );
  expect(result.ok && result.value).toEqual([
    expect.stringContaining("the result of odd can't be made JSON"),
    { a: 1 },
  ]);
});

test("10 MB go in and out, and the next script runs", async () => {
  const source =
    "const { text: t } = await tools.big({ n: 1e7 }); const back = await tools.echo({ t }); return [t.length, back.t === t]";
  expect(await sandbox.run(source)).toMatchObject({ ok: true, value: [10_000_000, true] });
  expect(await sandbox.run("return 1")).toMatchObject({ ok: true, value: 1 });
});

test("any JSON value makes the round trip through a call unchanged", async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (value) => {
      const result = await sandbox.run(
        `return (await tools.echo({ v: ${JSON.stringify(JSON.stringify({ v: value }))} })).v`,
      );
      expect(result.ok && JSON.parse(result.value as string)).toEqual(JSON.parse(JSON.stringify({ v: value })));
      const direct = await sandbox.run(`return await tools.echo({ v: JSON.parse(load("v")) })`, {
        store: { v: JSON.stringify(value) },
      });
      expect(direct.ok && direct.value).toEqual(JSON.parse(JSON.stringify({ v: value })));
    }),
    { numRuns: 40 },
  );
});

test("any string is shown unchanged", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary" }), async (value) => {
      const result = await sandbox.run('text(load("v")); return load("v")', { store: { v: value } });
      expect(result.output).toEqual([
        { type: "text", text: value },
        { type: "text", text: value },
      ]);
    }),
    { numRuns: 40 },
  );
});
