/** What the TypeScript compiler thinks of a rendered file. Shared by the tests of the renderer. */
import { Project, ScriptTarget, ts } from "ts-morph";

/** Messages about syntax only: fast enough for properties. */
export function syntaxErrors(text: string): string[] {
  const { diagnostics = [] } = ts.transpileModule(text, {
    fileName: "codemode.ts",
    reportDiagnostics: true,
    compilerOptions: { target: ScriptTarget.ESNext },
  });
  return diagnostics.map((diagnostic) => ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n"));
}

const project = new Project({
  useInMemoryFileSystem: true,
  compilerOptions: {
    strict: true,
    target: ScriptTarget.ES2022,
    lib: ["lib.es2022.d.ts"],
    types: [],
    skipLibCheck: false,
  },
});
let files = 0;

/** All messages about `declarations` with a script after them, under `strict`. */
export function typeErrors(declarations: string, script = ""): string[] {
  const text = `export {};\n${declarations}\nasync function script() {\n${script}\n}\nvoid script;\n`;
  const file = project.createSourceFile(`case${files++}.ts`, text);
  const diagnostics = file.getPreEmitDiagnostics().map((diagnostic) => {
    const message = diagnostic.getMessageText();
    return typeof message === "string" ? message : message.getMessageText();
  });
  project.removeSourceFile(file);
  return diagnostics;
}
