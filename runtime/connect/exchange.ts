/**
 * Who asked what, between a transport and the SDK's `Client`. It keeps the transport honest (a response
 * that answers no open request is counted and dropped, one whose id came back as text is put right) and
 * the SDK cheap: the result of a request made through `withSlot` goes to its slot as it came, and the
 * SDK is handed a small stand-in to complete its bookkeeping with. So a result is never validated,
 * copied or refused here: one bad tool can't fail a list, and 100 MB cost one `JSON.parse`.
 */
import type {
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  Transport,
  TransportSendOptions,
} from "@modelcontextprotocol/client";
import { tidyInitializeResult } from "./initialize-result.ts";
import { classifyMessage, type IncomingMessage, idInHead, idInTail, type RequestId } from "./message.ts";
import { type LateListener, lateListenerOf, type ResultSlot, slotOf, standInFor } from "./result-slot.ts";
import { declaringTasks } from "./task-subscription.ts";

/** What a transport knows of a message too long to be delivered: its beginning, later its end, or whom it answers. */
export type OversizeMessage =
  | { readonly head: string }
  | { readonly tail: string; readonly bytes: number }
  | { readonly id: unknown };

/** What lies under an exchange: our stdio transport or one of the SDK's HTTP transports, already started. */
export interface Wire {
  onmessage?: ((message: unknown) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onoversize?: ((message: OversizeMessage) => void) | undefined;
  readonly maxMessageBytes?: number;
  readonly sessionId?: string | undefined;
  readonly hasPerRequestStream?: boolean | undefined;
  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void>;
  close(): Promise<void>;
  hold?(held: boolean): void;
  setProtocolVersion?(version: string): void;
}

interface OpenRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly slot: ResultSlot | undefined;
  readonly late: LateListener | undefined;
  readonly awaited: boolean;
  /** Ends the HTTP exchange of a request that is given up. */
  readonly giveUp: AbortController | undefined;
}

const RELEASE_MS = 20;

