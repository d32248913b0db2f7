/**
 * The live half of a runtime: one shared connection a server, opened on first need with the settings that
 * `mcp.json` holds at that moment and the era that was compiled. An open connection keeps the settings it was opened
 * with. Failures become `ServerError`. Nothing here is loaded until the first call.
 */
import { isDeepStrictEqual } from "node:util";
import type { ToolTable } from "../schemas/artifacts/tool-table.ts";
import { connectionDigest, settingsDigest } from "../schemas/config/digest.ts";
import { type Configuration, type ServerConfig, serversOfScope } from "../schemas/config/server-config.ts";
import { type Diagnostic, diagnostic } from "../schemas/diagnostic.ts";
import type { DriftMode } from "../schemas/drift-mode.ts";
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
import type { ServerError } from "./errors.ts";
import { type OwnServer, withOwnServers } from "./own-servers.ts";
import { type Question, questionOf } from "./questions.ts";
import { entryOf, howReached, mistakeAbout, UNUSABLE } from "./server-entry.ts";
import { serverError, unopened } from "./server-error.ts";
import type { ServerStates } from "./server-states.ts";

export interface ConnectionsOptions
  extends Pick<OpenOptions, "env" | "homedir" | "capabilities" | "maxMessageBytes" | "fetch" | "trace"> {
  readonly files: ConfigurationFiles;
  readonly table: ToolTable;
  /** Servers beside those of the configuration. */
  readonly servers?: readonly OwnServer[] | undefined;
  readonly idleMs?: number | undefined;
  readonly onNotice: (notice: Diagnostic) => void;
  /** Answers what servers ask. Rejects with `UnansweredError`. */
  readonly answer: (question: Question) => Promise<Record<string, unknown>>;
  /** A server has been connected, or its connection taken over. What it gives back ends what was begun when another takes it. */
  readonly onOpen: (connection: Connection) => () => void;
  /** Is told what becomes of connections. */
  readonly states: ServerStates;
  /** How a person signs in; without it nobody is asked. */
  readonly signIn?: Interactive | undefined;
  /** Tokens of logins to Pi's providers. */
  readonly providerToken?: ((provider: string) => Promise<string | undefined>) | undefined;
  /** Opens a server in a way of the caller's own; undefined leaves it to the configuration. */
  readonly open?: ((server: string) => Promise<OpenOutcome> | undefined) | undefined;
}

