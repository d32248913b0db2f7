/**
 * What a query searches: the indexes of the artifacts, each showing only tools that the table has from its own
 * scope and that are not hidden. Tools that a project's override brought out of hiding are in no compiled index and get
 * a small one here.
 */
import type { SearchFile } from "../search.schema.ts";
import { type SearchDocument, searchDocument } from "../search-document.ts";
import { searchFile } from "../search-file.ts";
import type { SearchSegment } from "../search-query.ts";
import type { Loaded } from "./read.ts";
import type { ToolTable } from "./tool-table.ts";

/** The segments of a table, worked out once. Errors: the artifacts'. */
export function searchSegments(table: ToolTable): Loaded<readonly SearchSegment[]> {
  const known = segmentsOf.get(table) ?? makeSegments(table);
  segmentsOf.set(table, known);
  return known;
}
const segmentsOf = new WeakMap<ToolTable, Loaded<readonly SearchSegment[]>>();

function makeSegments(table: ToolTable): Loaded<readonly SearchSegment[]> {
  const segments: SearchSegment[] = [];
  const indexed = new Set<string>();
  for (const scope of ["project", "user"] as const) {
    const search = table.folder(scope)?.json("search.json");
    if (search === undefined) continue;
    if (!search.ok) return search;
    const shows: SearchSegment["shows"] = (tool) => table.byName(tool.name)?.scope === scope;
    segments.push({ file: search.value, shows });
    for (const tool of search.value.tools) if (shows(tool)) indexed.add(tool.name);
  }
  const revealed = indexRevealed(table, indexed);
  if (!revealed.ok) return revealed;
  if (revealed.value.tools.length > 0) segments.push({ file: revealed.value, shows: () => true });
  return { ok: true, value: segments };
}

function indexRevealed(table: ToolTable, indexed: ReadonlySet<string>): Loaded<SearchFile> {
  const documents: SearchDocument[] = [];
  for (const entry of table.tools()) {
    if (indexed.has(entry.name)) continue;
    const tool = table.definition(entry.name);
    if (!tool.ok) return tool;
    const server = table.serverDefinition(entry.server);
    if (!server.ok) return server;
    if (tool.value && server.value) documents.push(searchDocument(server.value, tool.value));
  }
  return { ok: true, value: searchFile(documents) };
}
