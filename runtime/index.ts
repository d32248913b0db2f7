/**
 * `import … from "pimcp"`: the runtime for those who want control of it. Generated clients need none of this; they
 * import `pimcp/codegen/v1`. Importing this module loads no MCP client, validator, compiler or sandbox.
 */
export type { ServerEntry, ToolEntry, ToolTable } from "../schemas/artifacts/tool-table.ts";
export type { Diagnostic } from "../schemas/diagnostic.ts";
export type { EntryCallOptions } from "./call.ts";
export type { InterpretedResult } from "./calls/results.ts";
export type {
  ClientHandlers,
  ElicitationModes,
  QuestionContext,
  QuestionHandler,
  SamplingFeatures,
} from "./client-features.ts";
export type { CallOptions, CallProgress, CallToolResult, ContentBlock, ToolResult } from "./codegen/v1.ts";
export type { Callback, CallbackRequest, ExpectedAnswer, Interactive } from "./connect/auth/interactive.ts";
export { type OpenTransportOptions, openTransport } from "./connect/open-transport.ts";
export type { TraceEvent, TraceSink } from "./connect/trace.ts";
export type { Drift, ToolDrift } from "./drift.ts";
export { DeclinedError, RefusedError, ServerError, ToolError } from "./errors.ts";
export type { OwnServer } from "./own-servers.ts";
export type {
  Completion,
  CompletionSubject,
  Prompt,
  PromptResult,
  Resource,
  ResourceContents,
  Resources,
  ResourceTemplate,
} from "./resources.ts";
export { createRuntime, type Runtime, type RuntimeOptions } from "./runtime.ts";
export type { ServerState, ServerStatus } from "./server-states.ts";
export type { Skill, SkillFile, SkillList, Skills } from "./skills.ts";
export type { ListedTask, ResumeOptions, Tasks } from "./tasks/tasks.ts";
