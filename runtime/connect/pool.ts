/**
 * One shared connection a server: opened when first needed, by one opening for all who wait, closed when idle, opened
 * anew when it has died. An opening that failed is forgotten, so the next need tries again. Idle timers
 * don't keep a program from ending. A pool can make way for another, which takes over its connections: requests under way
 * on them go on, and nothing is opened twice.
 */
import type { Connection } from "./connection.ts";
import type { OpenOutcome } from "./open.ts";
import type { RequestOptions, RequestOutcome } from "./session.ts";

export interface PoolOptions {
  /** Opens a connection to the server of that name; called at most once at a time for each. */
  readonly open: (server: string, signal: AbortSignal) => Promise<OpenOutcome>;
  /** Milliseconds without a request after which a connection is closed, default 5 minutes; 0 keeps it open. */
  readonly idleMs?: number | undefined;
  /** A connection has been opened, for what is done once with each. */
  readonly onOpen?: ((connection: Connection) => void) | undefined;
  /** A connection has ended; `isAsked` where that was asked for, by the pool itself included. */
  readonly onEnd?: ((connection: Connection, isAsked: boolean) => void) | undefined;
  /** Another pool has taken the connection over: its end is that pool's to tell. */
  readonly onTaken?: ((connection: Connection) => void) | undefined;
}

export interface Pool {
  /** Waits for an opening under way. `signal` ends the wait, not the opening, which others may wait for. */
  get(server: string, signal?: AbortSignal): Promise<OpenOutcome>;
  /** A request over the shared connection; counts as use for as long as it takes. */
  request(
    server: string,
    method: string,
    params?: Record<string, unknown>,
    options?: RequestOptions,
  ): Promise<RequestOutcome | Extract<OpenOutcome, { ok: false }>>;
  /** The open connection to a server, if there is one. */
  peek(server: string): Connection | undefined;
  /** Keeps the server's connection open, idle or not, until the returned function is called. */
  lease(server: string): () => void;
  /** Whether another pool serves the server now. */
  isTaken(server: string): boolean;
  /** Closes one server's connection; the next need opens another. */
  drop(server: string): Promise<void>;
  /**
   * From now on a connection is closed a moment after the last request on it, unless somebody keeps it open. The
   * connections to those servers that `successor` takes over stay open, and what is needed later comes from there.
   */
  retire(successor?: Successor): void;
  /** Closes all connections and refuses further ones. Resolves when their processes are gone. */
  close(): Promise<void>;
}

/** Made by `createPool`. */
export interface Successor {
  readonly pool: Pool;
  readonly servers: readonly string[];
}

interface Entry {
  /** Closes it in the end: the pool that opened it, or the one that took it over. */
  owner: ConnectionPool;
  readonly opening: Promise<OpenOutcome>;
  readonly abort: AbortController;
  connection?: Connection;
  /** Requests under way. */
  active: number;
  idle?: NodeJS.Timeout;
}

const DEFAULT_IDLE_MS = 5 * 60_000;
/** Time for whoever has just been given a connection to begin with it. */
const RETIRED_IDLE_MS = 1000;

export function createPool(options: PoolOptions): Pool {
  return new ConnectionPool(options);
}

