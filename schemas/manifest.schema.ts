// Made from manifest.schema.json by `npm run schemas`. Do not edit.

/**
 * generated/manifest.json: what was compiled from what. Written last, so a digest that does not match means a torn write.
 */
export interface Manifest {
/**
 * Version of the artifact format. The runtime refuses a version it does not know and names `pimcp compile`.
 */
formatVersion: 1
/**
 * Which configuration these artifacts were compiled from.
 */
scope: ("user" | "project")
/**
 * Digest of everything in the configuration that shapes these artifacts (exposure, limits, budget, names), secrets excluded: a configuration that digests differently is newer than its artifacts.
 */
settings: string
/**
 * Compiled servers by name.
 */
servers: {
[k: string]: {
/**
 * Digest of the server's own entry: how it is reached, without secrets.
 */
config: string
/**
 * Protocol era: `legacy` speaks the 2025 `initialize` handshake, `modern` 2026-07-28 and later.
 */
era: ("legacy" | "modern")
/**
 * Evidence for the era: the server answered the probe, kept silent (weak: probed anew at the next compile), or `protocolVersion` in the configuration said so.
 */
verdict: ("answered" | "silence" | "configured")
/**
 * Negotiated protocol version.
 */
protocolVersion: string
/**
 * Versions of a modern server's `server/discover` answer.
 */
supportedVersions?: string[]
transport: ("stdio" | "streamable-http" | "sse")
/**
 * Digest of the tool list as declared.
 */
toolList: string
}
}
/**
 * sha256 of every other file of this folder, by its path with forward slashes.
 */
files: {
/**
 * sha256, 64 lower-case hex digits.
 */
[k: string]: string
}
}
