/**
 * The text of `servers/<server>.ts`: types, and one pure call that names the server's tools. All behaviour is
 * behind `pimcp/codegen/v1`. Bytes depend on the tools alone, not on their order, the machine or pimcp's
 * version, and no text of a server can become code.
 */
import { byCodeUnit, sha256 } from "../../schemas/canonical.ts";
import type { CatalogServer, CatalogTool } from "../../schemas/catalog.schema.ts";
import { type Diagnostic, diagnostic, type Outcome } from "../../schemas/diagnostic.ts";
import { isObjectType } from "./convert.ts";
import { commentText, docComment } from "./doc-comment.ts";
import { quoted, withTypeNames } from "./plain-schema.ts";
import type { CachedType, TypeRequest, TypeSource } from "./type-source.ts";

const RUNTIME = "pimcp/codegen/v1";
/** Names of the language that the file uses; no type of its own may hide them. */
const GLOBALS = ["Promise", "Object"];

interface TypedSchema {
  readonly tool: CatalogTool;
  readonly role: TypeRequest["role"];
  readonly type: CachedType;
  /** Final name of each declaration, by its name in the schema. */
  readonly names: ReadonlyMap<string, string>;
}

/** The stub of one server. `server.tools` must be without hidden tools; names are used as the catalog has them. */
export async function renderStub(server: CatalogServer, types: TypeSource): Promise<Outcome<string>> {
  const tools = [...server.tools].sort((a, b) => byCodeUnit(a.tool, b.tool));
  const taken = new Set(GLOBALS);
  const clientType = claim(pascalCase(server.client), taken);
  const schemas = await typedSchemas(tools, types, taken);
  const imports = importNames(server, taken);
  const parts = [
    `// Made by pimcp from the tools of ${quoted(server.name)}. Do not edit; run \`pimcp compile\`.\n/* eslint-disable */`,
    importLine(imports, tools.length > 0),
    ...schemas.flatMap(declarations),
    clientInterface(server, clientType, tools, schemas, imports),
    clientConstant(server, clientType, tools, imports),
  ];
  return { value: `${parts.join("\n\n")}\n`, diagnostics: schemas.flatMap((schema) => diagnosticsOf(server, schema)) };
}

/** The schemas of all tools with their types, under names that are unique in the file. */
async function typedSchemas(
  tools: readonly CatalogTool[],
  types: TypeSource,
  taken: Set<string>,
): Promise<TypedSchema[]> {
  const requests = tools.flatMap((tool) => [
    { tool, role: "input" as const, schema: tool.inputSchema ?? {} },
    ...(tool.outputSchema === undefined ? [] : [{ tool, role: "output" as const, schema: tool.outputSchema }]),
  ]);
  const made = await types.typesOf(requests);
  // Roots first: what a tool's own types are called must not depend on a definition inside another's schema.
  const roots = requests.map(({ tool, role }) => claim(`${pascalCase(tool.method, tool.tool)}${suffix(role)}`, taken));
  return requests.map(({ tool, role }, index) => {
    const type = made[index]!;
    const names = new Map<string, string>([["", roots[index]!]]);
    for (const { name } of type.declarations) if (name !== "") names.set(name, claim(`${roots[index]}${name}`, taken));
    return { tool, role, type, names };
  });
}

function suffix(role: TypeRequest["role"]): string {
  return role === "input" ? "Input" : "Output";
}

function declarations({ type, names }: TypedSchema): string[] {
  return type.declarations.map(({ name, comment, text }) => {
    const body = withTypeNames(text, (definition) => names.get(definition)!);
    const declared = isObjectType(text)
      ? `export interface ${names.get(name)} ${body}`
      : `export type ${names.get(name)} = ${body};`;
    return comment === "" ? declared : `${docComment(comment, "")}\n${declared}`;
  });
}

/** What the imported things are called in this file: a `$`, which no generated name has, keeps them apart. */
interface Imports {
  readonly client: string;
  readonly CallOptions: string;
  readonly ToolResult: string;
}

