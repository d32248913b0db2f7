/**
 * What negotiation found out about a server: the value that is compiled into the manifest and handed
 * back at run time, so that a session starts without a probe. Plain data.
 */
import type * as Sdk from "@modelcontextprotocol/client";
import { isRecord } from "../../schemas/record.ts";
import type { Failure } from "./failure.ts";
import { type Discovery, MODERN_VERSION } from "./probe.ts";

export interface EraVerdict {
  readonly era: "legacy" | "modern";
  /** `answered` the probe, kept `silence` (weak), or `configured` by `protocolVersion`. */
  readonly verdict: "answered" | "silence" | "configured";
  readonly protocolVersion: string;
  readonly transport: "stdio" | "streamable-http" | "sse";
  /** Versions of a modern server's `server/discover` answer. */
  readonly supportedVersions?: readonly string[] | undefined;
  readonly capabilities?: Readonly<Record<string, unknown>> | undefined;
  readonly serverInfo?: Discovery["serverInfo"] | undefined;
  readonly instructions?: string | undefined;
}

/** What a session has to know before its first message. */
export type Opening = { readonly era: "legacy" } | { readonly era: "modern"; readonly discovery: Discovery };

/** The opening that a verdict of an earlier run allows. */
export function openingOf(verdict: EraVerdict): Opening {
  if (verdict.era === "legacy") return { era: "legacy" };
  const { supportedVersions, capabilities, serverInfo, instructions } = verdict;
  return {
    era: "modern",
    discovery: {
      supportedVersions: supportedVersions?.includes(MODERN_VERSION) ? supportedVersions : [MODERN_VERSION],
      capabilities: capabilities ?? {},
      ...(serverInfo && { serverInfo }),
      ...(instructions !== undefined && { instructions }),
    },
  };
}

/** The SDK's own form of it. Capabilities it could take offence at are left out; they stay in our verdict. */
export function priorOf(opening: Opening): Sdk.PriorDiscovery {
  if (opening.era === "legacy") return { kind: "legacy" };
  const { supportedVersions, capabilities, serverInfo, instructions } = opening.discovery;
  const sound = Object.entries(capabilities).filter(([, capability]) => isRecord(capability));
  const discover = {
    supportedVersions: [...supportedVersions],
    capabilities: Object.fromEntries(sound),
    ...(instructions !== undefined && { instructions }),
    ...(serverInfo && { _meta: { "io.modelcontextprotocol/serverInfo": serverInfo } }),
  };
  return { kind: "modern", discover } as Sdk.PriorDiscovery;
}

/** JSON-RPC codes with which servers of one era turn requests of the other away. */
const WRONG_ERA_CODES = new Set([-32600, -32601, -32602, -32002, -32022]);

/** Whether a server of the other era might have failed a request so. */
export function hintsAtOtherEra(failure: Failure): boolean {
  if (failure.kind === "rpc-error") return WRONG_ERA_CODES.has(failure.error.code);
  return failure.kind === "closed" || failure.kind === "unusable" || failure.kind === "http-status";
}

/** False where the server's answer says that it took no notice of the request. */
export function mayHaveRun(failure: Failure): boolean {
  return failure.kind === "closed" || failure.kind === "unusable";
}
