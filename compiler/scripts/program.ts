/**
 * TypeScript kept warm for one small file after another: the library is parsed once, so that a script costs its own
 * parsing and checking. Knows nothing of what a script may do; reads no file and writes none.
 */
import { Project, ts } from "ts-morph";

/** The script with what surrounds it, and the declarations it is checked against. */
export const SCRIPT_FILE = "/script.ts";
export const DECLARATIONS_FILE = "/tools.d.ts";
export const GLOBALS_FILE = "/globals.d.ts";
const LIBRARY_FOLDER = "/node_modules/typescript/lib";

/**
 * What scripts are held to: their declarations and annotations, nothing else. No strictness: whether a value may be
 * missing is decided at run time, and code without types has nothing to annotate. The library is what the sandbox's engine has.
 */
const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  lib: ["lib.es2025.d.ts"],
  types: [],
  noEmit: true,
  noResolve: true,
  skipLibCheck: true,
  skipDefaultLibCheck: true,
  strict: false,
  noImplicitAny: false,
  allowUnreachableCode: true,
  allowUnusedLabels: true,
};

export interface ScriptProgram {
  readonly checker: ts.TypeChecker;
  readonly script: ts.SourceFile;
  readonly syntax: readonly ts.Diagnostic[];
  /** What the checker says of the script; asked for when read. */
  readonly semantic: () => readonly ts.Diagnostic[];
}

/** Source files by name and text: whatever has not changed is not parsed again. */
export class WarmPrograms {
  readonly #files = new Map<string, ts.SourceFile>();
  #project: Project | undefined;

  /** A program of these texts by file name; `script` is the one that is checked. */
  open(texts: ReadonlyMap<string, string>): ScriptProgram {
    const host: ts.CompilerHost = {
      getSourceFile: (name) => this.#sourceFile(name, texts),
      getDefaultLibFileName: () => `${LIBRARY_FOLDER}/lib.d.ts`,
      getDefaultLibLocation: () => LIBRARY_FOLDER,
      fileExists: (name) => texts.has(name),
      readFile: (name) => texts.get(name),
      writeFile: () => {},
      getCurrentDirectory: () => "/",
      getCanonicalFileName: (name) => name,
      useCaseSensitiveFileNames: () => true,
      getNewLine: () => "\n",
    };
    const program = ts.createProgram([...texts.keys()], OPTIONS, host);
    const script = program.getSourceFile(SCRIPT_FILE)!;
    return {
      checker: program.getTypeChecker(),
      script,
      syntax: program.getSyntacticDiagnostics(script),
      semantic: () => program.getSemanticDiagnostics(script),
    };
  }

  #sourceFile(name: string, texts: ReadonlyMap<string, string>): ts.SourceFile | undefined {
    const given = texts.get(name);
    const known = this.#files.get(name);
    if (known !== undefined && (given === undefined || known.text === given)) return known;
    const text = given ?? this.#library(name);
    if (text === undefined) return undefined;
    const file = ts.createSourceFile(name, text, { languageVersion: ts.ScriptTarget.ESNext }, true);
    this.#files.set(name, file);
    return file;
  }

  /** The library comes with ts-morph, which serves it to projects in memory. */
  #library(name: string): string | undefined {
    if (!name.startsWith(`${LIBRARY_FOLDER}/`)) return undefined;
    this.#project ??= new Project({ useInMemoryFileSystem: true, skipLoadingLibFiles: false });
    return this.#project.getModuleResolutionHost().readFile?.(name);
  }
}
