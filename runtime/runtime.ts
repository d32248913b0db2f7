/**
 * A runtime: the tools of compiled artifacts, callable. Creating one reads a few small files; the first call connects,
 * and loads what that takes. Closing it ends everything it started. Several can live in one process, each with
 * connections of its own.
 */
import { resolve } from "node:path";
import type { ToolEntry, ToolTable } from "../schemas/artifacts/tool-table.ts";
import type { Scope } from "../schemas/config/server-config.ts";
import type { Diagnostic } from "../schemas/diagnostic.ts";
import { stateFolder } from "../schemas/user-folders.ts";
import { findNewerConfig } from "./artifacts/freshness.ts";
import { loadArtifacts } from "./artifacts/load.ts";
import type { EntryCallOptions } from "./call.ts";
import type { InterpretedResult } from "./calls/results.ts";
import type { ClientHandlers } from "./client-features.ts";
import type { CallOptions, ToolResult } from "./codegen/v1.ts";
import type { Interactive } from "./connect/auth/interactive.ts";
import { type ConfigurationFiles, homeFolder } from "./connect/configuration-files.ts";
import type { OpenOutcome } from "./connect/open.ts";
import type { TraceSink } from "./connect/trace.ts";
import type { Drift } from "./drift.ts";
import { RefusedError, ToolError } from "./errors.ts";
import type { Live } from "./live.ts";
import { locateRuntime } from "./locate.ts";
import { onlyNew, printNotice } from "./notices.ts";
import { openTrace } from "./open-trace.ts";
import type { OwnServer } from "./own-servers.ts";
import type { Resources } from "./resources.ts";
import { ServerStates, type ServerStatus } from "./server-states.ts";
import type { Skills } from "./skills.ts";
import type { Tasks } from "./tasks/tasks.ts";

export interface RuntimeOptions {
  /** Folder from which project and configuration are looked for, upwards; default the working folder. */
  readonly cwd?: string;
  /** Read this configuration file alone. */
  readonly config?: string;
  /**
   * Folder of the project's artifacts; default where the configuration has them. False leaves the project out: neither
   * its artifacts nor its configuration are read, now or later.
   */
  readonly projectOut?: string | false;
  /** Folder of the user's artifacts; default in the agent folder. False leaves the user's servers out. */
  readonly userOut?: string | false;
  /** Servers of the program's own, beside those of `mcp.json`, which win by name. */
  readonly servers?: readonly OwnServer[];
  /** Variables for `${VAR}` and for servers' processes; default this process's. */
  readonly env?: NodeJS.ProcessEnv;
  readonly homedir?: string;
  /** Folder for what outlives the process, such as handles of tasks; default `$XDG_STATE_HOME/pimcp` or `~/.local/state/pimcp`. */
  readonly stateDir?: string;
  readonly handlers?: ClientHandlers;
  /** `block` refuses tools whose definition changed or can't be compared, `warn` calls them; default what `mcp.json` says, else `warn`. */
  readonly onDrift?: "warn" | "block";
  /** Takes what is worth knowing and stops nothing; by default warnings and errors are a line each on stderr. */
  readonly onNotice?: (notice: Diagnostic) => void;
  /** Takes the `params` of a server's log notice (`notifications/message`), without the values that the server was given. */
  readonly onServerLog?: (server: string, params: unknown) => void;
  /** Milliseconds without a request after which a connection is closed; default 5 minutes, 0 never. */
  readonly idleMs?: number;
  /** Bytes of the largest message taken from a server, default 256 MiB; a call whose answer is longer fails alone. */
  readonly maxMessageBytes?: number;
  /** Used for every HTTP request. */
  readonly fetch?: typeof globalThis.fetch;
  /**
   * How a person signs in to an HTTP server that wants that, in the middle of a call. Without it nobody is ever asked:
   * the sign-ins of `pimcp login` and `pi mcp login` are used and renewed, and a call that needs another one fails.
   */
  readonly signIn?: Interactive;
  /** Tokens of logins to Pi's providers, for servers with `auth.provider`; default those that Pi's `auth.json` holds. */
  readonly providerToken?: (provider: string) => Promise<string | undefined>;
  /** Opens a server in a way of your own, such as `openTransport`; undefined leaves it to the configuration. */
  readonly open?: (server: string) => Promise<OpenOutcome> | undefined;
  /**
   * What passes between the runtime and servers: a sink for each event, or a file that JSON lines are appended to. Holds
   * methods, sizes, durations and outcomes, never a payload, a credential or a header.
   */
  readonly trace?: TraceSink | string;
  /** Closes the runtime when aborted. */
  readonly signal?: AbortSignal;
}

