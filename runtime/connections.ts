/**
 * The live half of a runtime: one shared connection a server, opened on first need with the settings that
 * `mcp.json` holds at that moment and the era that was compiled. An open connection keeps the settings it was opened
 * with. Failures become `ServerError`. Nothing here is loaded until the first call.
 */
import type { ToolTable } from "../schemas/artifacts/tool-table.ts";
import { connectionDigest, settingsDigest } from "../schemas/config/digest.ts";
import { type Configuration, type ServerConfig, serversOfScope } from "../schemas/config/server-config.ts";
import { type Diagnostic, type DiagnosticCode, diagnostic } from "../schemas/diagnostic.ts";
import { configNewer } from "./artifacts/freshness.ts";
import type { Auth } from "./connect/auth/create-auth.ts";
import type { Interactive } from "./connect/auth/interactive.ts";
import { lazyAuth } from "./connect/auth/lazy-auth.ts";
import { loadConfiguration } from "./connect/configuration.ts";
import { type ConfigurationFiles, configurationSignature } from "./connect/configuration-files.ts";
import type { Connection } from "./connect/connection.ts";
import { type Failure, failureDiagnostic } from "./connect/failure.ts";
import { type OpenOptions, type OpenOutcome, openConnection } from "./connect/open.ts";
import { createPool, type Pool } from "./connect/pool.ts";
import type { RequestOptions } from "./connect/session.ts";
import type { EraVerdict } from "./connect/verdict.ts";
import { ServerError } from "./errors.ts";
import { type Question, questionOf } from "./questions.ts";

export interface ConnectionsOptions
  extends Pick<OpenOptions, "env" | "homedir" | "capabilities" | "maxMessageBytes" | "fetch" | "trace"> {
  readonly files: ConfigurationFiles;
  readonly table: ToolTable;
  readonly idleMs?: number | undefined;
  readonly onNotice: (notice: Diagnostic) => void;
  /** Answers what servers ask. Rejects with `UnansweredError`. */
  readonly answer: (question: Question) => Promise<Record<string, unknown>>;
  /** A server has been connected. */
  readonly onOpen: (connection: Connection) => void;
  /** How a person signs in; without it nobody is asked. */
  readonly signIn?: Interactive | undefined;
  /** Opens a server in a way of the caller's own; undefined leaves it to the configuration. */
  readonly open?: ((server: string) => Promise<OpenOutcome> | undefined) | undefined;
}

