/**
 * Lays the configuration files over each other. Pure: it gets the files' texts and gives one
 * `Configuration`, with everything that was found on the way. A mistake in one entry or one file never
 * takes another entry or file with it.
 *
 * A project's definition replaces the user's server of the same name, a later project file's an earlier
 * one's. A project entry without `command`, `url` and `type` overrides a few fields of what stands below it.
 * What belongs to a project's artifacts never depends on the user's file, so that a repository's
 * `generated/` has the same bytes on every machine: overrides are kept whether or not this user has the server.
 *
 * Imports jsonc-parser through source.ts; import it lazily where a session starts.
 */
import { resolve } from "node:path";
import { byCodeUnit } from "../canonical.ts";
import { type Diagnostic, diagnostic, type Outcome } from "../diagnostic.ts";
import type { DriftMode } from "../drift-mode.ts";
import { namespaceOf } from "../names.ts";
import { nearest } from "../nearest.ts";
import { optional, suggestion } from "./fields.ts";
import { quoted } from "./quote.ts";
import {
  type Configuration,
  type DroppedServer,
  placeText,
  type Scope,
  type ScopeSettings,
  type ServerConfig,
  type ServerOverride,
} from "./server-config.ts";
import { parseConfigSource } from "./source.ts";
import { SERVER_NAME, type ServerEntry, type ValidatedEntry } from "./validate-entry.ts";
import { type FileSettings, validateFile } from "./validate-file.ts";

export const DEFAULT_INLINE_BUDGET = 3000;

export interface LayerFile {
  /** Absolute. */
  readonly path: string;
  /** As messages name it. */
  readonly display: string;
  readonly scope: Scope;
  /** Undefined when there is no such file. */
  readonly text: string | undefined;
  /** The file exists and could not be read; the caller has reported that. */
  readonly unreadable?: boolean;
}

export interface LayerOptions {
  /** From low to high. */
  readonly files: readonly LayerFile[];
  /** Absolute project root. */
  readonly projectDir: string;
  /** Absolute agent folder. */
  readonly agentDir: string;
  /** Absolute folder the session runs in: base of a user server's relative `cwd`. */
  readonly sessionDir: string;
  /** Absolute output folders, where nothing else is said. */
  readonly defaultOut: Readonly<Record<Scope, string>>;
  /** Absolute output folder for the project, when the command line names one. */
  readonly out?: string;
}

interface Definition {
  readonly entry: ServerEntry;
  readonly file: LayerFile;
}
interface PlacedOverride {
  readonly name: string;
  readonly entry: Extract<ValidatedEntry, { kind: "override" }>;
}
interface Layers {
  readonly definitions: Map<string, Definition>;
  readonly userDefinitions: Map<string, Definition>;
  readonly overrides: Map<string, ServerOverride>;
  /** Overrides that met no project definition: what they mean is known when all files were read. */
  readonly loose: PlacedOverride[];
  readonly dropped: DroppedServer[];
  readonly settings: Record<Scope, FileSettings>;
  readonly incomplete: Set<Scope>;
  readonly diagnostics: Diagnostic[];
}

export function layerConfiguration(options: LayerOptions): Outcome<Configuration> {
  const layers: Layers = {
    definitions: new Map(),
    userDefinitions: new Map(),
    overrides: new Map(),
    loose: [],
    dropped: [],
    settings: { user: {}, project: {} },
    incomplete: new Set(),
    diagnostics: [],
  };
  for (const file of options.files) addFile(layers, file);
  const broken = new Set(layers.dropped.map(({ name }) => name));
  for (const placed of layers.loose) reportLoose(layers, placed, broken);
  const configuration = assemble(layers, options);
  const saidNothing = layers.definitions.size === 0 && layers.dropped.length === 0 && layers.incomplete.size === 0;
  if (saidNothing) {
    const notes = ["pimcp init writes a starter mcp.json"];
    layers.diagnostics.push(diagnostic("no-servers", "no MCP server is configured", { notes }));
  }
  return { value: configuration, diagnostics: layers.diagnostics };
}