export interface Runtime {
  /** Every tool, its exposure and its limits. */
  readonly table: ToolTable;
  /** What loading the artifacts had to say; given to `onNotice` too. */
  readonly diagnostics: readonly Diagnostic[];
  /** Calls a tool by its server's and its own name. Rejects with `ToolError`, `ServerError` or `RefusedError`. */
  call(server: string, tool: string, args?: unknown, options?: CallOptions): Promise<ToolResult<unknown>>;
  /** Calls a tool found in the table; a result with `isError` is a result like any other. */
  callEntry(entry: ToolEntry, args: unknown, options?: EntryCallOptions): Promise<InterpretedResult>;
  /**
   * Gets ready for a call that is about to come: starts the server's process and connects to it. A server over HTTP is left
   * alone until it is called. Rejects when the process can't be used.
   */
  prepare(entry: ToolEntry): Promise<void>;
  /** Tasks that calls became, of this process and of earlier ones. */
  tasks(): Promise<Tasks>;
  resources(): Promise<Resources>;
  /** Skills of servers that have the extension for them, verified as they are read. */
  skills(): Promise<Skills>;
  /** How the servers connected so far differ from what was compiled. */
  drift(): Promise<readonly Drift[]>;
  /** Connects to a server and compares its tools; undefined when it would not list them. */
  compareWithServer(server: string): Promise<Drift | undefined>;
  /** What is known of the connection to a server. Connects nothing and loads nothing. */
  status(server: string): ServerStatus;
  /** Hears that what is known of a server changed; the result stops that. */
  onStatus(listener: (server: string) => void): () => void;
  /** Ends the connection to a server and what it started; calls under way fail. The next call connects anew. */
  disconnect(server: string): Promise<void>;
  /**
   * Another runtime takes over: connections end a moment after the last request on them. Calls still work. A `successor` made
   * by `createRuntime` goes on with the connections to servers that it would reach in the same way. Never rejects.
   */
  retire(successor?: Runtime): Promise<void>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Loads artifacts. Never rejects for what is in them: what can't be used is in `diagnostics`, and its tools are missing.
 * Rejects only when the file of `trace` can't be written.
 */
export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  const env = options.env ?? process.env;
  const homedir = options.homedir ?? homeFolder(env);
  const cwd = resolve(options.cwd ?? process.cwd());
  const { files, ...folders } = await locateRuntime({ ...options, cwd, env, homedir });
  const { projectOut, userOut } = folders;
  const own = (options.servers ?? []).map(({ config, out }) => ({ server: config.name, out }));
  const artifacts = loadArtifacts({ ...folders, own });
  const newer = await findNewerConfig({
    table: artifacts.value,
    folders: {
      ...(projectOut !== undefined && { project: projectOut }),
      ...(userOut !== undefined && { user: userOut }),
    },
    configFiles: files.candidates.map((file) => file.path),
    settingsDigest: (scope) => currentSettings(files, scope),
  });
  const onNotice = onlyNew(options.onNotice ?? printNotice);
  const trace = await openTrace(options.trace, cwd, onNotice);
  const states = new ServerStates();
  const open = async (): Promise<Live> => {
    const { openLive } = await import("./live.ts");
    const { value: table, diagnostics } = artifacts;
    const stateDir = resolve(cwd, options.stateDir ?? stateFolder(env, homedir));
    const surroundings = { env, homedir, stateDir, files, table, states };
    return openLive({ ...options, ...surroundings, diagnostics, onNotice, trace: trace.sink });
  };
  const onAbort = () => void runtime.close();
  const release = () => {
    artifacts.close();
    options.signal?.removeEventListener("abort", onAbort);
  };
  const actions = { open, release, ended: trace.close, states };
  const runtime = new ArtifactRuntime(artifacts.value, [...artifacts.diagnostics, ...newer], actions);
  for (const found of runtime.diagnostics) onNotice(found);
  options.signal?.addEventListener("abort", onAbort, { once: true });
  if (options.signal?.aborted) await runtime.close();
  return runtime;
}