export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #pool: Pool;
  /** The latest connection to each server, dead or alive: what a server said last explains how it died. */
  readonly #latest = new Map<string, Connection>();
  #configuration: Promise<Configuration> | undefined;
  #auth: Auth | undefined;
  /** Of the files that `#configuration` was read from. */
  #signature: string | undefined;
  /** Settings that were found newer than the artifacts, and said to be. */
  readonly #saidNewer = new Set<string>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#pool = createPool({
      open: (server, signal) => this.#open(server, signal),
      onOpen: (connection) => {
        this.#latest.set(connection.server, connection);
        options.onOpen(connection);
      },
      ...(options.idleMs !== undefined && { idleMs: options.idleMs }),
    });
  }

  /** The result of one request as the server sent it. Rejects with `ServerError`. */
  async request(
    server: string,
    method: string,
    params?: Record<string, unknown>,
    options?: RequestOptions,
  ): Promise<Readonly<Record<string, unknown>>> {
    const outcome = await this.#pool.request(server, method, params, options);
    if (outcome.ok) return outcome.result;
    if ("diagnostic" in outcome) throw unopened(server, outcome);
    throw await this.failed(server, method, outcome.failure);
  }

  /** The same as a value, for who decides by the kind of failure. */
  outcome(server: string, method: string, params?: Record<string, unknown>, options?: RequestOptions) {
    return this.#pool.request(server, method, params, options);
  }

  /** The open connection. Rejects with `ServerError`. */
  async get(server: string, signal?: AbortSignal): Promise<Connection> {
    const outcome = await this.#pool.get(server, signal);
    if (!outcome.ok) throw unopened(server, outcome);
    return outcome.connection;
  }

  /** Keeps the server's connection open until the returned function is called. */
  lease(server: string): () => void {
    return this.#pool.lease(server);
  }

  /** How the server is reached now, as `connectionDigest` has it; undefined where the configuration has no such server. */
  async digest(server: string): Promise<string | undefined> {
    const config = entryOf(await this.#current(), server);
    return "severity" in config ? undefined : connectionDigest(config);
  }

  /** Ends every connection and what it started. */
  async close(): Promise<void> {
    await this.#pool.close();
    await this.#auth?.settled();
  }

  /** Takes the credentials that a server was given out of its JSON data. */
  discreet(server: string): <T>(value: T) => T {
    const connection = this.#latest.get(server);
    return (value) => connection?.redact(value).value ?? value;
  }

  unopened(server: string, outcome: Extract<OpenOutcome, { ok: false }>): ServerError {
    return unopened(server, outcome);
  }

  async #open(server: string, signal: AbortSignal): Promise<OpenOutcome> {
    const own = this.#options.open?.(server);
    if (own) return own;
    const configuration = await this.#current();
    const config = entryOf(configuration, server);
    this.#auth ??= lazyAuth({ agentDir: configuration.agentDir, interactive: this.#options.signIn });
    if ("severity" in config) return { ok: false, diagnostic: config };
    // A server of 2025 asks its questions on a stream of its own, which is worth keeping only where they are answered.
    const listen = Object.keys(this.#options.capabilities ?? {}).length > 0;
    return openConnection(config, {
      ...this.#options,
      signal,
      prior: this.#prior(config),
      listen,
      auth: this.#auth,
      answer: (asked) => this.#options.answer(questionOf(server, asked)),
      onUnanswered: ({ message }) => {
        this.#options.onNotice(diagnostic("question-unanswered", `server "${server}": ${message}`, { server }));
      },
    });
  }

  /** The configuration as its files are now: read again only where one of them changed since. */
  async #current(): Promise<Configuration> {
    const signature = await configurationSignature(this.#options.files);
    if (this.#configuration === undefined || signature !== this.#signature) {
      this.#signature = signature;
      this.#configuration = this.#load(this.#configuration);
    }
    return this.#configuration;
  }

  /** A file that can't be read or parsed, as in the middle of an edit, leaves the settings `before` it in force. */
  async #load(before: Promise<Configuration> | undefined): Promise<Configuration> {
    const loaded = await loadConfiguration(this.#options.files);
    for (const finding of loaded.diagnostics) if (finding.severity === "error") this.#options.onNotice(finding);
    if (before !== undefined && loaded.diagnostics.some(({ code }) => UNUSABLE.has(code))) return before;
    for (const scope of ["project", "user"] as const) {
      const compiled = this.#options.table.folder(scope)?.manifest.settings;
      const now = settingsDigest(loaded.value, scope);
      if (compiled === undefined || compiled === now || serversOfScope(loaded.value, scope).length === 0) continue;
      if (!this.#saidNewer.has(now)) this.#options.onNotice(configNewer(scope));
      this.#saidNewer.add(now);
    }
    return loaded.value;
  }

  /** What was compiled about the server's era, as long as it is still the same server. */
  #prior(config: ServerConfig): EraVerdict | undefined {
    const compiled = this.#options.table.server(config.name)?.compiled;
    if (!compiled || compiled.config !== connectionDigest(config)) return undefined;
    const definition = this.#options.table.serverDefinition(config.name);
    const { capabilities, serverInfo, instructions } = (definition.ok && definition.value) || {};
    return { ...compiled, capabilities, serverInfo, instructions };
  }

  /** A request's failure as the error that its caller meets. */
  async failed(server: string, method: string, failure: Failure): Promise<ServerError> {
    const connection = this.#latest.get(server);
    const config = entryOf(await (this.#configuration ?? this.#current()), server);
    const stderr = connection?.stderrTail();
    if ("severity" in config) {
      return serverError(server, { message: failure.message, notes: [] }, failure, stderr);
    }
    const found = failureDiagnostic(config, failure, { during: method, ending: connection?.ending() });
    return serverError(server, found, failure, stderr);
  }
}

/** Findings after which a configuration is not what its files are meant to say. */
const UNUSABLE: ReadonlySet<string> = new Set<DiagnosticCode>(["config-syntax", "config-unreadable", "config-shape"]);

/** The server's entry; a finding where it has none that can be used. */
function entryOf(configuration: Configuration, server: string): ServerConfig | Diagnostic {
  const config = configuration.servers.find((one) => one.name === server);
  if (config?.enabled) return config;
  const why = config ? "is disabled in mcp.json" : "is in no mcp.json that applies here";
  return { code: "unknown-server", severity: "error", message: `server "${server}" ${why}`, server, notes: [] };
}

function unopened(server: string, outcome: Extract<OpenOutcome, { ok: false }>): ServerError {
  return serverError(server, outcome.diagnostic, outcome.diagnostic, outcome.stderr);
}

/** A finding about a server as the error its caller meets. */
function serverError(
  server: string,
  { message, notes }: Pick<Diagnostic, "message" | "notes">,
  cause: unknown,
  stderr: readonly string[] = [],
): ServerError {
  return new ServerError([message, ...notes].join("; "), {
    server,
    cause,
    ...(stderr.length > 0 && { stderrTail: stderr.join("\n") }),
  });
}
