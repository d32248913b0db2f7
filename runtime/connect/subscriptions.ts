/**
 * What a connection listens for, kept up. A modern server sends notices only of what one `subscriptions/listen` stream
 * asks for, so everybody's wishes are put together into one, and a changed wish opens the next stream before the last one
 * is closed. A stream that drops is opened again after a pause that grows and has some chance in it; what may have been
 * missed meanwhile is told with `onMissed`. A server that refuses is not asked again in the same session. Timers don't keep
 * a program going.
 */
import type * as Sdk from "@modelcontextprotocol/client";
import { canonicalJson } from "../../schemas/canonical.ts";
import { isRecord } from "../../schemas/record.ts";
import type { Failure } from "./failure.ts";
import type { NoticeStream } from "./notice-stream.ts";
import { TASKS_EXTENSION } from "./task-subscription.ts";
import type { EraVerdict } from "./verdict.ts";

/** Kinds of notices. `tasks` are the ids of tasks whose status is wanted. */
export interface NoticeFilter {
  readonly tools?: true | undefined;
  readonly prompts?: true | undefined;
  readonly resources?: true | undefined;
  readonly tasks?: readonly string[] | undefined;
}

export type Listening =
  | {
      readonly kind: "open";
      /** Resolves when the server or the network ended the stream; never after `close`. */
      readonly dropped: Promise<void>;
      readonly close: () => Promise<void>;
    }
  /** There is nothing to listen to, or the server won't have it. */
  | { readonly kind: "refused" }
  /** May work later. */
  | { readonly kind: "failed" };

export interface Listenable {
  readonly closed: boolean;
  /** Where a legacy server's notices come unasked, and may break off. */
  readonly notices?: NoticeStream | undefined;
  listen(filter: NoticeFilter): Promise<Listening>;
}

export interface SubscriptionsOptions {
  /**
   * A notice of this method may have been missed while no stream was open. Nobody can tell, so listeners are told as if
   * it had come, and look for themselves.
   */
  readonly onMissed: (method: string) => void;
  /** The stream on which notices come unasked can't be opened again. */
  readonly onTrouble?: () => void;
  /** Between 0 and 1. */
  readonly random?: () => number;
}

/** The part of the SDK's client that is used here. */
type ListeningClient = Pick<Sdk.Client, "listen">;

/** How long a server may take to acknowledge a stream. The SDK's timer keeps a program going for as long. */
const ACKNOWLEDGE_MS = 5000;