function addFile(layers: Layers, file: LayerFile): void {
  if (file.unreadable) layers.incomplete.add(file.scope);
  if (file.text === undefined) return;
  const { value, diagnostics } = validateFile(parseConfigSource(file.text, file.display), file.scope);
  layers.diagnostics.push(...diagnostics.toSorted(byPlace));
  if (!value.usable) layers.incomplete.add(file.scope);
  layers.settings[file.scope] = { ...layers.settings[file.scope], ...value.settings };
  for (const { name, location, entry } of value.entries) {
    if (entry.kind === "server") define(layers, { entry: entry.server, file });
    else if (entry.kind === "override") override(layers, { name, entry });
    else if (SERVER_NAME.test(name)) layers.dropped.push({ name, scope: file.scope, location });
  }
}

function define(layers: Layers, definition: Definition): void {
  const { name } = definition.entry;
  const { scope } = definition.file;
  const twin = [...layers.definitions.values()].find(
    ({ entry }) => entry.name !== name && namespaceOf(entry.name) === namespaceOf(name),
  );
  if (twin) {
    const loser = twin.file === definition.file ? definition : twin;
    const winner = loser === twin ? definition : twin;
    layers.diagnostics.push(collision(loser, winner));
    if (loser.file.scope === scope)
      layers.dropped.push({ name: loser.entry.name, scope, location: loser.entry.location });
    if (loser === definition) return;
    layers.definitions.delete(twin.entry.name);
  }
  layers.definitions.set(name, definition);
  if (scope === "user") layers.userDefinitions.set(name, definition);
  else layers.overrides.delete(name);
}

/** In one file the first of two names that fold to one stays, across files the higher layer's. */
function collision(loser: Definition, winner: Definition): Diagnostic {
  const [lost, kept] = [loser.entry, winner.entry];
  const message = `servers "${lost.name}" and "${kept.name}" differ only in "-" and "_"; "${lost.name}" is left out`;
  const notes = [
    `"${kept.name}" is at ${placeText(kept.location)}; rename one of them, both would be ${namespaceOf(kept.name)}`,
  ];
  return diagnostic("server-name-collision", message, { ...lost.location, server: lost.name, notes });
}

function override(layers: Layers, placed: PlacedOverride): void {
  const { name, entry } = placed;
  const base = layers.definitions.get(name);
  if (base?.file.scope === "project") {
    warnDefinitionFields(layers, placed);
    layers.definitions.set(name, { ...base, entry: overridden(base.entry, entry.override) });
    return;
  }
  layers.loose.push(placed);
  if (overridesSomething(entry.override)) {
    layers.overrides.set(name, { ...layers.overrides.get(name), ...entry.override });
  }
}

/** `broken`: names whose definition was dropped for an error, which has been reported. */
function reportLoose(layers: Layers, placed: PlacedOverride, broken: ReadonlySet<string>): void {
  const { name, entry } = placed;
  const { location } = entry.override;
  const base = layers.definitions.get(name);
  if (base?.file.scope === "project") {
    const notes = [`${placeText(base.entry.location)} defines the server and replaces what stood below it`];
    const message = `this override of "${name}" has no effect`;
    layers.diagnostics.push(diagnostic("no-effect", message, { ...location, server: name, notes }));
  } else if (base) {
    warnDefinitionFields(layers, placed);
    if (entry.override.enabled === true && !base.entry.enabled) {
      const notes = ["a user's artifacts are the same in every project, and hold no disabled server; enable it there"];
      const message = `enabled has no effect: ${quoted(name)} is disabled at ${placeText(base.entry.location)}`;
      layers.diagnostics.push(diagnostic("no-effect", message, { ...location, server: name, notes }));
    }
  } else if (broken.has(name)) {
    return;
  } else if (entry.definitionFields.length > 0 || !overridesSomething(entry.override)) {
    const notes = ["only an override of a server that a lower file defines can do without"];
    const message = `server "${name}" needs either "command" (stdio) or "url" (Streamable HTTP)`;
    layers.diagnostics.push(diagnostic("invalid-server", message, { ...location, server: name, notes }));
    layers.dropped.push({ name, scope: "project", location });
  } else if (!layers.incomplete.has("user")) {
    const close = suggestion(nearest(name, layers.definitions.keys()));
    const notes = [...(close ? [close] : []), 'give it a "command" or "url", or remove the entry'];
    const message = `${quoted(name)} overrides a server that no configuration file defines`;
    layers.diagnostics.push(diagnostic("override-without-server", message, { ...location, server: name, notes }));
  }
}