class ArtifactRuntime implements Runtime {
  readonly table: ToolTable;
  readonly diagnostics: readonly Diagnostic[];
  readonly #open: () => Promise<Live>;
  readonly #release: () => void;
  readonly #ended: () => void;
  readonly #states: ServerStates;
  #live: Promise<Live> | undefined;
  /** The same, once it is there. */
  #opened: Live | undefined;
  #closed = false;
  #retired = false;

  constructor(
    table: ToolTable,
    diagnostics: readonly Diagnostic[],
    actions: {
      readonly open: () => Promise<Live>;
      readonly release: () => void;
      readonly ended: () => void;
      readonly states: ServerStates;
    },
  ) {
    this.table = table;
    this.diagnostics = diagnostics;
    this.#open = actions.open;
    this.#release = actions.release;
    this.#ended = actions.ended;
    this.#states = actions.states;
  }

  async call(server: string, tool: string, args: unknown = {}, options?: CallOptions): Promise<ToolResult<unknown>> {
    const live = await this.#alive(server, tool);
    const entry = live.gate.tool(server, tool);
    const { result, structured, text, taskId } = await live.call(entry, args, options);
    if (result.isError) {
      const message = text || `${entry.tool} failed without saying why`;
      throw new ToolError(message, { server, tool: entry.tool, result, ...(taskId !== undefined && { taskId }) });
    }
    return { structured, text, content: result.content, result };
  }

  async callEntry(entry: ToolEntry, args: unknown, options?: EntryCallOptions): Promise<InterpretedResult> {
    const live = await this.#alive(entry.server, entry.tool);
    // The gate again: an entry may have been looked up with hidden tools included.
    return live.call(live.gate.tool(entry.server, entry.tool), args, options);
  }

  async prepare(entry: ToolEntry): Promise<void> {
    const live = await this.#alive(entry.server, entry.tool);
    return live.prepare(live.gate.tool(entry.server, entry.tool));
  }

  async tasks(): Promise<Tasks> {
    return (await this.#alive("", "tasks")).tasks;
  }

  async resources(): Promise<Resources> {
    return (await this.#alive("", "resources")).resources;
  }

  async skills(): Promise<Skills> {
    return (await this.#alive("", "skills")).skills;
  }

  async drift(): Promise<readonly Drift[]> {
    return this.#live ? (await this.#live).drift.known() : [];
  }

  async compareWithServer(server: string): Promise<Drift | undefined> {
    const live = await this.#alive(server, "tools/list");
    live.gate.server(server, "tools/list");
    return live.drift.settled(await live.connections.get(server));
  }

  status(server: string): ServerStatus {
    const drift = this.#opened?.drift.known().find((one) => one.server === server);
    return { state: this.#states.of(server), drift };
  }

  onStatus(listener: (server: string) => void): () => void {
    return this.#states.onChange(listener);
  }

  async disconnect(server: string): Promise<void> {
    await (await this.#live)?.connections.disconnect(server);
  }

  async retire(successor?: Runtime): Promise<void> {
    this.#retired = true;
    // Where it could not be loaded, the call that wanted it has been told why.
    const live = await this.#live?.catch(() => undefined);
    if (live === undefined) return;
    // One that is closed already takes nothing over.
    const next =
      successor instanceof ArtifactRuntime && !successor.#closed ? await successor.#alive("", "") : undefined;
    await next?.connections.takeOver(live.connections);
    live.connections.retire();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#release();
    await (await this.#live)?.close();
    this.#ended();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #alive(server: string, tool: string): Promise<Live> {
    if (this.#closed) throw new RefusedError("the runtime is closed", { server, tool, reason: "closed" });
    this.#live ??= this.#open();
    this.#opened = await this.#live;
    if (this.#retired) this.#opened.connections.retire();
    return this.#opened;
  }
}

/** The configuration as it is now; read only where a file's time says that it may have changed. */
async function currentSettings(files: ConfigurationFiles, scope: Scope): Promise<string> {
  const [{ loadConfiguration }, { settingsDigest }] = await Promise.all([
    import("./connect/configuration.ts"),
    import("../schemas/config/digest.ts"),
  ]);
  return settingsDigest((await loadConfiguration(files)).value, scope);
}
