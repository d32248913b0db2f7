/**
 * A plan in, named files with content out. The one value that writing, `--check`, `diff` and tests consume;
 * nothing here touches the disk. A file's content depends on the plan alone.
 */
import { byCodeUnit, sha256 } from "../../schemas/canonical.ts";
import type { CatalogFile, CatalogServer } from "../../schemas/catalog.schema.ts";
import { connectionDigest, settingsDigest } from "../../schemas/config/digest.ts";
import type { Configuration, Scope, ServerOverride } from "../../schemas/config/server-config.ts";
import type { ExposureFile } from "../../schemas/exposure.schema.ts";
import type { LimitsFile } from "../../schemas/limits.schema.ts";
import type { Manifest } from "../../schemas/manifest.schema.ts";
import { toolListDigest } from "../../schemas/tool-list.ts";
import type { Budgeted } from "../budget.ts";
import type { ScopePlan, ServerPlan } from "../plan.ts";
import type { ServerSnapshot } from "../snapshot.ts";
import { artifactJson, declaredJson } from "./json.ts";

export interface GeneratedFile {
  /** Relative to the output folder, with forward slashes. */
  readonly path: string;
  readonly content: string;
}

/** The JSON artifacts and codemode.d.ts; stubs and the search index come from modules of their own. */
export function jsonArtifacts(
  plan: ScopePlan,
  budgeted: Budgeted,
  overrides: Configuration["overrides"],
): GeneratedFile[] {
  return [
    { path: "catalog.json", content: artifactJson(catalogFile(plan.servers)) },
    { path: "exposure.json", content: artifactJson(exposureFile(plan.servers, overrides)) },
    { path: "budget.json", content: artifactJson({ ...budgeted.budget, tools: sorted(budgeted.budget.tools) }) },
    { path: "limits.json", content: artifactJson(limitsFile(plan)) },
    { path: "codemode.d.ts", content: budgeted.declarations },
  ];
}

function catalogFile(servers: readonly ServerPlan[]): CatalogFile {
  const catalogServer = ({ catalog }: ServerPlan): CatalogServer => ({
    ...catalog,
    capabilities: declaredJson(catalog.capabilities),
    tools: catalog.tools.map((tool) => {
      const declared = { ...tool };
      for (const member of ["inputSchema", "outputSchema", "annotations", "execution", "_meta"] as const) {
        if (declared[member] !== undefined) Object.assign(declared, { [member]: declaredJson(declared[member]) });
      }
      return declared;
    }),
  });
  return { formatVersion: 1, servers: servers.map(catalogServer) };
}

function exposureFile(servers: readonly ServerPlan[], overrides: Configuration["overrides"]): ExposureFile {
  const tools = servers.flatMap((server) =>
    server.tools.map(
      ({ tool, exposure, rule }) =>
        [tool.name, { server: server.config.name, tool: tool.tool, exposure, rule }] as const,
    ),
  );
  const configured = servers.map(
    ({ config }) =>
      [
        config.name,
        {
          ...(config.exposure && { exposure: config.exposure }),
          toolExposure: config.toolExposure.map((rule) => ({ ...rule })),
        },
      ] as const,
  );
  return {
    formatVersion: 1,
    servers: sorted(Object.fromEntries(configured)),
    tools: sorted(Object.fromEntries(tools)),
    overrides: sorted(
      Object.fromEntries(Object.entries(overrides).map(([name, entry]) => [name, overrideEntry(entry)])),
    ),
  };
}

function overrideEntry({ location: _, toolExposure, ...entry }: ServerOverride): ExposureFile["overrides"][string] {
  return { ...entry, ...(toolExposure && { toolExposure: toolExposure.map((rule) => ({ ...rule })) }) };
}

function limitsFile(plan: ScopePlan): LimitsFile {
  const own = plan.servers.flatMap((server) =>
    server.tools.flatMap(({ tool, limit }) => (limit ? [[tool.name, limit] as const] : [])),
  );
  return { formatVersion: 1, default: plan.defaultLimit, tools: sorted(Object.fromEntries(own)) };
}

/** manifest.json for files that are complete: digests of all of them, and what each server was compiled from. */
export function manifestFile(
  scope: Scope,
  settings: string,
  servers: Manifest["servers"],
  files: readonly GeneratedFile[],
): GeneratedFile {
  const digests = Object.fromEntries(files.map((file) => [file.path, sha256(file.content)]));
  const manifest: Manifest = { formatVersion: 1, scope, settings, servers: sorted(servers), files: sorted(digests) };
  return { path: "manifest.json", content: artifactJson(manifest) };
}

/** What the manifest says of one server. */
export function manifestServer(server: ServerPlan, snapshot: ServerSnapshot): Manifest["servers"][string] {
  return {
    config: connectionDigest(server.config),
    era: snapshot.era,
    verdict: snapshot.verdict,
    protocolVersion: snapshot.protocolVersion,
    ...(snapshot.supportedVersions && { supportedVersions: [...snapshot.supportedVersions] }),
    transport: snapshot.transport,
    toolList: toolListDigest(server.catalog.tools),
  };
}

export { settingsDigest };

function sorted<T>(record: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => byCodeUnit(a, b)));
}
