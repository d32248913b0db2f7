/**
 * Validates one entry of `mcpServers`. What it is depends on its fields alone: with `command`, `url` or
 * `type` it defines a server; in a project's file one without them overrides a few fields of a server that
 * another file defines. All mistakes are reported. A definition with a mistake is dropped, because a
 * server started or reached in another way than written is worse than none; a malformed exposure hides
 * instead (see validate-exposure.ts). Pi's fields mean what Pi's `docs/mcp.md` says.
 */
import type { Diagnostic } from "../diagnostic.ts";
import { FieldReader, optional, type Report, reporter } from "./fields.ts";
import { quoted } from "./quote.ts";
import { warnLiteralSecrets } from "./secrets.ts";
import { isSecureAddress } from "./secure-address.ts";
import {
  type HttpSettings,
  hasAuthorization,
  type Scope,
  type ServerConfig,
  type ServerOverride,
  type SourceLocation,
  type StdioSettings,
} from "./server-config.ts";
import type { ConfigMember, ConfigObject } from "./source.ts";
import { readExposure } from "./validate-exposure.ts";
import { readOAuth } from "./validate-oauth.ts";

/** What one entry says by itself; layering adds where it stands and the defaults of its scope. */
export type ServerEntry = Omit<ServerConfig, "file" | "baseDir" | "ttlMs" | "scope"> & { readonly ttlMs?: number };

export type ValidatedEntry =
  | { readonly kind: "server"; readonly server: ServerEntry }
  | {
      readonly kind: "override";
      readonly override: ServerOverride;
      /** Fields it has that only a definition can have, each with the place of its key. */
      readonly definitionFields: readonly { readonly key: string; readonly location: SourceLocation }[];
    }
  | { readonly kind: "dropped" };

/** Letters, digits, `_` and `-`: what tool names and namespaces are built from. */
export const SERVER_NAME = /^[A-Za-z0-9_-]+$/;

const SHARED_KEYS = [
  "type",
  "enabled",
  "exposure",
  "toolExposure",
  "description",
  "timeout",
  "maxOutputBytes",
  "protocolVersion",
  "tasks",
  "ttlMs",
  "requestTimeoutMs",
  "probeTimeoutMs",
];
const STDIO_KEYS = ["command", "args", "env", "cwd"];
const HTTP_KEYS = ["url", "headers", "oauth", "auth", "caFile"];
const SERVER_KEYS = [...SHARED_KEYS, ...STDIO_KEYS, ...HTTP_KEYS];
/** What a project may override of a server that it does not define. */
const OVERRIDE_KEYS = ["enabled", "exposure", "toolExposure", "maxOutputBytes"];

const ENV_NAME = /^[^=\u0000]+$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** The longest delay of a timer, 24.8 days; a longer one would fire at once. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;
const DEFAULT_REQUEST_TIMEOUT_MS = 60_000;
const DEFAULT_PROBE_TIMEOUT_MS = 10_000;

export function validateEntry(member: ConfigMember, scope: Scope, diagnostics: Diagnostic[]): ValidatedEntry {
  const name = member.key;
  const report = reporter(diagnostics, name);
  if (!SERVER_NAME.test(name)) {
    const message = `server name ${quoted(name)} may only have letters, digits, "_" and "-"`;
    reporter(diagnostics)("invalid-server-name", message, member.keyAt, [leftOut(name)]);
    return { kind: "dropped" };
  }
  const node = member.value;
  if (node.kind !== "object") {
    const remedy =
      'write an object such as { "command": "npx", "args": ["-y", "some-server"] } or { "url": "https://…" }';
    report("invalid-server", `server "${name}" must be an object`, node.at, [remedy]);
    return { kind: "dropped" };
  }
  const isOverride = !["command", "url", "type"].some((key) => node.members.has(key));
  if (isOverride && scope === "project") return validateOverride(member, node, report);
  return validateDefinition(member, node, scope, report);
}