function warnDefinitionFields(layers: Layers, { name, entry }: PlacedOverride): void {
  for (const { key, location } of entry.definitionFields) {
    const notes = ['add "command" or "url" to define the server anew instead of overriding it'];
    const message = `${key} has no effect in an override of "${name}"`;
    layers.diagnostics.push(diagnostic("no-effect", message, { ...location, server: name, notes }));
  }
}

function overridesSomething({ location: _, ...fields }: ServerOverride): boolean {
  return Object.keys(fields).length > 0;
}

function overridden(entry: ServerEntry, { location: _, ...fields }: ServerOverride): ServerEntry {
  return { ...entry, ...fields };
}

function assemble(layers: Layers, options: LayerOptions): Configuration {
  const { settings } = layers;
  const place = ({ entry, file }: Definition): ServerConfig => ({
    ...entry,
    scope: file.scope,
    file: file.path,
    baseDir: file.scope === "project" ? options.projectDir : options.sessionDir,
    // A user's list is cached alike in every project, so a project's setting can't reach it.
    ttlMs: entry.ttlMs ?? (file.scope === "project" ? settings.project.ttlMs : undefined) ?? settings.user.ttlMs ?? 0,
  });
  const servers = [...layers.definitions.values()].map((definition) => {
    const change = layers.overrides.get(definition.entry.name);
    return place(change ? { ...definition, entry: overridden(definition.entry, change) } : definition);
  });
  const overrides: Record<string, ServerOverride> = Object.create(null);
  for (const [name, change] of [...layers.overrides].sort(byKey)) overrides[name] = change;
  const chosenOut = settings.project.out && resolve(options.projectDir, settings.project.out);
  return {
    servers: servers.sort(byName),
    overrides,
    project: scopeSettings(layers, "project", options.out ?? chosenOut ?? options.defaultOut.project),
    user: scopeSettings(layers, "user", options.defaultOut.user),
    projectDir: options.projectDir,
    agentDir: options.agentDir,
    files: options.files.map((file) => file.path),
    userServers: [...layers.userDefinitions.values()].map(place).sort(byName),
    dropped: layers.dropped.toSorted((a, b) => byName(a, b) || byCodeUnit(a.scope, b.scope)),
    ...optional("autoEnableCodemode", settings.project.autoEnableCodemode ?? settings.user.autoEnableCodemode),
    ...optional("typecheck", settings.project.typecheck ?? settings.user.typecheck),
    ...optional("engine", settings.project.engine ?? settings.user.engine),
    ...optional("onDrift", stricter(settings.project.onDrift, settings.user.onDrift)),
  };
}

/** A repository can ask for more care than its user does, and can't switch off what the user asked for. */
function stricter(a: DriftMode | undefined, b: DriftMode | undefined): DriftMode | undefined {
  return [a, b].includes("block") ? "block" : (a ?? b);
}

function scopeSettings(layers: Layers, scope: Scope, out: string): ScopeSettings {
  const { maxOutputBytes, inlineBudget } = layers.settings[scope];
  return {
    ...optional("maxOutputBytes", maxOutputBytes),
    inlineBudget: inlineBudget ?? DEFAULT_INLINE_BUDGET,
    out,
    ...optional("incomplete", layers.incomplete.has(scope) || undefined),
  };
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return byCodeUnit(a.name, b.name);
}

function byKey(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return byCodeUnit(a[0], b[0]);
}

function byPlace(a: Diagnostic, b: Diagnostic): number {
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}
