/**
 * Folders of artifacts for tests, written from what a test wants to say and valid in all the rest. In
 * memory by default, so a row can tear or change a file before it is read; `writeTo` puts one on disk.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildSearchIndex } from "../compiler/emit/search-index.ts";
import { layerArtifacts } from "../schemas/artifacts/layer.ts";
import { type ArtifactFolder, type Loaded, openArtifacts, type ReadFile } from "../schemas/artifacts/read.ts";
import { sha256 } from "../schemas/canonical.ts";
import type { CatalogServer, CatalogTool } from "../schemas/catalog.schema.ts";
import type { Exposure, Scope } from "../schemas/config/server-config.ts";
import type { ExposureFile } from "../schemas/exposure.schema.ts";
import { decideExposure } from "../schemas/exposure.ts";
import type { LimitsFile } from "../schemas/limits.schema.ts";
import { foldToolNames, namespaceOf } from "../schemas/names.ts";

export interface ToolSpec {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
  readonly annotations?: Record<string, unknown>;
  readonly _meta?: Record<string, unknown>;
  readonly limit?: { readonly maxOutputBytes: number; readonly source: "tool" | "server" };
}

export interface ServerSpec {
  readonly name: string;
  readonly description?: string;
  readonly instructions?: string;
  readonly exposure?: Exposure;
  readonly toolExposure?: Readonly<Record<string, Exposure>>;
  readonly tools: readonly (ToolSpec | string)[];
}

export interface ArtifactsSpec {
  readonly scope?: Scope;
  readonly servers?: readonly ServerSpec[];
  readonly overrides?: ExposureFile["overrides"];
  readonly defaultLimit?: LimitsFile["default"];
  readonly settings?: string;
}

/** Files of a folder by path, `manifest.json` included. */
export type Files = Map<string, string>;

export function buildArtifacts(spec: ArtifactsSpec): Files {
  const servers = (spec.servers ?? []).map((server) => ({
    ...server,
    tools: server.tools.map((tool) => (typeof tool === "string" ? { name: tool } : tool)),
  }));
  const refs = servers.flatMap((server) => server.tools.map((tool) => ({ server: server.name, tool: tool.name })));
  const names = foldToolNames(refs);
  let next = 0;
  const planned = servers.map((server) => {
    const rules = Object.entries(server.toolExposure ?? {}).map(([pattern, exposure]) => ({ pattern, exposure }));
    const settings = { ...(server.exposure && { exposure: server.exposure }), toolExposure: rules };
    const tools = server.tools.map(({ name, limit, ...declared }) => {
      const tool: CatalogTool = { name: names[next++]!, tool: name, method: name, ...declared };
      return { tool, limit, ...decideExposure(settings, { name, _meta: declared._meta }) };
    });
    return {
      settings,
      catalog: catalogServer(
        server,
        tools.map(({ tool }) => tool),
      ),
      tools,
    };
  });
  const tools = planned.flatMap((server) => server.tools.map((tool) => ({ server: server.catalog.name, ...tool })));
  const files = new Map<string, unknown>([
    ["catalog.json", { formatVersion: 1, servers: planned.map(({ catalog }) => catalog) }],
    [
      "exposure.json",
      {
        formatVersion: 1,
        servers: Object.fromEntries(planned.map(({ catalog, settings }) => [catalog.name, settings])),
        tools: Object.fromEntries(
          tools.map(({ server, tool, exposure, rule }) => [tool.name, { server, tool: tool.tool, exposure, rule }]),
        ),
        overrides: spec.overrides ?? {},
      },
    ],
    [
      "limits.json",
      {
        formatVersion: 1,
        default: spec.defaultLimit ?? { maxOutputBytes: 20_480, source: "default" },
        tools: Object.fromEntries(tools.flatMap(({ tool, limit }) => (limit ? [[tool.name, limit]] : []))),
      },
    ],
    ["budget.json", budget(tools.filter(({ exposure }) => exposure !== "hidden").map(({ tool }) => tool.name))],
    ["search.json", buildSearchIndex(planned)],
  ]);
  return withManifest(
    new Map([...files].map(([path, value]) => [path, JSON.stringify(value)])),
    spec,
    planned.map(({ catalog }) => catalog.name),
  );
}

function withManifest(files: Files, spec: ArtifactsSpec, servers: readonly string[]): Files {
  const compiled = {
    config: "c".repeat(64),
    era: "legacy",
    verdict: "answered",
    protocolVersion: "2025-11-25",
    transport: "stdio",
    toolList: "d".repeat(64),
  };
  const manifest = {
    formatVersion: 1,
    scope: spec.scope ?? "project",
    settings: spec.settings ?? "a".repeat(64),
    servers: Object.fromEntries(servers.map((name) => [name, compiled])),
    files: Object.fromEntries([...files].map(([path, text]) => [path, sha256(text)])),
  };
  return new Map([...files, ["manifest.json", JSON.stringify(manifest)]]);
}

/** Puts other content under a path and into the manifest, as a compile that wrote it would have. */
export function replaceFile(files: Files, path: string, content: unknown): Files {
  const text = JSON.stringify(content);
  const manifest = JSON.parse(files.get("manifest.json")!);
  manifest.files[path] = sha256(text);
  return new Map([...files, [path, text], ["manifest.json", JSON.stringify(manifest)]]);
}

/** A reader over files in memory that notes what was read. */
export function memoryReader(files: Files): { readonly readFile: ReadFile; readonly reads: string[] } {
  const reads: string[] = [];
  const readFile: ReadFile = (path) => {
    reads.push(path);
    const text = files.get(path);
    return text === undefined ? { missing: true, message: "ENOENT" } : new TextEncoder().encode(text);
  };
  return { readFile, reads };
}

export function openSpec(spec: ArtifactsSpec): Loaded<ArtifactFolder> {
  return openArtifacts(spec.scope ?? "project", memoryReader(buildArtifacts(spec)).readFile);
}

/** Writes a folder; returns its path. */
export function writeTo(folder: string, files: Files): string {
  mkdirSync(folder, { recursive: true });
  for (const [path, text] of files) writeFileSync(join(folder, path), text);
  return folder;
}

function catalogServer(server: Omit<ServerSpec, "tools">, tools: CatalogTool[]): CatalogServer {
  return {
    name: server.name,
    namespace: namespaceOf(server.name),
    client: server.name,
    ...(server.description !== undefined && { description: server.description }),
    ...(server.instructions !== undefined && { instructions: server.instructions }),
    capabilities: { tools: {} },
    resources: false,
    prompts: false,
    tools,
  };
}

/** Every tool costs 10 tokens and is declared. */
function budget(names: readonly string[]): unknown {
  return {
    formatVersion: 1,
    inlineBudget: 3000,
    charsPerToken: 4,
    declaredTokens: names.length * 10,
    totalTokens: names.length * 10,
    servers: [],
    tools: Object.fromEntries(names.map((name) => [name, { tokens: 10, declared: true }])),
  };
}

/** A user's artifacts below a project's, each from what it says. */
export const layer = (project: ArtifactsSpec | undefined, user: ArtifactsSpec | undefined) =>
  layerArtifacts({
    project: project && openSpec({ ...project, scope: "project" }),
    user: user && openSpec({ ...user, scope: "user" }),
  });
