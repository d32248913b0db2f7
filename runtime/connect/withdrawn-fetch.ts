/**
 * For the older SSE transport, which hands no request a signal of its own: one that is cancelled while it waits for its token
 * must not be sent once there is one. It is told apart by its id, and cancelled by the notice that goes to the server;
 * where the request was never taken there, neither is the notice. To the transport both look delivered: nobody waits.
 */
import { jsonIn } from "../../schemas/json.ts";
import { isRecord } from "../../schemas/record.ts";
import type { Fetch } from "./http-fetch.ts";

interface Waiting {
  readonly end: AbortController;
  /** On its way: only the server can tell now. */
  isOut: boolean;
  isCancelled: boolean;
}

/** `sign` makes the `fetch` that signs and then sends by the one it is given. */
export function withdrawnFetch(send: Fetch, sign: (send: Fetch) => Fetch): Fetch {
  const waiting = new Map<unknown, Waiting>();
  const signed = sign(async (url, init) => {
    const request = waiting.get(requestOf(init)?.id);
    if (request === undefined) return send(url, init);
    request.isOut = true;
    const response = await send(url, init);
    request.isOut = false;
    // It was refused, and would be sent again.
    if (request.isCancelled && (response.status === 401 || response.status === 403)) request.end.abort();
    return response;
  });
  return async (url, init = {}) => {
    const { id, cancels } = requestOf(init) ?? {};
    const cancelled = waiting.get(cancels);
    if (cancelled !== undefined) {
      cancelled.isCancelled = true;
      if (!cancelled.isOut) {
        cancelled.end.abort();
        return delivered();
      }
    }
    if (id === undefined) return signed(url, init);
    const request: Waiting = { end: new AbortController(), isOut: false, isCancelled: false };
    waiting.set(id, request);
    const signal = init.signal ? AbortSignal.any([init.signal, request.end.signal]) : request.end.signal;
    try {
      return await signed(url, { ...init, signal });
    } catch (error) {
      if (request.end.signal.aborted) return delivered();
      throw error;
    } finally {
      waiting.delete(id);
    }
  };
}

function delivered(): Response {
  return new Response(null, { status: 202 });
}

/** The id of the request in a POST, or of the one that it takes back. */
function requestOf(init: RequestInit | undefined): { id?: unknown; cancels?: unknown } | undefined {
  const message = typeof init?.body === "string" ? jsonIn(init.body) : undefined;
  if (!isRecord(message) || typeof message["method"] !== "string") return undefined;
  if (message["id"] !== undefined) return { id: message["id"] };
  const { method, params } = message;
  return method === "notifications/cancelled" && isRecord(params) ? { cancels: params["requestId"] } : undefined;
}
