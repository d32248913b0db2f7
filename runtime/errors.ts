/**
 * The errors a caller of a tool meets, and the one that a handler answers with. They carry data and are recognised by class, never by their text; when
 * two compiled copies of this module are in one process, each recognises the other's. Imports nothing.
 */
import type { CallToolResult } from "./codegen/result.ts";

const TOOL_ERROR = Symbol.for("pimcp.ToolError");
const SERVER_ERROR = Symbol.for("pimcp.ServerError");
const REFUSED_ERROR = Symbol.for("pimcp.RefusedError");
const DECLINED_ERROR = Symbol.for("pimcp.DeclinedError");

/** The tool ran and said that it failed. `message` is the tool's text. */
export class ToolError extends Error {
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  /** The whole result, with `isError: true`. */
  readonly result: CallToolResult;
  /** Of the task that the call had become. */
  readonly taskId?: string;

  constructor(message: string, details: { server: string; tool: string; result: CallToolResult; taskId?: string }) {
    super(message);
    this.server = details.server;
    this.tool = details.tool;
    this.result = details.result;
    if (details.taskId !== undefined) this.taskId = details.taskId;
    brand(this, TOOL_ERROR, "ToolError");
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: which class was asked is the question
    return isBranded(this, ToolError, value, TOOL_ERROR);
  }
}

/** The server couldn't be reached, died, or answered the request itself with an error. */
export class ServerError extends Error {
  readonly server: string;
  /** The end of what a stdio server wrote to stderr. */
  readonly stderrTail?: string;
  /** Of the task that the call had become. */
  readonly taskId?: string;

  constructor(message: string, details: { server: string; cause?: unknown; stderrTail?: string; taskId?: string }) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.server = details.server;
    if (details.stderrTail !== undefined) this.stderrTail = details.stderrTail;
    if (details.taskId !== undefined) this.taskId = details.taskId;
    brand(this, SERVER_ERROR, "ServerError");
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: which class was asked is the question
    return isBranded(this, ServerError, value, SERVER_ERROR);
  }
}

/** The call was never sent: there is no such tool, its arguments don't fit, or its definition changed (`onDrift: "block"`). */
export class RefusedError extends Error {
  readonly server: string;
  /** The name the tool was asked for by. */
  readonly tool: string;
  readonly reason:
    | "unknown-server"
    | "unknown-tool"
    | "invalid-arguments"
    | "not-offered"
    | "definition-changed"
    | "closed";

  constructor(message: string, details: { server: string; tool: string; reason: RefusedError["reason"] }) {
    super(message);
    this.server = details.server;
    this.tool = details.tool;
    this.reason = details.reason;
    brand(this, REFUSED_ERROR, "RefusedError");
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: which class was asked is the question
    return isBranded(this, RefusedError, value, REFUSED_ERROR);
  }
}

/**
 * What a handler of `ClientHandlers` rejects with where the user says no and the method has no answer for that, as
 * `sampling/createMessage`: the server is told of a refusal, not of a failure. `message` says why, to people here alone.
 */
export class DeclinedError extends Error {
  constructor(message?: string) {
    super(message);
    brand(this, DECLINED_ERROR, "DeclinedError");
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: which class was asked is the question
    return isBranded(this, DeclinedError, value, DECLINED_ERROR);
  }
}

/** Not enumerable, so that a logged error shows its data alone. */
function brand(error: Error, symbol: symbol, name: string): void {
  Object.defineProperty(error, symbol, { value: true });
  Object.defineProperty(error, "name", { value: name, configurable: true, writable: true });
}

/** A subclass recognises only its own instances, as any class does. */
function isBranded(asked: unknown, owner: unknown, value: unknown, symbol: symbol): boolean {
  if (asked === owner) return typeof value === "object" && value !== null && symbol in value;
  return Function.prototype[Symbol.hasInstance].call(asked, value);
}