function importNames(server: CatalogServer, taken: ReadonlySet<string>): Imports {
  return {
    client: server.client === "client" ? "client$" : "client",
    CallOptions: taken.has("CallOptions") ? "CallOptions$" : "CallOptions",
    ToolResult: taken.has("ToolResult") ? "ToolResult$" : "ToolResult",
  };
}

function importLine(imports: Imports, callable: boolean): string {
  const renamed = (name: keyof Imports) => (imports[name] === name ? name : `${name} as ${imports[name]}`);
  const types = callable ? [`type ${renamed("CallOptions")}`, `type ${renamed("ToolResult")}`] : [];
  return `import { ${[types[0], renamed("client"), types[1]].filter((name) => name !== undefined).join(", ")} } from "${RUNTIME}";`;
}

function clientInterface(
  server: CatalogServer,
  clientType: string,
  tools: readonly CatalogTool[],
  schemas: readonly TypedSchema[],
  imports: Imports,
): string {
  const byRole = (role: TypeRequest["role"]) =>
    new Map(schemas.filter((schema) => schema.role === role).map((schema) => [schema.tool, schema] as const));
  const inputs = byRole("input");
  const outputs = byRole("output");
  const methods = tools.map((tool) => {
    const input = inputs.get(tool)!;
    const result = outputs.get(tool)?.names.get("") ?? "unknown";
    const args = `args${input.type.acceptsEmpty ? "?" : ""}: ${input.names.get("")}`;
    const signature = `${methodName(tool)}(${args}, options?: ${imports.CallOptions}): Promise<${imports.ToolResult}<${result}>>;`;
    const comment = docComment(toolComment(tool), "  ");
    return `${comment === "" ? "" : `${comment}\n`}  ${signature}`;
  });
  const comment = docComment(commentText(server.description ?? server.serverInfo?.title), "");
  const body = methods.length === 0 ? "{}" : `{\n${methods.join("\n\n")}\n}`;
  return `${comment === "" ? "" : `${comment}\n`}export interface ${clientType} ${body}`;
}

function toolComment(tool: CatalogTool): string {
  const title = commentText(tool.title);
  const description = commentText(tool.description);
  return [title === description ? "" : title, description].filter((text) => text !== "").join("\n\n");
}

function clientConstant(
  server: CatalogServer,
  clientType: string,
  tools: readonly CatalogTool[],
  imports: Imports,
): string {
  const entries = tools.map((tool) => `  ${methodName(tool)}: ${quoted(tool.tool)},`);
  const table = entries.length === 0 ? "{}" : `{\n${entries.join("\n")}\n}`;
  const call = `${imports.client}<${clientType}>(import.meta.url, ${quoted(server.name)}, ${table})`;
  return `export const ${server.client}: ${clientType} = /* @__PURE__ */ ${call};`;
}

function diagnosticsOf(server: CatalogServer, { tool, role, type }: TypedSchema): Diagnostic[] {
  return type.remarks.map(({ code, message, pointer }) =>
    diagnostic(code, `stub type of the ${role} of ${quoted(tool.tool)}: ${message}`, {
      server: server.name,
      tool: tool.tool,
      pointer: `/${role}Schema${pointer}`,
    }),
  );
}

/** Quoted outside ASCII: what counts as a letter depends on the reader's Unicode version. */
function methodName(tool: CatalogTool): string {
  return isAscii(tool.method) ? tool.method : quoted(tool.method);
}

/** The start of type names; they are repeated often, so a very long one is cut. */
function pascalCase(identifier: string, original = identifier): string {
  const hash = () => sha256(original).slice(0, 6);
  if (!isAscii(identifier)) return `Tool_${hash()}`;
  if (identifier.length > 80) return `${pascalCase(identifier.slice(0, 60))}_${hash()}`;
  return identifier.charAt(0).toUpperCase() + identifier.slice(1);
}

function isAscii(identifier: string): boolean {
  return /^[\w$]+$/.test(identifier);
}

/** `base`, or the first of `base_2`, `base_3`, … that is free; taken from then on. */
function claim(base: string, taken: Set<string>): string {
  let name = base;
  for (let count = 2; taken.has(name); count++) name = `${base}_${count}`;
  taken.add(name);
  return name;
}