class ConnectionPool implements Pool {
  readonly #options: PoolOptions;
  #idleMs: number;
  readonly #entries = new Map<string, Entry>();
  readonly #closings = new Set<Promise<void>>();
  readonly #leases = new Map<string, number>();
  #successor: ConnectionPool | undefined;
  /** Has taken its connections over; who works there keeps them open too. */
  #predecessor: ConnectionPool | undefined;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#idleMs = options.idleMs ?? DEFAULT_IDLE_MS;
  }

  async get(server: string, signal?: AbortSignal): Promise<OpenOutcome> {
    return orAborted((await this.#enter(server)).opening, server, signal);
  }

  async request(
    server: string,
    method: string,
    params?: Record<string, unknown>,
    options: RequestOptions = {},
  ): Promise<RequestOutcome | Extract<OpenOutcome, { ok: false }>> {
    if (options.signal?.aborted) return { ok: false, failure: { kind: "cancelled", message: "cancelled" } };
    const entry = await this.#enter(server);
    entry.active++;
    try {
      const opened = await orAborted(entry.opening, server, options.signal);
      if (!opened.ok) return opened;
      return await opened.connection.request(method, params, options);
    } finally {
      entry.active--;
      entry.owner.#restIfIdle(server, entry);
    }
  }

  peek(server: string): Connection | undefined {
    return this.#find(server)?.connection;
  }

  lease(server: string): () => void {
    const count = (change: number) => this.#leases.set(server, (this.#leases.get(server) ?? 0) + change);
    count(1);
    let held = true;
    return () => {
      if (held) count(-1);
      held = false;
      const entry = this.#find(server);
      if (entry !== undefined) entry.owner.#restIfIdle(server, entry);
    };
  }

  isTaken(server: string): boolean {
    return this.#successor !== undefined && this.#entries.get(server)?.owner !== this;
  }

  async drop(server: string): Promise<void> {
    const entry = this.#entries.get(server);
    if (entry?.owner === this) await this.#discard(server, entry);
  }

  retire(successor?: Successor): void {
    this.#idleMs = RETIRED_IDLE_MS;
    if (successor !== undefined) this.#makeWay(successor);
    for (const [server, entry] of this.#owned()) this.#restIfIdle(server, entry);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#owned().map(([server, entry]) => this.#discard(server, entry)));
    await Promise.all(this.#closings);
  }

  #makeWay({ pool, servers }: Successor): void {
    const to = pool as ConnectionPool;
    this.#successor = to;
    to.#predecessor = this;
    for (const server of servers) {
      const entry = this.#entries.get(server);
      if (entry?.owner !== this || to.#closed || to.#entries.has(server)) continue;
      clearTimeout(entry.idle);
      entry.owner = to;
      to.#entries.set(server, entry);
      if (entry.connection === undefined) to.#await(server, entry);
      else {
        to.#own(server, entry, entry.connection);
        this.#options.onTaken?.(entry.connection);
      }
    }
  }

  #owned(): [server: string, entry: Entry][] {
    return [...this.#entries].filter(([, { owner }]) => owner === this);
  }

  /** What serves the server now, here or where it was taken over. */
  #find(server: string): Entry | undefined {
    const entry = this.#entries.get(server);
    if (entry !== undefined && entry.connection?.closed !== true) return entry;
    const successor = this.#successor;
    return successor === undefined ? undefined : successor.#find(server);
  }

  async #enter(server: string): Promise<Entry> {
    const existing = this.#entries.get(server);
    if (existing !== undefined && existing.connection?.closed !== true) return existing;
    if (existing?.owner === this) void this.#discard(server, existing);
    if (this.#successor !== undefined && !this.#closed) return this.#successor.#enter(server);
    const abort = new AbortController();
    if (this.#closed) abort.abort();
    const entry: Entry = { owner: this, opening: this.#options.open(server, abort.signal), abort, active: 0 };
    this.#entries.set(server, entry);
    this.#await(server, entry);
    return entry;
  }

  #await(server: string, entry: Entry): void {
    const forget = () => void (this.#entries.get(server) === entry && this.#entries.delete(server));
    const opened = (outcome: OpenOutcome) => {
      if (!outcome.ok) return forget();
      entry.connection = outcome.connection;
      if (entry.owner === this) this.#own(server, entry, outcome.connection);
    };
    // Whoever waits for the opening gets what it was rejected with.
    void entry.opening.then(opened, forget);
  }

  #own(server: string, entry: Entry, connection: Connection): void {
    connection.onClose(() => {
      if (entry.owner !== this) return;
      const isAsked = this.#entries.get(server) !== entry;
      if (!isAsked) void this.#discard(server, entry);
      this.#options.onEnd?.(connection, isAsked);
    });
    this.#options.onOpen?.(connection);
    this.#restIfIdle(server, entry);
  }

  #isLeased(server: string): boolean {
    if (this.#leases.get(server)) return true;
    const predecessor = this.#predecessor;
    return predecessor === undefined ? false : predecessor.#isLeased(server);
  }

  #restIfIdle(server: string, entry: Entry): void {
    clearTimeout(entry.idle);
    if (entry.active > 0 || entry.connection === undefined || this.#idleMs === 0) return;
    if (this.#entries.get(server) !== entry) return;
    entry.idle = setTimeout(() => {
      if (entry.active === 0 && !this.#isLeased(server)) void this.#discard(server, entry);
    }, this.#idleMs);
    entry.idle.unref();
  }

  /** Forgets the entry at once and resolves when what it opened is gone. */
  #discard(server: string, entry: Entry): Promise<void> {
    if (this.#entries.get(server) === entry) this.#entries.delete(server);
    clearTimeout(entry.idle);
    entry.abort.abort();
    const closing = entry.opening
      .then(
        (outcome) => (outcome.ok ? outcome.connection.close() : undefined),
        () => undefined,
      )
      .finally(() => this.#closings.delete(closing));
    this.#closings.add(closing);
    return closing;
  }
}

function orAborted(opening: Promise<OpenOutcome>, server: string, signal?: AbortSignal): Promise<OpenOutcome> {
  if (signal === undefined) return opening;
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      const message = `server "${server}": cancelled while connecting`;
      resolve({ ok: false, diagnostic: { code: "server-unreachable", severity: "error", message, server, notes: [] } });
    };
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    opening.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
