/**
 * Which file a change of a server's settings goes to, and what it changes there: the file that defines the server, or the
 * project's override of it where there is one. Pure. Never writes what would have no effect: that is refused, with the reason.
 */
import type { ToolTable } from "../../../schemas/artifacts/tool-table.ts";
import type { ConfigValue, SourceEdit } from "../../../schemas/config/edit-source.ts";
import type { Exposure, ExposureRule, ServerConfig } from "../../../schemas/config/server-config.ts";
import type { ConfigObject } from "../../../schemas/config/source.ts";
import { decideExposure } from "../../../schemas/exposure.ts";
import type { CandidateFile } from "../../connect/configuration-files.ts";

export type ServerChange =
  | { readonly kind: "enabled"; readonly enabled: boolean }
  | { readonly kind: "exposure"; readonly exposure: Exposure }
  /** `inherit`: what server and patterns say. */
  | {
      readonly kind: "tool-exposure";
      readonly tool: string;
      readonly exposure: Exposure | "inherit";
      readonly meta?: unknown;
    };

/** With what its server marked the tool as, which has a say in what it is without a rule of its own. */
export function toolExposureChange(
  table: ToolTable,
  { server, tool }: { readonly server: string; readonly tool: string },
  exposure: Exposure | "inherit",
): ServerChange {
  const entry = table.byTool(server, tool, { includeHidden: true });
  const definition = entry && table.definition(entry.name, { includeHidden: true });
  return { kind: "tool-exposure", tool, exposure, meta: definition?.ok ? definition.value?._meta : undefined };
}

/** What a file says of the server. */
export interface ServerSource {
  readonly file: CandidateFile;
  readonly exists: boolean;
  /** The server's entry in it. */
  readonly entry: ConfigObject | undefined;
}

export interface PlannedChange {
  readonly file: CandidateFile;
  readonly edits: readonly SourceEdit[];
}

export type ChangePlan =
  | { readonly ok: true; readonly changes: readonly PlannedChange[] }
  | { readonly ok: false; readonly message: string };

export interface ChangeRequest {
  /** As the configuration has it, with the project's override applied. */
  readonly server: Pick<ServerConfig, "name" | "exposure" | "toolExposure">;
  /** From low to high. */
  readonly sources: readonly ServerSource[];
  readonly change: ServerChange;
  /** For the project at hand alone, where the user's file defines the server. */
  readonly inProject: boolean;
}

export function planChange(request: ChangeRequest): ChangePlan {
  const { server, sources, change, inProject } = request;
  const defining = sources.filter(({ entry }) => entry !== undefined).at(-1);
  const target = inProject ? projectTarget(sources) : defining;
  if (target === undefined) {
    const message = inProject ? "there is no project here" : `no configuration file has a server "${server.name}"`;
    return { ok: false, message };
  }
  if (change.kind !== "enabled") return planned(target, exposureEdits(request, target));
  if (!change.enabled) return planned(target, [set(server.name, "enabled", false)]);
  return enabling(request, target);
}

function planned({ file }: ServerSource, edits: readonly SourceEdit[]): ChangePlan {
  return { ok: true, changes: [{ file, edits }] };
}

/** The highest project file that says something of the server, else the highest there is, else the highest there can be. */
function projectTarget(sources: readonly ServerSource[]): ServerSource | undefined {
  const files = sources.filter(({ file }) => file.scope === "project");
  return files.findLast(({ entry }) => entry !== undefined) ?? files.findLast(({ exists }) => exists) ?? files.at(-1);
}

