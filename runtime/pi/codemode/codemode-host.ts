/**
 * What the scripts of one codemode call reach in Pi: every tool that Pi lets a tool call, through Pi's own pipeline (validation, hooks,
 * permissions, events with `parentToolCallId`). Nothing is asked of Pi before a script needs it. A tool with an output schema
 * resolves to its structured content, any other to its text; a call that failed rejects with the tool's text.
 */
import type { ExtensionToolContext, ToolNamespace } from "@earendil-works/pi-coding-agent";
import { searchSegments } from "../../../schemas/artifacts/search-segments.ts";
import { isRecord } from "../../../schemas/record.ts";
import { searchDocument } from "../../../schemas/search-document.ts";
import { searchFile } from "../../../schemas/search-file.ts";
import { type SearchSegment, searchTools } from "../../../schemas/search-query.ts";
import type { SandboxHost, SandboxTools } from "../../sandbox/host.ts";
import type { ScriptGate } from "../scripts/script-gate.ts";
import { identifierOf, type ScriptTool, scriptTools } from "../scripts/script-tools.ts";
import type { PiSession } from "../session.ts";
import { argumentsLine, type CallRows } from "./call-rows.ts";
import { outputSchemaOf } from "./codemode-tool.ts";

export interface HostSurroundings {
  readonly session: PiSession;
  readonly ctx: ExtensionToolContext;
  readonly rows: CallRows;
  readonly gate: Pick<ScriptGate, "declare">;
  readonly globals: NonNullable<SandboxHost["globals"]>;
}

type PiTool = ExtensionToolContext["tools"][number];
type Callable = ScriptTool & { readonly tool: PiTool };

export function codemodeHost(around: HostSurroundings): SandboxHost {
  let known: ReadonlyMap<string, Callable> | undefined;
  const callable = () => {
    known ??= callableTools(around);
    return known;
  };
  return { tools: toolsOf(around, callable), globals: around.globals };
}

/** By the name in scripts. */
function callableTools({ session, ctx }: HostSurroundings): ReadonlyMap<string, Callable> {
  const own = new Map(ctx.tools.map((tool) => [tool.name, tool]));
  const found = new Map<string, Callable>();
  for (const [id, one] of scriptTools(session.pi, session.table)) {
    const tool = own.get(one.info.name);
    if (tool !== undefined) found.set(id, { ...one, tool });
  }
  return found;
}

function toolsOf(around: HostSurroundings, callable: () => ReadonlyMap<string, Callable>): SandboxTools {
  const find = (name: string): Callable | undefined => {
    const tool = callable().get(name) ?? callable().get(identifierOf(name));
    return tool?.id === name || tool?.info.name === name ? tool : undefined;
  };
  const describe = async (name: string) => {
    const found = find(name);
    return found && describedTool(found, around);
  };
  return {
    has: (name) => find(name) !== undefined,
    names: () => [...callable().keys()],
    list: () => [...callable().values()].map(({ id, info }) => ({ name: id, description: info.description })),
    async call(name, args, { signal }) {
      const found = find(name);
      if (!found) throw new Error(`there is no tool ${name}`);
      return callTool(found, args, signal, around);
    },
    async search(query, { limit, namespace }) {
      const within =
        namespace === undefined ? undefined : new Set(membersOf(callable(), namespace)?.map(({ id }) => id));
      const found = searchTools(segments(around, callable(), within), query, { limit });
      return Promise.all(found.map(async ({ name }) => ({ name, description: (await describe(name)) ?? "" })));
    },
    describe,
    namespace(name) {
      const members = membersOf(callable(), name);
      const namespace = members?.[0]?.info.namespace;
      if (members === undefined || namespace === undefined) return undefined;
      const { description, instructions } = namespace;
      return {
        name: namespace.name,
        ...(description && { description }),
        ...(instructions && { instructions }),
        tools: members.map(({ id }) => id),
      };
    },
  };
}

async function callTool(
  { id, info, isCompiled, tool }: Callable,
  args: unknown,
  signal: AbortSignal,
  { ctx, rows }: HostSurroundings,
): Promise<unknown> {
  const end = rows.begin(id, argumentsLine(args));
  const { toolCall, result, isError } = await ctx.executeTool(info.name, args, { signal });
  const text = result.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  if (isError) {
    const status = signal.aborted ? "cancelled" : "error";
    end({ status, error: text || `${info.name} failed` }, toolCall.id);
  } else end({ status: "ok" }, toolCall.id);
  const value: unknown = result.structuredContent;
  if (tool.outputSchema !== undefined && value !== undefined) return isCompiled ? withStructured(value) : value;
  if (isError) throw new Error(text || `${info.name} failed without saying why`);
  return text;
}

/** As in every other place where scripts call compiled tools. */
function withStructured(result: unknown): unknown {
  const structured = isRecord(result) ? result["structuredContent"] : undefined;
  return structured === undefined ? result : { ...(result as object), structured };
}

/** The description, what Pi's prompt says of the tool when it is declared, and the declaration. */
async function describedTool({ id, info, isCompiled, tool }: Callable, around: HostSurroundings): Promise<string> {
  const guidelines = (info.promptGuidelines ?? []).map((line) => `- ${line.trim()}`);
  const description = [info.description.trim(), ...guidelines].join("\n");
  const definition = isCompiled ? around.session.table.definition(info.name) : undefined;
  const compiled = definition?.ok ? definition.value : undefined;
  const schemas = compiled
    ? { inputSchema: compiled.inputSchema, outputSchema: compiled.outputSchema, resolvesTo: "result" as const }
    : { inputSchema: info.parameters, outputSchema: outputSchemaOf(tool), resolvesTo: "value" as const };
  const declaration = await around.gate.declare({ name: id, ...schemas });
  return `${description}\n\n${declaration ?? `${id}(args) takes ${JSON.stringify(info.parameters)}`}`;
}

/** The tools of a namespace, by its name or another that it goes by, as written or folded. */
function membersOf(callable: ReadonlyMap<string, Callable>, name: string): readonly Callable[] | undefined {
  const folded = identifierOf(name);
  const isMeant = (namespace: ToolNamespace) =>
    [namespace.name, ...(namespace.aliases ?? [])].some((one) => identifierOf(one) === folded);
  const members = [...callable.values()].filter(({ info }) => info.namespace !== undefined && isMeant(info.namespace));
  return members.length > 0 ? members : undefined;
}

/** The compiled indexes, and one of the tools that nobody compiled. */
function segments(
  { session }: HostSurroundings,
  callable: ReadonlyMap<string, Callable>,
  within: ReadonlySet<string> | undefined,
): readonly SearchSegment[] {
  const isWithin = (id: string) => within === undefined || within.has(id);
  const compiled = searchSegments(session.table);
  if (!compiled.ok) throw new Error(compiled.diagnostic.message);
  const others = [...callable.values()].filter(({ id, isCompiled }) => !isCompiled && isWithin(id));
  const documents = others.map(({ id, info }) => {
    const { name = "", description, instructions } = info.namespace ?? {};
    const server = { name, ...(description && { description }), ...(instructions && { instructions }) };
    const tool = { name: id, tool: info.name, description: info.description, inputSchema: { ...info.parameters } };
    return searchDocument(server, tool);
  });
  return [
    ...compiled.value.map(({ file, shows }) => ({
      file,
      shows: (tool: Parameters<typeof shows>[0]) =>
        shows(tool) && callable.get(tool.name)?.isCompiled === true && isWithin(tool.name),
    })),
    { file: searchFile(documents), shows: () => true },
  ];
}
