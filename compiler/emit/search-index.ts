/**
 * generated/search.json from a plan: the tools a model may find and an inverted index over them.
 * Hidden tools leave no trace in it. The bytes depend on the tools alone, not on the machine or on the
 * order they come in.
 */
import { byCodeUnit } from "../../schemas/canonical.ts";
import type { CatalogServer, CatalogTool } from "../../schemas/catalog.schema.ts";
import type { Exposure } from "../../schemas/config/server-config.ts";
import type { SearchFile } from "../../schemas/search.schema.ts";
import { searchDocument } from "../../schemas/search-document.ts";
import { searchFile } from "../../schemas/search-file.ts";

/** What the index needs of a plan (`ServerPlan` has it). */
export interface SearchableServer {
  readonly catalog: CatalogServer;
  readonly tools: readonly { readonly tool: CatalogTool; readonly exposure: Exposure }[];
}

export function buildSearchIndex(servers: readonly SearchableServer[]): SearchFile {
  const documents = servers.flatMap(({ catalog, tools }) =>
    tools.filter(({ exposure }) => exposure !== "hidden").map(({ tool }) => searchDocument(catalog, tool)),
  );
  return searchFile(documents.sort((a, b) => byCodeUnit(a.server, b.server) || byCodeUnit(a.tool, b.tool)));
}
