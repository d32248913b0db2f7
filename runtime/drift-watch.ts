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
  /** The comparison under way or done; undefined where the server would not list its tools. */
  checked: Promise<Drift | undefined>;
  said: string;
  pauseMs: number;
  timer?: NodeJS.Timeout;
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

  /** Starts comparing; called for every connection that is opened. */
  watch(connection: Connection): void {
    const { server } = connection;
    const before = this.#watched.get(server);
    clearTimeout(before?.timer);
    const watched: Watched = {
      said: before?.said ?? "",
      pauseMs: FIRST_PAUSE_MS,
      checked: Promise.resolve(undefined),
    };
    this.#watched.set(server, watched);
    const onChange = () => this.#later(connection, watched);
    // A modern server announces when it is asked to; over HTTP that is a stream, which would keep a program from ending.
    const { era, transport } = connection.verdict;
    if (transport === "stdio" || era === "legacy") connection.onToolsListChanged(onChange);
    else connection.onNotification((method) => method === TOOLS_CHANGED && onChange());
    watched.checked = this.#check(connection, watched);
  }

  /** The comparison with the server's present connection; undefined when there was none or it failed. */
  async settled(server: string): Promise<Drift | undefined> {
    return this.#watched.get(server)?.checked;
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

  async #check(connection: Connection, watched: Watched): Promise<Drift | undefined> {
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
    const drift = compareTools(server, compiled, listing.list.entries);
    this.#known.set(server, drift);
    const state = canonicalJson(drift);
    if (drift.tools.length > 0 && state !== watched.said) this.#onNotice(driftNotice(drift, this.#capabilities));
    watched.said = state;
    return drift;
  }
}

/**
 * A compile advertises elicitation and nothing else. Tools that are merely missing in a runtime without an elicitation handler are
 * mostly those that a server keeps from clients which can't be asked: compiling anew would not help, and a warning in every
 * program would be noise. A call of one fails. Those merely added where models or roots are advertised are mostly for clients
 * that have them, and can't be called before they are compiled: a remark as well.
 */
function driftNotice(drift: Drift, capabilities: Readonly<Record<string, unknown>>): Diagnostic {
  const isEvery = (wanted: Drift["tools"][number]["change"]) => drift.tools.every(({ change }) => change === wanted);
  const isReduced = !("elicitation" in capabilities) && isEvery("removed");
  const isExtended = ("sampling" in capabilities || "roots" in capabilities) && isEvery("added");
  return diagnostic("tools-drifted", `the tools of "${drift.server}" differ from those compiled: ${driftText(drift)}`, {
    ...((isReduced || isExtended) && { severity: "info" as const }),
    server: drift.server,
    notes: [
      isReduced
        ? "servers keep tools that ask something from clients without an elicitation handler; if that isn't why, run `pimcp compile`"
        : isExtended
          ? "run `pimcp compile` to take them over; what a server offers only to clients with models or roots can't be compiled"
          : "the compiled definitions stay in use; run `pimcp compile` to take over the new ones",
    ],
  });
}
