// Made by pimcp from the tools of "everything". Do not edit; run `pimcp compile`.
/* eslint-disable */

import { type CallOptions, client, type ToolResult } from "pimcp/codegen/v1";

export interface EchoInput {
  /** Message to echo */
  message: string;
}

export interface GetAnnotatedMessageInput {
  /**
   * Whether to include an example image
   * (default false)
   */
  includeImage?: boolean;
  /** Type of message to demonstrate different annotation patterns */
  messageType: "error" | "success" | "debug";
}

export interface GetEnvInput {
  [k: string]: unknown;
}

export interface GetResourceLinksInput {
  /**
   * Number of resource links to return (1-10)
   * (>= 1, <= 10, default 3)
   */
  count?: number;
}

export interface GetResourceReferenceInput {
  /**
   * ID of the text resource to fetch
   * (default 1)
   */
  resourceId?: number;
  /** (default "Text") */
  resourceType?: "Text" | "Blob";
}

export interface GetStructuredContentInput {
  /** Choose city */
  location: "New York" | "Chicago" | "Los Angeles";
}

export interface GetStructuredContentOutput {
  /** Weather conditions description */
  conditions: string;
  /** Humidity percentage */
  humidity: number;
  /** Temperature in celsius */
  temperature: number;
}

export interface GetSumInput {
  /** First number */
  a: number;
  /** Second number */
  b: number;
}

export interface GetTinyImageInput {
  [k: string]: unknown;
}

export interface GzipFileAsResourceInput {
  /**
   * URL or data URI of the file content to compress
   * (format uri, default "https://raw.githubusercontent.com/modelcontextprotocol/servers/refs/heads/main…)
   */
  data?: string;
  /**
   * Name of the output file
   * (default "README.md.gz")
   */
  name?: string;
  /**
   * How the resulting gzipped file should be returned. 'resourceLink' returns a link to a resource that can be read later, 'resource' returns a full resource object.
   * (default "resourceLink")
   */
  outputType?: "resourceLink" | "resource";
}

export interface SimulateResearchQueryInput {
  /**
   * Simulate an ambiguous query that requires clarification (triggers input_required status)
   * (default false)
   */
  ambiguous?: boolean;
  /** The research topic to investigate */
  topic: string;
}

export interface ToggleSimulatedLoggingInput {
  [k: string]: unknown;
}

export interface ToggleSubscriberUpdatesInput {
  [k: string]: unknown;
}

export interface TriggerElicitationRequestInput {
  [k: string]: unknown;
}

export interface TriggerLongRunningOperationInput {
  /**
   * Duration of the operation in seconds
   * (default 10)
   */
  duration?: number;
  /**
   * Number of steps in the operation
   * (default 5)
   */
  steps?: number;
}

export interface TriggerUrlElicitationInput {
  /** Optional explicit elicitation ID. Defaults to a random UUID. */
  elicitationId?: string;
  /**
   * Controls which elicitation mechanism is used. When false (default), sends an elicitation/create request (request path). When true, throws a UrlElicitationRequiredError (MCP error code -32042) so the client handles the URL elicitation via the error path rather than waiting for a response. To clear the error, satisfy the prerequisite and retry this call with the same arguments; the retry ignores errorPath and proceeds, so the client does not loop on the same error.
   * (default false)
   */
  errorPath?: boolean;
  /**
   * Message shown to the user before opening the URL
   * (default "Please open the link to complete this action.")
   */
  message?: string;
  /**
   * The URL the user should open
   * (format uri)
   */
  url: string;
}

