/**
 * Every server there is in a session, as a person is shown it: what is configured, what of it was compiled, what is known of
 * the connection, and where these differ. Made from configuration, artifacts and the runtime's states; reads no file, asks
 * no server. Texts are as they came: whoever shows them makes them fit for that.
 */
import type { ServerEntry, ToolEntry, ToolTable } from "../../../schemas/artifacts/tool-table.ts";
import { byCodeUnit } from "../../../schemas/canonical.ts";
import { connectionDigest } from "../../../schemas/config/digest.ts";
import {
  type Configuration,
  type Exposure,
  hasAuthorization,
  placeText,
  type Scope,
  type ServerConfig,
} from "../../../schemas/config/server-config.ts";
import type { Diagnostic } from "../../../schemas/diagnostic.ts";
import { decideExposure } from "../../../schemas/exposure.ts";
import { namespaceOf } from "../../../schemas/names.ts";
import { type Drift, driftText } from "../../drift.ts";
import type { ServerStatus } from "../../server-states.ts";

export type ServerKind =
  | "needs-sign-in"
  | "failed"
  /** Its entry has a mistake and is not used. */
  | "invalid"
  | "not-compiled"
  /** Compiled, and in no configuration file any more. */
  | "gone"
  | "connecting"
  | "connected"
  | "not-connected"
  | "disabled";

export interface ServerRow {
  readonly name: string;
  readonly kind: ServerKind;
  /** Why it is so, in lines. */
  readonly reason: readonly string[];
  readonly scope: Scope | "extension";
  /** Where it is defined, as messages name it: `mcp.json:3:5`, or the extension that registered it. */
  readonly source: string;
  /** Where the project overrides it. */
  readonly override?: string;
  /** The extension that registered a server of this name, in whose place it is. */
  readonly inPlaceOf?: string;
  readonly exposure: Exposure;
  readonly tools: readonly ToolRow[];
  readonly isCompiled: boolean;
  /** What the configuration says is not what was compiled. */
  readonly isStale: boolean;
  readonly drift?: Drift;
  /** How it is reached: `stdio, legacy 2025-11-25`. */
  readonly transport: string;
  /** Somebody may have to sign in to it. */
  readonly isSignable: boolean;
}

export interface ToolRow {
  /** The server's own name. */
  readonly tool: string;
  readonly exposure: Exposure;
  readonly rule: string;
  readonly isDeclared: boolean;
  /** Of its declaration; undefined where none was made. */
  readonly tokens?: number;
  readonly description: string;
}

export interface OverviewInput {
  readonly table: ToolTable;
  readonly configuration: Configuration;
  /** What reading the configuration had to say. */
  readonly diagnostics: readonly Diagnostic[];
  readonly status: (server: string) => ServerStatus;
  /** Why the server could not be compiled the last time. */
  readonly finding?: (server: string) => Diagnostic | undefined;
  /** Servers that other extensions registered. */
  readonly registered?: readonly { readonly config: ServerConfig; readonly source: string }[];
  /** Those of them that the configuration overrides. */
  readonly overridden?: readonly { readonly name: string; readonly source: string }[];
}

/** Whether it is one that a session can use: neither turned off, nor wrong, nor gone. */
export function isOn({ kind }: Pick<ServerRow, "kind">): boolean {
  return kind !== "disabled" && kind !== "invalid" && kind !== "gone";
}

/** Those that need attention first, then by name. */
export function serverRows(input: OverviewInput): readonly ServerRow[] {
  const { table, configuration } = input;
  const { registered = [] } = input;
  const configured = new Set(
    [...configuration.servers, ...registered.map(({ config }) => config)].map(({ name }) => name),
  );
  const dropped = (configuration.dropped ?? []).filter(({ name }) => !configured.has(name));
  const rows = [
    ...configuration.servers.map((server) => configuredRow(input, server)),
    ...registered.map(({ config, source }) => ({
      ...configuredRow(input, config),
      scope: "extension" as const,
      source,
    })),
    ...dropped.map(({ name, scope, location }) =>
      plainRow(input, { name, scope, kind: "invalid", source: placeText(location), reason: mistakesOf(input, name) }),
    ),
    ...table
      .servers()
      .filter(({ name }) => !configured.has(name) && !dropped.some((one) => one.name === name))
      .map((server) => unnamedRow(input, server)),
  ];
  return rows.sort((a, b) => rankOf(a) - rankOf(b) || byCodeUnit(a.name, b.name));
}

/** Sums over a server's tools. */
export function tokensOf({ tools }: Pick<ServerRow, "tools">): { readonly declared: number; readonly total: number } {
  const sum = (rows: readonly ToolRow[]) => rows.reduce((total, { tokens = 0 }) => total + tokens, 0);
  return { declared: sum(tools.filter(({ isDeclared }) => isDeclared)), total: sum(tools) };
}

const ATTENTION: readonly ServerKind[] = ["needs-sign-in", "failed", "invalid", "not-compiled", "gone"];

function rankOf({ kind }: ServerRow): number {
  const rank = ATTENTION.indexOf(kind);
  return rank === -1 ? ATTENTION.length : rank;
}

const UNREAD = "its configuration can't be read; what was compiled stays in use";
const GONE = "it was compiled and no mcp.json names it any more; `pimcp compile` removes it";

