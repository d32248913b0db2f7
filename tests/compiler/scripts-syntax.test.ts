/** Where a text that is no script goes wrong, and what of TypeScript is more than types. */
import { beforeAll, expect, test } from "vitest";
import { findings, openCheck } from "./script-tools.ts";

beforeAll(openCheck);

const rows: [source: string, want: string][] = [
  ["const x = ;", "1:11 Expression expected"],
  ["text(1)\n  const = 5", "2:9 Variable declaration expected"],
  ["return [1, 2\n", "1:13 the script ends too soon: a bracket or brace is still open"],
  ["if (a) {\n  text(1)\n", "2:10 the script ends too soon: a bracket or brace is still open"],
  ["text('a\nb')", "1:8 Unterminated string literal"],
  ["return `a", "1:10 Unterminated template literal"],
  ["}\ntext(1)", "1:1 this brace closes nothing"],
  ["text(1); }; {", "1:10 this brace closes nothing"],
  ["}); evil(); (async()=>{", "1:1 this brace closes nothing"],
  [
    "[1].map((x) => { await x })",
    "1:18 'await' expressions are only allowed within async functions and at the top levels of modules",
  ],
  ["enum A { B }\nreturn A.B", "1:6 types are only erased, and an enum is more: write an object of constants"],
  ["\n namespace N { export const a = 1 }", "2:12 types are only erased, and a namespace is more: write an object"],
  ["class A { constructor(private x: number) {} }", "1:23 types are only erased: declare the property and assign it"],
  ["return <string>x", "1:8 write `value as Type`: the angle brackets can't be erased"],
  ["@dec class A {}", "1:1 the sandbox has no decorators"],
  ["import fs from 'fs'", "1:1 a script can't import: what it needs is in its globals and in tools"],
  ["export const a = 1", "1:1 a script can't export: use return"],
  ["export default 1", "1:1 a script can't export: use return"],
];

test.each(rows)("%j", (source, want) => {
  const found = findings(source, { broken: true });
  expect(found.map(({ line, column, message }) => `${line}:${column} ${message}`)).toEqual([want]);
  expect(found[0]).toMatchObject({ severity: "error", kind: "syntax" });
});

test("what only declares is no more than types", () => {
  const source = "type T = 1; interface I {}\nreturn 1";
  expect(findings(source, { broken: true })).toEqual([]);
});