/** Asks a server for a stream with what it can send of `filter`. A legacy one sends its notices unasked. */
export async function openListening(
  client: ListeningClient,
  { era, capabilities = {} }: EraVerdict,
  filter: NoticeFilter,
  failureOf: (error: unknown) => Failure,
): Promise<Listening> {
  const { extensions } = capabilities;
  const announces = (kind: "tools" | "prompts" | "resources") => {
    const capability = capabilities[kind];
    return filter[kind] === true && isRecord(capability) && capability["listChanged"] === true;
  };
  const notifications = {
    ...(announces("tools") && { toolsListChanged: true }),
    ...(announces("prompts") && { promptsListChanged: true }),
    ...(announces("resources") && { resourcesListChanged: true }),
    ...(filter.tasks && isRecord(extensions) && TASKS_EXTENSION in extensions && { taskIds: [...filter.tasks] }),
  };
  if (era === "legacy" || Object.keys(notifications).length === 0) return { kind: "refused" };
  try {
    const subscription = await client.listen(notifications, { timeout: ACKNOWLEDGE_MS });
    const dropped = new Promise<void>((resolve) => {
      void subscription.closed.then((cause) => cause !== "local" && resolve());
    });
    return { kind: "open", dropped, close: () => subscription.close() };
  } catch (error) {
    const { kind } = failureOf(error);
    const mayPass = kind === "unavailable" || kind === "timeout" || kind === "closed" || kind === "cancelled";
    return { kind: mayPass ? "failed" : "refused" };
  }
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** A stream that held so long was no mistake: the next pause is a short one again. */
const STABLE_MS = 60_000;
/** Attempts in a row without any stream after which a server is left alone. */
const MAX_FAILURES = 6;

export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #wishes = new Set<NoticeFilter>();
  #session: Listenable | undefined;
  #stream: Extract<Listening, { kind: "open" }> | undefined;
  /** What the stream there is, or the attempt under way, asks for; empty for nothing. */
  #asked = "";
  /** Counts streams and sessions: what belongs to an earlier one has no effect any more. */
  #turn = 0;
  #attempts = 0;
  #failures = 0;
  /** What the server would not have, or had nothing for; another wish may fare better. */
  #refused: string | undefined;
  #gap = false;
  #pending = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
  }

  /** Listens for what `filter` names until the returned function is called. Wishes of one moment make one stream. */
  want(filter: NoticeFilter): () => void {
    // A copy: the same filter may be wanted twice.
    const wish = { ...filter };
    this.#wishes.add(wish);
    this.#later();
    return () => {
      if (this.#wishes.delete(wish)) this.#later();
    };
  }

  /** Another session takes the place of the last one, whose notices may have been missed. */
  attach(session: Listenable): void {
    if (this.#session !== undefined) this.#gap = true;
    this.#forget();
    this.#session = session;
    if (session.notices !== undefined) {
      session.notices.onRestored = () => this.#tell(union(this.#wishes) ?? {});
      session.notices.onTrouble = () => this.#options.onTrouble?.();
    }
    this.#refused = undefined;
    this.#attempts = 0;
    this.#failures = 0;
    this.#later();
  }

  /** Opens no stream any more. What is open ends with its session. */
  close(): void {
    this.#session = undefined;
    this.#forget();
  }

  #forget(): void {
    clearTimeout(this.#timer);
    this.#turn++;
    this.#stream = undefined;
    this.#asked = "";
  }

  #later(): void {
    if (this.#pending) return;
    this.#pending = true;
    queueMicrotask(() => {
      this.#pending = false;
      this.#update();
    });
  }

  #update(): void {
    const filter = union(this.#wishes);
    const wanted = filter === undefined ? "" : canonicalJson(filter);
    if (this.#session === undefined || wanted === this.#refused || wanted === this.#asked) return;
    clearTimeout(this.#timer);
    this.#asked = wanted;
    const turn = ++this.#turn;
    const before = this.#stream;
    this.#stream = undefined;
    if (filter === undefined) void before?.close();
    else void this.#open(this.#session, filter, turn, before);
  }

  async #open(
    session: Listenable,
    filter: NoticeFilter,
    turn: number,
    before?: { close(): Promise<void> },
  ): Promise<void> {
    const listening = await session.listen(filter);
    void before?.close();
    if (turn !== this.#turn) {
      if (listening.kind === "open") void listening.close();
      return;
    }
    if (listening.kind !== "open") {
      const isRefused = listening.kind === "refused" || ++this.#failures >= MAX_FAILURES;
      if (isRefused) this.#refused = canonicalJson(filter);
      // What can't be listened for is no reason to forget that something may have been missed.
      if (isRefused) this.#tellGap(filter);
      else this.#again(session, filter, turn);
      return;
    }
    this.#failures = 0;
    this.#stream = listening;
    this.#tellGap(filter);
    const openedAt = performance.now();
    await listening.dropped;
    if (turn !== this.#turn) return;
    this.#stream = undefined;
    this.#gap = true;
    if (performance.now() - openedAt >= STABLE_MS) this.#attempts = 0;
    this.#again(session, filter, turn);
  }

  #again(session: Listenable, filter: NoticeFilter, turn: number): void {
    // With its session gone, the next one is attached or there is none.
    if (session.closed) return;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#attempts++, LONGEST_PAUSE_MS);
    // Servers restart, and their clients should not all come back at the same moment.
    const chance = 0.75 + (this.#options.random ?? Math.random)() / 2;
    this.#timer = setTimeout(() => {
      if (turn === this.#turn && !session.closed) void this.#open(session, filter, turn);
    }, pauseMs * chance);
    this.#timer.unref();
  }

  #tellGap(filter: NoticeFilter): void {
    if (!this.#gap) return;
    this.#gap = false;
    this.#tell(filter);
  }

  #tell(filter: NoticeFilter): void {
    for (const kind of ["tools", "prompts", "resources"] as const) {
      if (filter[kind]) this.#options.onMissed(`notifications/${kind}/list_changed`);
    }
  }
}

/** One filter that lets through what any of them does; nothing where nothing is wanted. */
function union(wishes: ReadonlySet<NoticeFilter>): NoticeFilter | undefined {
  const all = [...wishes];
  const tasks = [...new Set(all.flatMap((wish) => wish.tasks ?? []))].sort();
  const kinds = (["tools", "prompts", "resources"] as const).filter((kind) => all.some((wish) => wish[kind]));
  if (kinds.length === 0 && tasks.length === 0) return undefined;
  return { ...Object.fromEntries(kinds.map((kind) => [kind, true])), ...(tasks.length > 0 && { tasks }) };
}

/** Listens for changes of a server's tool list: one call for a burst, always after its last notice. */
export function hearToolChanges(
  connection: {
    listenFor(filter: NoticeFilter): () => void;
    onNotification(listener: (method: string) => void): () => void;
  },
  listener: () => void,
): () => void {
  const { heard, stop } = oncePerBurst(listener);
  const unlisten = connection.listenFor({ tools: true });
  const off = connection.onNotification((method) => {
    if (method === "notifications/tools/list_changed") heard();
  });
  return () => {
    off();
    unlisten();
    stop();
  };
}

/** How long notices of one burst are waited for. */
const BURST_MS = 50;

/**
 * A function that calls `listener` once for all its calls of one burst, and always after the last of them. `stop` drops
 * what is pending.
 */
export function oncePerBurst(listener: () => void): { readonly heard: () => void; readonly stop: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const heard = () => {
    if (timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      listener();
    }, BURST_MS);
    timer.unref();
  };
  return { heard, stop: () => clearTimeout(timer) };
}