export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #pool: Pool;
  /** The latest connection to each server, dead or alive: what a server said last explains how it died. */
  readonly #latest = new Map<string, Connection>();
  /** How each server was to be reached when it last was. In memory alone: it holds what `mcp.json` holds. */
  readonly #reached = new Map<string, string>();
  /** What ends that which was begun with a connection. */
  readonly #begun = new WeakMap<Connection, () => void>();
  /** What the files say, without the servers beside them. */
  #configuration: Promise<Configuration> | undefined;
  #onDrift: DriftMode | undefined;
  #auth: Auth | undefined;
  /** Of the files that `#configuration` was read from. */
  #signature: string | undefined;
  /** Settings that were found newer than the artifacts, and said to be. */
  readonly #saidNewer = new Set<string>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#pool = createPool({
      open: (server, signal) => this.#opening(server, signal),
      onOpen: (connection) => {
        this.#latest.set(connection.server, connection);
        options.states.connected(connection);
        this.#begun.set(connection, options.onOpen(connection));
      },
      onTaken: (connection) => this.#begun.get(connection)?.(),
      onEnd: (connection, isAsked) => {
        if (this.#latest.get(connection.server) !== connection) return;
        options.states.ended(connection.server, isAsked ? undefined : connection.ending());
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
    const outcome = await this.outcome(server, method, params, options);
    if (outcome.ok) return outcome.result;
    if ("diagnostic" in outcome) throw unopened(server, outcome);
    throw await this.failed(server, method, outcome.failure);
  }

  /** The same as a value, for who decides by the kind of failure. */
  async outcome(server: string, method: string, params?: Record<string, unknown>, options?: RequestOptions) {
    const outcome = await this.#pool.request(server, method, params, options);
    const open = this.#pool.peek(server);
    // Somebody has signed in meanwhile, perhaps in another process.
    if (outcome.ok && open !== undefined && this.#options.states.of(server).kind === "needs-sign-in")
      this.#options.states.connected(open);
    return outcome;
  }

  /** Ends the connection to a server and what it started; requests under way fail. The next need opens another. */
  async disconnect(server: string): Promise<void> {
    // One that another runtime has taken over is that one's to end.
    if (this.#pool.isTaken(server)) return;
    const open = this.#pool.peek(server);
    if (open !== undefined) endedOnPurpose.add(open);
    await this.#pool.drop(server);
    this.#options.states.forgotten(server);
  }

  /** The open connection. Rejects with `ServerError`. */
  async get(server: string, signal?: AbortSignal): Promise<Connection> {
    const outcome = await this.#pool.get(server, signal);
    if (!outcome.ok) throw unopened(server, outcome);
    // One that was taken over before it was open, or that the runtime which took over has opened, is told here alone.
    this.#latest.set(server, outcome.connection);
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

  /** Whether connecting starts a process of ours, by the configuration as it is now. */
  async startsProcess(server: string): Promise<boolean> {
    const config = entryOf(await this.#current(), server);
    return !("severity" in config) && config.transport.kind === "stdio";
  }

  /** What the configuration said of tools that changed when it was last read; every call asks. */
  onDrift(): DriftMode | Promise<DriftMode> {
    return this.#onDrift ?? this.#current().then(({ onDrift = "warn" }) => onDrift);
  }

  /** Connections are closed as soon as nothing is under way on them. */
  retire(): void {
    this.#pool.retire();
  }

  /**
   * Goes on with the connections of `before` to servers that would be reached in the same way now; the others end a moment
   * after the last request on them.
   */
  async takeOver(before: Connections): Promise<void> {
    this.#configuration ??= before.#configuration;
    this.#signature ??= before.#signature;
    const configuration = await this.#current();
    const isSameClient = isDeepStrictEqual(clientOf(this.#options), clientOf(before.#options));
    const kept = [...before.#reached].filter(([server, how]) => {
      const config = entryOf(configuration, server);
      return isSameClient && !("severity" in config) && howReached(config) === how;
    });
    for (const [server, how] of kept) this.#reached.set(server, how);
    const servers = kept.map(([server]) => server);
    this.#options.states.carryOn(before.#options.states, servers);
    before.#pool.retire({ pool: this.#pool, servers });
  }

  /** Ends every connection and what it started. */
  async close(): Promise<void> {
    await this.#pool.close();
    await this.#auth?.settled();
  }

  /** Takes the credentials that a server was given out of its JSON data. */
  discreet(server: string): <T>(value: T) => T {
    const connection = this.#pool.peek(server) ?? this.#latest.get(server);
    return (value) => connection?.redact(value).value ?? value;
  }

  unopened(server: string, outcome: Extract<OpenOutcome, { ok: false }>): ServerError {
    return unopened(server, outcome);
  }

  async #opening(server: string, signal: AbortSignal): Promise<OpenOutcome> {
    const { states } = this.#options;
    states.connecting(server);
    try {
      const outcome = await this.#open(server, signal);
      if (outcome.ok) return outcome;
      if (signal.aborted) states.forgotten(server);
      else states.failed(server, outcome.diagnostic, outcome.stderr);
      return outcome;
    } catch (error) {
      states.forgotten(server);
      throw error;
    }
  }

  async #open(server: string, signal: AbortSignal): Promise<OpenOutcome> {
    const own = this.#options.open?.(server);
    if (own) return own;
    const configuration = await this.#current();
    const config = entryOf(configuration, server);
    const { signIn: interactive, providerToken } = this.#options;
    this.#auth ??= lazyAuth({ agentDir: configuration.agentDir, interactive, providerToken });
    if ("severity" in config) {
      const scope = this.#options.table.server(server)?.scope;
      return { ok: false, diagnostic: (await mistakeAbout(server, this.#options.files, scope)) ?? config };
    }
    this.#reached.set(server, howReached(config));
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
    const configuration = await this.#configuration;
    this.#onDrift = configuration.onDrift ?? "warn";
    return withOwnServers(configuration, this.#options.servers ?? []);
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
    if (failure.kind === "closed" && connection !== undefined && endedOnPurpose.has(connection)) {
      const message = `server "${server}": the connection was ended on purpose during ${method}`;
      return serverError(server, { message, notes: ["the call may have run"] }, failure);
    }
    const config = entryOf(await this.#current(), server);
    const stderr = connection?.stderrTail();
    if ("severity" in config) {
      return serverError(server, { message: failure.message, notes: [] }, failure, stderr);
    }
    const signs = { ending: connection?.ending(), isUnheard: connection?.unheard };
    const found = failureDiagnostic(config, failure, { during: method, ...signs });
    if (found.code === "sign-in-needed") this.#options.states.failed(server, found);
    // What it sent instead of an answer may be why there was none.
    const noise = failure.kind === "timeout" ? connection?.noise() : undefined;
    const notes = noise === undefined ? found.notes : [noise.message, ...found.notes];
    return serverError(server, { ...found, notes }, failure, stderr);
  }
}

/** What of a runtime makes its connections other ones: what it tells servers, and what variables come to. */
function clientOf({ capabilities = {}, env, homedir }: ConnectionsOptions) {
  return { capabilities, env, homedir };
}

/** By whichever runtime of several that share them. */
const endedOnPurpose = new WeakSet<Connection>();
