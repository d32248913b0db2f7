/** The type-checker of the other tests finds what it is there for: a check that can't fail would prove nothing. */
import { describe, expect, test } from "vitest";
import { declarationErrors, stubErrors } from "./type-check.ts";

describe("stubErrors", () => {
  const good = `import { client } from "pimcp/codegen/v1";
export interface A { echo(args: { message: string }): Promise<unknown> }
export const a: A = /* @__PURE__ */ client<A>(import.meta.url, "a", { echo: "echo" });
`;
  const rows: readonly [string, Record<string, string>, string | undefined][] = [
    ["a sound stub", { "servers/a.ts": good }, undefined],
    ["files of other kinds", { "catalog.json": "{", "codemode.d.ts": "const" }, undefined],
    [
      "strict",
      { "a.ts": "export function f(x): void { void x; }" },
      "a.ts:1: Parameter 'x' implicitly has an 'any' type.",
    ],
    ["isolatedDeclarations", { "a.ts": "export const a = Math.max(1);" }, "--isolatedDeclarations"],
    ["erasableSyntaxOnly", { "a.ts": "export enum A { b }" }, "erasableSyntaxOnly"],
    [
      "verbatimModuleSyntax",
      { "a.ts": `import { ToolResult } from "pimcp/codegen/v1";\nexport type T = ToolResult<1>;` },
      "verbatimModuleSyntax",
    ],
    ["noUnusedLocals", { "a.ts": `import type { ToolResult } from "pimcp/codegen/v1";` }, "never"],
    ["nodenext", { "a.ts": `export { b } from "./b";`, "b.ts": "export const b: 1 = 1;" }, "explicit file extension"],
    ["a missing export of the runtime", { "a.ts": `export { gone } from "pimcp/codegen/v1";` }, "gone"],
    [
      "a program's wrong argument",
      { "servers/a.ts": good, "main.ts": `import { a } from "./servers/a.js";\nawait a.echo({ message: 1 });` },
      "main.ts:2: Type 'number' is not assignable to type 'string'.",
    ],
  ];
  test.each(rows)("%s", (_, files, want) => {
    const errors = stubErrors(files);
    if (want === undefined) expect(errors).toEqual([]);
    else expect(errors.join("\n")).toContain(want);
  });
});

describe("declarationErrors", () => {
  const declarations = "declare const tools: { mcp__a__b(args: {n: number}): Promise<string> };";
  const rows: readonly [string, string, string, string[]][] = [
    ["sound declarations", declarations, "await tools.mcp__a__b({ n: 1 });", []],
    [
      "a name that nothing declares",
      "declare const tools: { a(): Nowhere };",
      "",
      ["codemode.d.ts:1: Cannot find name 'Nowhere'."],
    ],
    [
      "a script's wrong argument",
      declarations,
      "await tools.mcp__a__b({ n: '1' });",
      ["script.ts:1: Type 'string' is not assignable to type 'number'."],
    ],
  ];
  test.each(rows)("%s", (_, text, script, want) => {
    expect(declarationErrors(text, script)).toEqual(want);
  });
});
