/**
 * The version probe: one `server/discover`, and what its answer says about a server's era. The rules are
 * the SDK's own; they stand here because the SDK gives neither the evidence (an answer, or only silence)
 * nor control over the process that is probed. Reading an answer is pure; asking it is one exchange over
 * a wire that nobody else uses yet. Loads nothing of the SDK.
 */
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { isRecord } from "../../schemas/record.ts";
import type { Wire } from "./exchange.ts";
import { classifyMessage, type RpcError } from "./message.ts";

/** The protocol version of the 2026 era that we ask for. */
export const MODERN_VERSION = "2026-07-28";

export interface ClientIdentity {
  readonly clientInfo: { readonly name: string; readonly version: string };
  readonly capabilities: Readonly<Record<string, unknown>>;
}

/** A `server/discover` result, as the server sent it. */
export interface Discovery {
  readonly supportedVersions: readonly string[];
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly instructions?: string;
  readonly serverInfo?: { readonly name: string; readonly version: string; readonly title?: string };
}

export type ProbeReply =
  | { readonly kind: "result"; readonly result: Record<string, unknown> }
  | { readonly kind: "error"; readonly error: RpcError }
  /** The server went away instead of answering. */
  | { readonly kind: "closed" }
  | { readonly kind: "silence" }
  /** The request could not be delivered: what the transport threw. */
  | { readonly kind: "send-failed"; readonly error: unknown };

export type ProbeVerdict =
  | { readonly kind: "modern"; readonly version: string; readonly discovery: Discovery }
  /** An answer, and not one of a modern server that we share a version with. */
  | { readonly kind: "legacy"; readonly offered?: readonly string[] }
  /** The server is modern, speaks `version`, and wants to be asked in it. */
  | { readonly kind: "ask-again"; readonly version: string }
  /** Modern, without a version in common. */
  | { readonly kind: "no-common-version"; readonly offered: readonly string[] };

/** JSON-RPC code of "unsupported protocol version"; its data lists what the server supports. */
const UNSUPPORTED_VERSION = -32022;

/** Not a text: some servers answer a text id with a wrong one. Far from the ids the SDK counts up from 0. */
const PROBE_ID = 1_000_000_000;
/** After an answer with a wrong id, how long the right one may still come. */
const WRONG_ID_GRACE_MS = 250;

export const CLIENT_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

/** What every request to a modern server says of its client. */
export function requestMeta(version: string, { clientInfo, capabilities }: ClientIdentity) {
  return {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientInfo": clientInfo,
    [CLIENT_CAPABILITIES]: capabilities,
  };
}

function probeRequest(id: number, version: string, identity: ClientIdentity): JSONRPCMessage {
  const _meta = requestMeta(version, identity);
  return { jsonrpc: "2.0", id, method: "server/discover", params: { _meta } };
}

/** What an answer says. Silence, a closed pipe and HTTP failures are for the caller to weigh. */
export function readAnswer(
  reply: Extract<ProbeReply, { kind: "result" | "error" }>,
  ours: readonly string[] = [MODERN_VERSION],
): ProbeVerdict {
  if (reply.kind === "result") {
    const discovery = readDiscovery(reply.result);
    if (discovery === undefined) return { kind: "legacy" };
    const version = ours.find((one) => discovery.supportedVersions.includes(one));
    if (version !== undefined) return { kind: "modern", version, discovery };
    return outcomeOf(discovery.supportedVersions);
  }
  if (reply.error.code !== UNSUPPORTED_VERSION || !isRecord(reply.error.data)) return { kind: "legacy" };
  const supported = reply.error.data["supported"];
  if (!isStringList(supported) || supported.length === 0) return { kind: "legacy" };
  const version = ours.find((one) => supported.includes(one));
  return version === undefined ? outcomeOf(supported) : { kind: "ask-again", version };
}

/** An answer, or the lack of one, as the end of a sentence. Holds the server's own words: redact and clean before showing. */
export function replyText(reply: ProbeReply, limitMs: number): string {
  switch (reply.kind) {
    case "result": {
      const discovery = readDiscovery(reply.result);
      if (discovery === undefined) return "server/discover was answered with something else";
      return `server/discover was answered: it offers ${discovery.supportedVersions.join(", ")}`;
    }
    case "error":
      return `server/discover was refused with error ${reply.error.code} (${reply.error.message})`;
    case "closed":
      return "the server ended when it was asked server/discover";
    case "silence":
      return `server/discover got no answer within ${Math.round(limitMs)} ms`;
    case "send-failed":
      return "server/discover could not be asked";
  }
}

/** Versions are dates, so a list with only later eras than the 2025 one leaves nothing to fall back to. */
function outcomeOf(offered: readonly string[]): ProbeVerdict {
  const legacy = offered.some((version) => version < MODERN_VERSION);
  return legacy ? { kind: "legacy", offered } : { kind: "no-common-version", offered };
}

function readDiscovery(result: Record<string, unknown>): Discovery | undefined {
  const { supportedVersions, capabilities, instructions, _meta } = result;
  if (!isStringList(supportedVersions) || supportedVersions.length === 0) return undefined;
  const serverInfo = isRecord(_meta) ? readServerInfo(_meta["io.modelcontextprotocol/serverInfo"]) : undefined;
  return {
    supportedVersions,
    capabilities: isRecord(capabilities) ? capabilities : {},
    ...(typeof instructions === "string" && { instructions }),
    ...(serverInfo && { serverInfo }),
  };
}

/** A server's name for itself, where it is usable. */
export function readServerInfo(info: unknown): Discovery["serverInfo"] {
  if (!isRecord(info) || typeof info["name"] !== "string") return undefined;
  const { name, version, title } = info;
  return {
    name,
    version: typeof version === "string" ? version : "",
    ...(typeof title === "string" && { title }),
  };
}

function isStringList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/**
 * Asks and waits at most `limitMs`. An answer with a wrong id (or none) is an answer, once the right one
 * has had a moment to come too. Leaves the wire's handlers unset.
 */
export async function ask(
  wire: Wire,
  identity: ClientIdentity,
  options: { limitMs: number; version?: string; signal?: AbortSignal | undefined },
): Promise<ProbeReply> {
  const request = probeRequest(PROBE_ID, options.version ?? MODERN_VERSION, identity);
  let settle: (reply: ProbeReply) => void = () => {};
  const reply = new Promise<ProbeReply>((resolve) => {
    settle = resolve;
  });
  const timers = [setTimeout(() => settle({ kind: "silence" }), options.limitMs)];
  wire.onmessage = (message) => {
    const answer = classifyMessage(message);
    if (answer?.kind !== "result" && answer?.kind !== "error") return;
    const { id, ...content } = answer;
    if (id === PROBE_ID) settle(content);
    else timers.push(setTimeout(() => settle(content), WRONG_ID_GRACE_MS));
  };
  wire.onclose = () => settle({ kind: "closed" });
  const onAbort = () => settle({ kind: "silence" });
  options.signal?.addEventListener("abort", onAbort, { once: true });
  if (options.signal?.aborted) onAbort();
  wire.send(request).catch((error: unknown) => settle({ kind: "send-failed", error }));
  const outcome = await reply;
  for (const timer of timers) clearTimeout(timer);
  options.signal?.removeEventListener("abort", onAbort);
  wire.onmessage = undefined;
  wire.onclose = undefined;
  return outcome;
}
