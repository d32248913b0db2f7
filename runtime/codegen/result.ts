/**
 * What a tool answers, as MCP's schema has it, in plain types that need no SDK. Open for keys that a newer
 * protocol or a server adds.
 */

export interface Annotations {
  audience?: ("user" | "assistant")[] | undefined;
  priority?: number | undefined;
  lastModified?: string | undefined;
  [key: string]: unknown;
}

interface BlockExtras {
  annotations?: Annotations | undefined;
  _meta?: { [key: string]: unknown } | undefined;
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
  title?: string | undefined;
  description?: string | undefined;
  mimeType?: string | undefined;
  /** Bytes. */
  size?: number | undefined;
}

/** `text`, or `blob` in base64. */
export interface EmbeddedResource extends BlockExtras {
  type: "resource";
  resource: {
    uri: string;
    mimeType?: string | undefined;
    text?: string | undefined;
    blob?: string | undefined;
    [key: string]: unknown;
  };
}

export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;

/** The result of `tools/call`, complete. */
export interface CallToolResult {
  content: ContentBlock[];
  structuredContent?: unknown;
  isError?: boolean | undefined;
  _meta?: { [key: string]: unknown } | undefined;
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
