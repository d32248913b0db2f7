/**
 * Turns the content blocks of a result into what a model can read: text and images (Pi's `docs/mcp.md`). Images
 * stay images; audio and other binary data go to owner-only files, named with their type and size; a resource
 * link says which server to read it from. Base64 never becomes text. Nothing here limits length: `result.ts` does.
 */
import type { CallToolResult, ContentBlock, EmbeddedResource, ResourceLink } from "../codegen/result.ts";
import { collectEncodedStrings, decodedSize, findEncodedRuns } from "./base64.ts";
import { jsonText } from "./json-text.ts";
import { essenceOf, extensionFor, formatSize, isImage, isTextual } from "./mime.ts";
import type { OutputStore } from "./output-store.ts";

export type ModelBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly data: string; readonly mimeType: string };

export interface BlockContext {
  /** The server's name, for lines that tell the model where something is from. */
  readonly server: string;
  readonly store: OutputStore;
  /** Name of the tool that reads resources, where the model has one. */
  readonly readResourceTool?: string | undefined;
}

type Resource = EmbeddedResource["resource"];

/**
 * Content for the model, in the result's order; structured content as JSON where there is no text to mirror
 * it. Files are written for the binary data in it.
 */
export async function renderBlocks(result: CallToolResult, context: BlockContext): Promise<ModelBlock[]> {
  const encoded = encodedNotes(result, context.store);
  const blocks: ModelBlock[] = [];
  for (const block of result.content) blocks.push(await renderBlock(block, encoded, context));
  if (result.structuredContent !== undefined && !blocks.some((block) => block.type === "text")) {
    blocks.push(text(await encoded.inStructured(result.structuredContent)));
  }
  return blocks;
}

/** True for the user interfaces of MCP Apps, which only a host that draws them can use. */
export function isAppResource(resource: { readonly uri?: unknown; readonly mimeType?: unknown }): boolean {
  if (typeof resource.uri === "string" && resource.uri.startsWith("ui://")) return true;
  return typeof resource.mimeType === "string" && /;\s*profile\s*=\s*"?mcp-app"?/i.test(resource.mimeType);
}

async function renderBlock(block: ContentBlock, encoded: EncodedNotes, context: BlockContext): Promise<ModelBlock> {
  switch (block.type) {
    case "text":
      return text(await encoded.inText(block.text));
    case "image":
      if (isImage(block.mimeType)) return { type: "image", data: block.data, mimeType: block.mimeType };
      return text(await encoded.saved("Image", block.data, block.mimeType));
    case "audio":
      return text(await encoded.saved("Audio", block.data, block.mimeType));
    case "resource_link":
      return text(describeLink(block, context));
    case "resource":
      return renderResource(block.resource, encoded);
    default:
      return text(`[Unsupported MCP content ${JSON.stringify((block as { type?: unknown }).type)}]`);
  }
}

async function renderResource(resource: Resource, encoded: EncodedNotes): Promise<ModelBlock> {
  const { uri, mimeType } = resource;
  if (isAppResource(resource)) return text(`[Resource ${uri} omitted: the interface of an MCP App]`);
  if (resource.blob === undefined) return text(`[Resource ${uri}]\n${await encoded.inText(resource.text ?? "")}`);
  if (mimeType !== undefined && isImage(mimeType)) return { type: "image", data: resource.blob, mimeType };
  if (!isTextual(mimeType)) return text(await encoded.saved(`Binary resource ${uri}`, resource.blob, mimeType));
  const decoded = Buffer.from(resource.blob, "base64").toString("utf8");
  return text(`[Resource ${uri}]\n${await encoded.inText(decoded)}`);
}

function describeLink(link: ResourceLink, context: BlockContext): string {
  const size = typeof link.size === "number" ? formatSize(link.size) : undefined;
  const details = [textIn(link.mimeType), size].filter((detail) => detail !== undefined).join(", ");
  const tool = context.readResourceTool;
  const where =
    tool === undefined ? `From server "${context.server}"` : `Read it with ${tool} (server "${context.server}")`;
  const description = textIn(link.description);
  const told = `${details === "" ? "" : ` (${details})`}${description === undefined ? "" : `: ${description}`}`;
  return `[Resource ${link.uri} "${textIn(link.title) ?? link.name}"${told}. ${where}]`;
}

/** What a server left out, or sent as something else, isn't told. */
function textIn(member: unknown): string | undefined {
  return typeof member === "string" ? member : undefined;
}

interface EncodedNotes {
  /** `text` with binary data in it replaced by a note on where it is. */
  inText(text: string): Promise<string>;
  /** Indented JSON of `value`, the same done to its strings. */
  inStructured(value: unknown): Promise<string>;
  /** `[<what> (type, size) saved to <path>]`. */
  saved(what: string, base64: string, mimeType: unknown): Promise<string>;
}

/** Notes on the binary data of one result; each piece is saved at most once however often it is repeated. */
function encodedNotes(result: CallToolResult, store: OutputStore): EncodedNotes {
  const images = new Map<string, string | undefined>();
  const files = new Map<string, string | undefined>();
  for (const block of result.content) noteBinaryBlock(block, images, files);
  const structured = collectEncodedStrings(result.structuredContent);
  const known = new Map([...files, ...images]);
  for (const { base64, mimeType } of structured.values()) if (!known.has(base64)) known.set(base64, mimeType);
  const paths = new Map<string, Promise<string>>();

  const save = (base64: string, mimeType: string | undefined) => {
    const saving = paths.get(base64) ?? describeSaved(store, base64, mimeType);
    paths.set(base64, saving);
    return saving;
  };
  const note = async (base64: string, mimeType: string | undefined) => {
    const kind = `base64 ${essenceOf(mimeType) ?? "data"}, ${formatSize(decodedSize(base64))}`;
    return images.has(base64) ? `[${kind}, shown as an image]` : `[${kind}, ${await save(base64, mimeType)}]`;
  };
  return {
    async inText(source) {
      let rest = 0;
      const pieces: string[] = [];
      for (const run of findEncodedRuns(source, known)) {
        pieces.push(source.slice(rest, run.start), await note(run.base64, run.mimeType));
        rest = run.end;
      }
      return pieces.length === 0 ? source : pieces.join("") + source.slice(rest);
    },
    async inStructured(value) {
      const notes = new Map<string, string>();
      for (const [string, { base64, mimeType }] of structured) notes.set(string, await note(base64, mimeType));
      return jsonText(value, (_key, member) => (typeof member === "string" && notes.get(member)) || member, 2);
    },
    async saved(what, base64, mimeType) {
      const type = essenceOf(mimeType);
      return `[${what} (${type ?? "unknown type"}, ${formatSize(decodedSize(base64))}) ${await save(base64, type)}]`;
    },
  };
}

function noteBinaryBlock(
  block: ContentBlock,
  images: Map<string, string | undefined>,
  files: Map<string, string | undefined>,
) {
  if (block.type === "image") (isImage(block.mimeType) ? images : files).set(block.data, block.mimeType);
  else if (block.type === "audio") files.set(block.data, block.mimeType);
  else if (block.type === "resource" && block.resource.blob !== undefined) {
    const { blob, mimeType } = block.resource;
    (isImage(mimeType) ? images : files).set(blob, mimeType);
  }
}

async function describeSaved(store: OutputStore, base64: string, mimeType: string | undefined): Promise<string> {
  const outcome = await store.save(Buffer.from(base64, "base64"), extensionFor(mimeType));
  return outcome.ok ? `saved to ${outcome.path}` : `could not be saved: ${outcome.reason}`;
}

function text(value: string): ModelBlock {
  return { type: "text", text: value };
}
