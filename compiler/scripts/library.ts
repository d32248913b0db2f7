/**
 * The language's library as scripts are checked against it: the whole, and the core that says the same to a script without the names
 * left out of it. Most scripts are of that kind, and to read the whole takes three times as long: half of it are typed arrays
 * and Intl. The build puts what `scriptLibrary` gives in this module's place. Reads no file.
 */
import { Project, ts } from "ts-morph";

export interface ScriptLibrary {
  /** Files by path. */
  readonly whole: Readonly<Record<string, string>>;
  /** One file. */
  readonly core: string;
  /** Names of which the core says only that they exist. */
  readonly left: readonly string[];
}

export const LIBRARY_FOLDER = "/node_modules/typescript/lib";
/** As the option `lib` has it. */
export const LIBRARY = "lib.es2025.d.ts";

const REFERENCE = /\/\/\/\s*<reference\s+lib="([^"]+)"\s*\/>/g;
const NOT_CORE = new RegExp(
  `^(?:${[
    String.raw`(?:(?:Big)?(?:Ui|I)nt|Float)\d+(?:Clamped)?Array(?:Constructor)?`,
    "(?:Shared)?ArrayBuffer.*",
    "TypedArray.*",
    "(?:DataView|Atomics|Intl|Weak(?:Ref|Map|Set)|FinalizationRegistry|Reflect|Proxy)(?:Constructor|Handler)?",
    "(?:EvalError|URIError|ReferenceError|AggregateError|(?:Async)?GeneratorFunction|Iterator)Constructor",
    ".*Decorator.*",
    "BigIntToLocaleStringOptions|ActiveXObject|Import.*",
  ].join("|")})$`,
);

export function scriptLibrary(): ScriptLibrary {
  const whole = libraryFiles();
  const core: string[] = [];
  const values = new Set<string>();
  const types = new Set<string>();
  for (const text of Object.values(whole)) {
    const file = ts.createSourceFile("library.d.ts", text, ts.ScriptTarget.ESNext, true);
    for (const statement of globalStatements(file)) {
      const { name, sort, isValue } = declared(statement);
      if (!NOT_CORE.test(sort)) core.push(statement.getText());
      else (isValue ? values : types).add(name);
    }
  }
  // As names they are known, so that a slip is told to be one of theirs.
  const names = [
    ...[...values].map((name) => `declare var ${name}: any;`),
    ...[...types].map((name) => `interface ${name} {}`),
  ];
  return { whole, core: [...core, ...names].join("\n"), left: [...new Set([...values, ...types])].sort() };
}

/** In the order in which TypeScript lays declarations over each other: what a file names comes before it. */
function libraryFiles(): Record<string, string> {
  const host = new Project({ useInMemoryFileSystem: true, skipLoadingLibFiles: false }).getModuleResolutionHost();
  const seen = new Set<string>();
  const files: Record<string, string> = {};
  const add = (name: string): void => {
    const path = `${LIBRARY_FOLDER}/${name}`;
    const text = seen.has(path) ? undefined : host.readFile?.(path);
    seen.add(path);
    if (text === undefined) return;
    for (const [, lib] of text.matchAll(REFERENCE)) add(`lib.${lib}.d.ts`);
    files[path] = text;
  };
  add(LIBRARY);
  return files;
}

/** Of a module only what it adds to the globals. */
function globalStatements(file: ts.SourceFile): readonly ts.Statement[] {
  if (!file.statements.some(ts.isExportDeclaration)) return file.statements;
  return file.statements.flatMap((one) =>
    ts.isModuleDeclaration(one) && one.name.text === "global" && one.body !== undefined && ts.isModuleBlock(one.body)
      ? one.body.statements
      : [],
  );
}

/** `sort` is what decides: the type of a variable, else the name. */
function declared(statement: ts.Statement): {
  readonly name: string;
  readonly sort: string;
  readonly isValue: boolean;
} {
  if (ts.isVariableStatement(statement)) {
    const { name, type } = statement.declarationList.declarations[0]!;
    return { name: name.getText(), sort: type?.getText() ?? name.getText(), isValue: true };
  }
  const { name } = statement as ts.DeclarationStatement;
  const isType = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);
  return { name: name!.getText(), sort: name!.getText(), isValue: !isType };
}
