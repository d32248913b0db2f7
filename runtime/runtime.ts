/**
 * A runtime: the tools of compiled artifacts, callable. Creating one reads a few small files; the first call connects,
 * and loads what that takes. Closing it ends everything it started. Several can live in one process, each with
 * connections of its own.
 */
import { homedir as systemHome } from "node:os";
import { resolve } from "node:path";
import type { ToolEntry, ToolTable } from "../schemas/artifacts/tool-table.ts";
import type { Scope } from "../schemas/config/server-config.ts";
import type { Diagnostic } from "../schemas/diagnostic.ts";
import { findNewerConfig } from "./artifacts/freshness.ts";
import { loadArtifacts } from "./artifacts/load.ts";
import type { InterpretedResult } from "./calls/results.ts";
import type { ClientHandlers } from "./client-features.ts";
import type { CallOptions, ToolResult } from "./codegen/v1.ts";
import type { OpenOutcome } from "./connect/open.ts";
import type { Drift } from "./drift.ts";
import { RefusedError, ToolError } from "./errors.ts";
import type { Live } from "./live.ts";
import { locateRuntime, type RuntimeLocations } from "./locate.ts";
import type { Resources } from "./resources.ts";

export interface RuntimeOptions {
  /** Folder from which project and configuration are looked for, upwards; default the working folder. */
  readonly cwd?: string;
  /** Read this configuration file alone. */
  readonly config?: string;
  /** Folder of the project's artifacts; default where the configuration has them. */
  readonly projectOut?: string;
  /** Folder of the user's artifacts; default in the agent folder. False leaves the user's servers out. */
  readonly userOut?: string | false;
  /** Variables for `${VAR}` and for servers' processes; default this process's. */
  readonly env?: NodeJS.ProcessEnv;
  readonly homedir?: string;
  readonly handlers?: ClientHandlers;
  /** `warn` (default) goes on with the compiled definitions; `block` refuses tools whose definition changed or can't be compared. */
  readonly onDrift?: "warn" | "block";
  /** Takes what is worth knowing and stops nothing; by default warnings and errors are a line each on stderr. */
  readonly onNotice?: (notice: Diagnostic) => void;
  /** Milliseconds without a request after which a connection is closed; default 5 minutes, 0 never. */
  readonly idleMs?: number;
  /** Bytes of the largest message taken from a server, default 256 MiB; a call whose answer is longer fails alone. */
  readonly maxMessageBytes?: number;
  /** Used for every HTTP request. */
  readonly fetch?: typeof globalThis.fetch;
  /** Opens a server in a way of your own, such as `openTransport`; undefined leaves it to the configuration. */
  readonly open?: (server: string) => Promise<OpenOutcome> | undefined;
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
  callEntry(entry: ToolEntry, args: unknown, options?: CallOptions): Promise<InterpretedResult>;
  resources(): Promise<Resources>;
  /** How the servers connected so far differ from what was compiled. */
  drift(): Promise<readonly Drift[]>;
  /** Connects to a server and compares its tools; undefined when it would not list them. */
  compareWithServer(server: string): Promise<Drift | undefined>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Loads artifacts. Never rejects for what is in them: what can't be used is in `diagnostics`, and its tools are missing. */
export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  const env = options.env ?? process.env;
  const homedir = options.homedir ?? (env["HOME"] || systemHome());
  const cwd = resolve(options.cwd ?? process.cwd());
  const located = await locateRuntime({ ...options, cwd, env, homedir });
  const { projectOut, userOut } = located;
  const artifacts = loadArtifacts({ projectOut, ...(userOut !== undefined && { userOut }) });
  const newer = await findNewerConfig({
    table: artifacts.value,
    folders: { project: projectOut, ...(userOut !== undefined && { user: userOut }) },
    configFiles: located.files.candidates.map((file) => file.path),
    settingsDigest: (scope) => currentSettings(located, scope),
  });
  const onNotice = onlyNew(options.onNotice ?? printNotice);
  const open = async (): Promise<Live> => {
    const { openLive } = await import("./live.ts");
    const { value: table, diagnostics } = artifacts;
    return openLive({ ...options, env, homedir, files: located.files, table, diagnostics, onNotice });
  };
  const onAbort = () => void runtime.close();
  const release = () => {
    artifacts.close();
    options.signal?.removeEventListener("abort", onAbort);
  };
  const runtime = new ArtifactRuntime(artifacts.value, [...artifacts.diagnostics, ...newer], { open, release });
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
  #live: Promise<Live> | undefined;
  #closed = false;

  constructor(
    table: ToolTable,
    diagnostics: readonly Diagnostic[],
    actions: { readonly open: () => Promise<Live>; readonly release: () => void },
  ) {
    this.table = table;
    this.diagnostics = diagnostics;
    this.#open = actions.open;
    this.#release = actions.release;
  }

  async call(server: string, tool: string, args: unknown = {}, options?: CallOptions): Promise<ToolResult<unknown>> {
    const live = await this.#alive(server, tool);
    const entry = live.gate.tool(server, tool);
    const { result, structured, text } = await live.call(entry, args, options);
    if (result.isError) {
      const message = text || `${entry.tool} failed without saying why`;
      throw new ToolError(message, { server, tool: entry.tool, result });
    }
    return { structured, text, content: result.content, result };
  }

  async callEntry(entry: ToolEntry, args: unknown, options?: CallOptions): Promise<InterpretedResult> {
    const live = await this.#alive(entry.server, entry.tool);
    // The gate again: an entry may have been looked up with hidden tools included.
    return live.call(live.gate.tool(entry.server, entry.tool), args, options);
  }

  async resources(): Promise<Resources> {
    return (await this.#alive("", "resources")).resources;
  }

  async drift(): Promise<readonly Drift[]> {
    return this.#live ? (await this.#live).drift.known() : [];
  }

  async compareWithServer(server: string): Promise<Drift | undefined> {
    const live = await this.#alive(server, "tools/list");
    live.gate.server(server, "tools/list");
    await live.connections.get(server);
    return live.drift.settled(server);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#release();
    await (await this.#live)?.connections.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #alive(server: string, tool: string): Promise<Live> {
    if (this.#closed) throw new RefusedError("the runtime is closed", { server, tool, reason: "closed" });
    this.#live ??= this.#open();
    return this.#live;
  }
}

/** The configuration as it is now; read only where a file's time says that it may have changed. */
async function currentSettings({ files }: RuntimeLocations, scope: Scope): Promise<string> {
  const [{ loadConfiguration }, { settingsDigest }] = await Promise.all([
    import("./connect/configuration.ts"),
    import("../schemas/config/digest.ts"),
  ]);
  return settingsDigest((await loadConfiguration(files)).value, scope);
}

/** That the configuration is newer can be found in two ways, and is said once. */
function onlyNew(onNotice: (notice: Diagnostic) => void): (notice: Diagnostic) => void {
  const said = new Set<string>();
  return (notice) => {
    if (notice.code === "config-newer" && said.has(notice.message)) return;
    said.add(notice.message);
    onNotice(notice);
  };
}

function printNotice({ severity, message, notes }: Diagnostic): void {
  if (severity === "info") return;
  process.stderr.write(`pimcp: ${severity}: ${[message, ...notes].join("; ")}\n`);
}