/** Every feature of the protocol once, for trying things out */
export interface Everything {
  /**
   * Echo Tool
   *
   * Echoes back the input string
   */
  echo(args: EchoInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  /**
   * Get Annotated Message Tool
   *
   * Demonstrates how annotations can be used to provide metadata about content.
   */
  getAnnotatedMessage(args: GetAnnotatedMessageInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  /**
   * Print Environment Tool
   *
   * Returns all environment variables, helpful for debugging MCP server configuration
   */
  getEnv(args?: GetEnvInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  /**
   * Get Resource Links Tool
   *
   * Returns up to ten resource links that reference different types of resources
   */
  getResourceLinks(args?: GetResourceLinksInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  /**
   * Get Resource Reference Tool
   *
   * Returns a resource reference that can be used by MCP clients
   */
  getResourceReference(args?: GetResourceReferenceInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  /**
   * Get Structured Content Tool
   *
   * Returns structured content along with an output schema for client data validation
   */
  getStructuredContent(args: GetStructuredContentInput, options?: CallOptions): Promise<ToolResult<GetStructuredContentOutput>>;

  /**
   * Get Sum Tool
   *
   * Returns the sum of two numbers
   */
  getSum(args: GetSumInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  /**
   * Get Tiny Image Tool
   *
   * Returns a tiny MCP logo image.
   */
  getTinyImage(args?: GetTinyImageInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  /**
   * GZip File as Resource Tool
   *
   * Compresses a single file using gzip compression. Depending upon the selected output type, returns either the compressed data as a gzipped resource or a resource link, allowing it to be downloaded in a subsequent request during the current session.
   */
  gzipFileAsResource(args?: GzipFileAsResourceInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  /**
   * Simulate Research Query
   *
   * Simulates a deep research operation that gathers, analyzes, and synthesizes information. Demonstrates MCP task-based operations with progress through multiple stages. If 'ambiguous' is true and client supports elicitation, sends an elicitation request for clarification.
   */
  simulateResearchQuery(args: SimulateResearchQueryInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  /**
   * Toggle Simulated Logging
   *
   * Toggles simulated, random-leveled logging on or off.
   */
  toggleSimulatedLogging(args?: ToggleSimulatedLoggingInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  /**
   * Toggle Subscriber Updates
   *
   * Toggles simulated resource subscription updates on or off.
   */
  toggleSubscriberUpdates(args?: ToggleSubscriberUpdatesInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  /**
   * Trigger Elicitation Request Tool
   *
   * Trigger a Request from the Server for User Elicitation
   */
  triggerElicitationRequest(args?: TriggerElicitationRequestInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  /**
   * Trigger Long Running Operation Tool
   *
   * Demonstrates a long running operation with progress updates.
   */
  triggerLongRunningOperation(args?: TriggerLongRunningOperationInput, options?: CallOptions): Promise<ToolResult<unknown>>;

  /**
   * Trigger URL Elicitation Tool
   *
   * Trigger a URL elicitation so the client can direct the user to a browser flow. Supports two mechanisms: the request path (elicitation/create, default) which awaits the user's response, and the error path (UrlElicitationRequiredError, -32042) which signals the client to handle URL elicitation via the error response. Set errorPath=true to use the error path.
   */
  triggerUrlElicitation(args: TriggerUrlElicitationInput, options?: CallOptions): Promise<ToolResult<unknown>>;
}

export const everything: Everything = /* @__PURE__ */ client<Everything>(import.meta.url, "everything", {
  echo: "echo",
  getAnnotatedMessage: "get-annotated-message",
  getEnv: "get-env",
  getResourceLinks: "get-resource-links",
  getResourceReference: "get-resource-reference",
  getStructuredContent: "get-structured-content",
  getSum: "get-sum",
  getTinyImage: "get-tiny-image",
  gzipFileAsResource: "gzip-file-as-resource",
  simulateResearchQuery: "simulate-research-query",
  toggleSimulatedLogging: "toggle-simulated-logging",
  toggleSubscriberUpdates: "toggle-subscriber-updates",
  triggerElicitationRequest: "trigger-elicitation-request",
  triggerLongRunningOperation: "trigger-long-running-operation",
  triggerUrlElicitation: "trigger-url-elicitation",
});
