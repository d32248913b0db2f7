// Made from exposure.schema.json by `npm run schemas`. Do not edit.

/**
 * generated/exposure.json: how each tool reaches the model, and the rule that decided it.
 */
export interface ExposureFile {
/**
 * Version of the artifact format. The runtime refuses a version it does not know and names `pimcp compile`.
 */
formatVersion: 1
/**
 * By folded tool name, sorted.
 */
tools: {
[k: string]: {
server: string
tool: string
exposure: ("codemode" | "codemode-deferred" | "deferred" | "direct" | "hidden")
/**
 * What decided: `default`, `server` (its `exposure`), `toolExposure:<key>`, or `visibility` (the server marks the tool as not for the model).
 */
rule: string
}
}
/**
 * Project entries that only override fields of a user's server, by server name. The runtime lays them over the user's artifacts.
 */
overrides: {
[k: string]: {
enabled?: boolean
exposure?: ("codemode" | "codemode-deferred" | "deferred" | "direct" | "hidden")
/**
 * Rules in the order of the file.
 */
toolExposure?: {
pattern: string
exposure: ("codemode" | "codemode-deferred" | "deferred" | "direct" | "hidden")
}[]
maxOutputBytes?: number
}
}
/**
 * What the configuration says of each server, so that a project's override can be laid over a user's artifacts.
 */
servers: {
[k: string]: {
exposure?: ("codemode" | "codemode-deferred" | "deferred" | "direct" | "hidden")
/**
 * Rules in the order of the file.
 */
toolExposure: {
pattern: string
exposure: ("codemode" | "codemode-deferred" | "deferred" | "direct" | "hidden")
}[]
}
}
}
