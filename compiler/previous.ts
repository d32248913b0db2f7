/**
 * What an output folder holds from the last compile: the ground for keeping a server that can't be reached
 * now, for saying what changed, and for knowing which files are ours. Reading never fails: a torn or
 * foreign folder, or a file of another shape, is one with less in it.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { FORMAT_VERSION } from "../schemas/artifacts/read.ts";
import { formatVersionOf, isCatalog, isExposure, isLimits, isManifest } from "../schemas/artifacts/shape.ts";
import { sha256 } from "../schemas/canonical.ts";
import type { CatalogFile, CatalogServer } from "../schemas/catalog.schema.ts";
import { bareServer, type Scope, type ServerConfig } from "../schemas/config/server-config.ts";
import type { ExposureFile } from "../schemas/exposure.schema.ts";
import { jsonIn } from "../schemas/json.ts";
import type { LimitsFile } from "../schemas/limits.schema.ts";
import type { Manifest } from "../schemas/manifest.schema.ts";
import { definitionOf } from "../schemas/tool-list.ts";
import type { ServerSnapshot } from "./snapshot.ts";

export interface Previous {
  readonly manifest: Manifest;
  readonly catalog?: CatalogFile;
  readonly exposure?: ExposureFile;
  readonly limits?: LimitsFile;
}

/** The last compile's artifacts of `folder`, as far as they are whole; undefined where there is no manifest of ours. */
export async function readPrevious(folder: string): Promise<Previous | undefined> {
  const text = await readFile(join(folder, "manifest.json"), "utf8").catch(() => undefined);
  const manifest = text === undefined ? undefined : shaped(text, isManifest);
  if (manifest === undefined) return undefined;
  const [catalog, exposure, limits] = await Promise.all([
    readWhole(folder, "catalog.json", manifest, isCatalog),
    readWhole(folder, "exposure.json", manifest, isExposure),
    readWhole(folder, "limits.json", manifest, isLimits),
  ]);
  return { manifest, ...(catalog && { catalog }), ...(exposure && { exposure }), ...(limits && { limits }) };
}

/** The catalog entry of the last compile. */
export function previousServer(previous: Previous | undefined, name: string): CatalogServer | undefined {
  return previous?.catalog?.servers.find((server) => server.name === name);
}

/** What the server said when it was last compiled, put together from the artifacts. */
export function previousSnapshot(previous: Previous | undefined, name: string): ServerSnapshot | undefined {
  const server = previousServer(previous, name);
  const entry =
    previous && Object.hasOwn(previous.manifest.servers, name) ? previous.manifest.servers[name] : undefined;
  if (!server || !entry) return undefined;
  return {
    server: name,
    transport: entry.transport,
    era: entry.era,
    verdict: entry.verdict,
    protocolVersion: entry.protocolVersion,
    ...(entry.supportedVersions && { supportedVersions: entry.supportedVersions }),
    ...(server.serverInfo && { serverInfo: server.serverInfo }),
    ...(server.instructions !== undefined && { instructions: server.instructions }),
    capabilities: server.capabilities,
    resources: server.resources,
    prompts: server.prompts,
    ...(server.promptList && {
      promptList: server.promptList.map(({ name: _, prompt, ...definition }) => ({ name: prompt, ...definition })),
    }),
    tools: server.tools.map((tool) => {
      const { tool: name, ...definition } = definitionOf(tool);
      return { name, ...definition };
    }),
    cacheScope: "private",
  };
}

/**
 * The settings a server was last compiled with, for one whose entry can't be read now: an error in `mcp.json`
 * must not delete what was compiled from it. It can't be connected with.
 */
export function previousConfig(previous: Previous, name: string, scope: Scope): ServerConfig | undefined {
  const server = previousServer(previous, name);
  const configured = previous.exposure?.servers[name];
  if (!server || !configured) return undefined;
  const limit = server.tools
    .map((tool) => previous.limits?.tools[tool.name])
    .find((entry) => entry?.source === "server");
  return {
    ...bareServer(name, scope),
    ...(configured.exposure && { exposure: configured.exposure }),
    toolExposure: configured.toolExposure,
    ...(server.description !== undefined && { description: server.description }),
    ...(limit && { maxOutputBytes: limit.maxOutputBytes }),
  };
}

type IsShape<T> = (value: unknown) => value is T;

async function readWhole<T>(folder: string, path: string, { files }: Manifest, isShape: IsShape<T>) {
  const text = (await readFile(join(folder, path), "utf8").catch(() => undefined))?.replaceAll("\r\n", "\n");
  return text !== undefined && sha256(text) === files[path] ? shaped(text, isShape) : undefined;
}

/** A digest only says that the file is the manifest's: whoever edits one by hand can correct the other. */
function shaped<T>(text: string, isShape: IsShape<T>): T | undefined {
  const value = jsonIn(text);
  return formatVersionOf(value) === FORMAT_VERSION && isShape(value) ? value : undefined;
}
