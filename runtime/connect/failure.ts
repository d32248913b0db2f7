/**
 * What can go wrong between us and a server, as data. Errors of the SDK, of `fetch` and of processes are
 * told apart here and nowhere else, by class and code, never by their text; the texts are cleaned of
 * secrets and control characters before anyone sees them.
 */
import type * as Sdk from "@modelcontextprotocol/client";
import type { ServerConfig } from "../../schemas/config/server-config.ts";
import { type Diagnostic, type DiagnosticCode, diagnostic } from "../../schemas/diagnostic.ts";
import { AuthError, type AuthErrorCode } from "./auth/auth-error.ts";
import type { RpcError } from "./message.ts";
import type { ProbeVerdict } from "./probe.ts";
import { printableLine, redact, redactData } from "./redact.ts";
import { remediesOf, type Signs } from "./remedies.ts";

/** Nothing in it holds a secret; `message` is one printable line. */
export type Failure = { readonly message: string } & (
  | { readonly kind: "rpc-error"; readonly error: RpcError }
  | { readonly kind: "timeout"; readonly timeoutMs: number }
  | { readonly kind: "cancelled" }
  /** The connection ended: the process exited, the pipe broke. */
  | { readonly kind: "closed" }
  /** The answer was longer than the transport takes. The connection goes on. */
  | { readonly kind: "oversize"; readonly limitBytes: number }
  /** `code` is the system's (`ENOENT`, `EACCES`, …). */
  | { readonly kind: "not-started"; readonly code: string }
  | { readonly kind: "sign-in-needed" }
  /** A request could not be signed, for a reason of its own. */
  | { readonly kind: "unsigned"; readonly code: AuthErrorCode; readonly notes: readonly string[] }
  | { readonly kind: "access-denied" }
  /** Network error, whose `code` is the system's, or HTTP status 408, 429 or 5xx: may work later. */
  | { readonly kind: "unavailable"; readonly status?: number; readonly code?: string }
  /** The server no longer knows the session (HTTP 404), so it did not run the request. */
  | { readonly kind: "session-lost" }
  /** Any other HTTP status. */
  | { readonly kind: "http-status"; readonly status: number; readonly body: string }
  /** The server asked for input, and the handler for that failed. */
  | { readonly kind: "handler-failed" }
  /** The server answered with something that isn't MCP (of `contentType`, or no JSON), or in a version we don't speak. */
  | {
      readonly kind: "unusable";
      readonly reason?: "content-type" | "version" | "json";
      readonly contentType?: string;
    }
);

export interface FailureContext {
  readonly secrets: readonly string[];
  readonly sdk: typeof Sdk | undefined;
  /** The request's signal was aborted by whoever made it. */
  readonly aborted?: boolean;
  readonly timeoutMs?: number;
  /** The request went out under a session id. */
  readonly inSession?: boolean;
}

/** Raised by our fetch where a body outgrows the limit. */
export class BodyTooLongError extends Error {
  readonly limitBytes: number;
  constructor(limitBytes: number) {
    super(`the body is longer than ${limitBytes} bytes`);
    this.limitBytes = limitBytes;
  }
}

/** Raised by our fetch where a POST was refused and the transport above it would only keep a text of that. */
export class RefusedPostError extends Error {
  readonly status: number;
  readonly body: string;
  constructor(status: number, body: string) {
    super(`HTTP ${status}`);
    this.status = status;
    this.body = body;
  }
}

/** Raised by our fetch where a proxy stood between. The message names neither its user nor its password. */
export class ProxyError extends Error {
  /** `cause` is what went wrong on the way. */
  static by(proxy: URL, cause: unknown): ProxyError {
    const code = codeIn(cause);
    // undici's own codes say less than its words: "Proxy Authentication Required (407)".
    const why = code?.startsWith("UND_ERR_") === false ? code : firstCause(cause);
    return new ProxyError(`${why}, by way of the proxy ${proxy.protocol}//${proxy.host}`, { cause });
  }
}

/** Raised where a handler of ours failed at what a server asked for in the middle of a request. */
export class HandlerFailedError extends Error {
  /** The user said no: the server is told so, and may do without. */
  get isDecline(): boolean {
    return false;
  }
}

