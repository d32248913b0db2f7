/**
 * The shape of JSON-RPC messages, checked cheaply: enough to know what a message is and whom it answers.
 * What a result holds is nobody's business here, but for the word that says what it is.
 */
import { isRecord } from "../../schemas/record.ts";

export type RequestId = string | number;

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** A message as it came, of a certain kind. `id` of a response may be anything, as servers get it wrong. */
export type IncomingMessage =
  | { readonly kind: "result"; readonly id: unknown; readonly result: Record<string, unknown> }
  | { readonly kind: "error"; readonly id: unknown; readonly error: RpcError }
  | { readonly kind: "request"; readonly id: RequestId; readonly method: string }
  | { readonly kind: "notification"; readonly method: string };

/** What a parsed JSON value is, or nothing when it isn't JSON-RPC. `jsonrpc` itself is not insisted on. */
export function classifyMessage(value: unknown): IncomingMessage | undefined {
  if (!isRecord(value)) return undefined;
  const { id, method, result, error } = value;
  if (typeof method === "string") {
    if (id === undefined || id === null) return { kind: "notification", method };
    return isRequestId(id) ? { kind: "request", id, method } : undefined;
  }
  if (isRecord(error)) return { kind: "error", id, error: rpcErrorOf(error) };
  // Logs are objects too (`{"level":"info"}`, `{"result":"ok"}`): a result is an object that answers some id.
  if (isRecord(result) && "id" in value) return { kind: "result", id, result };
  if (result !== undefined && isRequestId(id) && value["jsonrpc"] === "2.0")
    return { kind: "error", id, error: NO_OBJECT };
  return undefined;
}

const NO_OBJECT: RpcError = { code: -32603, message: "the server's result is not an object" };

export function isMessage(value: unknown): boolean {
  return classifyMessage(value) !== undefined;
}

/** An error as a server sent it, made whole. */
export function rpcErrorOf(error: Record<string, unknown>): RpcError {
  const { code, message, data } = error;
  return {
    code: typeof code === "number" ? code : -32603,
    message: typeof message === "string" ? message : "the server gave no message",
    ...(data !== undefined && { data }),
  };
}

function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || typeof value === "number";
}

/**
 * The top-level `id` of a message of which only the beginning is at hand. Strings and nesting are
 * stepped over, so an `id` inside `params` or `result` is never mistaken for it.
 */
export function idInHead(head: string): RequestId | undefined {
  const token = /\s*(?:"((?:[^"\\]|\\.)*)"|([{[])|([}\]])|([:,])|([^\s"{}[\]:,]+))/y;
  let depth = 0;
  let key: string | undefined;
  let expectsValue = false;
  for (let match = token.exec(head); match !== null; match = token.exec(head)) {
    const [, text, open, close, punctuation, literal] = match;
    if (open !== undefined) depth++;
    else if (close !== undefined) depth--;
    else if (depth !== 1) continue;
    else if (punctuation !== undefined) expectsValue = punctuation === ":";
    else if (!expectsValue) key = text;
    else if (key === "id") {
      // A literal that the cut may have shortened tells nothing.
      if (literal !== undefined && token.lastIndex === head.length) return undefined;
      return text ?? (Number.isFinite(Number(literal)) ? Number(literal) : undefined);
    }
    if (depth <= 0) return undefined;
  }
  return undefined;
}

/** The top-level `id` of a message whose last member it is (or stands before `jsonrpc`), from the end alone. */
export function idInTail(tail: string): RequestId | undefined {
  const match = /,\s*"id"\s*:\s*(?:(-?\d+)|"([^"\\]*)")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail);
  if (match === null) return undefined;
  return match[1] === undefined ? match[2] : Number(match[1]);
}

/** A complete result as an older server would have sent it. */
export function withoutResultType(result: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (result["resultType"] !== "complete") return result;
  const { resultType: _, ...rest } = result;
  return rest;
}
