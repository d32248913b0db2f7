/** The core of the language's library says to a script what the whole would: a comment that names what it lacks brings in the whole. */
import { beforeAll, describe, expect, test } from "vitest";
import { scriptLibrary } from "../../compiler/scripts/library.ts";
import { openCheck, told } from "./script-tools.ts";

beforeAll(openCheck);

const WITH_WHOLE = "\n// Uint8Array";

describe("the same with the core and with the whole", () => {
  test.each([
    ["const r = await tools.mcp__docs__search({ query: [1, 2].toLocaleString() });\nreturn r.structuredContent.itms"],
    ["await tools.mcp__docs__search({ query: (12).toLocaleString('de', { style: 1 }), limit: 'x' })"],
    ["await tools.mcp__docs__search({ query: new Date().toLocaleDateString('de'), lmit: Date.now() })"],
    ["await tools.mcp__docs__search({ query: 'a'.localeCompare('b') })"],
    ["await tools.mcp__docs__search({ query: [...'abc'].entries().map(([i]) => i) })"],
    ["await tools.mcp__docs__search({ query: new Map([['a', 1]]).keys().toArray() })"],
    ["function* each() { yield 1 } await tools.mcp__docs__search({ query: each() })"],
    ["async function* each() { yield 1 } for await (const n of each()) await tools.mcp__docs__search({ limit: n })"],
    ["await tools.mcp__docs__search({ query: /a/.exec('a').indices })"],
    ["await tools.mcp__docs__search({ query: Object.groupBy([1], (n) => n), limit: 10n })"],
    ["await tools.mcp__docs__search({ query: new Set([1]).union(new Set([2])) })"],
    ["try { 1 } catch (error) { await tools.mcp__docs__search({ query: new RangeError('x') }) }"],
    ["const { promise, resolve } = Promise.withResolvers(); resolve(1); return promise.then.foo()"],
    ["await tools.mcp__docs__search({ query: Symbol.iterator, limit: Math.sumPrecise([1]), kind: JSON.parse('1') })"],
    ["return Prxy + Reflct + WeakMp + Unit8Array + Promse + Objct + Intll"],
    ["let a: WeakRf; let b: DataVeiw; let c: Recrd<string, number>; return [a, b, c]"],
    ["const n: number = 'x'; const s: string = [].at(0); return [].flatt() + ''.trimm() + (1).toFixd()"],
  ])("%s", (source) => {
    expect(scriptLibrary().left.some((name) => new RegExp(`\\b${name}\\b`).test(source))).toBe(false);
    expect(told(source)).toEqual(told(source + WITH_WHOLE));
  });

  test("and there is something to say of most of them", () => {
    expect(told("return Prxy")).toEqual(['1:8 error: there is no Prxy; did you mean "Proxy"?']);
  });
});

test("a script with a name of the whole's is checked with the whole", () => {
  expect(told("const b = new Uint8Array(2); await tools.mcp__docs__search({ query: b.byteLength })")).toEqual([
    "1:62 error: query of mcp__docs__search must be string, not number",
  ]);
  expect(told("return Reflect.ownKeyz({})")).toEqual([
    '1:16 error: Reflect.ownKeyz is not a function; did you mean "ownKeys"?',
  ]);
});

test("the core is a small part of the whole", () => {
  const { core, whole } = scriptLibrary();
  const bytes = Object.values(whole).join("").length;
  expect(core.length).toBeLessThan(bytes / 2);
  expect(core).toContain("interface Array<T>");
});
