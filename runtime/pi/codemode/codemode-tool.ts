/**
 * Pi's codemode tool with another engine: name, parameters, guidelines, reach and rows are Pi's own, taken from its definition;
 * the description has the compiled declarations, and scripts run in pimcp's sandbox. Registered before the first request, so it
 * loads nothing that runs scripts. Same artifacts, same bytes.
 */
import type { ExtensionAPI, ToolDefinition, ToolLoadout, ToolLoadoutChanges } from "@earendil-works/pi-coding-agent";
import { codemodeDescription, renderDescription } from "../../sandbox/description.ts";
import { CODEMODE } from "../discovery/exposure.ts";
import type { PiHost } from "../host.ts";
import type { PiSession } from "../session.ts";
import type { CodemodeEngine } from "./codemode-engine.ts";

export interface EngineTool {
  readonly tool: ToolDefinition;
  readonly engine: CodemodeEngine;
}

type CodingAgent = Awaited<ReturnType<PiHost["codingAgent"]>>;

/** The definition that Pi's own extension would register; undefined from a Pi that does it otherwise. */
export function definitionOfPi(pi: ExtensionAPI, { createCodemodeExtension }: CodingAgent): ToolDefinition | undefined {
  const taken: ToolDefinition[] = [];
  const registerTool = (tool: ToolDefinition) => void taken.push(tool);
  createCodemodeExtension()(Object.create(pi, { registerTool: { value: registerTool } }) as ExtensionAPI);
  return taken.find(({ name }) => name === CODEMODE);
}

export function engineTool(session: PiSession, ofPi: ToolDefinition): EngineTool {
  const outputs = new Map<string, unknown>();
  const tool: ToolDefinition = {
    ...ofPi,
    description: description(session, ofPi, ""),
    prepareLoadout: (loadout) => {
      outputs.clear();
      for (const one of loadout.callable) outputs.set(one.name, outputSchemaOf(one));
      return presented(session, ofPi, loadout);
    },
    execute: async (toolCallId, params, signal, onUpdate, ctx) => {
      const { runCodemode } = await import("./codemode-run.ts");
      const { code } = params as { readonly code: string };
      return runCodemode({ session, toolCallId, code, signal, onUpdate, ctx });
    },
  };
  const warm = () => import("./codemode-run.ts").then(({ warmSandbox }) => warmSandbox(session));
  return { tool, engine: { warm, outputSchemaOf: (name) => outputs.get(name) } };
}

/** What a call resolves to: a tool that declares nothing resolves to its text. */
export function outputSchemaOf({ outputSchema }: { readonly outputSchema?: unknown }): unknown {
  return outputSchema ?? { type: "string" };
}

/**
 * What Pi would present, with the compiled tools taken out of its list: they are in the declarations. Of tools that the model calls
 * directly Pi says how scripts call them.
 */
function presented(session: PiSession, ofPi: ToolDefinition, loadout: ToolLoadout): ToolLoadoutChanges {
  const { table } = session;
  const getExposure: ToolLoadout["getExposure"] = (name) => {
    const exposure = loadout.getExposure(name);
    return exposure === "codemode" && table.byName(name) !== undefined ? "deferred" : exposure;
  };
  const changes = ofPi.prepareLoadout?.({ ...loadout, getExposure }) ?? {};
  const others = changes.descriptions?.[CODEMODE] ?? "";
  return { ...changes, descriptions: { ...changes.descriptions, [CODEMODE]: description(session, ofPi, others) } };
}

const LIST = "\n\nNested tools:\n";

/** `ofOthers` is Pi's description of tools that aren't compiled: of it the list is kept. */
function description({ table }: PiSession, ofPi: ToolDefinition, ofOthers: string): string {
  const globals = ofPi.description
    .split("\n")
    .flatMap((line) => (line.startsWith("- `models`") ? [line.slice(2)] : []));
  const written = codemodeDescription(table, { globals });
  // Artifacts that can't be read are told elsewhere; their tools can be searched for.
  const text = written.ok ? written.value : renderDescription("", { globals });
  const at = ofOthers.indexOf(LIST);
  return at < 0 ? text : `${text.trimEnd()}${ofOthers.slice(at)}`;
}
