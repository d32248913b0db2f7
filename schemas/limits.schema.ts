// Made from limits.schema.json by `npm run schemas`. Do not edit.

/**
 * generated/limits.json: how many bytes of a tool's text output a model may read.
 */
export interface LimitsFile {
/**
 * Version of the artifact format. The runtime refuses a version it does not know and names `pimcp compile`.
 */
formatVersion: 1
/**
 * For tools not listed: those whose limit comes from no tool or server.
 */
default: {
maxOutputBytes: number
source: ("project" | "user" | "default")
}
/**
 * By folded name: limits of a tool's `_meta["pi/maxOutputBytes"]` or of its server's configuration.
 */
tools: {
[k: string]: {
maxOutputBytes: number
source: ("tool" | "server")
}
}
}