export function failureOf(error: unknown, context: FailureContext): Failure {
  const { sdk } = context;
  const message = printableLine(redact(error instanceof Error ? error.message : String(error), context.secrets), 500);
  if (context.aborted) return { kind: "cancelled", message: "cancelled" };
  if (error instanceof AuthError) return authFailure(error, message);
  if (error instanceof BodyTooLongError) return oversizeFailure(error.limitBytes);
  if (error instanceof HandlerFailedError) return { kind: "handler-failed", message };
  if (sdk?.ProtocolError.isInstance(error)) {
    const { code, message: whole, data } = error;
    const said = { code, message: whole, ...(data !== undefined && { data }) };
    return { kind: "rpc-error", error: redactData(said, context.secrets).value, message };
  }
  if (sdk?.UnauthorizedError.isInstance(error)) return { kind: "sign-in-needed", message: "sign-in is needed" };
  // A 403 that says which permission is missing.
  if (sdk?.InsufficientScopeError.isInstance(error)) return { kind: "access-denied", message: `HTTP 403: ${message}` };
  if (sdk?.SdkHttpError.isInstance(error)) {
    return httpFailure(error.status, typeof error.data.text === "string" ? error.data.text : "", context);
  }
  if (sdk?.SseError.isInstance(error) && typeof error.code === "number") return httpFailure(error.code, "", context);
  if (sdk?.SdkError.isInstance(error)) {
    if (error.code === sdk.SdkErrorCode.RequestTimeout) return timeoutFailure(context.timeoutMs ?? 0);
    if (error.code === sdk.SdkErrorCode.ConnectionClosed || error.code === sdk.SdkErrorCode.NotConnected) {
      return { kind: "closed", message: "the connection was closed" };
    }
    if (error.code !== sdk.SdkErrorCode.ClientHttpUnexpectedContent) return { kind: "unusable", message };
    const contentType = printableLine(String((error.data as { contentType?: unknown } | undefined)?.contentType), 80);
    return { kind: "unusable", reason: "content-type", contentType, message };
  }
  if (error instanceof RefusedPostError) return httpFailure(error.status, error.body, context);
  return systemFailure(error, message, context.secrets);
}

function authFailure({ code, notes }: AuthError, message: string): Failure {
  return code === "sign-in-needed" ? { kind: code, message } : { kind: "unsigned", code, notes, message };
}

export function timeoutFailure(timeoutMs: number): Failure {
  return { kind: "timeout", timeoutMs, message: `no answer within ${timeoutMs} ms` };
}

export function oversizeFailure(limitBytes: number): Failure {
  return { kind: "oversize", limitBytes, message: `the answer is longer than ${limitBytes} bytes` };
}

/** The versions a server offers instead, as the end of a sentence; nothing where it named none. */
export function offersOf(verdict: ProbeVerdict | undefined, secrets: readonly string[]): string {
  const offered = verdict !== undefined && "offered" in verdict ? verdict.offered : undefined;
  return offered === undefined ? "" : `; it offers ${printableLine(redact(offered.join(", "), secrets))}`;
}

