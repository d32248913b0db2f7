/**
 * What passes between us and servers, one event a frame: who sent what kind of message, how large, how long the answer
 * took and how it ended. A trace is for being handed to others, so it holds no payload, no credential, no query of a URL
 * and no header. Method names and ids come from servers: they are cut, made printable and cleaned of secrets.
 * Costs nothing where nobody traces.
 */
import { isRecord } from "../../schemas/record.ts";
import type { Wire } from "./exchange.ts";
import type { Fetch } from "./http-fetch.ts";
import { classifyMessage, type IncomingMessage } from "./message.ts";
import { printableLine, redact } from "./redact.ts";

export interface TraceEvent {
  /** ISO 8601, to the millisecond. */
  readonly time: string;
  readonly server: string;
  /** Tells the processes and connections of a trace apart: a process that is only probed has a number of its own. */
  readonly wire: number;
  readonly direction: "sent" | "received";
  /**
   * A JSON-RPC message; `junk`, a line that is none; `oversize`, a message too long to be taken; `http`, the answer to an
   * HTTP request, beneath the messages; `closed`, the end of the wire.
   */
  readonly kind: "request" | "notification" | "result" | "error" | "junk" | "oversize" | "http" | "closed";
  /** Of an answer, that of its request. Of `http`, `POST`, `GET`, …. */
  readonly method?: string;
  readonly id?: string | number;
  /** Of the message as JSON. */
  readonly bytes?: number;
  /** Of an answer, milliseconds since its request. */
  readonly durationMs?: number;
  /**
   * Of a result `ok`, `tool-error`, `input_required` or `task`; of an error its JSON-RPC code; of `http` the status or the
   * system's code; `unsent` where a message could not be delivered, `stray` for an answer to nothing that was asked.
   */
  readonly outcome?: string | number;
  /** Of `http`: where to, without query, user and password. */
  readonly url?: string;
  /** Of `closed`: requests that got no answer. */
  readonly unanswered?: number;
}

export type TraceSink = (event: TraceEvent) => void;

type Details = Omit<TraceEvent, "time" | "server" | "wire" | "direction" | "kind">;

interface OpenRequest {
  readonly method: string;
  readonly at: number;
}

const MAX_TEXT = 120;
/** Requests of one wire that are remembered while they wait; beyond, durations are missing. */
const MAX_OPEN = 10_000;

const wires = new WeakMap<TraceSink, number>();

/** The trace of one process or HTTP connection. */
export class WireTrace {
  readonly #sink: TraceSink;
  readonly #server: string;
  readonly #secrets: readonly string[];
  readonly #wire: number;
  /** Requests of ours, and of the server's, that wait for an answer. */
  readonly #ours = new Map<unknown, OpenRequest>();
  readonly #theirs = new Map<unknown, OpenRequest>();
  #closed = false;

  constructor(sink: TraceSink, server: string, secrets: readonly string[]) {
    this.#sink = sink;
    this.#server = server;
    this.#secrets = secrets;
    this.#wire = (wires.get(sink) ?? 0) + 1;
    wires.set(sink, this.#wire);
  }

  /** `bytes` of the message as JSON. */
  sent(message: unknown, bytes: number): void {
    this.#message("sent", message, bytes);
  }

  received(message: unknown, bytes: number): void {
    this.#message("received", message, bytes);
  }

  /** The message given to `sent` did not reach the server. */
  unsent(message: unknown): void {
    const { method, id } = (classifyMessage(message) ?? {}) as { method?: string; id?: unknown };
    this.#ours.delete(id);
    this.#emit("sent", "error", { ...this.#named(method, id), outcome: "unsent" });
  }

  /** A line on stdout that is no message. */
  junk(bytes: number): void {
    this.#emit("received", "junk", { bytes });
  }

  oversize(about: { readonly bytes?: number; readonly id?: unknown }): void {
    const request = this.#ours.get(about.id);
    this.#ours.delete(about.id);
    this.#emit("received", "oversize", {
      ...this.#named(request?.method, about.id),
      ...(about.bytes !== undefined && { bytes: about.bytes }),
    });
  }

  http(method: string, url: string | URL, outcome: number | string, durationMs: number, bytes?: number): void {
    this.#emit("received", "http", {
      method: this.#clean(method),
      url: this.#place(url),
      ...(bytes !== undefined && { bytes }),
      durationMs,
      outcome: typeof outcome === "string" ? this.#clean(outcome) : outcome,
    });
  }

  closed(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#emit("received", "closed", { unanswered: this.#ours.size });
  }

  #message(direction: TraceEvent["direction"], message: unknown, bytes: number): void {
    const found = classifyMessage(message);
    const [asked, answering] = direction === "sent" ? [this.#ours, this.#theirs] : [this.#theirs, this.#ours];
    if (found === undefined) this.#emit(direction, "junk", { bytes });
    else if (found.kind === "request") {
      if (asked.size < MAX_OPEN) asked.set(found.id, { method: found.method, at: performance.now() });
      this.#emit(direction, "request", { ...this.#named(found.method, found.id), bytes });
    } else if (found.kind === "notification") {
      this.#emit(direction, "notification", { ...this.#named(found.method, subjectOf(message)), bytes });
    } else this.#answer(direction, found, answering, bytes);
  }

  #answer(
    direction: TraceEvent["direction"],
    found: Extract<IncomingMessage, { kind: "result" | "error" }>,
    waiting: Map<unknown, OpenRequest>,
    bytes: number,
  ): void {
    const key = waiting.has(found.id) ? found.id : numberOf(found.id);
    const request = waiting.get(key);
    waiting.delete(key);
    const said = found.kind === "result" ? outcomeOf(found.result) : found.error.code;
    this.#emit(direction, found.kind, {
      ...this.#named(request?.method, found.id),
      bytes,
      ...(request && { durationMs: rounded(performance.now() - request.at) }),
      outcome: request === undefined ? "stray" : said,
    });
  }

  #named(method: string | undefined, id: unknown): Pick<Details, "method" | "id"> {
    return {
      ...(method !== undefined && { method: this.#clean(method) }),
      ...(typeof id === "number" && { id }),
      ...(typeof id === "string" && { id: this.#clean(id) }),
    };
  }

  #clean(text: string): string {
    return printableLine(redact(text.slice(0, 16 * MAX_TEXT), this.#secrets), MAX_TEXT);
  }

  #place(url: string | URL): string {
    const { origin, pathname } = new URL(url);
    return this.#clean(origin + pathname);
  }

  #emit(direction: TraceEvent["direction"], kind: TraceEvent["kind"], details: Details): void {
    this.#sink({
      time: new Date().toISOString(),
      server: this.#server,
      wire: this.#wire,
      direction,
      kind,
      ...details,
    });
  }
}