function validateOverride(member: ConfigMember, node: ConfigObject, report: Report): ValidatedEntry {
  const fields = new FieldReader(node, report, { consequence: "until this is corrected the field is ignored" });
  fields.warnUnknown(SERVER_KEYS);
  const exposure = readExposure(fields, report);
  const override: ServerOverride = {
    ...optional("enabled", readOverrideEnabled(fields, report)),
    ...exposure,
    ...optional("maxOutputBytes", fields.positiveInteger("maxOutputBytes", "bytes")),
    location: member.keyAt,
  };
  const definitionFields = [...node.members.values()]
    .filter(({ key }) => SERVER_KEYS.includes(key) && !OVERRIDE_KEYS.includes(key))
    .map(({ key, keyAt }) => ({ key, location: keyAt }));
  return { kind: "override", override, definitionFields };
}

/** Nobody writes `enabled` into an override but to turn a server off: malformed, it does that. */
function readOverrideEnabled(fields: FieldReader, report: Report): boolean | undefined {
  const node = fields.value("enabled");
  if (node === undefined) return undefined;
  if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
  report("invalid-value", "enabled must be true or false", node.at, [
    "write it without quotes",
    "until this is corrected the server counts as disabled",
  ]);
  return false;
}

function validateDefinition(member: ConfigMember, node: ConfigObject, scope: Scope, report: Report): ValidatedEntry {
  const name = member.key;
  const consequence = leftOut(name);
  const fields = new FieldReader(node, report, { consequence });
  fields.warnUnknown(SERVER_KEYS);
  const kind = transportKind(name, fields, report);
  // Even where it is unclear what the entry means, its fields are checked, so that one run shows all mistakes.
  const readAs = kind ?? (fields.has("url") ? "http" : "stdio");
  if (kind) warnOtherTransport(kind, fields);
  const transport = readAs === "stdio" ? readStdio(fields) : readHttp(fields, scope, report, consequence);
  const exposure = readExposure(fields, report);
  const description = fields.string("description");
  const maxOutputBytes = fields.positiveInteger("maxOutputBytes", "bytes");
  const ttlMs = fields.naturalNumber("ttlMs", "milliseconds");
  const protocolVersion = fields.oneOf(
    "protocolVersion",
    ["auto", "legacy", "2026-07-28"],
    '"legacy" speaks 2025-11-25 and older versions',
  );
  const enabled = fields.boolean("enabled");
  const tasks = fields.boolean("tasks");
  const timeouts = readTimeouts(fields);
  if (scope === "project") warnLiteralSecrets(node, name, report);
  if (kind === undefined || !fields.valid || transport === undefined) return { kind: "dropped" };
  const server: ServerEntry = {
    name,
    location: member.keyAt,
    transport,
    enabled: enabled ?? true,
    ...optional("exposure", exposure.exposure),
    toolExposure: exposure.toolExposure ?? [],
    ...optional("description", description),
    ...optional("maxOutputBytes", maxOutputBytes),
    protocolVersion: protocolVersion ?? "auto",
    tasks: tasks ?? true,
    ...optional("ttlMs", ttlMs),
    ...timeouts,
  };
  return { kind: "server", server };
}

/** As in Pi: `type` decides; without it a `url` is HTTP and a `command` stdio. */
function transportKind(name: string, fields: FieldReader, report: Report): "stdio" | "http" | undefined {
  const fail = (message: string, at = fields.node.at, ...notes: string[]) => {
    report("invalid-server", `server "${name}" ${message}`, at, [...notes, leftOut(name)]);
    return undefined;
  };
  const type = fields.value("type");
  const typeText = fields.stringOrNothing("type");
  if (typeText === "sse") {
    const remedy = 'use the server\'s Streamable HTTP URL, commonly /mcp instead of /sse, with "type": "http" or none';
    return fail("uses the legacy SSE transport, which can't be configured", type!.at, remedy);
  }
  if (type) {
    const chosen = fields.oneOf("type", ["stdio", "http", "streamable-http"]);
    if (chosen === undefined) return undefined;
    const needed = chosen === "stdio" ? "command" : "url";
    if (!fields.has(needed)) return fail(`of type "${chosen}" needs "${needed}"`, type.at);
    return chosen === "stdio" ? "stdio" : "http";
  }
  if (fields.stringOrNothing("url") !== undefined) return "http";
  if (fields.stringOrNothing("command") !== undefined) return "stdio";
  if (fields.has("url")) return "http";
  if (fields.has("command")) return "stdio";
  return fail('needs either "command" (stdio) or "url" (Streamable HTTP)');
}

