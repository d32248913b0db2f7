// Made from mcp.schema.json by `npm run schemas`. Do not edit.

/**
 * A server that is started by `command` or reached at `url`. Without those (and without `type`) a project's entry overrides `enabled`, `exposure`, `toolExposure` and `maxOutputBytes` of the server that a lower file defines.
 */
export type Server = {
/**
 * Optional: `command` means stdio, `url` means Streamable HTTP.
 */
type?: ("stdio" | "http" | "streamable-http")
/**
 * stdio: one executable, not a shell line. `${VAR}`, `${VAR:-default}` and a leading `~/` are expanded.
 */
command?: string
/**
 * stdio: arguments, one each. `${VAR}`, `${VAR:-default}` and a leading `~/` are expanded.
 */
args?: string[]
/**
 * stdio: environment variables. Values may use `${VAR}`, or be `!command` as a whole.
 */
env?: {
[k: string]: string
}
/**
 * stdio: working folder. Relative to the project root; in the user's file to the folder the session runs in.
 */
cwd?: string
/**
 * HTTP: the server's Streamable HTTP URL. `${VAR}` is expanded.
 */
url?: string
/**
 * HTTP: request headers. Values may use `${VAR}`, or be `!command` as a whole.
 */
headers?: {
[k: string]: string
}
oauth?: Oauth
/**
 * HTTP: a file of certificates in PEM that are trusted beside the usual ones. Relative like `cwd`; `${VAR}` and a leading `~/` are expanded.
 */
caFile?: string
/**
 * HTTP, in the user's file only: sends the token of a login to a provider of Pi, instead of OAuth. Over https, or http on this machine.
 */
auth?: {
/**
 * The provider's id.
 */
provider: string
}
/**
 * false keeps the entry without using the server. Default true.
 */
enabled?: boolean
exposure?: Exposure
/**
 * Exposure of single tools, by the server's own tool name or a pattern with `*`. Exact names win, then the first pattern that matches.
 */
toolExposure?: {
[k: string]: Exposure
}
/**
 * What the server offers, in a sentence.
 */
description?: string
/**
 * Bytes of a result of this server that the model sees; the rest goes to a file.
 */
maxOutputBytes?: number
/**
 * `auto` (default) asks the server once, at compile time; `legacy` is 2025-11-25 and older; `2026-07-28` is pinned.
 */
protocolVersion?: ("auto" | "legacy" | "2026-07-28")
/**
 * false keeps plain synchronous calls. Default true.
 */
tasks?: boolean
/**
 * Milliseconds this server's tool list counts as fresh when the server does not say.
 */
ttlMs?: number
/**
 * Seconds a request may take; progress extends it. Default 60.
 */
timeout?: number
/**
 * Milliseconds a request may take; wins over `timeout`.
 */
requestTimeoutMs?: number
/**
 * Milliseconds the version probe waits at compile time. Default 10000.
 */
probeTimeoutMs?: number
}
/**
 * How a tool reaches the model. `codemode` (default): declared to and callable from scripts. `codemode-deferred`: callable from scripts, never declared. `deferred`: found by tool search, then called directly. `direct`: declared like a built-in tool. `hidden`: unreachable.
 */
export type Exposure = ("codemode" | "codemode-deferred" | "deferred" | "direct" | "hidden")
/**
 * What type errors in scripts do: `error` (default) runs nothing, `warn` tells them and runs, `off` looks for none. Written at the top or in `codemode`, which wins; a project's value before the user's.
 */
export type Typecheck = ("off" | "warn" | "error")

/**
 * mcp.json: the MCP servers of a user or a project. The `mcpServers` shape is the one MCP clients share, with Pi's and pimcp's fields. Comments and trailing commas are accepted by pimcp, not by every other client.
 */
