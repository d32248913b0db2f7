/** What the SDK is handed of a server's answer to `initialize`; the verdict keeps the answer as it came. */
import { isObject } from "./message.ts";

/** Only what the SDK needs of it, so that a careless `serverInfo` or capability doesn't fail the handshake. */
export function tidyInitializeResult(raw: Record<string, unknown>): Record<string, unknown> {
  const { protocolVersion, capabilities, serverInfo, instructions } = raw;
  const info = isObject(serverInfo) ? serverInfo : {};
  return {
    protocolVersion,
    capabilities: isObject(capabilities)
      ? Object.fromEntries(Object.entries(capabilities).filter(([, capability]) => isObject(capability)))
      : {},
    serverInfo: {
      name: typeof info["name"] === "string" ? info["name"] : "",
      version: typeof info["version"] === "string" ? info["version"] : "",
    },
    ...(typeof instructions === "string" && { instructions }),
  };
}
