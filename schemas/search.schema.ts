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
 * The documents of the index; a document's id is its position here.
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
 * A MiniSearch index as its toJSON() gives it.
 */
index: {
[k: string]: unknown
}
}
