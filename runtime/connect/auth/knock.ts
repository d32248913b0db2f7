/**
 * Finds out whether a server wants a token, by asking what every client asks first: the greeting and the list of tools, in
 * the form of either era. Some servers greet everybody and ask for a token only when their tools are wanted; what
 * they say then names the scopes that are needed. Signing is the business of the `fetch` it is given.
 */
import { CLIENT_INFO } from "../connect-task.ts";
import { type Fetch, readStart } from "../http-fetch.ts";
import { MODERN_VERSION, requestMeta } from "../probe.ts";
import { isRedirectStatus, redirectNote, redirectOf } from "../redirect.ts";

export interface Reception {
  readonly status: number;
  /** The start of a refusal's body, or where it redirects to; empty otherwise. */
  readonly text: string;
}

const MAX_ERROR_BYTES = 10_000;
const LEGACY_VERSION = "2025-11-25";

/** A refusal where the server refused, else how it took the greeting. */
export async function knock(fetch: Fetch, url: URL, signal: AbortSignal | undefined): Promise<Reception> {
  const ask = async (method: string, params: object, headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", id: `sign-in-${method}`, method, params }),
      ...(signal && { signal }),
    });
    const { status } = response;
    const session = response.headers.get("mcp-session-id");
    const redirect = redirectOf(response, url, "POST");
    const said = redirect && redirectNote(redirect);
    const hasText = said === undefined && !response.ok && response.body !== null;
    const text = said ?? (hasText ? await readStart(response.body, MAX_ERROR_BYTES) : "");
    await response.body?.cancel().catch(() => undefined);
    return { status, text, session };
  };
  const params = { protocolVersion: LEGACY_VERSION, capabilities: {}, clientInfo: CLIENT_INFO };
  const { session, ...greeting } = await ask("initialize", params);
  if (isRedirectStatus(greeting.status)) return greeting;
  if (greeting.status >= 400) {
    // A server of 2026-07-28 alone knows no greeting.
    const _meta = requestMeta(MODERN_VERSION, { clientInfo: CLIENT_INFO, capabilities: {} });
    const { status, text } = await ask("tools/list", { _meta }, modernHeaders("tools/list"));
    return status < 400 || status === 403 ? { status, text } : greeting;
  }
  const inSession = { "mcp-protocol-version": LEGACY_VERSION, ...(session !== null && { "mcp-session-id": session }) };
  const { status, text } = await ask("tools/list", {}, inSession);
  if (session !== null) {
    // A courtesy: a server that can't be told will find out.
    const ended = fetch(url, { method: "DELETE", headers: inSession });
    await ended.then((answer) => answer.body?.cancel()).catch(() => undefined);
  }
  return status === 403 ? { status, text } : greeting;
}

function modernHeaders(method: string): Record<string, string> {
  return { "mcp-protocol-version": MODERN_VERSION, "mcp-method": method };
}
