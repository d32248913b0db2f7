/**
 * Looks, once a server is connected, whether it still offers what was compiled, and again when it announces other
 * tools. Says so once for each different state of things; a server that announces without end is listened to
 * less and less.
 */
import type { ToolTable } from "../schemas/artifacts/tool-table.ts";
import { canonicalJson } from "../schemas/canonical.ts";
import { type Diagnostic, diagnostic } from "../schemas/diagnostic.ts";
import type { Connection } from "./connect/connection.ts";
import type { Failure } from "./connect/failure.ts";
import { listTools } from "./connect/list-tools.ts";
import { compareTools, type Drift, driftText } from "./drift.ts";

const TOOLS_CHANGED = "notifications/tools/list_changed";
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 10 * 60_000;
const LIST_TIMEOUT_MS = 30_000;

/** What is known of one server. */
interface Watched {
  readonly connection: Connection;
  /** The comparison under way or done; undefined where the server would not list its tools. */
  checked: Promise<Drift | undefined>;
  said: string;
  pauseMs: number;
  timer?: NodeJS.Timeout;
  /** Another runtime watches the connection now. */
  isOver: boolean;
}

export class DriftWatch {
  readonly #table: ToolTable;
  readonly #onNotice: (notice: Diagnostic) => void;
  readonly #capabilities: Readonly<Record<string, unknown>>;
  readonly #onUnlisted: ((server: string, failure: Failure) => Promise<unknown>) | undefined;
  readonly #watched = new Map<string, Watched>();
  readonly #known = new Map<string, Drift>();

  /** `capabilities` are those advertised to servers. `onUnlisted` hears why a server wouldn't list its tools. */
  constructor(
    table: ToolTable,
    onNotice: (notice: Diagnostic) => void,
    capabilities: Readonly<Record<string, unknown>>,
    onUnlisted?: (server: string, failure: Failure) => Promise<unknown>,
  ) {
    this.#table = table;
    this.#onNotice = onNotice;
    this.#capabilities = capabilities;
    this.#onUnlisted = onUnlisted;
  }

  /** Starts comparing; called for every connection that is opened. The returned function stops it. */
  watch(connection: Connection): () => void {
    const { server } = connection;
    const before = this.#watched.get(server);
    clearTimeout(before?.timer);
    const watched: Watched = {
      connection,
      said: before?.said ?? "",
      pauseMs: FIRST_PAUSE_MS,
      checked: Promise.resolve(undefined),
      isOver: false,
    };
    this.#watched.set(server, watched);
    const onChange = () => this.#later(connection, watched);
    // A modern server announces when it is asked to; over HTTP that is a stream, which would keep a program from ending.
    const { era, transport } = connection.verdict;
    const off =
      transport === "stdio" || era === "legacy"
        ? connection.onToolsListChanged(onChange)
        : connection.onNotification((method) => method === TOOLS_CHANGED && onChange());
    watched.checked = this.#check(connection, watched);
    return () => {
      watched.isOver = true;
      clearTimeout(watched.timer);
      off();
    };
  }

  /**
   * The comparison with an open connection; undefined when it failed. One that another runtime watches is compared at each
   * call, since its announcements aren't heard here.
   */
  settled(connection: Connection): Promise<Drift | undefined> {
    const watched = this.#watched.get(connection.server);
    const isWatched = watched?.connection === connection && !watched.isOver;
    return isWatched ? watched.checked : this.#check(connection);
  }

  /** Every comparison that has been made, sorted by server. */
  known(): readonly Drift[] {
    return [...this.#known.keys()].sort().map((server) => this.#known.get(server)!);
  }

  #later(connection: Connection, watched: Watched): void {
    if (watched.timer || connection.closed || this.#watched.get(connection.server) !== watched) return;
    watched.timer = setTimeout(() => {
      delete watched.timer;
      watched.pauseMs = Math.min(watched.pauseMs * 2, LONGEST_PAUSE_MS);
      watched.checked = this.#check(connection, watched);
    }, watched.pauseMs);
    // Nobody waits for it: it must not keep a program from ending.
    watched.timer.unref();
  }

  /** Says what it finds where the connection is watched. */
  async #check(connection: Connection, watched?: Watched): Promise<Drift | undefined> {
    const { server } = connection;
    const compiled = this.#table.tools({ server, includeHidden: true }).flatMap(({ name }) => {
      const definition = this.#table.definition(name, { includeHidden: true });
      return definition.ok && definition.value ? [definition.value] : [];
    });
    const listing = await listTools(connection, { name: server }, { timeoutMs: LIST_TIMEOUT_MS });
    if (!listing.ok) {
      const { failure } = listing;
      if (failure.kind !== "malformed") await this.#onUnlisted?.(server, failure);
      return undefined;
    }
    const found = compareTools(server, compiled, listing.list.entries);
    const drift: Drift = isOfClient(found, this.#capabilities) ? { ...found, isOfClient: true } : found;
    this.#known.set(server, drift);
    if (watched === undefined) return drift;
    const state = canonicalJson(drift);
    if (drift.tools.length > 0 && state !== watched.said && !watched.isOver) this.#onNotice(driftNotice(drift));
    watched.said = state;
    return drift;
  }
}

/**
 * A compile advertises elicitation and nothing else. Tools that are merely missing in a runtime without an elicitation handler are
 * mostly those that a server keeps from clients which can't be asked: compiling anew would not help, and a warning in every
 * program would be noise. A call of one fails. Those merely added where models or roots are advertised are mostly for clients
 * that have them, and can't be called before they are compiled.
 */
function isOfClient({ tools }: Drift, capabilities: Readonly<Record<string, unknown>>): boolean {
  const mayLose = !("elicitation" in capabilities);
  const mayGain = "sampling" in capabilities || "roots" in capabilities;
  return (
    tools.length > 0 &&
    tools.every(({ change }) => (change === "removed" && mayLose) || (change === "added" && mayGain))
  );
}

const KEPT_BACK =
  "servers keep tools that ask something from clients without an elicitation handler; if that isn't why, run `pimcp compile`";
const FOR_FEW =
  "run `pimcp compile` to take them over; what a server offers only to clients with models or roots can't be compiled";
const PINNED = "the compiled definitions stay in use; run `pimcp compile` to take over the new ones";

/** What may come from the client is a remark. */
function driftNotice(drift: Drift): Diagnostic {
  const has = (wanted: Drift["tools"][number]["change"]) => drift.tools.some(({ change }) => change === wanted);
  const ofClient = [...(has("removed") ? [KEPT_BACK] : []), ...(has("added") ? [FOR_FEW] : [])];
  return diagnostic("tools-drifted", `the tools of "${drift.server}" differ from those compiled: ${driftText(drift)}`, {
    ...(drift.isOfClient && { severity: "info" as const }),
    server: drift.server,
    notes: drift.isOfClient ? ofClient : [PINNED],
  });
}
