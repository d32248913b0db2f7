/**
 * Keeps a connection to every server that says it announces changes of its tools, and passes announcements on. A
 * server that announces without end gets longer and longer pauses as long as its tools stay the same, so it can
 * neither keep the machine busy nor hide a real change for more than a minute.
 */

import type { Connection } from "../../runtime/connect/connection.ts";
import type { EraVerdict } from "../../runtime/connect/verdict.ts";
import type { ServerConfig } from "../../schemas/config/server-config.ts";

export interface WatchedServer {
  readonly config: ServerConfig;
  readonly verdict: EraVerdict;
}

export interface ServerWatcherOptions {
  /** Opens a connection; undefined when the server can't be reached, which the next build will report. */
  readonly open: (server: WatchedServer) => Promise<Connection | undefined>;
  readonly onChange: (server: string) => void;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 60_000;

/** One server's connection, and how long its next announcement has to wait. */
interface Watched {
  readonly key: string;
  readonly connection: Promise<Connection | undefined>;
  pauseMs: number;
  timer?: NodeJS.Timeout;
}

export class ServerWatcher {
  readonly #options: ServerWatcherOptions;
  readonly #watched = new Map<string, Watched>();

  constructor(options: ServerWatcherOptions) {
    this.#options = options;
  }

  /** Watches exactly these servers; one whose entry changed is connected anew. `keyOf` tells whether it did. */
  async setServers(servers: readonly WatchedServer[], keyOf: (server: WatchedServer) => string): Promise<void> {
    const wanted = new Map(servers.map((server) => [server.config.name, server]));
    for (const [name, watched] of this.#watched) {
      const server = wanted.get(name);
      const connection = await watched.connection;
      if (!server || keyOf(server) !== watched.key || !connection || connection.closed) await this.#drop(name);
    }
    for (const server of servers) {
      if (!this.#watched.has(server.config.name)) this.#watch(server, keyOf(server));
    }
    await Promise.all([...this.#watched.values()].map((watched) => watched.connection));
  }

  /** Says whether the build that an announcement led to found other tools than before. */
  settled(server: string, changed: boolean): void {
    const watched = this.#watched.get(server);
    if (watched) watched.pauseMs = changed ? FIRST_PAUSE_MS : Math.min(watched.pauseMs * 2, LONGEST_PAUSE_MS);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#watched.keys()].map((name) => this.#drop(name)));
  }

  #watch(server: WatchedServer, key: string): void {
    const { name } = server.config;
    const watched: Watched = { key, pauseMs: FIRST_PAUSE_MS, connection: this.#options.open(server) };
    this.#watched.set(name, watched);
    void watched.connection.then((connection) => connection?.onToolsListChanged(() => this.#announced(name, watched)));
  }

  #announced(name: string, watched: Watched): void {
    watched.timer ??= setTimeout(() => {
      delete watched.timer;
      this.#options.onChange(name);
    }, watched.pauseMs);
  }

  async #drop(name: string): Promise<void> {
    const watched = this.#watched.get(name);
    if (!watched) return;
    this.#watched.delete(name);
    clearTimeout(watched.timer);
    await (await watched.connection)?.close();
  }
}
