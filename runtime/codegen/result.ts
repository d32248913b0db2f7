/**
 * What a tool answers, as MCP's schema has it, in plain types that need no SDK. Open for keys that a newer
 * protocol or a server adds.
 */

export interface Annotations {
  audience?: ("user" | "assistant")[];
  priority?: number;
  lastModified?: string;
  [key: string]: unknown;
}

interface BlockExtras {
  annotations?: Annotations;
  _meta?: { [key: string]: unknown };
  [key: string]: unknown;
}

export interface TextContent extends BlockExtras {
  type: "text";
  text: string;
}

/** `data` is base64. */
export interface ImageContent extends BlockExtras {
  type: "image";
  data: string;
  mimeType: string;
}

/** `data` is base64. */
export interface AudioContent extends BlockExtras {
  type: "audio";
  data: string;
  mimeType: string;
}

export interface ResourceLink extends BlockExtras {
  type: "resource_link";
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  /** Bytes. */
  size?: number;
}

/** `text`, or `blob` in base64. */
export interface EmbeddedResource extends BlockExtras {
  type: "resource";
  resource: { uri: string; mimeType?: string; text?: string; blob?: string; [key: string]: unknown };
}

export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;

/** The result of `tools/call`, complete. */
export interface CallToolResult {
  content: ContentBlock[];
  structuredContent?: unknown;
  isError?: boolean;
  _meta?: { [key: string]: unknown };
  [key: string]: unknown;
}

/** What a stub's method resolves to. A tool's own error is thrown as `ToolError` instead. */
export interface ToolResult<T> {
  /** `structuredContent`, or the JSON value of the only text block; undefined when the tool answered neither. */
  structured: T;
  /** The text blocks, joined by newlines. */
  text: string;
  content: ContentBlock[];
  result: CallToolResult;
}
