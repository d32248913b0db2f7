/**
 * The `fetch` that the SDK's HTTP transports use. It keeps bodies within bounds, takes secrets out of
 * error bodies before anything else sees them, and answers the optional GET stream itself with 405
 * unless notices are wanted: an open stream would keep a program from ending, and servers that only
 * POST answer it with statuses that mean nothing.
 */
import { BodyTooLongError, RefusedPostError } from "./failure.ts";
import { redact } from "./redact.ts";
import { redirectNote, redirectOf } from "./redirect.ts";

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Bytes of an error's body that are read. */
const MAX_ERROR_BYTES = 64 * 1024;

export interface FetchOptions {
  readonly secrets: readonly string[];
  readonly maxMessageBytes: number;
  /** Whether the server's own stream of notices is opened. */
  readonly listen: boolean;
  /** A refused POST is thrown, but for 401, which the transport may answer with a sign-in: for one that keeps no status. */
  readonly throwRefusals?: boolean;
  /** An answer to a POST outgrew the limit: the id of the request in its body. */
  readonly onTooLong?: ((id: unknown) => void) | undefined;
  /** The stream of notices is open, or can't be had just now. */
  readonly onNoticeStream?: ((isOpen: boolean) => void) | undefined;
  /** For tests and hosts with a proxy. */
  readonly fetch?: Fetch | undefined;
}

export function boundedFetch(options: FetchOptions): Fetch {
  const underlying: Fetch = options.fetch ?? ((url, init) => fetch(url, init));
  return async (url, init) => {
    const isNotices = isNoticeStream(init);
    if (!options.listen && isNotices) return new Response(null, { status: 405 });
    const answer = underlying(url, init);
    if (isNotices) {
      const tell = (isOpen: boolean) => options.onNoticeStream?.(isOpen);
      answer.then(
        ({ ok }) => tell(ok),
        () => tell(false),
      );
    }
    const response = await answer;
    const redirect = redirectOf(response, url, init?.method ?? "GET");
    // Nobody followed it: a person has to.
    const elsewhere = redirect && redirectNote(redirect);
    if (elsewhere === undefined && (response.ok || response.body === null)) {
      return bounded(response, options.maxMessageBytes, () => options.onTooLong?.(requestIdOf(init)));
    }
    const said = elsewhere ?? (await readStart(response.body!, MAX_ERROR_BYTES));
    const text = redact(said, options.secrets);
    const { status } = response;
    if (options.throwRefusals && init?.method === "POST" && status !== 401) throw new RefusedPostError(status, text);
    return withText(response, text);
  };
}

function requestIdOf(init: RequestInit | undefined): unknown {
  return typeof init?.body === "string" ? (JSON.parse(init.body) as { id?: unknown }).id : undefined;
}

/** The stream for notices, and not the resumption of an answer that broke off. */
function isNoticeStream(init: RequestInit | undefined): boolean {
  if (init?.method !== "GET") return false;
  const headers = new Headers(init.headers);
  return headers.get("accept")?.includes("text/event-stream") === true && !headers.has("last-event-id");
}

const WITHOUT_BODY = new Set([204, 205, 304]);

/** The response with its body as it was read: decoded, and perhaps shorter than its headers say. */
export function withText({ status, statusText, headers }: Response, text: string): Response {
  const kept = new Headers(headers);
  for (const name of ["content-length", "content-encoding", "transfer-encoding"]) kept.delete(name);
  return new Response(WITHOUT_BODY.has(status) ? null : text, { status, statusText, headers: kept });
}

/** The rest is never received. */
export async function readStart(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<string> {
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
function bounded(response: Response, maxBytes: number, onTooLong: () => void): Response {
  if (response.body === null) return response;
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const meter = isStream ? new EventMeter() : new BodyMeter();
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (meter.longest(chunk) <= maxBytes) {
        controller.enqueue(chunk);
        return;
      }
      onTooLong();
      controller.error(new BodyTooLongError(maxBytes));
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

class BodyMeter {
  #bytes = 0;
  longest(chunk: Uint8Array): number {
    this.#bytes += chunk.length;
    return this.#bytes;
  }
}

/** Length in bytes of the longest event that has any part in a chunk; blank lines end events. */
class EventMeter {
  #bytes = 0;
  #lineIsBlank = true;

  longest(chunk: Uint8Array): number {
    let longest = 0;
    let from = 0;
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, from)) {
      const blank = this.#lineIsBlank && isBlank(chunk, from, at);
      this.#bytes += at + 1 - from;
      longest = Math.max(longest, this.#bytes);
      if (blank) this.#bytes = 0;
      this.#lineIsBlank = true;
      from = at + 1;
    }
    this.#bytes += chunk.length - from;
    this.#lineIsBlank &&= isBlank(chunk, from, chunk.length);
    return Math.max(longest, this.#bytes);
  }
}

const LF = 10;
const CR = 13;

function isBlank(chunk: Uint8Array, from: number, to: number): boolean {
  return to === from || (to === from + 1 && chunk[from] === CR);
}