/** Statuses that say nothing about what a server can do, only that it can't now. */
function isTransientStatus(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

function httpFailure(status: number, text: string, context: FailureContext): Failure {
  const body = redact(text, context.secrets);
  const shown = printableLine(body, 300);
  const message = `HTTP ${status}${shown === "" ? "" : `: ${shown}`}`;
  if (status === 401) return { kind: "sign-in-needed", message };
  if (status === 403) return { kind: "access-denied", message };
  if (isTransientStatus(status)) return { kind: "unavailable", status, message };
  if (status === 404 && context.inSession) return { kind: "session-lost", message };
  return { kind: "http-status", status, body, message };
}

const PIPE_CODES = new Set(["EPIPE", "ECONNRESET", "ERR_STREAM_DESTROYED", "ERR_STREAM_WRITE_AFTER_END"]);

function systemFailure(error: unknown, message: string, secrets: readonly string[]): Failure {
  if (error instanceof SyntaxError) return { kind: "unusable", reason: "json", message: "the answer is not JSON" };
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined;
  const code = (error as NodeJS.ErrnoException | null)?.code;
  // `fetch` says only "fetch failed"; what failed is in the cause, and the address may hold a secret.
  if (error instanceof TypeError && cause !== undefined) {
    if (cause instanceof BodyTooLongError) return oversizeFailure(cause.limitBytes);
    const code = codeIn(cause);
    const said = cause instanceof ProxyError ? cause.message : (code ?? cause.message);
    const why = printableLine(redact(said, secrets)) || message;
    return { kind: "unavailable", message: `network error (${why})`, ...(code !== undefined && { code }) };
  }
  if (typeof code === "string" && PIPE_CODES.has(code)) return { kind: "closed", message: "the connection was closed" };
  return { kind: "closed", message };
}

/** The system's code for it, or for what caused it (`ECONNREFUSED` for each address that was tried). */
function codeIn(error: unknown, depth = 0): string | undefined {
  if (!(error instanceof Error) || depth > 5) return undefined;
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code === "string") return code;
  return (
    codeIn(error.cause, depth + 1) ?? (error instanceof AggregateError ? codeIn(error.errors[0], depth + 1) : undefined)
  );
}

/** What is known beside the failure itself: of a process, and what went on, a step of ours or a request's method. */
export type Circumstances = Signs & ({ readonly doing: string } | { readonly during: string });

function firstCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? firstCause(error.cause) : error.message;
}

/** A failure as a finding about a server, with its code, its place in the configuration and what helps. */
export function failureDiagnostic(config: ServerConfig, failure: Failure, circumstances: Circumstances): Diagnostic {
  const { code, message } = describe(config, failure, circumstances);
  const notes = remediesOf(config, failure, circumstances);
  return diagnostic(code, `server "${config.name}": ${message}`, {
    server: config.name,
    ...config.location,
    notes,
  });
}

/** The finding with what the server's process printed last, as a person reads it. */
export function withStderr(found: Diagnostic, stderr: readonly string[] = []): Diagnostic {
  return { ...found, notes: [...found.notes, ...stderr.map((line) => `stderr: ${line}`)] };
}

interface Description {
  readonly code: DiagnosticCode;
  readonly message: string;
}

function describe(config: ServerConfig, failure: Failure, circumstances: Circumstances): Description {
  const { ending } = circumstances;
  const [what, when] =
    "doing" in circumstances
      ? [circumstances.doing, `while ${circumstances.doing}`]
      : [circumstances.during, `during ${circumstances.during}`];
  const unreachable = (message: string): Description => ({ code: "server-unreachable", message });
  switch (failure.kind) {
    case "not-started":
      return unreachable(`${commandName(config)} ${whyNotStarted(failure.code)}`);
    case "closed":
      return unreachable(`${subject(config)} ${ending ?? "closed the connection"} ${when}`);
    case "timeout":
      return { code: "server-timeout", message: `${failure.message} ${when}` };
    case "cancelled":
      return unreachable(`cancelled ${when}`);
    case "sign-in-needed":
      return { code: "sign-in-needed", message: `sign-in is needed (${failure.message})` };
    case "unsigned":
      return { code: failure.code, message: failure.message };
    case "access-denied":
      return { code: "access-denied", message: `access was denied (${failure.message})` };
    case "unavailable":
      return { code: "server-unavailable", message: `the server is unavailable (${failure.message})` };
    case "rpc-error":
      return { code: "protocol-mismatch", message: `${what} failed: ${failure.message}` };
    default:
      return { code: "protocol-mismatch", message: `${failure.message} ${when}` };
  }
}

function subject(config: ServerConfig): string {
  return config.transport.kind === "stdio" ? "the server process" : "the server";
}

/** As written, unexpanded: the value may be a secret or a path of this machine. */
function commandName(config: ServerConfig): string {
  return config.transport.kind === "stdio" ? `the command "${printableLine(config.transport.command)}"` : "the server";
}

function whyNotStarted(code: string): string {
  if (code === "ENOENT") return "was not found";
  if (code === "EACCES") return "may not be executed";
  return `could not be started (${code})`;
}
