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
   * Trigger Long Running Operation Tool
   *
   * Demonstrates a long running operation with progress updates.
   */
  triggerLongRunningOperation(args?: TriggerLongRunningOperationInput, options?: CallOptions): Promise<ToolResult<unknown>>;
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
  triggerLongRunningOperation: "trigger-long-running-operation",
});
