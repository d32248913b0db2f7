/**
 * TypeScript kept warm for one small file after another: the library is parsed once, so that a script costs its own
 * parsing and checking. Knows nothing of what a script may do; reads no file and writes none.
 */
import { ts } from "ts-morph";
import { LIBRARY, LIBRARY_FOLDER, type ScriptLibrary, scriptLibrary } from "./library.ts";

/** The script with what surrounds it, and the declarations it is checked against. */
export const SCRIPT_FILE = "/script.ts";
export const DECLARATIONS_FILE = "/tools.d.ts";
export const GLOBALS_FILE = "/globals.d.ts";
const CORE_FILE = "/core.d.ts";

/**
 * What scripts are held to: their declarations and annotations, nothing else. No strictness: whether a value may be
 * missing is decided at run time, and code without types has nothing to annotate. The library is what the sandbox's engine has.
 */
const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
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

const WITH_CORE: ts.CompilerOptions = { ...OPTIONS, noLib: true };
const WITH_WHOLE: ts.CompilerOptions = { ...OPTIONS, lib: [LIBRARY] };
const WORDS = /[A-Za-z_$][\w$]*/g;

/** Source files by name and text: whatever has not changed is not parsed again. */
export class WarmPrograms {
  readonly #files = new Map<string, ts.SourceFile>();
  readonly #library: ScriptLibrary = scriptLibrary();
  readonly #left: ReadonlySet<string> = new Set(this.#library.left);

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
    const program = this.#isCoreEnough(texts)
      ? ts.createProgram([CORE_FILE, ...texts.keys()], WITH_CORE, host)
      : ts.createProgram([...texts.keys()], WITH_WHOLE, host);
    const script = program.getSourceFile(SCRIPT_FILE)!;
    return {
      checker: program.getTypeChecker(),
      script,
      syntax: program.getSyntacticDiagnostics(script),
      semantic: () => program.getSemanticDiagnostics(script),
    };
  }

  /** None of the texts has a name that the core leaves out. */
  #isCoreEnough(texts: ReadonlyMap<string, string>): boolean {
    return [...texts.values()].every((text) => !text.match(WORDS)?.some((word) => this.#left.has(word)));
  }

  #sourceFile(name: string, texts: ReadonlyMap<string, string>): ts.SourceFile | undefined {
    const given = texts.get(name);
    const known = this.#files.get(name);
    if (known !== undefined && (given === undefined || known.text === given)) return known;
    const text = given ?? (name === CORE_FILE ? this.#library.core : this.#library.whole[name]);
    if (text === undefined) return undefined;
    // Nobody looks at the library before it is bound, and that sets its parents too.
    const setParents = given !== undefined;
    const file = ts.createSourceFile(name, text, { languageVersion: ts.ScriptTarget.ESNext }, setParents);
    this.#files.set(name, file);
    return file;
  }
}
