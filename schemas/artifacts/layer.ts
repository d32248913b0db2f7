/**
 * Lays the user's artifacts under the project's, by the rule of mcp.json: a project server replaces the user's of
 * the same name; a project entry that only overrides changes whether the user's server is there, how its tools
 * are exposed and how much of their output is read. Where two servers or tools would share a folded name the
 * project's wins and both are reported. Artifacts of the project that are there but can't be trusted take the user's
 * with them: what the project hid would otherwise come back.
 */
import { byCodeUnit } from "../canonical.ts";
import type { Scope } from "../config/server-config.ts";
import { type Diagnostic, diagnostic, type Outcome } from "../diagnostic.ts";
import type { ExposureFile } from "../exposure.schema.ts";
import { decideExposure } from "../exposure.ts";
import type { LimitsFile } from "../limits.schema.ts";
import { namespaceOf } from "../names.ts";
import type { ArtifactFolder, Loaded } from "./read.ts";
import { type ServerEntry, type TableContents, type ToolEntry, ToolTable } from "./tool-table.ts";

type Override = ExposureFile["overrides"][string];

/** One scope's artifacts, with what is needed at once already read. */
interface Layer {
  readonly scope: Scope;
  readonly folder: ArtifactFolder;
  readonly exposure: ExposureFile;
  readonly limits: LimitsFile;
  readonly servers: readonly ServerEntry[];
  readonly tools: readonly ToolEntry[];
}

/** The artifacts of one server that a program brought itself. */
export interface OwnFolder {
  readonly server: string;
  readonly folder: Loaded<ArtifactFolder>;
}

/** One table from the folders there are; `undefined` for a scope that has none by design. */
export function layerArtifacts(
  folders: { readonly [S in Scope]: Loaded<ArtifactFolder> | undefined },
  own: readonly OwnFolder[] = [],
): Outcome<ToolTable> {
  const { value, diagnostics } = layerScopes(folders);
  return { value: new ToolTable(own.reduce(withOwn, value)), diagnostics };
}

function layerScopes(folders: { readonly [S in Scope]: Loaded<ArtifactFolder> | undefined }): Outcome<TableContents> {
  const project = folders.project && openLayer("project", folders.project);
  const user = folders.user && openLayer("user", folders.user);
  const diagnostics = [project, user].flatMap((layer) => (layer && !layer.ok ? [layer.diagnostic] : []));
  const missing = (layer: Loaded<Layer> | undefined) =>
    layer === undefined || (!layer.ok && layer.diagnostic.code === "artifacts-missing");
  const nothing = { servers: [], tools: [], folders: {} };
  if (missing(project) && missing(user)) return { value: nothing, diagnostics: diagnostics.slice(0, 1) };
  // One scope without artifacts is the normal case of people who have servers in the other alone.
  const reported = diagnostics.filter((found) => found.code !== "artifacts-missing");
  if (!missing(project) && !project!.ok) return { value: nothing, diagnostics: reported };
  const upper = project?.ok ? project.value : undefined;
  const lower = user?.ok ? overridden(user.value, upper) : undefined;
  if (lower && !lower.ok) return { value: nothing, diagnostics: [...reported, lower.diagnostic] };
  const merged = merge(upper, lower?.value);
  const opened = { ...(upper && { project: upper.folder }), ...(lower && { user: lower.value.folder }) };
  return {
    value: { servers: merged.servers, tools: merged.tools, folders: opened },
    diagnostics: [...reported, ...merged.diagnostics],
  };
}

/** Artifacts of such a server are made by the program and made again at need, so what can't be used is just not there. */
function withOwn(contents: TableContents, { server, folder }: OwnFolder): TableContents {
  const layer = openLayer("user", folder);
  const entry = layer.ok ? layer.value.servers.find(({ name }) => name === server) : undefined;
  if (!layer.ok || !entry || contents.servers.some(({ namespace }) => namespace === entry.namespace)) return contents;
  const taken = new Set(contents.tools.map(({ name }) => name));
  const tools = layer.value.tools.filter((tool) => tool.server === server && !taken.has(tool.name));
  return {
    ...contents,
    servers: [...contents.servers, entry].sort((a, b) => byCodeUnit(a.name, b.name)),
    tools: [...contents.tools, ...tools].sort(byServerAndTool),
    own: new Map([...(contents.own ?? []), [server, layer.value.folder]]),
  };
}

function openLayer(scope: Scope, folder: Loaded<ArtifactFolder>): Loaded<Layer> {
  if (!folder.ok) return folder;
  const exposure = folder.value.json("exposure.json");
  if (!exposure.ok) return exposure;
  const limits = folder.value.json("limits.json");
  if (!limits.ok) return limits;
  const { servers: configured, tools } = exposure.value;
  const servers = Object.entries(folder.value.manifest.servers).map(([name, compiled]): ServerEntry => {
    const exposure = Object.hasOwn(configured, name) ? configured[name]!.exposure : undefined;
    return { name, scope, namespace: namespaceOf(name), exposure: exposure ?? "codemode", compiled };
  });
  const known = new Set(servers.map((server) => server.name));
  const entries = Object.keys(tools).flatMap((name): ToolEntry[] => {
    const { server, tool, exposure, rule } = tools[name]!;
    if (!known.has(server)) return [];
    const own = Object.hasOwn(limits.value.tools, name) ? limits.value.tools[name]! : limits.value.default;
    const limit = { maxOutputBytes: own.maxOutputBytes, limitSource: own.source };
    return [{ name, server, tool, scope, exposure, rule, ...limit }];
  });
  return {
    ok: true,
    value: { scope, folder: folder.value, exposure: exposure.value, limits: limits.value, servers, tools: entries },
  };
}

