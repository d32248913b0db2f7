/**
 * Type-checks generated files as their most demanding reader would: stubs under every flag that a repository may
 * have switched on, `codemode.d.ts` alone with nothing but ECMAScript. The compiler is the TypeScript inside ts-morph; nothing
 * is written. An error is one line, `path:line: message`; a file without errors adds none.
 */
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { Project, ts } from "ts-morph";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
/** Where the files are taken to be: in a package of ES modules, below which nothing is on disk. */
const FOLDER = `${ROOT}.tmp/type-check/`;

const STUB_FLAGS: ts.CompilerOptions = {
  strict: true,
  declaration: true,
  isolatedDeclarations: true,
  isolatedModules: true,
  erasableSyntaxOnly: true,
  verbatimModuleSyntax: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noUncheckedSideEffectImports: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitOverride: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  lib: ["lib.es2023.d.ts"],
  types: ["node"],
  typeRoots: [`${ROOT}node_modules/@types`],
  skipLibCheck: true,
  noEmit: true,
  paths: { "pimcp/codegen/v1": [`${ROOT}runtime/codegen/v1.ts`] },
};

const DECLARATION_FLAGS: ts.CompilerOptions = {
  strict: true,
  // The declarations are a .d.ts themselves: skipping those would check nothing.
  skipLibCheck: false,
  skipDefaultLibCheck: true,
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2023,
  lib: ["lib.es2023.d.ts"],
  types: [],
  noEmit: true,
};

/**
 * Errors in generated TypeScript (path below the output folder → text), programs that use it included. Files of
 * other kinds are passed over, so a whole output folder can be given.
 */
export function stubErrors(files: Readonly<Record<string, string>>): string[] {
  const isStub = (path: string) => path.endsWith(".ts") && !path.endsWith(".d.ts");
  return errorsOf(
    Object.entries(files).filter(([path]) => isStub(path)),
    STUB_FLAGS,
  );
}

/** Errors in a `codemode.d.ts`, and in a script that uses it, under `strict` and with no other types in sight. */
export function declarationErrors(declarations: string, script = ""): string[] {
  return errorsOf(
    [
      ["codemode.d.ts", declarations],
      ["script.ts", `${script}\nexport {};\n`],
    ],
    DECLARATION_FLAGS,
  );
}

type Files = readonly (readonly [path: string, text: string])[];

function errorsOf(files: Files, options: ts.CompilerOptions): string[] {
  const program = ts.createProgram(
    files.map(([path]) => FOLDER + path),
    options,
    overlay(files, options),
  );
  return files.flatMap(([path]) =>
    ts.getPreEmitDiagnostics(program, program.getSourceFile(FOLDER + path)).map((found) => {
      const line = found.file ? found.file.getLineAndCharacterOfPosition(found.start ?? 0).line + 1 : 0;
      return `${path}:${line}: ${ts.flattenDiagnosticMessageText(found.messageText, " ")}`;
    }),
  );
}

/** The libraries inside ts-morph, by file name: they are in no folder, so a program of its own hands them out. */
function librariesOfTsMorph(): Map<string, ts.SourceFile> {
  const project = new Project({
    useInMemoryFileSystem: true,
    compilerOptions: { lib: ["lib.es2023.d.ts"], types: [] },
  });
  project.createSourceFile("/empty.ts", "");
  const sources = project.getProgram().compilerObject.getSourceFiles();
  return new Map(sources.map((file) => [basename(file.fileName), file]));
}

const libraries = librariesOfTsMorph();
const LIBRARIES = "/typescript/lib";

/** Parsed once for all programs: libraries, `@types/node` and the runtime's sources are most of the work. */
const onDisk = new Map<string, ts.SourceFile | undefined>();

/** The disk, with `files` laid over it. */
function overlay(files: Files, options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  const texts = new Map(files.map(([path, text]) => [FOLDER + path, text]));
  return {
    ...host,
    getDefaultLibLocation: () => LIBRARIES,
    fileExists: (path) => texts.has(path) || host.fileExists(path),
    directoryExists: (path) =>
      files.some(([file]) => `${FOLDER}${file}`.startsWith(`${path}/`)) || ts.sys.directoryExists(path),
    readFile: (path) => texts.get(path) ?? host.readFile(path),
    getSourceFile(path, language) {
      if (dirname(path) === LIBRARIES) return libraries.get(basename(path));
      const text = texts.get(path);
      if (text !== undefined) return ts.createSourceFile(path, text, language, true);
      if (!onDisk.has(path)) onDisk.set(path, host.getSourceFile(path, language));
      return onDisk.get(path);
    },
  };
}