function configuredRow(input: OverviewInput, server: ServerConfig): ServerRow {
  const { table, configuration, status } = input;
  const { name, scope, transport } = server;
  const compiled = table.server(name);
  const { state, drift } = status(name);
  const override = Object.hasOwn(configuration.overrides, name) ? configuration.overrides[name] : undefined;
  const overridden = input.overridden?.find((other) => namespaceOf(other.name) === namespaceOf(name));
  const isSignable = transport.kind === "http" && !hasAuthorization(transport.headers);
  const uncompiled = compiled === undefined && server.enabled ? input.finding?.(name) : undefined;
  const kind = uncompiled?.code === "sign-in-needed" ? "needs-sign-in" : kindOf(server, compiled, state.kind);
  const stale = compiled !== undefined && (!server.enabled || isStale(table, compiled, server));
  const because = uncompiled ? [uncompiled.message, ...uncompiled.notes] : reasonOf(kind, state, drift);
  return {
    name,
    kind,
    scope,
    reason: stale ? [...because, staleReason(server)] : because,
    source: placeText(server.location),
    ...(override && { override: placeText(override.location) }),
    ...(overridden && { inPlaceOf: overridden.source }),
    exposure: server.exposure ?? "codemode",
    tools: compiled && server.enabled ? toolRows(table, name) : [],
    isCompiled: compiled !== undefined,
    isStale: stale,
    ...(drift && drift.tools.length > 0 && { drift }),
    transport: transportOf(transport.kind, compiled),
    isSignable: isSignable && (transport.oauth?.grant ?? "authorization-code") === "authorization-code",
  };
}

function kindOf(
  server: ServerConfig,
  compiled: ServerEntry | undefined,
  state: ServerStatus["state"]["kind"],
): ServerKind {
  if (!server.enabled) return "disabled";
  if (compiled === undefined) return "not-compiled";
  return liveKind(state);
}

function liveKind(state: ServerStatus["state"]["kind"]): ServerKind {
  return state === "idle" ? "not-connected" : state;
}

function reasonOf(kind: ServerKind, state: ServerStatus["state"], drift: Drift | undefined): readonly string[] {
  const drifted = drift && drift.tools.length > 0 ? [driftReason(drift)] : [];
  if (kind === "failed" || kind === "needs-sign-in") {
    const { finding, stderr } = state as Extract<ServerStatus["state"], { readonly finding: Diagnostic }>;
    return [finding.message, ...finding.notes, ...stderr.slice(-5).map((line) => `stderr: ${line}`), ...drifted];
  }
  if (state.kind === "idle" && state.ended !== undefined && kind === "not-connected")
    return [`the server process ${state.ended}; the next call starts another`, ...drifted];
  return drifted;
}

function staleReason({ name, enabled }: ServerConfig): string {
  return enabled
    ? `its settings changed after it was compiled; /mcp compile ${name} takes them over`
    : "it was compiled before it was disabled; `pimcp compile` takes that over";
}

/** What a live server has otherwise than it was compiled, and what helps. */
export function driftReason(drift: Drift): string {
  const { server, isOfClient } = drift;
  const compile = `/mcp compile ${server} takes over`;
  return isOfClient
    ? `it has other tools for this session than were compiled: ${driftText(drift)}; ${compile} what every client may have`
    : `its tools differ from those compiled: ${driftText(drift)}; ${compile} the new ones`;
}

interface Plain extends Pick<ServerRow, "name" | "scope" | "kind" | "source" | "reason"> {}

/** A file that can't be read just now takes nothing away: what was compiled stays in use. */
function unnamedRow(input: OverviewInput, { name, scope }: ServerEntry): ServerRow {
  if (input.configuration[scope].incomplete !== true)
    return plainRow(input, { name, scope, kind: "gone", source: "", reason: [GONE] });
  const { state, drift } = input.status(name);
  const kind = liveKind(state.kind);
  return plainRow(input, { name, scope, kind, source: "", reason: [UNREAD, ...reasonOf(kind, state, drift)] });
}

function plainRow({ table }: OverviewInput, plain: Plain): ServerRow {
  const compiled = table.server(plain.name);
  return {
    ...plain,
    exposure: compiled?.exposure ?? "codemode",
    tools: compiled ? toolRows(table, plain.name) : [],
    isCompiled: compiled !== undefined,
    isStale: false,
    transport: compiled ? transportOf(compiled.compiled.transport === "stdio" ? "stdio" : "http", compiled) : "",
    isSignable: false,
  };
}

function mistakesOf({ diagnostics }: OverviewInput, name: string): readonly string[] {
  return diagnostics
    .filter(({ server, severity }) => server === name && severity === "error")
    .map(({ message }) => message);
}

function toolRows(table: ToolTable, server: string): readonly ToolRow[] {
  return table.tools({ server, includeHidden: true }).map((entry) => toolRow(table, entry));
}

function toolRow(table: ToolTable, entry: ToolEntry): ToolRow {
  const definition = table.definition(entry.name, { includeHidden: true });
  const counted = table.tokens(entry);
  const tokens = counted.ok ? counted.value : undefined;
  const { tool, exposure, rule } = entry;
  return {
    tool,
    exposure,
    rule,
    isDeclared: exposure === "direct" || tokens?.declared === true,
    ...(tokens && { tokens: tokens.tokens }),
    description: (definition.ok && definition.value?.description) || "",
  };
}

/** Whether a compile would find other settings than the last one. */
function isStale(table: ToolTable, compiled: ServerEntry, server: ServerConfig): boolean {
  if (compiled.compiled.config !== connectionDigest(server)) return true;
  if (compiled.exposure !== (server.exposure ?? "codemode")) return true;
  return table.tools({ server: server.name, includeHidden: true }).some(({ name, tool, exposure }) => {
    const definition = table.definition(name, { includeHidden: true });
    const _meta = definition.ok ? definition.value?._meta : undefined;
    return decideExposure(server, { name: tool, _meta }).exposure !== exposure;
  });
}

function transportOf(kind: "stdio" | "http", compiled: ServerEntry | undefined): string {
  return compiled ? `${kind}, ${compiled.compiled.era} ${compiled.compiled.protocolVersion}` : kind;
}
