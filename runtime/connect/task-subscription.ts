/**
 * A `subscriptions/listen` that names tasks has to say that its client has the extension for them, and the SDK's client says of
 * itself what it said at the start. Everything else stays as it is.
 */
import type { JSONRPCRequest } from "@modelcontextprotocol/client";
import { isRecord } from "../../schemas/record.ts";
import { CLIENT_CAPABILITIES } from "./probe.ts";

/** The extension for tasks of 2026-07-28 (SEP-2663). */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

export function declaringTasks(message: JSONRPCRequest): JSONRPCRequest {
  const { params } = message;
  const wanted = message.method === "subscriptions/listen" ? params?.["notifications"] : undefined;
  const meta = params?._meta;
  if (!isRecord(wanted) || !("taskIds" in wanted) || !isRecord(meta)) return message;
  const capabilities = isRecord(meta[CLIENT_CAPABILITIES]) ? meta[CLIENT_CAPABILITIES] : {};
  const others = isRecord(capabilities["extensions"]) ? capabilities["extensions"] : {};
  const extensions = { ...others, [TASKS_EXTENSION]: {} };
  return {
    ...message,
    params: { ...params, _meta: { ...meta, [CLIENT_CAPABILITIES]: { ...capabilities, extensions } } },
  };
}
