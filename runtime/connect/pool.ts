/**
 * One shared connection a server: opened when first needed, by one opening for all who wait, closed when idle, opened
 * anew when it has died. An opening that failed is forgotten, so the next need tries again. Idle timers
 * don't keep a program from ending.
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
  /** Closes one server's connection; the next need opens another. */
  drop(server: string): Promise<void>;
  /** From now on a connection is closed a moment after the last request on it, unless somebody keeps it open. */
  retire(): void;
  /** Closes all connections and refuses further ones. Resolves when their processes are gone. */
  close(): Promise<void>;
}

interface Entry {
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
      this.#restIfIdle(server, entry);
    }
  }

  peek(server: string): Connection | undefined {
    const connection = this.#entries.get(server)?.connection;
    return connection?.closed ? undefined : connection;
  }

  lease(server: string): () => void {
    const count = (change: number) => this.#leases.set(server, (this.#leases.get(server) ?? 0) + change);
    count(1);
    let held = true;
    return () => {
      if (held) count(-1);
      held = false;
      const entry = this.#entries.get(server);
      if (entry !== undefined) this.#restIfIdle(server, entry);
    };
  }

  async drop(server: string): Promise<void> {
    const entry = this.#entries.get(server);
    if (entry !== undefined) await this.#discard(server, entry);
  }

  retire(): void {
    this.#idleMs = RETIRED_IDLE_MS;
    for (const [server, entry] of this.#entries) this.#restIfIdle(server, entry);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#entries].map(([server, entry]) => this.#discard(server, entry)));
    await Promise.all(this.#closings);
  }

  async #enter(server: string): Promise<Entry> {
    const existing = this.#entries.get(server);
    if (existing !== undefined && existing.connection?.closed !== true) return existing;
    if (existing !== undefined) void this.#discard(server, existing);
    const abort = new AbortController();
    if (this.#closed) abort.abort();
    const entry: Entry = { opening: this.#options.open(server, abort.signal), abort, active: 0 };
    this.#entries.set(server, entry);
    const forget = () => void (this.#entries.get(server) === entry && this.#entries.delete(server));
    // Whoever waits for the opening gets what it was rejected with.
    void entry.opening.then((outcome) => this.#opened(server, entry, outcome), forget);
    return entry;
  }

  #opened(server: string, entry: Entry, outcome: OpenOutcome): void {
    if (!outcome.ok) {
      if (this.#entries.get(server) === entry) this.#entries.delete(server);
      return;
    }
    entry.connection = outcome.connection;
    outcome.connection.onClose(() => {
      const isAsked = this.#entries.get(server) !== entry;
      if (!isAsked) void this.#discard(server, entry);
      this.#options.onEnd?.(outcome.connection, isAsked);
    });
    this.#options.onOpen?.(outcome.connection);
    this.#restIfIdle(server, entry);
  }

  #restIfIdle(server: string, entry: Entry): void {
    clearTimeout(entry.idle);
    if (entry.active > 0 || entry.connection === undefined || this.#idleMs === 0) return;
    if (this.#entries.get(server) !== entry) return;
    entry.idle = setTimeout(() => {
      if (entry.active === 0 && !this.#leases.get(server)) void this.#discard(server, entry);
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
