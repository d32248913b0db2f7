/**
 * Tool search as scripts, the model and a program see it: over the tools of the table that are not hidden.
 * The index is read on the first query and needs no building.
 */
import type { Loaded } from "../schemas/artifacts/read.ts";
import { searchSegments } from "../schemas/artifacts/search-segments.ts";
import type { ToolTable } from "../schemas/artifacts/tool-table.ts";
import { type SearchOptions, type SearchResult, searchTools } from "../schemas/search-query.ts";

/** The best tools for `query`, best first. Errors: the artifacts' (`artifacts-torn`, `artifacts-format`). */
export function search(table: ToolTable, query: string, options: SearchOptions = {}): Loaded<readonly SearchResult[]> {
  const segments = searchSegments(table);
  return segments.ok ? { ok: true, value: searchTools(segments.value, query, options) } : segments;
}