/** The user's layer as the project wants it. */
function overridden(user: Layer, project: Layer | undefined): Loaded<Layer> {
  if (!project) return { ok: true, value: user };
  const { overrides } = project.exposure;
  const overrideOf = (server: string): Override | undefined =>
    Object.hasOwn(overrides, server) ? overrides[server] : undefined;
  const servers = user.servers
    .filter((server) => overrideOf(server.name)?.enabled !== false)
    .map((server) => ({ ...server, exposure: overrideOf(server.name)?.exposure ?? server.exposure }));
  const kept = new Set(servers.map((server) => server.name));
  const tools: ToolEntry[] = [];
  for (const entry of user.tools) {
    if (!kept.has(entry.server)) continue;
    const override = overrideOf(entry.server);
    const exposed = override ? reexposed(entry, override, user) : ({ ok: true, value: entry } as const);
    if (!exposed.ok) return exposed;
    tools.push(limited(exposed.value, override, project.limits.default));
  }
  return { ok: true, value: { ...user, servers, tools } };
}

/** The tool's exposure decided anew, by the user's rules with the project's in place of those it overrides. */
function reexposed(entry: ToolEntry, override: Override, user: Layer): Loaded<ToolEntry> {
  if (override.exposure === undefined && override.toolExposure === undefined) return { ok: true, value: entry };
  const configured = Object.hasOwn(user.exposure.servers, entry.server)
    ? user.exposure.servers[entry.server]!
    : undefined;
  const exposure = override.exposure ?? configured?.exposure;
  // Only such an override needs the catalog this early: a server's own mark on a tool counts anew.
  const tool = user.folder.tool(entry.name);
  if (!tool.ok) return tool;
  const meta = tool.value?._meta;
  const decided = decideExposure(
    { ...(exposure && { exposure }), toolExposure: override.toolExposure ?? configured?.toolExposure ?? [] },
    { name: entry.tool, ...(meta && { _meta: meta }) },
  );
  return { ok: true, value: { ...entry, ...decided } };
}

/** Tool, else server, else the project's top level, else the user's (DESIGN section 5). */
function limited(entry: ToolEntry, override: Override | undefined, project: LimitsFile["default"]): ToolEntry {
  if (entry.limitSource === "tool") return entry;
  if (override?.maxOutputBytes !== undefined) {
    return { ...entry, maxOutputBytes: override.maxOutputBytes, limitSource: "server" };
  }
  if (entry.limitSource === "server" || project.source !== "project") return entry;
  return { ...entry, maxOutputBytes: project.maxOutputBytes, limitSource: "project" };
}

function merge(
  project: Layer | undefined,
  user: Layer | undefined,
): { readonly servers: ServerEntry[]; readonly tools: ToolEntry[]; readonly diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const servers = [...(project?.servers ?? [])];
  const names = new Set(servers.map((server) => server.name));
  const namespaces = new Map(servers.map((server) => [server.namespace, server.name]));
  for (const server of user?.servers ?? []) {
    if (names.has(server.name)) continue;
    const rival = namespaces.get(server.namespace);
    if (rival === undefined) servers.push(server);
    else diagnostics.push(serverClash(rival, server.name, server.namespace));
  }
  // The user's servers that are left; a name stands for one of them only where the entry's scope is the user's.
  const kept = new Set(servers.filter((server) => server.scope === "user").map((server) => server.name));
  const tools = [...(project?.tools ?? []).map((entry) => underUserDefault(entry, user))];
  const folded = new Map(tools.map((entry) => [entry.name, entry]));
  for (const entry of user?.tools ?? []) {
    if (!kept.has(entry.server)) continue;
    const rival = folded.get(entry.name);
    if (rival === undefined) tools.push(entry);
    else diagnostics.push(toolClash(rival, entry));
  }
  servers.sort((a, b) => byCodeUnit(a.name, b.name));
  tools.sort(byServerAndTool);
  return { servers, tools, diagnostics };
}

function byServerAndTool(a: ToolEntry, b: ToolEntry): number {
  return byCodeUnit(a.server, b.server) || byCodeUnit(a.tool, b.tool);
}

/** The user's top-level limit holds for project tools that nothing nearer limits; it is in no project artifact. */
function underUserDefault(entry: ToolEntry, user: Layer | undefined): ToolEntry {
  if (entry.limitSource !== "default" || user?.limits.default.source !== "user") return entry;
  return { ...entry, maxOutputBytes: user.limits.default.maxOutputBytes, limitSource: "user" };
}

function serverClash(project: string, user: string, namespace: string): Diagnostic {
  return diagnostic(
    "server-name-collision",
    `servers "${project}" of the project and "${user}" of the user are both ${namespace}; the project's is used`,
    { server: user, notes: [`rename one of them in mcp.json and run \`pimcp compile\``] },
  );
}

function toolClash(project: ToolEntry, user: ToolEntry): Diagnostic {
  return diagnostic(
    "tool-name-collision",
    `tools "${project.server}/${project.tool}" of the project and "${user.server}/${user.tool}" of the user both fold to ` +
      `${project.name}; the project's is used`,
    { server: user.server, tool: user.tool, notes: ["rename one of the servers in mcp.json and run `pimcp compile`"] },
  );
}
