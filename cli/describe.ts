/**
 * `pimcp describe`: one tool in full, or one server, from the artifacts alone. A hidden tool is not there.
 * A tool's declaration is rendered from its definition here, so it is whole even where the budget left
 * it out of codemode.d.ts.
 */
import type { Loaded } from "../schemas/artifacts/read.ts";
import { findTarget } from "../schemas/artifacts/target.ts";
import type { ServerDefinition, ServerEntry, ToolEntry, ToolTable } from "../schemas/artifacts/tool-table.ts";
import type { CatalogTool } from "../schemas/catalog.schema.ts";
import type { Exposure, Scope } from "../schemas/config/server-config.ts";
import { usageOf } from "../schemas/prompt-list.ts";
import { summaryOf } from "../schemas/search-document.ts";
import { cell, wrap } from "./columns.ts";
import type { Invocation } from "./commands.ts";
import type { Io } from "./io.ts";
import { type Look, paint, printable } from "./print.ts";
import { showArtifacts } from "./show-artifacts.ts";

export type DescribeData = ToolDescription | ServerDescription;

/** A tool as `--json` prints it: where it stands, then what its server declared. */
export interface ToolDescription extends Omit<CatalogTool, "method">, Omit<ToolEntry, "name" | "tool"> {
  readonly kind: "tool";
  readonly declared: boolean;
  readonly tokens: number;
  /** TypeScript. */
  readonly declaration: string;
}

export interface ServerDescription extends Omit<ServerDefinition, "client"> {
  readonly kind: "server";
  readonly scope: Scope;
  readonly exposure: Exposure;
  readonly era: "legacy" | "modern";
  readonly protocolVersion: string;
  readonly tools: readonly {
    readonly name: string;
    readonly tool: string;
    readonly exposure: Exposure;
    readonly description: string;
  }[];
}

/** Renders a tool's declaration in full, without the tool's description, which stands above it. */
export type Declare = (tool: Omit<CatalogTool, "description">) => string;

/** Errors: `unknown-tool`, `ambiguous-tool`, and those of the artifacts. */
export function describeData(table: ToolTable, name: string, declare: Declare): Loaded<DescribeData> {
  const target = findTarget(table, name);
  if (!target.ok) return target;
  return target.value.kind === "tool"
    ? describeTool(table, target.value.tool, declare)
    : describeServer(table, target.value.server);
}

function describeTool(table: ToolTable, entry: ToolEntry, declare: Declare): Loaded<ToolDescription> {
  const definition = table.definition(entry.name);
  if (!definition.ok) return definition;
  const count = table.tokens(entry);
  if (!count.ok) return count;
  // The digests hold, so a tool of exposure.json is in catalog.json too; one that is not has no schema.
  const tool = definition.value ?? { name: entry.name, tool: entry.tool, method: entry.tool };
  const { method: _, ...declared } = tool;
  const { description: __, ...undescribed } = tool;
  const cost = count.value ?? { declared: false, tokens: 0 };
  return { ok: true, value: { kind: "tool", ...entry, ...cost, declaration: declare(undescribed), ...declared } };
}

function describeServer(table: ToolTable, entry: ServerEntry): Loaded<ServerDescription> {
  const definition = table.serverDefinition(entry.name);
  if (!definition.ok) return definition;
  const tools: ServerDescription["tools"][number][] = [];
  for (const { name, tool, exposure } of table.tools({ server: entry.name })) {
    const declared = table.definition(name);
    if (!declared.ok) return declared;
    tools.push({ name, tool, exposure, description: summaryOf(declared.value?.description ?? "") });
  }
  const unknown = { name: entry.name, namespace: entry.namespace, capabilities: {}, resources: false, prompts: false };
  const { client: _, promptList, ...known }: ServerDefinition = { client: "", ...(definition.value ?? unknown) };
  const { scope, exposure, compiled } = entry;
  const { era, protocolVersion } = compiled;
  // A server that is hidden as a whole may show single tools, and nothing else.
  const prompts = promptList && exposure !== "hidden" ? { promptList } : {};
  return { ok: true, value: { kind: "server", ...known, ...prompts, scope, exposure, era, protocolVersion, tools } };
}

/** What a person reads, one line an element. Code keeps its lines; prose is wrapped to `look.width` columns. */
export function describeLines(data: DescribeData, look: Look): string[] {
  return data.kind === "tool" ? toolLines(data, look) : serverLines(data, look);
}

