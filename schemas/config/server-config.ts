/**
 * A server's entry of `mcp.json` after validation and layering: plain, readonly data. Values are
 * as written (`${VAR}`, `~/` and `!command` unexpanded): only `runtime/connect` resolves them, at the
 * moment it connects, and nothing else may.
 */
import type { DriftMode } from "../drift-mode.ts";
import type { ScriptEngine } from "../script-engine.ts";
import type { TypecheckMode } from "../script-finding.ts";

export const EXPOSURES = ["codemode", "codemode-deferred", "deferred", "direct", "hidden"] as const;
/** How a tool reaches the model (DESIGN section 5; Pi's `docs/mcp.md`). */
export type Exposure = (typeof EXPOSURES)[number];

/** One `toolExposure` entry; `pattern` is an exact tool name or has `*` for any characters. */
export interface ExposureRule {
  readonly pattern: string;
  readonly exposure: Exposure;
}

export type Scope = "user" | "project";

export interface StdioSettings {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface OAuthSettings {
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly clientName?: string;
  readonly clientRegistration?: "auto" | "dcr" | "cimd";
  readonly scope?: string;
  readonly callbackPort?: number;
  readonly callbackUrl?: string;
  readonly authServerMetadataUrl?: string;
  /** How tokens are got. Default `authorization-code`: a person signs in. The others need nobody. Ours, as all below. */
  readonly grant?: OAuthGrant;
  /** The issuer that `clientId` is registered with: its secrets go nowhere else. */
  readonly issuer?: string;
  /** A Client ID Metadata Document of one's own. */
  readonly clientMetadataUrl?: string;
  /** PEM (PKCS #8) of the key that proves who the client is, in place of `clientSecret`. */
  readonly privateKey?: string;
  /** JWS algorithm of `privateKey`, default `ES256`. */
  readonly privateKeyAlgorithm?: string;
  /** `workload-identity`: the JWT of the workload. */
  readonly assertion?: string;
  /** `enterprise-managed`: the person's ID token and who issued it. */
  readonly idToken?: string;
  readonly idpIssuer?: string;
  /** Where the issuer exchanges it, in place of what its metadata says. */
  readonly idpTokenEndpoint?: string;
  readonly idpClientId?: string;
  readonly idpClientSecret?: string;
  /** Tokens that are bound to a key of ours (RFC 9449), where the server doesn't ask for them by itself. */
  readonly dpop?: boolean;
}

export const OAUTH_GRANTS = [
  "authorization-code",
  "client-credentials",
  "workload-identity",
  "enterprise-managed",
] as const;
export type OAuthGrant = (typeof OAUTH_GRANTS)[number];

/** Fields of `oauth` whose values are secrets: `${VAR}` or a whole-value `!command`. */
export const OAUTH_SECRETS = ["clientSecret", "privateKey", "assertion", "idToken", "idpClientSecret"] as const;

export interface HttpSettings {
  readonly kind: "http";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly oauth?: OAuthSettings;
  /** Certificates in PEM that are trusted beside the usual ones. */
  readonly caFile?: string;
  /** The provider of Pi whose login signs requests, instead of OAuth; of the user's file alone. */
  readonly authProvider?: string;
}

/** Where a value stands, for diagnostics. 1-based, `file` as it should be shown to a person. */
export interface SourceLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface ServerConfig {
  /** Key in `mcpServers`: letters, digits, `_` and `-`. */
  readonly name: string;
  readonly scope: Scope;
  /** Absolute path of the file that defines the server. In no artifact. */
  readonly file: string;
  /** Absolute folder that a missing or relative `cwd` is resolved against. */
  readonly baseDir: string;
  readonly location: SourceLocation;
  readonly transport: StdioSettings | HttpSettings;
  readonly enabled: boolean;
  readonly exposure?: Exposure;
  readonly toolExposure: readonly ExposureRule[];
  readonly description?: string;
  readonly maxOutputBytes?: number;
  readonly protocolVersion: "auto" | "legacy" | "2026-07-28";
  readonly tasks: boolean;
  /** Freshness of a tool list that carries no `ttlMs` of its own, in milliseconds. */
  readonly ttlMs: number;
  /** Milliseconds per request (`requestTimeoutMs`, else `timeout` seconds, else 60,000); progress extends it. */
  readonly requestTimeoutMs: number;
  /** Milliseconds the compile-time version probe waits at most. */
  readonly probeTimeoutMs: number;
}

/** Fields of a user's server that a project entry without `command`, `url` and `type` overrides. */
export interface ServerOverride {
  readonly enabled?: boolean;
  readonly exposure?: Exposure;
  readonly toolExposure?: readonly ExposureRule[];
  readonly maxOutputBytes?: number;
  readonly location: SourceLocation;
}

/** Everything the configuration files say, layered. One per run. */
export interface Configuration {
  /** Servers sorted by name, user and project scope; a user's server that the project overrides keeps scope `user`. */
  readonly servers: readonly ServerConfig[];
  /** Project overrides of user servers, by server name. Already applied to `servers`. */
  readonly overrides: Readonly<Record<string, ServerOverride>>;
  readonly project: ScopeSettings;
  readonly user: ScopeSettings;
  /** Absolute project root. */
  readonly projectDir: string;
  /** Absolute agent folder (`~/.pi/agent` or `$PI_CODING_AGENT_DIR`). */
  readonly agentDir: string;
  /** Absolute paths of all files of the layering, those that don't exist included: what `watch` watches. */
  readonly files: readonly string[];
  /**
   * The user's servers as the user's file alone has them, sorted by name: before a project replaced or overrode
   * any. What the user's artifacts are made from, so that they don't change from project to project.
   */
  readonly userServers?: readonly ServerConfig[];
  /** Entries that were left out because of an error, sorted by name. Their artifacts must be kept. */
  readonly dropped?: readonly DroppedServer[];
  /** Pi's switch for activating its codemode tool; a project's value wins. */
  readonly autoEnableCodemode?: boolean;
  /** What type errors in scripts do; a project's value wins, "error" where nobody says. */
  readonly typecheck?: TypecheckMode;
  /** What runs scripts in Pi; a project's value wins, "pi" where nobody says. */
  readonly engine?: ScriptEngine;
  /** What becomes of calls to tools that changed; `block` of either scope holds, "warn" where nobody says. */
  readonly onDrift?: DriftMode;
}

export interface DroppedServer {
  readonly name: string;
  readonly scope: Scope;
  readonly location: SourceLocation;
}

/** Bytes of a tool's output that a model reads when nobody says otherwise (Pi's `docs/mcp.md`: 20 KB). */
export const DEFAULT_MAX_OUTPUT_BYTES = 20_480;

/** Top-level keys of one scope's files. */
export interface ScopeSettings {
  readonly maxOutputBytes?: number;
  /** Tokens for declarations, default 3000. */
  readonly inlineBudget: number;
  /** Absolute output folder. */
  readonly out: string;
  /** A whole file of this scope could not be used: servers that seem to be gone may not be. Remove no artifact. */
  readonly incomplete?: boolean;
}

/**
 * The servers that a scope's artifacts are made from: the user's as the user's file alone has them,
 * untouched by the project at hand.
 */
export function serversOfScope(configuration: Configuration, scope: Scope): readonly ServerConfig[] {
  const own = configuration.servers.filter((server) => server.scope === scope);
  return scope === "user" ? (configuration.userServers ?? own) : own;
}

/** A place as messages name it: `mcp.json:3:5`. */
export function placeText({ file, line, column }: SourceLocation): string {
  return `${file}:${line}:${column}`;
}

/** Every text of an entry that may hold a variable or a command. */
export function textsOf({ transport }: Pick<ServerConfig, "transport">): string[] {
  if (transport.kind === "http") {
    const oauth = Object.values(transport.oauth ?? {}).filter((value) => typeof value === "string");
    return [transport.url, ...Object.values(transport.headers), ...oauth];
  }
  return [transport.command, ...transport.args, ...Object.values(transport.env), transport.cwd ?? ""];
}

/** Whether headers sign requests by themselves. */
export function hasAuthorization(headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
}

/** An entry that stands in no file and can't be connected with: the defaults of all that messages, plans and limits ask. */
export function bareServer(name: string, scope: Scope): ServerConfig {
  return {
    name,
    scope,
    file: "",
    baseDir: "",
    location: { file: "", line: 1, column: 1 },
    transport: { kind: "stdio", command: "", args: [], env: {} },
    enabled: true,
    toolExposure: [],
    protocolVersion: "auto",
    tasks: true,
    ttlMs: 0,
    requestTimeoutMs: 60_000,
    probeTimeoutMs: 10_000,
  };
}
