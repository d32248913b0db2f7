/**
 * A connection over a transport of the caller's own: a server in the same process, a socket, a test. The transport is
 * the SDK's kind; everything above it is what servers of `mcp.json` get. It is used once: a transport can't be
 * started again, so a connection that ends is not renewed.
 */
import type * as Sdk from "@modelcontextprotocol/client";
import { bareServer } from "../../schemas/config/server-config.ts";
import { CLIENT_INFO } from "./connect-task.ts";
import { connectionOver } from "./connection.ts";
import type { Wire } from "./exchange.ts";
import { failureDiagnostic } from "./failure.ts";
import type { OpenOptions, OpenOutcome } from "./open.ts";
import { establish } from "./session.ts";
import { tracedWire, WireTrace } from "./trace.ts";
import { openingOf } from "./verdict.ts";

export interface OpenTransportOptions
  extends Pick<OpenOptions, "clientInfo" | "capabilities" | "configure" | "answer" | "signal" | "timeoutMs" | "trace"> {
  /** `legacy` (default) speaks the 2025 `initialize` handshake, `modern` 2026-07-28 without one. */
  readonly era?: "legacy" | "modern";
  /** Milliseconds per request, default 60,000. */
  readonly requestTimeoutMs?: number;
}

/** Starts `transport` and connects to `server` over it. Fails like `openConnection`, with a diagnostic. */
export async function openTransport(
  server: string,
  transport: Sdk.Transport,
  options: OpenTransportOptions = {},
): Promise<OpenOutcome> {
  const sdk = await import("@modelcontextprotocol/client");
  const requestTimeoutMs = options.requestTimeoutMs ?? 60_000;
  const config = bareServer(server, "project");
  const settings = {
    sdk,
    identity: { clientInfo: options.clientInfo ?? CLIENT_INFO, capabilities: options.capabilities ?? {} },
    secrets: [],
    requestTimeoutMs,
    configure: options.configure,
    answer: options.answer,
  };
  const opening =
    options.era === "modern"
      ? openingOf({ era: "modern", verdict: "configured", protocolVersion: "2026-07-28", transport: "stdio" })
      : ({ era: "legacy" } as const);
  try {
    await transport.start();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const failure = { kind: "closed", message } as const;
    return { ok: false, diagnostic: failureDiagnostic(config, failure, { doing: "starting the transport" }) };
  }
  const { trace } = options;
  const wire = trace ? tracedWire(transport as Wire, new WireTrace(trace, server, [])) : (transport as Wire);
  const outcome = await establish({ wire, transport: "stdio" }, opening, "configured", settings, {
    timeoutMs: options.timeoutMs ?? requestTimeoutMs,
    signal: options.signal,
  });
  if (!outcome.ok) {
    return { ok: false, diagnostic: failureDiagnostic(config, outcome.failure, { doing: "connecting" }) };
  }
  const ended = { ok: false, failure: { kind: "closed", message: "the transport can be used once" } } as const;
  const connection = connectionOver(outcome.session, {
    config,
    secrets: [],
    credentials: [],
    answer: options.answer,
    reconnect: async () => ended,
    onVerdictChanged: () => {},
  });
  return { ok: true, connection };
}
