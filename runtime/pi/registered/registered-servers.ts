/**
 * MCP servers that other extensions have registered with Pi for this session. Those of `mcp.json` win: over the same name,
 * and over one that differs only in `-` and `_`. Their configuration may hold secrets and stays in memory; what is kept of
 * them is their compiled artifacts, in the user's cache (registered-folders.ts). So a server that is registered again has its
 * tools at once. Costs nothing where none is registered.
 */
import { join } from "node:path";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { ToolTable } from "../../../schemas/artifacts/tool-table.ts";
import type { Exposure } from "../../../schemas/config/server-config.ts";
import type { Diagnostic } from "../../../schemas/diagnostic.ts";
import type { ConfigurationFiles } from "../../connect/configuration-files.ts";
import type { OwnServer } from "../../own-servers.ts";
import { inBackground } from "../in-background.ts";
import type { PiSession } from "../session.ts";

export interface RegisteredServer extends OwnServer {
  /** As messages name the extension: the path of its file. */
  readonly source: string;
  /** The configuration file that the server would be alone in. Holds whatever the extension gave: never to be written. */
  readonly text: string;
}

/** Those that can be used, and those that `mcp.json` or a mistake keeps out. */
export interface Registrations {
  /** What Pi had registered, as text: another text, other registrations. */
  readonly key: string;
  readonly servers: readonly RegisteredServer[];
  /** Registered as disabled, or disabled for this session. */
  readonly disabled: readonly RegisteredServer[];
  /** Those that `mcp.json` overrides, as they were registered. */
  readonly overridden: readonly { readonly name: string; readonly source: string }[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface RegistrationPlace {
  readonly files: ConfigurationFiles;
  readonly env: NodeJS.ProcessEnv;
  /** Absolute home folder. */
  readonly homedir: string;
}

/** What the user changed about a registered server: holds for the session, and is written nowhere. */
export interface RegistrationOverride {
  readonly enabled?: boolean;
  readonly exposure?: Exposure;
  /** By tool; these go before what the extension says of the same tool. */
  readonly toolExposure?: Readonly<Record<string, Exposure>>;
}

type Registered = ReturnType<ExtensionAPI["getMcpServers"]>[number];

const NONE: Registrations = { key: "[]", servers: [], disabled: [], overridden: [], diagnostics: [] };

export async function registrations(
  pi: Pick<ExtensionAPI, "getMcpServers">,
  place: RegistrationPlace,
  overrides: ReadonlyMap<string, RegistrationOverride> = new Map(),
): Promise<Registrations> {
  const registered = pi.getMcpServers();
  if (registered.length === 0) return NONE;
  const [{ loadConfiguration }, { namespacesOf }, { namespaceOf }, { markUsed }, read] = await Promise.all([
    import("../../connect/configuration.ts"),
    import("../../own-servers.ts"),
    import("../../../schemas/names.ts"),
    import("./tidy-registered.ts"),
    reader(place, overrides),
  ]);
  // What is wrong with mcp.json is said by whoever compiles or uses it.
  const taken = namespacesOf((await loadConfiguration(place.files)).value);
  const isTaken = ({ name }: Registered) => taken.has(namespaceOf(name));
  const own = registered.filter((server) => !isTaken(server)).map(read);
  const usable = own.flatMap(({ server }) => server ?? []);
  void markUsed(usable.map(({ out }) => out));
  return {
    key: keyOf(registered),
    servers: usable.filter(({ config }) => config.enabled),
    disabled: usable.filter(({ config }) => !config.enabled),
    overridden: registered.filter(isTaken).map(({ name, extensionPath }) => ({ name, source: extensionPath })),
    diagnostics: own.flatMap(({ diagnostics }) => diagnostics),
  };
}

function keyOf(registered: readonly Registered[]): string {
  return JSON.stringify(registered);
}

const CANT_FOLLOW = "MCP servers of extensions can't be kept up with";

/** Once for each session, when it has begun. */
export function watchRegistrations(session: PiSession): void {
  session.onChange(() => refreshDrifted(session));
  followRegistrations(session);
}

/** Has what was registered since, or was never compiled, found and compiled. Loads nothing where no server is registered. */
export function followRegistrations(session: PiSession): void {
  if (session.signal.aborted) return;
  const { registrations, pi, table } = session;
  const isChanged = keyOf(pi.getMcpServers()) !== registrations.key;
  if (!isChanged && registrations.servers.every(({ config }) => table.server(config.name) !== undefined)) return;
  sync(session, isChanged);
}

/** Once the first request is out: has artifacts made again that turn out to be torn, and those removed that nobody uses. */
export function settleRegistrations(session: PiSession): void {
  const { registrations, table } = session;
  if (registrations.servers.some(({ config }) => !isCompiled(table, config.name))) sync(session, false);
  inBackground(session, "artifacts of extensions' MCP servers can't be tidied", async () => {
    const { tidyRegistered } = await import("./tidy-registered.ts");
    await tidyRegistered(session);
  });
}

/** Artifacts that are torn where a session reads them are none. */
export function isCompiled(table: ToolTable, server: string): boolean {
  return table.server(server) !== undefined && table.serverDefinition(server).ok;
}

function sync(session: PiSession, isChanged: boolean): void {
  inBackground(session, CANT_FOLLOW, async () => {
    const { syncRegistered } = await import("./sync-registered.ts");
    await syncRegistered(session, isChanged);
  });
}

/** Nobody can compile a registered server but a session: it does that when a server turns out to offer other tools. */
function refreshDrifted(session: PiSession): void {
  const { servers } = session.registrations;
  if (servers.length === 0) return;
  const drifted = session.notices.filter(({ code }) => code === "tools-drifted").map(({ server }) => server);
  const own = servers.filter(({ config }) => drifted.includes(config.name));
  if (own.length === 0) return;
  inBackground(session, CANT_FOLLOW, async () => {
    const { refresh } = await import("./sync-registered.ts");
    await refresh(session, own);
  });
}

interface Read {
  readonly server: RegisteredServer | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

async function reader(
  { files, env, homedir }: RegistrationPlace,
  overrides: ReadonlyMap<string, RegistrationOverride>,
): Promise<(registered: Registered) => Read> {
  const [{ layerConfiguration }, { registeredFolders }] = await Promise.all([
    import("../../../schemas/config/layers.ts"),
    import("./registered-folders.ts"),
  ]);
  const folderOf = await registeredFolders(env, homedir);
  const { agentDir, sessionDir, defaultOut } = files;
  return ({ name, config, extensionPath }) => {
    // Nothing is declared, so that the request doesn't change with the moment at which a server is compiled.
    const entry = overridden(config, overrides.get(name));
    const text = JSON.stringify({ codemode: { inlineBudget: 0 }, mcpServers: { [name]: entry } });
    const file = { path: join(agentDir, "mcp.json"), display: extensionPath, scope: "user" as const, text };
    const layered = layerConfiguration({ files: [file], projectDir: sessionDir, agentDir, sessionDir, defaultOut });
    const found = layered.value.servers[0];
    return {
      server: found && { config: found, out: folderOf(found, layered.value), source: extensionPath, text },
      diagnostics: layered.diagnostics.map((one) => registrationFinding(name, extensionPath, one)),
    };
  };
}

function overridden(config: Registered["config"], override: RegistrationOverride | undefined): object {
  if (override === undefined) return config;
  const { toolExposure, ...rest } = override;
  const { toolExposure: own } = config;
  return {
    ...config,
    ...rest,
    ...(toolExposure && { toolExposure: { ...toolExposure, ...without(own, toolExposure) } }),
  };
}

function without<T>(entries: Readonly<Record<string, T>> = {}, taken: object): Record<string, T> {
  return Object.fromEntries(Object.entries(entries).filter(([key]) => !Object.hasOwn(taken, key)));
}

/** Named after the extension: the place is one in a text that nobody has seen. */
function registrationFinding(server: string, extension: string, found: Diagnostic): Diagnostic {
  const { code, severity, notes } = found;
  const message = `MCP server "${server}", registered by ${extension}: ${found.message}`;
  return { code, severity, message, server, notes };
}
