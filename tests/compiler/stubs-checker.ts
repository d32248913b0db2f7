/** Type-checks text with the TypeScript inside ts-morph: lone types in memory, whole stubs against the runtime's source. */
import { fileURLToPath } from "node:url";
import { Project, type SourceFile, ts } from "ts-morph";
import { withTypeNames } from "../../compiler/stubs/plain-schema.ts";
import { createTypeSource, type TypeRequest, type TypeSource } from "../../compiler/stubs/type-source.ts";

const FLAGS: ts.CompilerOptions = {
  strict: true,
  isolatedDeclarations: true,
  declaration: true,
  erasableSyntaxOnly: true,
  verbatimModuleSyntax: true,
  noEmit: true,
  target: ts.ScriptTarget.ES2023,
};

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

function messages(files: readonly SourceFile[]): string[] {
  return files
    .flatMap((file) => file.getPreEmitDiagnostics())
    .map((found) => {
      const start = found.getStart();
      const text = found.getSourceFile()?.getFullText() ?? "";
      const line = start === undefined ? "" : text.slice(text.lastIndexOf("\n", start) + 1, text.indexOf("\n", start));
      return `${ts.flattenDiagnosticMessageText(found.compilerObject.messageText, " ")} @ ${line.trim()}`;
    });
}

const lone = new Project({
  useInMemoryFileSystem: true,
  compilerOptions: { ...FLAGS, lib: ["lib.es2023.d.ts"], module: ts.ModuleKind.ESNext },
});

/** Errors in a module that needs no import. */
export function typeErrors(source: string): string[] {
  const file = lone.createSourceFile("/check.ts", `${source}\nexport {};\n`, { overwrite: true });
  return messages([file]);
}

/** Declarations of the schema's type as `T`, and helpers as `T` followed by their names. */
export async function declared(
  schema: unknown,
  role: TypeRequest["role"] = "output",
  name = "T",
  types: TypeSource = createTypeSource(),
): Promise<string> {
  const [type] = await types.typesOf([{ schema, role }]);
  return type!.declarations
    .map((item) => `export type ${name}${item.name} = ${withTypeNames(item.text, (local) => `${name}${local}`)};`)
    .join("\n");
}

let consumer: Project | undefined;

/** Errors of stubs (path under the output folder → text) and of programs that use them. */
export function stubErrors(files: Readonly<Record<string, string>>): string[] {
  consumer ??= new Project({
    skipAddingFilesFromTsConfig: true,
    compilerOptions: {
      ...FLAGS,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      lib: ["lib.es2023.d.ts"],
      types: ["node"],
      typeRoots: [`${ROOT}node_modules/@types`],
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      paths: { "pimcp/codegen/v1": [`${ROOT}runtime/codegen/v1.ts`] },
    },
  });
  const sources: SourceFile[] = [];
  for (const [path, text] of Object.entries(files))
    sources.push(consumer.createSourceFile(`${ROOT}.tmp/stubs/${path}`, text, { overwrite: true }));
  const found = messages(sources);
  for (const source of sources) source.forget();
  return found;
}

/** A JSON value as the type of exactly that value, not fresh, so that excess properties are no error. */
export function valueType(value: unknown, moreMembers = ""): string {
  if (Array.isArray(value)) return `[${value.map((item) => valueType(item, moreMembers)).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, item]) => `${JSON.stringify(name)}: ${valueType(item, moreMembers)}`,
  );
  return `{ ${moreMembers}${members.join("; ")} }`;
}
