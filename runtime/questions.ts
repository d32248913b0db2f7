/**
 * What a server asks of its client in the middle of other work (input from the user, a completion, roots), put to the
 * handler for it. It makes no difference whether the question came as a request of the server's (2025), in an
 * `input_required` result (2026-07-28) or from a task: all come here. The answer that leaves has been checked
 * against the question, so no handler can send a form that doesn't fit, or content beside a decline.
 * Nothing here talks to a server. ajv is loaded by the first form that is answered.
 */
import { isRecord } from "../schemas/record.ts";
import { type ClientHandlers, elicitationModes, type QuestionHandler, samplingFeatures } from "./client-features.ts";
import { HandlerFailedError } from "./connect/failure.ts";
import type { AskedQuestion } from "./connect/input-required.ts";
import { printableLine } from "./connect/redact.ts";
import { DeclinedError } from "./errors.ts";
import { fitContent } from "./questions/form-content.ts";

export interface Question {
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  /** As the server sent them. */
  readonly params: Readonly<Record<string, unknown>>;
  /** Name of the server that asks. */
  readonly server: string;
  /** The tool during whose call it asks; absent where that can't be told. */
  readonly tool?: string | undefined;
  readonly taskId?: string | undefined;
  /** The server looks again only once it has the answer: a visit to a URL should be over by then. */
  readonly whenDone?: boolean | undefined;
  /** Aborted when the answer is no longer wanted. */
  readonly signal?: AbortSignal | undefined;
}

/** A question of a server's as it came over its connection; one about a task (2025) names it. */
export function questionOf(server: string, asked: AskedQuestion): Question {
  const meta = asked.params["_meta"];
  const related = isRecord(meta) ? meta["io.modelcontextprotocol/related-task"] : undefined;
  const taskId = isRecord(related) && typeof related["taskId"] === "string" ? related["taskId"] : undefined;
  return { ...asked, method: asked.method as Question["method"], server, taskId };
}

/** Why a question has no answer. */
export type UnansweredReason =
  /** No handler takes questions of this kind or mode, and none was advertised. */
  | "no-handler"
  | "handler-failed"
  /** The user said no where MCP has no answer for that: to sampling. */
  | "declined"
  /** The handler's answer doesn't fit the question. */
  | "unfit-answer"
  /** The question itself isn't one that MCP allows. */
  | "unusable-question"
  | "aborted";

/** A question that was not answered. The message is for a person here and never goes to the server. */
export class UnansweredError extends HandlerFailedError {
  readonly reason: UnansweredReason;
  readonly question: Question;

  constructor(reason: UnansweredReason, message: string, question: Question, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    Object.defineProperty(this, "name", { value: "UnansweredError", configurable: true, writable: true });
    this.reason = reason;
    this.question = question;
  }

  override get isDecline(): boolean {
    return this.reason === "declined";
  }
}

/** `elicitation ("Who is there?")`: a question in a few words, for messages. */
export function questionText({ method, params }: Pick<Question, "method" | "params">): string {
  const kind = KINDS.get(method) ?? printableLine(String(method), 60);
  const said = typeof params["message"] === "string" ? printableLine(params["message"], 120) : "";
  return said === "" ? kind : `${kind} ("${said}")`;
}

const KINDS: ReadonlyMap<string, string> = new Map([
  ["elicitation/create", "elicitation"],
  ["sampling/createMessage", "sampling"],
  ["roots/list", "roots"],
]);

/** The result for the server. Rejects with `UnansweredError`, as soon as the question's signal is aborted. */
export async function answerQuestion(handlers: ClientHandlers, question: Question): Promise<Record<string, unknown>> {
  switch (question.method) {
    case "elicitation/create":
      return answerElicitation(handlers, question);
    case "sampling/createMessage":
      return answerSampling(handlers, question);
    case "roots/list":
      return answerRoots(handlers, question);
    default:
      throw unusable(question, "nothing a client can be asked");
  }
}

const ACTIONS: ReadonlySet<unknown> = new Set(["accept", "decline", "cancel"]);

async function answerElicitation(handlers: ClientHandlers, question: Question): Promise<Record<string, unknown>> {
  const { params } = question;
  const mode = params["mode"] ?? "form";
  if (mode !== "form" && mode !== "url") throw unusable(question, "an elicitation mode that doesn't exist");
  if (mode === "url" && typeof params["url"] !== "string") throw unusable(question, "a URL elicitation without a URL");
  const kind = mode === "url" ? "URL elicitation" : undefined;
  const answer = await ask(elicitationModes(handlers)[mode], question, handlers, kind);
  if (!isRecord(answer) || !ACTIONS.has(answer["action"])) {
    throw unfit(question, ['action: expected "accept", "decline" or "cancel"']);
  }
  const { action, content } = answer;
  if (action !== "accept" || mode === "url") return { action };
  const fitted = await fitContent(params["requestedSchema"], content);
  if (fitted.ok) return { action, content: fitted.content };
  if (fitted.blame === "schema") throw unusable(question, `a form whose answer can't be checked: ${fitted.errors[0]}`);
  throw unfit(question, fitted.errors);
}