function warnOtherTransport(kind: "stdio" | "http", fields: FieldReader): void {
  const other = kind === "stdio" ? HTTP_KEYS : STDIO_KEYS;
  const why = kind === "stdio" ? "on a server that is started by a command" : "on a server that is reached by a url";
  for (const key of other) fields.warnNoEffect(key, why);
}

function readStdio(fields: FieldReader): StdioSettings | undefined {
  const command = fields.string("command", "be a string that is not empty", (value) => value !== "");
  const args = fields.strings("args");
  const env = fields.stringMap("env", ENV_NAME, 'not be empty or contain "="');
  const cwd = fields.string("cwd");
  if (command === undefined) return undefined;
  return { kind: "stdio", command, args: args ?? [], env: env ?? Object.create(null), ...optional("cwd", cwd) };
}

function readHttp(fields: FieldReader, scope: Scope, report: Report, consequence: string): HttpSettings | undefined {
  const url = fields.string("url", "be an http or https URL", isHttpUrl);
  const headers = fields.stringMap("headers", HEADER_NAME, "be an HTTP header name");
  const oauth = readOAuth(fields, report, consequence);
  if (oauth && hasAuthorization(headers ?? {})) {
    fields.warnNoEffect("oauth", "beside an Authorization header");
  }
  const authProvider = readAuth(fields, scope, report, url);
  const caFile = fields.string("caFile", "be a string that is not empty", (value) => value !== "");
  if (url === undefined) return undefined;
  return {
    kind: "http",
    url,
    headers: headers ?? Object.create(null),
    ...optional("oauth", oauth),
    ...optional("caFile", caFile),
    ...optional("authProvider", authProvider),
  };
}

/** Sends the token of a Pi login. It belongs to the user: a repository may not ask for it, and it goes over no open line. */
function readAuth(fields: FieldReader, scope: Scope, report: Report, url: string | undefined): string | undefined {
  const node = fields.value("auth");
  if (node === undefined) return undefined;
  if (scope === "project") return fields.reject("auth", "is only allowed in the user's mcp.json");
  if (node.kind !== "object") return fields.reject("auth", "must be an object");
  const auth = new FieldReader(node, report, { prefix: "auth." });
  if (!auth.has("provider")) return fields.reject("auth", 'must name a provider of Pi: { "provider": "…" }');
  const provider = auth.string("provider", "be the name of a provider of Pi", (name) => /\S/.test(name));
  if (provider === undefined) fields.valid = false;
  auth.warnUnknown(["provider"]);
  if (url !== undefined && !mayBeSecure(url)) {
    return fields.reject("auth", "needs an https url, or http on localhost, 127.0.0.1 or [::1]");
  }
  if (fields.has("oauth")) fields.warnNoEffect("oauth", "beside auth");
  return provider;
}

/** What a URL with variables comes to is checked once they are replaced. */
function mayBeSecure(url: string): boolean {
  return url.includes("${") || !URL.canParse(url) || isSecureAddress(new URL(url));
}

/** A URL with `${VAR}` can only be checked once it is expanded, except for a scheme it states. */
function isHttpUrl(value: string): boolean {
  if (value.includes("${")) return /^(?:https?:|\$\{|(?![a-z][a-z0-9+.-]*:))/i.test(value);
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}

function readTimeouts(fields: FieldReader): { requestTimeoutMs: number; probeTimeoutMs: number } {
  const seconds = fields.number("timeout", "a positive number of seconds", (value) => value > 0);
  const milliseconds = fields.positiveInteger("requestTimeoutMs", "milliseconds");
  if (fields.has("requestTimeoutMs")) fields.warnNoEffect("timeout", "beside requestTimeoutMs");
  const probe = fields.positiveInteger("probeTimeoutMs", "milliseconds");
  const inSeconds = seconds === undefined ? DEFAULT_REQUEST_TIMEOUT_MS : Math.max(1, Math.round(seconds * 1000));
  return {
    requestTimeoutMs: Math.min(milliseconds ?? inSeconds, LONGEST_TIMEOUT_MS),
    probeTimeoutMs: Math.min(probe ?? DEFAULT_PROBE_TIMEOUT_MS, LONGEST_TIMEOUT_MS),
  };
}

function leftOut(name: string): string {
  return `server ${quoted(name)} is left out until this is corrected`;
}