export interface McpConfigFile {
/**
 * Where an editor finds this schema.
 */
$schema?: string
/**
 * Servers by name: letters, digits, `_` and `-`. Names that differ only in `-` and `_` count as the same.
 */
mcpServers?: {
[k: string]: Server
}
/**
 * Bytes of a result that the model sees, for servers and tools that set no limit of their own. Default 20480.
 */
maxOutputBytes?: number
/**
 * Milliseconds a server's tool list counts as fresh when the server does not say. Default 0: ask at each compile.
 */
ttlMs?: number
codemode?: {
/**
 * Tokens for tool declarations in the prompt, at 4 characters a token. Default 3000.
 */
inlineBudget?: number
typecheck?: Typecheck
/**
 * Pi: what runs the scripts of its codemode tool. `pi` (default): Pi's own sandbox. `pimcp`: pimcp's, under the same name. A project's value before the user's.
 */
engine?: ("pi" | "pimcp")
}
typecheck?: Typecheck
/**
 * Calls to tools whose definition changed since they were compiled: `warn` (default) tells it and calls, `block` refuses them, and those of a server whose tools can't be compared. A user's `block` holds in every project, whatever the project says.
 */
onDrift?: ("warn" | "block")
/**
 * Project files only: output folder, inside the project and relative to its root. Default `generated`.
 */
out?: string
/**
 * Pi: activate the codemode tool when a server with codemode exposure connects. Default true.
 */
autoEnableCodemode?: boolean
}
/**
 * HTTP servers without an `Authorization` header: how to sign in. Most servers need none of it.
 */
export interface Oauth {
/**
 * A client registered with the authorization server.
 */
clientId?: string
/**
 * `${VAR}`, or `!command` as a whole.
 */
clientSecret?: string
/**
 * The name sent when a client is registered dynamically.
 */
clientName?: string
/**
 * `dcr`: always register; `cimd`: always use the Client ID Metadata Document.
 */
clientRegistration?: ("auto" | "dcr" | "cimd")
/**
 * Scopes to ask for, separated by blanks.
 */
scope?: string
/**
 * Port of the redirect URI http://127.0.0.1:<port>/callback.
 */
callbackPort?: number
/**
 * Another redirect URI, on localhost, 127.0.0.1 or [::1].
 */
callbackUrl?: string
/**
 * Metadata document of the authorization server, where discovery names a wrong one or none.
 */
authServerMetadataUrl?: string
/**
 * How tokens are got. Default `authorization-code`: a person signs in. pimcp only, as all below.
 */
grant?: ("authorization-code" | "client-credentials" | "workload-identity" | "enterprise-managed")
/**
 * The issuer that `clientId` is registered with; its secrets go nowhere else.
 */
issuer?: string
/**
 * A Client ID Metadata Document of one's own.
 */
clientMetadataUrl?: string
/**
 * PEM (PKCS #8) of the client's key, in place of `clientSecret`: `${VAR}`, or `!command` as a whole.
 */
privateKey?: string
/**
 * Algorithm of `privateKey`. Default ES256.
 */
privateKeyAlgorithm?: ("ES256" | "ES384" | "ES512" | "RS256" | "RS384" | "RS512" | "PS256" | "PS384" | "PS512")
/**
 * `workload-identity`: the workload's JWT, `${VAR}`, or `!command` as a whole.
 */
assertion?: string
/**
 * `enterprise-managed`: the person's ID token, `${VAR}`, or `!command` as a whole.
 */
idToken?: string
/**
 * `enterprise-managed`: who issued the ID token.
 */
idpIssuer?: string
/**
 * Where that issuer exchanges it, in place of what its metadata says.
 */
idpTokenEndpoint?: string
/**
 * `enterprise-managed`: the client at that issuer.
 */
idpClientId?: string
/**
 * Its secret where it has one: `${VAR}`, or `!command` as a whole.
 */
idpClientSecret?: string
/**
 * Bind tokens to a key (RFC 9449) even where the server does not ask for it.
 */
dpop?: boolean
}
