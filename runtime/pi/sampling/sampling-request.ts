/**
 * A server's `sampling/createMessage` as a request to a model of Pi's, and the model's answer as MCP has it. Takes text
 * and images; what else there may be in a message is refused with the reason. Untrusted data is only looked at. Pure.
 */
import type { AssistantMessage, Context, ImageContent, Message, Model, TextContent } from "@earendil-works/pi-ai";
import { isRecord } from "../../../schemas/record.ts";
import { shortLine } from "../terminal-text.ts";

export interface SampledMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly (TextContent | ImageContent)[];
}

export interface SamplingRequest {
  readonly systemPrompt: string | undefined;
  readonly messages: readonly SampledMessage[];
  readonly maxTokens: number | undefined;
  readonly temperature: number | undefined;
  readonly stopSequences: readonly string[];
  readonly hasImages: boolean;
}

export type ReadRequest =
  | { readonly ok: true; readonly request: SamplingRequest }
  | { readonly ok: false; readonly reason: string };

const MOST_MESSAGES = 1000;
/** UTF-16 units of text in all: more than models take, and than anybody reads through before saying yes. */
const MOST_TEXT = 4_000_000;

export function readSamplingRequest(params: Readonly<Record<string, unknown>>): ReadRequest {
  const { messages, systemPrompt, maxTokens, temperature, stopSequences } = params;
  if (!Array.isArray(messages) || messages.length === 0) return refused("it has no messages");
  if (messages.length > MOST_MESSAGES) return refused(`it has ${messages.length} messages`);
  const read: SampledMessage[] = [];
  for (const message of messages) {
    const one = readMessage(message);
    if (typeof one === "string") return refused(one);
    read.push(one);
  }
  const texts = read.flatMap(({ content }) => content.flatMap((block) => (block.type === "text" ? [block.text] : [])));
  const length = [systemPrompt, ...texts].reduce<number>((sum, text) => sum + String(text ?? "").length, 0);
  if (length > MOST_TEXT) return refused(`it has ${length} characters of text`);
  const request: SamplingRequest = {
    systemPrompt: typeof systemPrompt === "string" && systemPrompt !== "" ? systemPrompt : undefined,
    messages: read,
    maxTokens: isPositive(maxTokens) ? Math.floor(maxTokens) || 1 : undefined,
    temperature: typeof temperature === "number" && Number.isFinite(temperature) ? temperature : undefined,
    stopSequences: Array.isArray(stopSequences) ? stopSequences.filter(isStopSequence) : [],
    hasImages: read.some(({ content }) => content.some(({ type }) => type === "image")),
  };
  return { ok: true, request };
}

/** The message, or why no model here takes it. */
function readMessage(message: unknown): SampledMessage | string {
  if (!isRecord(message)) return "a message is none";
  const { role, content } = message;
  if (role !== "user" && role !== "assistant") return "a message is of neither the user nor the assistant";
  const blocks: (TextContent | ImageContent)[] = [];
  for (const block of Array.isArray(content) ? content : [content]) {
    if (!isRecord(block)) return "a message has no content";
    const { type, text, data, mimeType } = block;
    if (type === "text" && typeof text === "string") blocks.push({ type, text });
    else if (type === "image" && role === "user" && typeof data === "string" && typeof mimeType === "string")
      blocks.push({ type, data, mimeType });
    else return `it sends ${shortLine(String(type), 40)} as the ${role}, and only text and a user's images are taken`;
  }
  return blocks.length > 0 ? { role, content: blocks } : "a message has no content";
}

function isPositive(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value > 0;
}

function isStopSequence(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** `at` is the time that messages need, in milliseconds. */
export function contextFor({ systemPrompt, messages }: SamplingRequest, model: Model<string>, at: number): Context {
  return {
    ...(systemPrompt !== undefined && { systemPrompt }),
    messages: messages.map(({ role, content }): Message => {
      if (role === "user") return { role, content: [...content], timestamp: at };
      const text = content.flatMap((block) => (block.type === "text" ? [block] : []));
      const { api, provider, id } = model;
      return { role, content: text, api, provider, model: id, usage: NO_USAGE, stopReason: "stop", timestamp: at };
    }),
  };
}

const NO_USAGE: AssistantMessage["usage"] = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

export interface SamplingResult {
  readonly model: string;
  readonly role: "assistant";
  readonly content: { readonly type: "text"; readonly text: string };
  readonly stopReason: "endTurn" | "maxTokens" | "stopSequence";
}

/** What the model said, without what it thought; ended where the server wanted it to. */
export function resultOf(message: AssistantMessage, { stopSequences }: SamplingRequest): SamplingResult {
  const said = message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
  const stops = stopSequences.map((stop) => said.indexOf(stop)).filter((at) => at >= 0);
  const end = Math.min(said.length, ...stops);
  const ended = message.stopReason === "length" ? "maxTokens" : "endTurn";
  return {
    model: message.responseModel ?? message.model,
    role: "assistant",
    content: { type: "text", text: said.slice(0, end) },
    stopReason: stops.length > 0 ? "stopSequence" : ended,
  };
}

function refused(reason: string): ReadRequest {
  return { ok: false, reason };
}
