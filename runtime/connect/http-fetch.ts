/**
 * The `fetch` that the SDK's HTTP transports use. It keeps bodies within bounds, takes secrets out of
 * error bodies before anything else sees them, and answers the optional GET stream itself with 405
 * unless notices are wanted: an open stream would keep a program from ending, and servers that only
 * POST answer it with statuses that mean nothing.
 */
import { BodyTooLongError } from "./failure.ts";
import { redact } from "./redact.ts";

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Bytes of an error's body that are read. */
const MAX_ERROR_BYTES = 64 * 1024;

export interface FetchOptions {
  readonly secrets: readonly string[];
  readonly maxMessageBytes: number;
  /** Whether the server's own stream of notices is opened. */
  readonly listen: boolean;
  /** For tests and hosts with a proxy. */
  readonly fetch?: Fetch | undefined;
}

export function boundedFetch(options: FetchOptions): Fetch {
  const underlying: Fetch = options.fetch ?? ((url, init) => fetch(url, init));
  return async (url, init) => {
    if (!options.listen && isNoticeStream(init)) return new Response(null, { status: 405 });
    const response = await underlying(url, init);
    if (response.ok || response.body === null) return bounded(response, options.maxMessageBytes);
    const text = redact(await readStart(response.body, MAX_ERROR_BYTES), options.secrets);
    const { status, statusText, headers } = response;
    return new Response(nullBody(status) ? null : text, { status, statusText, headers: withoutLength(headers) });
  };
}

/** The stream for notices, and not the resumption of an answer that broke off. */
function isNoticeStream(init: RequestInit | undefined): boolean {
  if (init?.method !== "GET") return false;
  const headers = new Headers(init.headers);
  return headers.get("accept")?.includes("text/event-stream") === true && !headers.has("last-event-id");
}

function nullBody(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

/** The text is decoded and may be shorter. */
function withoutLength(headers: Headers): Headers {
  const kept = new Headers(headers);
  for (const name of ["content-length", "content-encoding", "transfer-encoding"]) kept.delete(name);
  return kept;
}

async function readStart(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes).toString("utf8");
}

/** A body that fails once one message in it is longer than allowed: all of a JSON body, one event of a stream. */
function bounded(response: Response, maxBytes: number): Response {
  if (response.body === null) return response;
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  let bytes = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const end = isStream ? lastBlankLine(chunk) : -1;
      bytes = end === -1 ? bytes + chunk.length : chunk.length - end;
      if (bytes > maxBytes) controller.error(new BodyTooLongError(maxBytes));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  const copy = new Response(response.body.pipeThrough(counter), { status, statusText, headers });
  // The SDK looks at where a response came from to tell redirects.
  Object.defineProperties(copy, {
    url: { value: response.url },
    redirected: { value: response.redirected },
    type: { value: response.type },
  });
  return copy;
}

/** Index past the last blank line, which ends an event; -1 without one. Looks from the end, so it is cheap. */
function lastBlankLine(chunk: Uint8Array): number {
  for (let at = chunk.lastIndexOf(10); at > 0; at = chunk.lastIndexOf(10, at - 1)) {
    const before = chunk[at - 1] === 13 ? at - 2 : at - 1;
    if (chunk[before] === 10) return at + 1;
  }
  return -1;
}