/** A wire whose every message is traced, for transports that don't trace themselves. */
export function tracedWire(wire: Wire, trace: WireTrace): Wire {
  const traced: Wire = {
    ...(wire.maxMessageBytes !== undefined && { maxMessageBytes: wire.maxMessageBytes }),
    get sessionId() {
      return wire.sessionId;
    },
    get hasPerRequestStream() {
      return wire.hasPerRequestStream;
    },
    async send(message, options) {
      trace.sent(message, sizeOf(message));
      try {
        await wire.send(message, options);
      } catch (error) {
        trace.unsent(message);
        throw error;
      }
    },
    close: () => wire.close(),
    hold: (held) => wire.hold?.(held),
    setProtocolVersion: (version) => wire.setProtocolVersion?.(version),
  };
  wire.onmessage = (message) => {
    trace.received(message, sizeOf(message));
    traced.onmessage?.(message);
  };
  wire.onclose = () => {
    trace.closed();
    traced.onclose?.();
  };
  wire.onerror = (error) => traced.onerror?.(error);
  wire.onoversize = (message) => {
    trace.oversize(message as { id?: unknown });
    traced.onoversize?.(message);
  };
  return traced;
}

/** A `fetch` whose every answer is traced. */
export function tracedFetch(fetch: Fetch, trace: WireTrace): Fetch {
  return async (url, init) => {
    const started = performance.now();
    const method = init?.method ?? "GET";
    try {
      const response = await fetch(url, init);
      const length = response.headers.get("content-length");
      const bytes = length === null ? undefined : Number(length);
      trace.http(method, url, response.status, rounded(performance.now() - started), bytes);
      return response;
    } catch (error) {
      const { code, cause, name } = error as NodeJS.ErrnoException & { cause?: NodeJS.ErrnoException };
      trace.http(method, url, code ?? cause?.code ?? name, rounded(performance.now() - started));
      throw error;
    }
  };
}

function outcomeOf(result: Readonly<Record<string, unknown>>): string {
  const { resultType, isError, content, task } = result;
  if (resultType === "input_required" || resultType === "task") return resultType;
  // As 2025-11-25 has it.
  if (isRecord(task) && content === undefined) return "task";
  return isError === true ? "tool-error" : "ok";
}

/** Whom a notice is about: the request that is cancelled, the task whose status it tells. */
function subjectOf(message: unknown): unknown {
  const { params } = message as { params?: { requestId?: unknown; taskId?: unknown } };
  return params?.requestId ?? params?.taskId;
}

/** Servers that answer with the id as text are put right, so their answers find their requests here too. */
function numberOf(id: unknown): unknown {
  return typeof id === "string" && /^\d+$/.test(id) ? Number(id) : id;
}

function sizeOf(message: unknown): number {
  return Buffer.byteLength(JSON.stringify(message) ?? "");
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