/** Every file that turns the server off is changed; an override can't turn on what its definition turns off. */
function enabling({ server, sources, inProject }: ChangeRequest, target: ServerSource): ChangePlan {
  const base = sources.findLastIndex(({ entry, file }) => entry !== undefined && isDefinition(entry, file));
  const inEffect = sources.slice(Math.max(base, 0));
  const off = inEffect.filter(({ entry }) => entry !== undefined && isOff(entry));
  const user = off.find(({ file }) => file.scope === "user");
  if (inProject && user !== undefined) {
    const message = `"${server.name}" is disabled in ${user.file.display}, and what is disabled there is in no artifact a project could use; enable it there`;
    return { ok: false, message };
  }
  const files = off.length > 0 ? off : [target];
  return {
    ok: true,
    changes: files.map((source) => ({
      file: source.file,
      edits: off.length > 0 ? [defaulted(source, server.name, "enabled", true)] : [],
    })),
  };
}

function exposureEdits(request: ChangeRequest, target: ServerSource): readonly SourceEdit[] {
  const { server, change } = request;
  if (change.kind === "exposure") return [defaulted(target, server.name, "exposure", change.exposure)];
  if (change.kind !== "tool-exposure") return [];
  const others = server.toolExposure.filter(({ pattern }) => pattern !== change.tool);
  const settings = { ...(server.exposure && { exposure: server.exposure }), toolExposure: others };
  const inherited = decideExposure(settings, { name: change.tool, _meta: change.meta }).exposure;
  const isInherited = change.exposure === "inherit" || change.exposure === inherited;
  const wanted = isInherited ? undefined : (change.exposure as Exposure);
  return toolEdits(server, target, { tool: change.tool, wanted, inherited, others });
}

interface ToolRule {
  readonly tool: string;
  /** Undefined: the tool needs no rule of its own. */
  readonly wanted: Exposure | undefined;
  readonly inherited: Exposure;
  /** The rules that hold besides. */
  readonly others: readonly ExposureRule[];
}

function toolEdits(server: ChangeRequest["server"], target: ServerSource, rule: ToolRule): readonly SourceEdit[] {
  const { tool, wanted, inherited, others } = rule;
  const path = ["mcpServers", server.name, "toolExposure"] as const;
  const own = target.entry?.members.get("toolExposure")?.value;
  const keys = own?.kind === "object" ? [...own.members.keys()] : [];
  const overrides = target.entry === undefined || !isDefinition(target.entry, target.file);
  if (overrides && own === undefined) {
    // An override's rules take the place of all those below, so these come with it.
    if (server.toolExposure.length === 0 && wanted === undefined) return [];
    const rules: [string, ConfigValue][] = others.map(({ pattern, exposure }) => [pattern, exposure]);
    if (wanted !== undefined) rules.push([tool, wanted]);
    return [{ path, value: new Map(rules) }];
  }
  if (wanted !== undefined) return [{ path: [...path, tool], value: wanted }];
  if (!keys.includes(tool)) return [];
  const isLast = keys.length === 1 && !overrides;
  return isLast
    ? [{ path, value: undefined, otherwise: new Map([[tool, inherited]]) }]
    : [{ path: [...path, tool], value: undefined, otherwise: inherited }];
}

/** A definition needs no word for what holds anyway; an override may have to speak against what lies below it. */
function defaulted(
  target: ServerSource,
  server: string,
  key: "enabled" | "exposure",
  value: boolean | Exposure,
): SourceEdit {
  const isDefault = value === (key === "enabled" ? true : "codemode");
  const isWritten = target.entry !== undefined && isDefinition(target.entry, target.file);
  return isDefault && isWritten
    ? { path: ["mcpServers", server, key], value: undefined, otherwise: value }
    : set(server, key, value);
}

function set(server: string, key: string, value: boolean | Exposure): SourceEdit {
  return { path: ["mcpServers", server, key], value };
}

function isOff(entry: ConfigObject): boolean {
  const enabled = entry.members.get("enabled")?.value;
  // Whatever isn't `true` turns an override off, and keeps a definition from being used.
  return enabled !== undefined && !(enabled.kind === "scalar" && enabled.value === true);
}

/** As `validate-entry.ts` has it: in a user's file every entry defines its server. */
function isDefinition(entry: ConfigObject, { scope }: Pick<CandidateFile, "scope">): boolean {
  return scope === "user" || ["command", "url", "type"].some((key) => entry.members.has(key));
}
