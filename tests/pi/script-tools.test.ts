/** What the check of a script is told of the session: globals that a later Pi has, in words that TypeScript can read. */
import { expect, test } from "vitest";
import { hostDeclarations } from "../../runtime/pi/scripts/script-tools.ts";
import type { ToolTable } from "../../schemas/artifacts/tool-table.ts";

const NO_TABLE = { servers: () => [], byName: () => undefined } as unknown as ToolTable;

function declared(description: string): string[] {
  const pi = { getAllTools: () => [{ name: "codemode", description }], getActiveTools: () => [] };
  const { globals = "" } = hostDeclarations(pi as never, NO_TABLE, "", { plainResults: true });
  return [...globals.matchAll(/^declare const (\S+): any;$/gm)].map(([, name]) => name!);
}

test.each([
  ["a new one", "Globals:\n- `later(x)` does more\n", ["later"]],
  ["one that Node has and scripts had not", "Globals:\n- `fetch(url)` and `await sleep(ms)`\n", ["fetch", "sleep"]],
  ["those that are known", "Globals:\n- `tools`, `text(x)` and `models`\n", []],
  ["words of the language", "Globals:\n- no `import(x)`, `while`, `null`, `typeof x` or `class`\n", []],
  ["built-ins", "Globals:\n- `Promise.all(x)` and `JSON`\n", []],
  ["what stands elsewhere", "Nothing here\n- `later(x)`\n", []],
])("%s", (_what, description, names) => {
  expect(declared(`Runs scripts.\n\n${description}\nMore`)).toEqual(names);
});
