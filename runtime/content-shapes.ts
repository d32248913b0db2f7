/**
 * What servers answer about resources and prompts, brought to the shape that its type promises. In a list an entry that nobody could
 * ask for is left out, and so is a member of a wrong type; members that nobody here knows stay. What was asked for itself is
 * taken whole or not at all. Pure, and never throws.
 */
import { isRecord } from "../schemas/record.ts";
import type { Prompt, PromptResult, Resource, ResourceContents, ResourceTemplate } from "./resources.ts";

type Members = Readonly<Record<string, unknown>>;

const TEXTS = ["name", "title", "description", "mimeType"] as const;

export function resourceIn(item: unknown): Resource | undefined {
  const entry = entryIn(item, "uri");
  if (entry === undefined) return undefined;
  const { size, ...others } = entry;
  return { name: entry["uri"], ...others, ...(typeof size === "number" && { size }) } as Resource;
}

export function templateIn(item: unknown): ResourceTemplate | undefined {
  const entry = entryIn(item, "uriTemplate");
  return entry && ({ name: entry["uriTemplate"], ...entry } as ResourceTemplate);
}

export function promptIn(item: unknown): Prompt | undefined {
  const entry = entryIn(item, "name");
  if (entry === undefined) return undefined;
  const { arguments: given, ...others } = entry;
  if (!Array.isArray(given)) return others as Prompt;
  const args = given.flatMap((one: unknown) => {
    const argument = entryIn(one, "name");
    if (argument === undefined) return [];
    const { required, ...rest } = argument;
    return [{ ...rest, ...(typeof required === "boolean" && { required }) }];
  });
  return { ...others, arguments: args } as Prompt;
}

/** Undefined for what is neither text nor binary. A server that leaves the address out means the one that was asked for. */
export function contentsIn(item: unknown, uri: string): ResourceContents | undefined {
  if (!isRecord(item)) return undefined;
  const isContents = typeof item["text"] === "string" || typeof item["blob"] === "string";
  const wellTyped = without(item, (key, value) => isWrongText(["uri", "mimeType", "text", "blob"], key, value));
  return isContents ? ({ uri, ...wellTyped } as ResourceContents) : undefined;
}

export function promptResultIn(result: Members): PromptResult | undefined {
  const { messages } = result;
  if (!Array.isArray(messages) || !messages.every(isMessage)) return undefined;
  return without(result, (key, value) => isWrongText(["description"], key, value)) as PromptResult;
}

function isMessage(message: unknown): boolean {
  if (!isRecord(message) || typeof message["role"] !== "string") return false;
  const { content } = message;
  if (!isRecord(content) || typeof content["type"] !== "string") return false;
  return content["type"] !== "text" || typeof content["text"] === "string";
}

/** `id` is the member that an entry is asked for by. */
function entryIn(item: unknown, id: string): Members | undefined {
  if (!isRecord(item) || typeof item[id] !== "string" || item[id] === "") return undefined;
  return without(item, (key, value) => isWrongText(TEXTS, key, value));
}

function isWrongText(texts: readonly string[], key: string, value: unknown): boolean {
  return texts.includes(key) && typeof value !== "string";
}

function without(members: Members, isWrong: (key: string, value: unknown) => boolean): Members {
  // Not by assignment: a member may be called `__proto__`.
  return Object.fromEntries(Object.entries(members).filter(([key, value]) => !isWrong(key, value)));
}
