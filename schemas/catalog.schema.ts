// Made from catalog.schema.json by `npm run schemas`. Do not edit.

/**
 * generated/catalog.json: every tool as its server declares it, hidden ones included.
 */
export interface CatalogFile {
/**
 * Version of the artifact format. The runtime refuses a version it does not know and names `pimcp compile`.
 */
formatVersion: 1
/**
 * Sorted by name.
 */
servers: CatalogServer[]
}
export interface CatalogServer {
/**
 * Key in mcpServers.
 */
name: string
/**
 * `mcp__<server>` with `-` replaced by `_`.
 */
namespace: string
/**
 * Name of the client in index.ts (camelCase).
 */
client: string
/**
 * From the configuration.
 */
description?: string
serverInfo?: {
name: string
version: string
title?: string
}
/**
 * What the server told clients about its use.
 */
instructions?: string
/**
 * Capabilities as declared by the server.
 */
capabilities: {
[k: string]: unknown
}
/**
 * Resources can really be listed.
 */
resources: boolean
/**
 * Prompts can really be listed.
 */
prompts: boolean
/**
 * Sorted by prompt name; absent where there are none.
 */
promptList?: CatalogPrompt[]
/**
 * Sorted by tool name.
 */
tools: CatalogTool[]
}
export interface CatalogPrompt {
/**
 * Folded name `mcp__<server>__<prompt>`, unique over all prompts, at most 64 characters of [A-Za-z0-9_].
 */
name: string
/**
 * The server's own name of the prompt.
 */
prompt: string
title?: string
description?: string
/**
 * In the server's order.
 */
arguments?: {
name: string
title?: string
description?: string
required?: true
}[]
}
export interface CatalogTool {
/**
 * Folded name `mcp__<server>__<tool>`, unique over all servers, at most 64 characters of [A-Za-z0-9_].
 */
name: string
/**
 * The server's own name of the tool.
 */
tool: string
/**
 * Method name in the stub (camelCase).
 */
method: string
title?: string
description?: string
/**
 * As declared by the server.
 */
inputSchema?: unknown
/**
 * As declared by the server.
 */
outputSchema?: unknown
annotations?: {
[k: string]: unknown
}
_meta?: {
[k: string]: unknown
}
/**
 * As declared by the server (2025-11-25 task support).
 */
execution?: {
[k: string]: unknown
}
}
