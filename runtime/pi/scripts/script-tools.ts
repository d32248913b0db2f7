/**
 * What a script may call in a session of Pi, as far as the check has to know: the compiled tools come from the table, the others
 * (Pi's own, those of other extensions) from what Pi tells of them. What nobody tells is `any`: a script that is right must
 * never be refused. Hidden and inactive tools are no names to it.
 */
import type { ExtensionAPI, ToolInfo } from "@earendil-works/pi-coding-agent";
import { ABSENT_GLOBALS } from "../../../schemas/absent-globals.ts";
import type { ToolTable } from "../../../schemas/artifacts/tool-table.ts";
import type { CheckedTool } from "../../../schemas/script-finding.ts";
import type { HostDeclarations } from "../../sandbox/script-checker.ts";
import { MODELS_DECLARATION } from "../codemode/models-declaration.ts";
import { CODEMODE } from "../discovery/exposure.ts";

/** A tool that scripts can call. */
export interface ScriptTool {
  /** The member of `tools`. */
  readonly id: string;
  readonly info: ToolInfo;
  /** Compiled from one of the table's servers, and not somebody else's tool of that name. */
  readonly isCompiled: boolean;
}

/** A tool's name in scripts, as Pi folds it: whatever no identifier has becomes `_`. */
export function identifierOf(name: string): string {
  const folded = name.replace(/[^A-Za-z0-9_$]/gu, "_");
  return /^[0-9]/.test(folded) ? `_${folded.slice(1)}` : folded || "_";
}

/** The tools that Pi lets a script call, by `id`; where two fold to one, the first. */
export function scriptTools(
  pi: Pick<ExtensionAPI, "getAllTools" | "getActiveTools">,
  table: ToolTable,
): ReadonlyMap<string, ScriptTool> {
  const active = new Set(pi.getActiveTools());
  const namespaces = new Map(table.servers().map((server) => [server.name, server.namespace]));
  const found = new Map<string, ScriptTool>();
  for (const info of pi.getAllTools()) {
    const { name, exposure, namespace } = info;
    const isCallable =
      exposure === "codemode" || exposure === "deferred" || (exposure === "direct" && active.has(name));
    const id = identifierOf(name);
    if (!isCallable || found.has(id)) continue;
    const entry = table.byName(name);
    const isCompiled = entry !== undefined && namespace?.name === namespaces.get(entry.server);
    found.set(id, { id, info, isCompiled });
  }
  return found;
}

/** What a call of the tool resolves to, as a JSON Schema; undefined where that isn't known. */
export type OutputSchemaOf = (name: string) => unknown;

/** The declarations to check `source` with, beside the table's. */
export function hostDeclarations(
  pi: Pick<ExtensionAPI, "getAllTools" | "getActiveTools">,
  table: ToolTable,
  source: string,
  options: { readonly outputSchemaOf?: OutputSchemaOf; readonly plainResults: boolean },
): HostDeclarations {
  const schemas = new Map<string, CheckedTool>();
  for (const { id, info, isCompiled } of scriptTools(pi, table).values()) {
    if (isCompiled) continue;
    const tool = hostTool(info, options.outputSchemaOf);
    for (const name of new Set([id, info.name])) schemas.set(name, { ...tool, name });
  }
  for (const name of namesOfOthers(source, table)) if (!schemas.has(name)) schemas.set(name, { name });
  const description = pi.getAllTools().find(({ name }) => name === CODEMODE)?.description ?? "";
  const globals = `${MODELS_DECLARATION}${furtherGlobals(description)}`;
  return { schemas, globals, plainResults: options.plainResults };
}

/** Takes arguments of other shapes than it declares, and says so nowhere. */
const TOLERANT: ReadonlySet<string> = new Set(["builtin:edit"]);

function hostTool(info: ToolInfo, outputSchemaOf: OutputSchemaOf | undefined): Omit<CheckedTool, "name"> {
  const outputSchema = outputSchemaOf?.(info.name);
  return {
    ...(!TOLERANT.has(info.sourceInfo.path) && { inputSchema: info.parameters }),
    ...(outputSchema !== undefined && { outputSchema }),
    resolvesTo: "value",
  };
}

/** Names of tools of servers that the table doesn't know: another extension may be about to register them. */
function namesOfOthers(source: string, table: ToolTable): readonly string[] {
  const known = table.servers().map(({ namespace }) => `${namespace}__`);
  const names = new Set(source.match(/\bmcp__\w+__\w+/g));
  return [...names].filter((name) => !known.some((prefix) => name.startsWith(prefix)));
}

const KNOWN_GLOBALS: ReadonlySet<string> = new Set(
  "tools text image console exit store load models ALL_TOOLS searchTools describeTool describeNamespace".split(" "),
);

/** Globals that a later Pi has: its description lists them, each in a code span of its own. */
function furtherGlobals(description: string): string {
  const list = /^Globals:\n((?:- .*\n?)+)/m.exec(description)?.[1] ?? "";
  const spans = list.matchAll(/`(?:await )?([A-Za-z_$][\w$]*)(?:[.(][^`]*)?`/g);
  const names = new Set([...spans].map(([, name]) => name!).filter((name) => !KNOWN_GLOBALS.has(name)));
  return [...names].map((name) => (isOfLanguage(name) ? "" : `declare const ${name}: any;\n`)).join("");
}

/** `return` and `Promise` are no globals of Pi's; `fetch`, which Node has and scripts don't, would be. */
function isOfLanguage(name: string): boolean {
  return RESERVED.has(name) || (name in globalThis && !ABSENT_GLOBALS.has(name));
}
/** No name can be declared that is one of these. */
const RESERVED: ReadonlySet<string> = new Set(
  `arguments async await break case catch class const continue debugger default delete do else enum eval export extends false
  finally for function if implements import in instanceof interface let new null package private protected public return static
  super switch this throw true try typeof var void while with yield`.split(/\s+/),
);
