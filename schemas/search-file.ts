/** The content of search.json for documents that are already in order. */
import type { SearchFile } from "./search.schema.ts";
import { type SearchDocument, summaryOf } from "./search-document.ts";
import { buildPostings } from "./search-postings.ts";

export function searchFile(documents: readonly SearchDocument[]): SearchFile {
  return {
    formatVersion: 1,
    tools: documents.map(({ name, server, tool, description }) => ({
      name,
      server,
      tool,
      description: summaryOf(description),
    })),
    index: buildPostings(documents),
  };
}
