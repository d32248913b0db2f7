/**
 * Keeps a connection to every server that says it announces changes of its tools or prompts, and passes them on. A
 * server that announces without end gets longer and longer pauses as long as its tools stay the same, so it can
 * neither keep the machine busy nor hide a real change for more than a minute. A connection that ends is opened anew,
 * later each time.
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

const PROMPTS_CHANGED = "notifications/prompts/list_changed";

/** Whether a server says that it announces changes of one of its lists. */
export function announces(
  capabilities: Readonly<Record<string, unknown>> | undefined,
  list: "tools" | "prompts",
): boolean {
  return (capabilities?.[list] as { listChanged?: unknown } | undefined)?.listChanged === true;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 60_000;

/** Pauses before a connection that ended is opened anew; they grow, and a server that always ends is left alone. */
const REOPEN_MS = { first: 1000, longest: 60_000, attempts: 10, stable: 60_000 } as const;

/** One server's connection, and how long its next announcement has to wait. */
interface Watched {
  readonly server: WatchedServer;
  readonly key: string;
  connection: Promise<Connection | undefined>;
  pauseMs: number;
  timer?: NodeJS.Timeout;
  /** Attempts at opening it anew since it last held for a while. */
  reopened: number;
  reopening?: NodeJS.Timeout;
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
    const connection = this.#options.open(server);
    const watched: Watched = { server, key, pauseMs: FIRST_PAUSE_MS, connection, reopened: 0 };
    this.#watched.set(name, watched);
    void connection.then((opened) => opened && this.#listen(name, watched, opened));
  }

  #listen(name: string, watched: Watched, connection: Connection): void {
    if (this.#watched.get(name) !== watched) return;
    const openedAt = performance.now();
    connection.onToolsListChanged(() => this.#announced(name, watched));
    if (announces(watched.server.verdict.capabilities, "prompts")) {
      connection.listenFor({ prompts: true });
      connection.onNotification((method) => method === PROMPTS_CHANGED && this.#announced(name, watched));
    }
    connection.onClose(() => {
      if (this.#watched.get(name) !== watched) return;
      if (performance.now() - openedAt >= REOPEN_MS.stable) watched.reopened = 0;
      this.#reopenLater(name, watched);
    });
  }

  /** Its end may well be an update: what it offers then is looked at too. */
  #reopenLater(name: string, watched: Watched): void {
    if (watched.reopened >= REOPEN_MS.attempts) return;
    const pauseMs = Math.min(REOPEN_MS.first * 2 ** watched.reopened++, REOPEN_MS.longest);
    // With some chance in it: the clients of a server that restarts should not all come back at once.
    watched.reopening = setTimeout(
      async () => {
        watched.connection = this.#options.open(watched.server);
        const connection = await watched.connection;
        if (this.#watched.get(name) !== watched) return;
        if (connection === undefined) return this.#reopenLater(name, watched);
        this.#listen(name, watched, connection);
        this.#announced(name, watched);
      },
      pauseMs * (0.75 + Math.random() / 2),
    );
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
    clearTimeout(watched.reopening);
    await (await watched.connection)?.close();
  }
}
