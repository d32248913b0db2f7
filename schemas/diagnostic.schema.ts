// Made from diagnostic.schema.json by `npm run schemas`. Do not edit.

/**
 * One finding of a run, as `--json` prints it. Positions are 1-based.
 */
export interface Diagnostic {
/**
 * kebab-case
 */
code: string
severity: ("error" | "warning" | "info")
message: string
/**
 * Relative to the project where possible.
 */
file?: string
line?: number
column?: number
server?: string
/**
 * The server's own name of the tool.
 */
tool?: string
/**
 * JSON Pointer into what the server sent.
 */
pointer?: string
notes: string[]
}
