/**
 * A `subscriptions/listen` that names tasks has to say that its client has the extension for them, and the SDK's client says of
 * itself what it said at the start. Everything else stays as it is.
 */
import type { JSONRPCRequest } from "@modelcontextprotocol/client";
import { isRecord } from "../../schemas/record.ts";

const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

export function declaringTasks(message: JSONRPCRequest): JSONRPCRequest {
  const { params } = message;
  const wanted = message.method === "subscriptions/listen" ? params?.["notifications"] : undefined;
  const meta = params?._meta;
  if (!isRecord(wanted) || !("taskIds" in wanted) || !isRecord(meta)) return message;
  const capabilities = isRecord(meta[CAPABILITIES]) ? meta[CAPABILITIES] : {};
  const others = isRecord(capabilities["extensions"]) ? capabilities["extensions"] : {};
  const extensions = { ...others, "io.modelcontextprotocol/tasks": {} };
  return { ...message, params: { ...params, _meta: { ...meta, [CAPABILITIES]: { ...capabilities, extensions } } } };
}
