/** What the SDK is handed of a server's answer to `initialize`; the verdict keeps the answer as it came. */
import { isRecord } from "../../schemas/record.ts";
import { readServerInfo } from "./probe.ts";

/** Only what the SDK needs of it, so that a careless `serverInfo` or capability doesn't fail the handshake. */
export function tidyInitializeResult(raw: Record<string, unknown>): Record<string, unknown> {
  const { protocolVersion, capabilities, serverInfo, instructions } = raw;
  const info = isRecord(serverInfo) ? serverInfo : {};
  return {
    protocolVersion,
    capabilities: isRecord(capabilities)
      ? Object.fromEntries(Object.entries(capabilities).filter(([, capability]) => isRecord(capability)))
      : {},
    serverInfo: {
      name: typeof info["name"] === "string" ? info["name"] : "",
      version: typeof info["version"] === "string" ? info["version"] : "",
    },
    ...(typeof instructions === "string" && { instructions }),
  };
}

/** What it says of itself there; what is malformed counts as unsaid. */
export function readInitialize(result: Record<string, unknown>) {
  const { capabilities, serverInfo, instructions } = result;
  return {
    capabilities: isRecord(capabilities) ? capabilities : {},
    serverInfo: readServerInfo(serverInfo),
    instructions: typeof instructions === "string" ? instructions : undefined,
  };
}
