/** Texts that try to be code, to move the cursor, to reorder a line, or to be too much. */
import { join } from "node:path";
import { ts } from "ts-morph";
import { expect, test } from "vitest";
import { readTree } from "../golden.ts";
import { codes, FRESH, Stub, Workspace } from "./pimcp.ts";

const ESCAPE = "\u001b[2J\u001b[31mred\u001b]0;title\u0007";
const BIDI = "\u202eevil\u2066\u2069\u200f";
const ATTACKS = [
  "*/ globalThis.pwned = 1; /*",
  '"; globalThis.pwned = 1; "',
  "'; globalThis.pwned = 1; '",
  "`; globalThis.pwned = 1; `",
  ["$", "{globalThis.pwned = 1}"].join(""),
  "\n} globalThis.pwned = 1; {",
  "\u2028globalThis.pwned = 1;\u2029",
  "// @ts-nocheck\r\nglobalThis.pwned = 1;",
  "</script><!-- globalThis.pwned = 1 -->",
  "\\u002a/ globalThis.pwned = 1",
  "\\",
  ESCAPE,
  BIDI,
  "__proto__",
  "constructor",
];

/** One tool for each attack, which stands wherever a server may put a text. */
function hostileTools(): object[] {
  return ATTACKS.map((text, index) => ({
    name: index < 13 ? `${text}${index}` : text,
    title: text,
    description: text,
    inputSchema: {
      type: "object",
      title: text,
      description: text,
      properties: JSON.parse(`{${JSON.stringify(text)}: {}}`) as object,
      required: [text],
      $defs: { [`d${text}`]: { type: "string", description: text } },
    },
    outputSchema: {
      type: "object",
      properties: {
        a: { enum: [text, `${text}2`], description: text },
        b: { const: text },
        c: { type: "string", default: text, examples: [text], pattern: text, format: text },
        d: { $ref: `#/$defs/d${text.replaceAll("~", "~0").replaceAll("/", "~1")}` },
      },
      $defs: { [`d${text}`]: { type: "object", description: text, properties: { x: { title: text } } } },
    },
    annotations: { title: text },
    _meta: { [text]: text },
  }));
}

/** What a terminal would act upon. */
const UNPRINTABLE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

function expectHarmless(path: string, text: string): void {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const { parseDiagnostics } = source as unknown as { parseDiagnostics: readonly ts.Diagnostic[] };
  expect(
    parseDiagnostics.map((found) => ts.flattenDiagnosticMessageText(found.messageText, " ")),
    path,
  ).toEqual([]);
  const allowed = new Set([
    ts.SyntaxKind.ImportDeclaration,
    ts.SyntaxKind.ExportDeclaration,
    ts.SyntaxKind.InterfaceDeclaration,
    ts.SyntaxKind.TypeAliasDeclaration,
    ts.SyntaxKind.VariableStatement,
  ]);
  for (const statement of source.statements) expect(allowed.has(statement.kind), statement.getText()).toBe(true);
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) expect(node.text, path).not.toMatch(/^(?:pwned|globalThis)$/);
    expect(ts.isTemplateExpression(node), path).toBe(false);
    ts.forEachChild(node, visit);
  };
  visit(source);
}

test("hostile texts end no comment, open no string, run nowhere, and never reach a terminal raw", async () => {
  const work = new Workspace();
  const stub = new Stub({
    ...FRESH,
    tools: hostileTools(),
    instructions: ATTACKS.join(" "),
    serverInfo: { name: ATTACKS.join(" "), version: ESCAPE, title: BIDI },
  });
  work.servers({ a: { ...stub.entry, description: ATTACKS.join(" ") } });
  const compiled = await work.run("compile", "--verbose");
  expect(compiled.stderr).not.toMatch(/: error/);
  expect(compiled.code).toBe(0);
  const generated = readTree(join(work.project, "generated"));
  const sources = Object.entries(generated).filter(([path]) => path.endsWith(".ts"));
  expect(sources).toHaveLength(3);
  for (const [path, text] of sources) {
    expectHarmless(path, text);
    expect(text, path).not.toMatch(UNPRINTABLE);
  }
  const names = Object.keys((JSON.parse(generated["exposure.json"]!) as { tools: Record<string, unknown> }).tools);
  expect(names).toHaveLength(ATTACKS.length);
  for (const name of names) expect(name).toMatch(/^mcp__a__\w+$/);
  const printed = [compiled];
  for (const args of [["list"], ["search", "pwned"], ["describe", "a"], ...names.map((name) => ["describe", name])]) {
    printed.push(await work.run(...args));
  }
  for (const { code, stdout, stderr } of printed) {
    expect(code).toBe(0);
    expect(stdout).not.toMatch(UNPRINTABLE);
    expect(stderr).not.toMatch(UNPRINTABLE);
  }
});

test("what a failing server says on stderr and in errors is printed harmless", async () => {
  const work = new Workspace();
  work.servers({
    dying: new Stub({ stderr: `${ESCAPE}${BIDI}\n`, exitAtStart: 1 }).entry,
    refusing: new Stub({ replies: { "tools/list": { error: { code: -1, message: `${ESCAPE}${BIDI}` } } } }).entry,
  });
  const { code, stdout, stderr } = await work.run("compile");
  expect(code).toBe(1);
  expect(stderr).toContain("dying");
  expect(stderr).toContain("refusing");
  expect(stdout + stderr).not.toMatch(UNPRINTABLE);
});

test("a list of 2 MB on one line, in one description, is compiled; junk of 2 MB on stdout is skipped", async () => {
  const work = new Workspace();
  const big = { name: "big", description: "é".repeat(1_000_000), inputSchema: { type: "object" } };
  work.servers({
    big: new Stub({ tools: [big] }).entry,
    noisy: new Stub({ noise: ["x".repeat(2_000_000), "ready", "", '{"level":"info"}'] }).entry,
  });
  const { code, json } = await work.compile();
  expect(code).toBe(0);
  expect(json.servers.map(({ name, status, tools }) => [name, status, tools])).toEqual([
    ["big", "compiled", 1],
    ["noisy", "compiled", 1],
  ]);
  expect(codes(json)).toContain("warning stdout-noise");
  const { stdout } = await work.run("describe", "big/big");
  expect(stdout.length).toBeLessThan(2_500_000);
  for (const found of json.diagnostics) expect(found.message.length).toBeLessThan(2000);
});
