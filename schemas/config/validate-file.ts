/**
 * Validates one configuration file: its top level and, one by one, its servers. All mistakes are
 * reported; a bad setting counts as absent, a bad entry is dropped, and neither affects another.
 */
import { type Diagnostic, diagnostic, type Outcome } from "../diagnostic.ts";
import { DRIFT_MODES, type DriftMode } from "../drift-mode.ts";
import { SCRIPT_ENGINES, type ScriptEngine } from "../script-engine.ts";
import { TYPECHECK_MODES, type TypecheckMode } from "../script-finding.ts";
import { FieldReader, optional, reporter } from "./fields.ts";
import type { Scope, SourceLocation } from "./server-config.ts";
import type { ConfigNode, ConfigObject, ConfigSource } from "./source.ts";
import { type ValidatedEntry, validateEntry } from "./validate-entry.ts";

export interface FileSettings {
  readonly maxOutputBytes?: number;
  readonly ttlMs?: number;
  readonly inlineBudget?: number;
  readonly typecheck?: TypecheckMode;
  readonly engine?: ScriptEngine;
  readonly onDrift?: DriftMode;
  /** As written: relative to the project root and inside it. */
  readonly out?: string;
  readonly autoEnableCodemode?: boolean;
}

export interface FileEntry {
  readonly name: string;
  readonly location: SourceLocation;
  readonly entry: ValidatedEntry;
}

export interface ValidatedFile {
  readonly settings: FileSettings;
  /** In the order of the file. */
  readonly entries: readonly FileEntry[];
  /** False when the file as a whole said nothing that can be used. */
  readonly usable: boolean;
}

const TOP_KEYS = [
  "$schema",
  "mcpServers",
  "maxOutputBytes",
  "ttlMs",
  "codemode",
  "typecheck",
  "onDrift",
  "out",
  "autoEnableCodemode",
];
/** A folder below the project root: not absolute, not the root itself, no `..`, no `~`, nothing to expand. */
export const OUT_FOLDER = /^(?![/\\~])(?![A-Za-z]:)(?!(?:.*[/\\])?\.\.(?:[/\\]|$))(?!(?:\.?[/\\])*\.?$)(?!.*\$\{).+$/;

export function validateFile(source: ConfigSource, scope: Scope): Outcome<ValidatedFile> {
  const diagnostics = [...source.diagnostics];
  const unusable = { settings: {}, entries: [], usable: false };
  if (source.root === undefined) return { value: unusable, diagnostics };
  if (source.root.kind !== "object") {
    diagnostics.push(shapeError("the configuration must be an object", source.root));
    return { value: unusable, diagnostics };
  }
  const fields = new FieldReader(source.root, reporter(diagnostics), {
    consequence: "until this is corrected the setting is ignored",
  });
  fields.warnUnknown(TOP_KEYS);
  fields.string("$schema");
  const codemode = readCodemode(fields, diagnostics);
  // Told even where codemode.typecheck decides.
  const typecheck = fields.oneOf("typecheck", TYPECHECK_MODES);
  const settings: FileSettings = {
    ...optional("maxOutputBytes", fields.positiveInteger("maxOutputBytes", "bytes")),
    ...optional("ttlMs", fields.naturalNumber("ttlMs", "milliseconds")),
    ...optional("inlineBudget", codemode.inlineBudget),
    ...optional("typecheck", codemode.typecheck ?? typecheck),
    ...optional("engine", codemode.engine),
    ...optional("onDrift", readOnDrift(source.root, diagnostics)),
    ...optional("out", readOut(fields, scope)),
    ...optional("autoEnableCodemode", fields.boolean("autoEnableCodemode")),
  };
  const servers = fields.value("mcpServers");
  if (servers !== undefined && servers.kind !== "object") {
    diagnostics.push(shapeError("mcpServers must be an object of servers by name", servers));
    return { value: { settings, entries: [], usable: false }, diagnostics };
  }
  const entries = [...(servers?.members.values() ?? [])].map((member) => ({
    name: member.key,
    location: member.keyAt,
    entry: validateEntry(member, scope, diagnostics),
  }));
  return { value: { settings, entries, usable: true }, diagnostics };
}

interface CodemodeSettings {
  readonly inlineBudget?: number | undefined;
  readonly typecheck?: TypecheckMode | undefined;
  readonly engine?: ScriptEngine | undefined;
}

function readCodemode(fields: FieldReader, diagnostics: Diagnostic[]): CodemodeSettings {
  const node = fields.value("codemode");
  if (node === undefined) return {};
  if (node.kind !== "object") {
    fields.reject("codemode", 'must be an object such as { "inlineBudget": 3000 }');
    return {};
  }
  const read = (consequence: string) =>
    new FieldReader(node, reporter(diagnostics), { prefix: "codemode.", consequence });
  const budget = read("until this is corrected the default of 3000 holds");
  budget.warnUnknown(["inlineBudget", "typecheck", "engine"]);
  return {
    inlineBudget: budget.naturalNumber("inlineBudget", "tokens"),
    typecheck: read('until this is corrected "error" holds').oneOf("typecheck", TYPECHECK_MODES),
    engine: read('until this is corrected "pi" holds').oneOf("engine", SCRIPT_ENGINES),
  };
}

/** Whoever wrote something wants more than the default: a value that is none counts as the stricter. */
function readOnDrift(root: ConfigObject, diagnostics: Diagnostic[]): DriftMode | undefined {
  const fields = new FieldReader(root, reporter(diagnostics), {
    consequence: 'until this is corrected "block" holds',
  });
  return fields.has("onDrift") ? (fields.oneOf("onDrift", DRIFT_MODES) ?? "block") : undefined;
}

function readOut(fields: FieldReader, scope: Scope): string | undefined {
  if (scope === "user") {
    fields.warnNoEffect("out", "in the user's file; user servers compile into pimcp/generated beside it");
    return undefined;
  }
  const must = "be a folder inside the project, relative to its root";
  return fields.string("out", must, (value) => OUT_FOLDER.test(value));
}

function shapeError(message: string, node: ConfigNode): Diagnostic {
  const { file, line, column } = node.at;
  const notes = ['write { "mcpServers": { "name": { "command": "…" } } }', "nothing in this part of the file is used"];
  return diagnostic("config-shape", message, { file, line, column, notes });
}
