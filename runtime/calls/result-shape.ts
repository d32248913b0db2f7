/**
 * Makes a valid `CallToolResult` of whatever a server sent. A valid result comes back as it is, the same object,
 * with every key the server added; what doesn't fit is repaired piece by piece, each with a notice, so that one
 * malformed block never costs the rest of the answer. Content blocks of types nobody specified yet are kept.
 */
import { isRecord } from "../../schemas/record.ts";
import type { CallToolResult } from "../codegen/result.ts";
import { jsonText } from "../limits/json-text.ts";

export interface RepairedResult {
  readonly result: CallToolResult;
  /** One sentence for each thing that was wrong. */
  readonly notices: readonly string[];
}

type Members = Readonly<Record<string, unknown>>;

export function repairResult(raw: unknown): RepairedResult {
  const notices: string[] = [];
  if (!isRecord(raw)) {
    const kind = raw === null ? "null" : Array.isArray(raw) ? "an array" : typeof raw;
    const content = raw === null || raw === undefined ? [] : [textBlock(typeof raw === "string" ? raw : jsonText(raw))];
    return { result: { content }, notices: [`the result is ${kind}, not an object`] };
  }
  const content = repairContent(raw, notices);
  const isError = repairIsError(raw, notices);
  if (notices.length === 0) return { result: raw as CallToolResult, notices };
  const { isError: _replaced, ...rest } = raw;
  const result = { ...rest, content, ...(isError === undefined ? {} : { isError }) };
  return { result: result as CallToolResult, notices };
}

function repairContent(raw: Members, notices: string[]): unknown[] {
  const content = raw["content"];
  if (Array.isArray(content)) return content.map((block, index) => repairBlock(block, index, notices));
  if (content === undefined) {
    notices.push("the result has no content array");
    return [];
  }
  notices.push(`the result's content is ${content === null ? "null" : typeof content}, not an array`);
  return content === null ? [] : [repairBlock(content, 0, [])];
}

function repairIsError(raw: Members, notices: string[]): boolean | undefined {
  const isError = raw["isError"];
  if (isError === undefined || typeof isError === "boolean") return isError;
  notices.push(`the result's isError is ${jsonText(isError)}, not a boolean`);
  return isError === "true" || isError === 1;
}

/** The block itself, or a text block that says what could be made of it. */
function repairBlock(block: unknown, index: number, notices: string[]): unknown {
  const problem = problemOf(block);
  if (problem === undefined) return block;
  notices.push(`content block ${index} ${problem}`);
  if (typeof block === "string") return textBlock(block);
  if (isRecord(block) && typeof block["text"] === "string") return textBlock(block["text"]);
  return textBlock(
    isRecord(block) && block["type"] === "text" && block["text"] !== undefined
      ? jsonText(block["text"])
      : `[content block that ${problem}]`,
  );
}

function problemOf(block: unknown): string | undefined {
  if (!isRecord(block)) return `is ${block === null ? "null" : typeof block}, not an object`;
  switch (block["type"]) {
    case "text":
      return missing(block, "text");
    case "image":
    case "audio":
      return missing(block, "data") ?? missing(block, "mimeType");
    case "resource_link":
      return missing(block, "uri") ?? missing(block, "name");
    case "resource":
      return resourceProblem(block["resource"]);
    default:
      return missing(block, "type");
  }
}

function resourceProblem(resource: unknown): string | undefined {
  if (!isRecord(resource)) return "has no resource object";
  const { mimeType, text, blob } = resource;
  if (mimeType !== undefined && typeof mimeType !== "string") return "has a resource whose mimeType is no string";
  if (typeof text !== "string" && typeof blob !== "string") return "has a resource without text or blob";
  if (text !== undefined && typeof text !== "string") return "has a resource whose text is no string";
  if (blob !== undefined && typeof blob !== "string") return "has a resource whose blob is no string";
  return missing(resource, "uri");
}

function missing(holder: Members, key: string): string | undefined {
  return typeof holder[key] === "string" ? undefined : `has no string "${key}"`;
}

function textBlock(text: string) {
  return { type: "text" as const, text };
}
