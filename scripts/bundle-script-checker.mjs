// The checker of scripts as one module in its own place: our part of it, of TypeScript what checking needs, and the library's
// text. A thread has it in a third of the time that ts-morph takes. TypeScript is that in ts-morph, whose declarations we use.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "rolldown";
import { parseAst } from "rolldown/parseAst";

const LICENSE = /^\/\*![\s\S]*?\*\//;
const EXPORTS = /^__export\(typescript_exports, \{\n([\s\S]*?)\n\}\);\nmodule\.exports = .*;$/m;
/** Bytes; TypeScript as a whole is 9 MB, so more means that something holds on to the rest. */
const MOST = 3_000_000;

export async function bundleScriptChecker(dist) {
  const folder = join(dist, "compiler", "scripts");
  const output = join(folder, "check-script.js");
  const library = join(folder, "library.js");
  const { scriptLibrary, ...names } = await import(pathToFileURL(library));
  const given = Object.entries(names).map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`);
  const text = `const library = ${JSON.stringify(scriptLibrary())};\nexport const scriptLibrary = () => library;\n`;
  const { code, license } = typescript();
  const modules = new Map([
    ["ts-morph", 'export * as ts from "typescript-of-ts-morph";'],
    ["typescript-of-ts-morph", code],
    [library, text + given.join("\n")],
  ]);
  await build({
    input: output,
    platform: "node",
    plugins: [
      {
        name: "checking-alone",
        resolveId: (id) => (id !== library && modules.has(id) ? id : null),
        load: (id) => (modules.has(id) ? { code: modules.get(id), moduleSideEffects: false } : null),
      },
    ],
    output: { file: output, format: "esm", codeSplitting: false, minify: true, comments: { legal: false } },
  });
  writeFileSync(output, `${license}\n${readFileSync(output, "utf8")}`);
  const { size } = statSync(output);
  if (size > MOST) throw new Error(`${output} has ${size} bytes: what of TypeScript can't be left out any more?`);
}

/**
 * TypeScript as a module whose unused parts can be left out: names instead of one object with all, and without the statements by
 * which refactorings and the language server register themselves. Every declaration stays, so no name is ever missing.
 */
function typescript() {
  const require = createRequire(createRequire(import.meta.url).resolve("ts-morph"));
  const whole = readFileSync(require.resolve("@ts-morph/common/dist/typescript.js"), "utf8");
  const exported = EXPORTS.exec(whole);
  const begin = whole.indexOf('"use strict";');
  const end = whole.indexOf("// Annotate the CommonJS export names");
  if (exported === null || begin < 0 || end < 0) throw new Error("ts-morph has TypeScript in another form");
  const names = [...exported[1].matchAll(/^ {2}([\w$]+): \(\) => ([\w$]+),?$/gm)].map(
    ([, name, own]) => `${own} as ${name}`,
  );
  const body = `${whole.slice(begin, exported.index)}${whole.slice(exported.index + exported[0].length, end)}`;
  const sections = [...body.matchAll(/^\/\/ (src\/\S+)$/gm)];
  let section = -1;
  // Without `require` it finds no system of files to work on, and needs none.
  let code = "const require = undefined;\n";
  let from = 0;
  for (const { type, start, end: behind } of parseAst(body).body) {
    while (sections[section + 1]?.index < start) section++;
    const file = sections[section]?.[1] ?? "";
    // Of the services the methods of nodes and types are needed.
    if (type !== "ExpressionStatement" || !/^src\/(?!compiler\/|services\/services\.ts$)/.test(file)) continue;
    code += body.slice(from, start);
    from = behind;
  }
  return { code: `${code}${body.slice(from)}\nexport { ${names.join(", ")} };`, license: LICENSE.exec(whole)[0] };
}