function toolLines(data: ToolDescription, look: Look): string[] {
  const limit = `${data.maxOutputBytes} bytes (${data.limitSource})`;
  const hints = hintsOf(data.annotations);
  return [
    ...wrap(data.name, look.width).map((line) => paint(look, "bold", line)),
    ...(data.title ? wrap(printable(data.title), look.width) : []),
    "",
    ...paragraphs(data.description, look),
    ...fact("tool", `${printable(data.tool)} of ${data.server} (${data.scope})`, look),
    ...fact("exposure", `${data.exposure} (${printable(data.rule)})`, look),
    ...fact("limit", limit, look),
    ...fact("tokens", `${data.tokens}, ${data.declared ? "declared" : "not declared"}`, look),
    ...(hints ? fact("hints", hints, look) : []),
    "",
    ...data.declaration.split(/\r?\n/).map(printableCode),
  ];
}

function serverLines(data: ServerDescription, look: Look): string[] {
  const info = data.serverInfo && `${printable(data.serverInfo.name)} ${printable(data.serverInfo.version)}`;
  const offers = ["tools", ...(data.resources ? ["resources"] : []), ...(data.prompts ? ["prompts"] : [])];
  return [
    ...wrap(`${data.namespace} (server "${data.name}")`, look.width).map((line) => paint(look, "bold", line)),
    "",
    ...paragraphs(data.description, look),
    ...fact("server", `${info ?? "unnamed"} (${data.scope})`, look),
    ...fact("protocol", `${printable(data.protocolVersion)} (${data.era})`, look),
    ...fact("exposure", data.exposure, look),
    ...fact("offers", offers.join(", "), look),
    ...(data.instructions ? ["", paint(look, "dim", "Instructions"), ...paragraphs(data.instructions, look)] : [""]),
    paint(look, "dim", `${data.tools.length} tool${data.tools.length === 1 ? "" : "s"}`),
    ...data.tools.flatMap((tool) => [
      ...wrap(printable(tool.tool), look.width - 2).map((line) => `  ${line}`),
      ...wrap(printable(tool.description), look.width - 6).map((line) => `      ${line}`),
    ]),
    ...promptLines(data.promptList ?? [], look),
  ];
}

function promptLines(prompts: NonNullable<ServerDescription["promptList"]>, look: Look): string[] {
  if (prompts.length === 0) return [];
  return [
    "",
    paint(look, "dim", `${prompts.length} prompt${prompts.length === 1 ? "" : "s"}`),
    ...prompts.flatMap(({ prompt, arguments: args, title, description }) => [
      ...wrap(printable(`${prompt} ${usageOf(args)}`.trim()), look.width - 2).map((line) => `  ${line}`),
      ...wrap(printable(summaryOf(description ?? title ?? "")), look.width - 6).map((line) => `      ${line}`),
    ]),
  ];
}

const FACT_WIDTH = 10;

function fact(label: string, value: string, look: Look): string[] {
  return wrap(value, look.width - FACT_WIDTH).map((line, index) => cell(index === 0 ? label : "", FACT_WIDTH) + line);
}

/** A server's prose with its own line ends kept, runs of blank lines as one, and a blank line after it. */
function paragraphs(text: string | undefined, look: Look): string[] {
  if (text === undefined || text.trim() === "") return [];
  const lines = text.trim().split(/\r\n|[\n\r\u2028\u2029]/);
  const wrapped = lines.flatMap((line) => (line.trim() === "" ? [""] : wrap(printable(line), look.width)));
  return [...wrapped.filter((line, index) => line !== "" || wrapped[index - 1] !== ""), ""];
}

/** Code keeps its indentation. */
function printableCode(line: string): string {
  const indent = /^ */.exec(line)![0];
  return indent + printable(line.slice(indent.length));
}

const HINTS = [
  ["readOnlyHint", "read-only", "writes"],
  ["destructiveHint", "destructive", "not destructive"],
  ["idempotentHint", "idempotent", "not idempotent"],
  ["openWorldHint", "open world", "closed world"],
] as const;

/** What the server claims of the tool; only what it says itself, no defaults. */
function hintsOf(annotations: ToolDescription["annotations"]): string {
  if (annotations === undefined) return "";
  return HINTS.flatMap(([key, yes, no]) => {
    const value = Object.hasOwn(annotations, key) ? annotations[key] : undefined;
    return value === true ? [yes] : value === false ? [no] : [];
  }).join(", ");
}

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { renderDescription } = await import("../compiler/render/declaration.ts");
  // `SERVER TOOL` is `SERVER/TOOL`.
  const name = invocation.operands.join("/");
  return showArtifacts(invocation, io, (table) => describeData(table, name, renderDescription), describeLines);
}