export class Exchange implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  /** Called for notifications, before the SDK sees them. */
  onnotification?: (method: string, message: JSONRPCMessage) => void;
  readonly hasPerRequestStream?: boolean;
  readonly #wire: Wire;
  readonly #open = new Map<RequestId, OpenRequest>();
  #strayResponses = 0;
  #initializeResult: Record<string, unknown> | undefined;
  /** Open requests that somebody awaits: all but subscriptions. */
  #awaited = 0;
  #held = false;
  #release: NodeJS.Timeout | undefined;
  /** Of the oversize line that is streaming it is known whose it is, and that request, if still open, has been failed. */
  #oversizeSettled = false;
  /** Requests that were given up unanswered: their answers may still come, however late. */
  readonly #givenUp = new Map<RequestId, LateListener | undefined>();
  /** Messages that came while an earlier one is still being dispatched. */
  #queue: JSONRPCMessage[] = [];
  #waiting = false;

  constructor(wire: Wire) {
    this.#wire = wire;
    if (wire.hasPerRequestStream !== undefined) this.hasPerRequestStream = wire.hasPerRequestStream;
    wire.onmessage = (message) => this.#receive(message as JSONRPCMessage, classifyMessage(message));
    wire.onclose = () => this.onclose?.();
    wire.onerror = (error) => this.onerror?.(error);
    wire.onoversize = (message) => this.#oversize(message);
    wire.hold?.(false);
  }

  get sessionId(): string | undefined {
    return this.#wire.sessionId;
  }

  /** Responses that answered nothing that was asked. */
  get strayResponses(): number {
    return this.#strayResponses;
  }

  /** The answer to `initialize` as it came. */
  get initializeResult(): Record<string, unknown> | undefined {
    return this.#initializeResult;
  }

  setProtocolVersion(version: string): void {
    this.#wire.setProtocolVersion?.(version);
  }

  /** The wire has been started by whoever made it: `server/discover` may have passed over it already. */
  async start(): Promise<void> {}

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!("method" in message)) return this.#wire.send(message, options);
    return "id" in message ? this.#sendRequest(declaringTasks(message), options) : this.#sendNotice(message, options);
  }

  async close(): Promise<void> {
    await this.#wire.close();
  }

  async #sendRequest(message: JSONRPCRequest, options?: TransportSendOptions): Promise<void> {
    const request = this.#opened(message, options);
    const { id } = message;
    try {
      await this.#wire.send(message, this.hasPerRequestStream ? this.#streamOptions(request, options) : options);
    } catch (error) {
      this.#settled(id);
      if (!request.giveUp?.signal.aborted) throw error;
    }
  }

  #streamOptions({ id, giveUp }: OpenRequest, options: TransportSendOptions | undefined): TransportSendOptions {
    return {
      onRequestStreamEnd: () => this.#brokenOff(id),
      ...options,
      ...(giveUp && { requestSignal: giveUp.signal }),
    };
  }

  async #sendNotice(message: JSONRPCNotification, options?: TransportSendOptions): Promise<void> {
    const cancelled = message.method === "notifications/cancelled";
    const request = cancelled ? this.#open.get(message.params?.["requestId"] as RequestId) : undefined;
    if (request !== undefined) this.#abandoned(request.id);
    // Before the notice: a request that still waits for its token must not be sent any more.
    request?.giveUp?.abort();
    try {
      await this.#wire.send(message, options);
    } catch (error) {
      // By then the handshake has succeeded, and a server that minds the notice can still be talked to.
      if (message.method !== "notifications/initialized") throw error;
      this.onerror?.(error as Error);
    }
  }

  #opened(message: JSONRPCRequest, options: TransportSendOptions | undefined): OpenRequest {
    const { id, method, params } = message;
    const slot = slotOf(params);
    const awaited = method !== "subscriptions/listen";
    // The SDK gives up a legacy request by a notice alone, and its HTTP exchange would stay open.
    const giveUp = this.hasPerRequestStream && !options?.requestSignal ? new AbortController() : undefined;
    options?.requestSignal?.addEventListener("abort", () => this.#abandoned(id), { once: true });
    const request: OpenRequest = { id, method, slot, late: lateListenerOf(params), awaited, giveUp };
    this.#open.set(id, request);
    if (awaited) this.#awaited++;
    if (awaited && !this.#held) {
      this.#held = true;
      this.#wire.hold?.(true);
    }
    return request;
  }

  #abandoned(id: RequestId): void {
    if (this.#open.has(id)) this.#givenUp.set(id, this.#open.get(id)?.late);
    this.#settled(id);
  }

  #settled(id: RequestId): void {
    const request = this.#open.get(id);
    if (request === undefined) return;
    this.#open.delete(id);
    if (request.awaited && --this.#awaited === 0) this.#releaseLater();
  }

  /**
   * Only a request that somebody awaits keeps the program going. Letting go is put off for a moment, so
   * that a run of requests doesn't pay for it each time.
   */
  #releaseLater(): void {
    this.#release ??= setTimeout(() => {
      this.#release = undefined;
      if (this.#awaited > 0) return;
      this.#held = false;
      this.#wire.hold?.(false);
    }, RELEASE_MS).unref();
  }

  #receive(message: JSONRPCMessage, kind: IncomingMessage | undefined): void {
    if (kind === undefined) return;
    if (kind.kind === "result" || kind.kind === "error") {
      const request = this.#answered(kind.id) ?? this.#answeredWithoutId(kind);
      if (request === undefined) {
        if (kind.kind === "result") this.#givenUp.get(kind.id as RequestId)?.(kind.result);
        if (!this.#givenUp.delete(kind.id as RequestId)) this.#strayResponses++;
        return;
      }
      // A subscription stays open until its final response, and that is what this is.
      this.#settled(request.id);
      this.#forward(kind.kind === "result" ? this.#result(request, kind.result) : errorResponse(request, kind.error));
      return;
    }
    if (kind.kind === "notification") this.onnotification?.(kind.method, message);
    this.#forward({ ...message, jsonrpc: "2.0" } as JSONRPCMessage);
  }

  #answered(id: unknown): OpenRequest | undefined {
    const exact = this.#open.get(id as RequestId);
    if (exact !== undefined || typeof id !== "string" || !/^\d+$/.test(id)) return exact;
    return this.#open.get(Number(id));
  }

  /** JSON-RPC answers a request whose id it could not read with an error for `null`. */
  #answeredWithoutId(kind: IncomingMessage): OpenRequest | undefined {
    const nobody = kind.kind === "error" && (kind.id === null || kind.id === undefined);
    return nobody && this.#awaited === 1 ? this.#onlyAwaited() : undefined;
  }

  #onlyAwaited(): OpenRequest | undefined {
    return [...this.#open.values()].find(({ awaited }) => awaited);
  }

  #result(request: OpenRequest, raw: Record<string, unknown>): JSONRPCMessage {
    const { id, slot, method } = request;
    if (method === "initialize") {
      this.#initializeResult = raw;
      return { jsonrpc: "2.0", id, result: tidyInitializeResult(raw) };
    }
    // Unless the slot takes it, the SDK answers an `input_required` by itself and asks again, with the same slot.
    if (slot === undefined || (raw["resultType"] === "input_required" && !slot.takesQuestions)) {
      return { jsonrpc: "2.0", id, result: raw } as JSONRPCMessage;
    }
    slot.result = raw;
    return { jsonrpc: "2.0", id, result: standInFor(method) };
  }

  /**
   * Hands messages to the SDK one by one. It dispatches notifications a microtask late, so a response
   * right behind a progress notification would overtake it and the progress would be lost.
   */
  #forward(message: JSONRPCMessage): void {
    if (this.#waiting) {
      this.#queue.push(message);
      return;
    }
    this.onmessage?.(message);
    if (!("method" in message) || "id" in message) return;
    this.#waiting = true;
    queueMicrotask(() => {
      this.#waiting = false;
      const queue = this.#queue;
      this.#queue = [];
      for (const next of queue) this.#forward(next);
    });
  }

  /** A stream that ended with its request unanswered. */
  #brokenOff(id: RequestId): void {
    const request = this.#open.get(id);
    if (request === undefined) return;
    if (request.slot !== undefined) request.slot.brokenOff = true;
    this.#fail(request, "the answer broke off");
  }

  /**
   * Fails the request as soon as it is known which one: by its id, or because it is the only one whose answer can
   * still come. An answer to a request that was given up fails no other.
   */
  #oversize(message: OversizeMessage): void {
    const streaming = "head" in message;
    const settled = this.#oversizeSettled;
    this.#oversizeSettled = streaming && settled;
    if (settled) return;
    const id = streaming ? idInHead(message.head) : "id" in message ? message.id : idInTail(message.tail);
    const only = this.#awaited === 1 && this.#givenUp.size === 0 ? this.#onlyAwaited() : undefined;
    const request = id === undefined ? only : this.#answered(id);
    this.#oversizeSettled = streaming && (id !== undefined || request !== undefined);
    if (request === undefined) {
      this.#givenUp.delete(id as RequestId);
      return;
    }
    const limitBytes = this.#wire.maxMessageBytes ?? 0;
    if (request.slot !== undefined) request.slot.oversize = { limitBytes };
    this.#fail(request, `the server's answer is longer than ${limitBytes} bytes`);
  }

  #fail(request: OpenRequest, message: string): void {
    this.#settled(request.id);
    this.#forward(errorResponse(request, { code: -32603, message }));
  }
}

function errorResponse(request: OpenRequest, error: { code: number; message: string; data?: unknown }): JSONRPCMessage {
  return { jsonrpc: "2.0", id: request.id, error };
}