async function answerSampling(handlers: ClientHandlers, question: Question): Promise<Record<string, unknown>> {
  const { params } = question;
  const features = samplingFeatures(handlers);
  const wantsTools = params["tools"] !== undefined || params["toolChoice"] !== undefined;
  const able = wantsTools && features?.tools !== true ? undefined : features?.create;
  const answer = await ask(able, question, handlers, wantsTools && features ? "sampling with tools" : undefined);
  const errors = samplingErrors(answer);
  if (errors.length > 0) throw unfit(question, errors);
  return answer as Record<string, unknown>;
}

function samplingErrors(answer: unknown): string[] {
  if (!isRecord(answer)) return ["expected an object"];
  const { model, role, content } = answer;
  const blocks = Array.isArray(content) ? content : [content];
  return [
    ...(typeof model === "string" ? [] : ["model: expected text"]),
    ...(role === "assistant" || role === "user" ? [] : ['role: expected "assistant" or "user"']),
    ...(blocks.every((block) => isRecord(block) && typeof block["type"] === "string")
      ? []
      : ["content: expected a block with a type, or a list of them"]),
  ];
}

async function answerRoots(handlers: ClientHandlers, question: Question): Promise<Record<string, unknown>> {
  const { roots } = handlers;
  const listed = await ask(roots && ((_, context) => roots(context)), question, handlers);
  if (!Array.isArray(listed)) throw unfit(question, ["expected a list"]);
  const wrong = listed.findIndex((root) => !isRecord(root) || !isFileUri(root["uri"]));
  if (wrong >= 0) throw unfit(question, [`roots[${wrong}].uri: expected a file: URI`]);
  return { roots: [...listed] };
}

function isFileUri(uri: unknown): boolean {
  return typeof uri === "string" && URL.canParse(uri) && new URL(uri).protocol === "file:";
}

/** Runs a handler until it is done or its answer is no longer wanted, whichever comes first. */
async function ask<Answer = Record<string, unknown>>(
  handler: ((...args: Parameters<QuestionHandler>) => Promise<Answer>) | undefined,
  question: Question,
  { absence }: ClientHandlers,
  kind?: string,
): Promise<Answer> {
  const { params, server, tool, taskId, whenDone, signal } = question;
  const what = questionText(question);
  if (handler === undefined) {
    const missing = kind === undefined ? "there is no handler" : `there is no handler that does ${kind}`;
    throw new UnansweredError("no-handler", `it asked for ${what}, and ${absence ?? missing}`, question);
  }
  const aborted = abortOf(question);
  try {
    // Called a tick later, so that a handler that throws at once fails like any other.
    const answered = Promise.resolve().then(() => handler(params, { server, tool, taskId, whenDone, signal }));
    return await Promise.race([aborted.promise, answered]);
  } catch (error) {
    if (error instanceof UnansweredError && error.question === question) throw error;
    if (error instanceof DeclinedError) {
      const why = error.message === "" ? "" : `: ${error.message}`;
      throw new UnansweredError("declined", `the user declined its ${what}${why}`, question, error);
    }
    const why = error instanceof Error ? error.message : String(error);
    throw new UnansweredError("handler-failed", `the handler for its ${what} failed: ${why}`, question, error);
  } finally {
    aborted.release();
  }
}

function abortOf(question: Question): { readonly promise: Promise<never>; release(): void } {
  const { signal } = question;
  let onAbort: () => void = () => {};
  const promise = new Promise<never>((_, reject) => {
    onAbort = () => reject(new UnansweredError("aborted", `its ${questionText(question)} was withdrawn`, question));
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted) onAbort();
  });
  // Without a race on it, as when it is released, nobody minds its rejection.
  promise.catch(() => undefined);
  return { promise, release: () => signal?.removeEventListener("abort", onAbort) };
}

function unusable(question: Question, what: string): UnansweredError {
  return new UnansweredError("unusable-question", `it asked for ${questionText(question)}: ${what}`, question);
}

function unfit(question: Question, errors: readonly string[]): UnansweredError {
  const message = `the answer to its ${questionText(question)} doesn't fit: ${errors.join("; ")}`;
  return new UnansweredError("unfit-answer", message, question);
}
