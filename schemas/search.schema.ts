// Made from search.schema.json by `npm run schemas`. Do not edit.

/**
 * generated/search.json: the serialised search index over tools that are not hidden.
 */
export interface SearchFile {
/**
 * Version of the artifact format. The runtime refuses a version it does not know and names `pimcp compile`.
 */
formatVersion: 1
/**
 * The documents of the index, sorted by server and tool; a document's number is its position here.
 */
tools: {
/**
 * Folded name.
 */
name: string
server: string
tool: string
/**
 * First line, shortened.
 */
description: string
}[]
/**
 * Inverted index, one entry a term: the term, then its postings, as schemas/search-postings.ts writes and reads them. Sorted by code unit.
 */
index: string[]
}
