/** The checker as it is built: one file that needs no package, and says what the modules it was made from say. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import type { ScriptCheckModule } from "../../schemas/script-finding.ts";
import { DIST } from "../cli/pimcp.ts";
import { scratchFolder } from "../scratch.ts";
import { findings, openCheck, TOOLS } from "./script-tools.ts";

test("the built checker stands alone and finds the same", async () => {
  const folder = scratchFolder();
  for (const path of [join("compiler", "scripts", "check-script.js"), "templates"]) {
    cpSync(join(DIST, path), join(folder, path), { recursive: true });
  }
  const path = pathToFileURL(join(folder, "compiler", "scripts", "check-script.js")).href;
  const { openScriptCheck } = (await import(/* @vite-ignore */ path)) as ScriptCheckModule;
  const { check, declare } = await openScriptCheck();
  await openCheck();
  const scripts = [
    "const r = await tools.mcp__docs__search({ qurey: 'x' });\nreturn r.structuredContent.items.titel",
    "await tools.mcp__docs__search({ query: 5, kind: 'pag' }); return new Uint8Array(2).lenght + fetch",
    "return (await tools.mcp__geo__find({ at: [1, 2] })).structuredContent.type === 'town'",
    "return [1, 2].map((n) => n.toFixed(1))",
  ];
  for (const source of scripts) {
    const request = { source, tools: TOOLS, hostTools: "", hostGlobals: "", broken: false };
    expect(check(request)).toEqual(findings(source));
  }
  expect(findings(scripts[0]!)).not.toEqual([]);
  const broken = { source: "const x = ;", tools: TOOLS, hostTools: "", hostGlobals: "", broken: true };
  expect(check(broken)).toEqual(findings(broken.source, { broken: true }));
  expect(declare(TOOLS[0]!)).toContain("mcp__docs__search(");
});
