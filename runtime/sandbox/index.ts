/**
 * `import … from "pimcp/sandbox"`: scripts that call tools, for programs. An entry of its own, so that who only calls tools
 * loads none of it. Importing it loads no QuickJS, no TypeScript and no MCP client.
 */
export { createOutputStore, type OutputStore } from "../limits/output-store.ts";
export { codemodeDescription, type DescriptionOptions } from "./description.ts";
export type { CallRecord } from "./execution.ts";
export type {
  DescribedNamespace,
  HostCallContext,
  HostFunction,
  ListedTool,
  SandboxHost,
  SandboxTools,
} from "./host.ts";
export { resultBlocks, type ShownItem, type ShownRun, type ShowOptions, showRun } from "./output.ts";
export { type RuntimeHostOptions, runtimeHost } from "./runtime-host.ts";
export {
  createSandbox,
  type PreparedScript,
  type RunError,
  type RunOptions,
  type RunResult,
  type Sandbox,
  type SandboxOptions,
} from "./sandbox.ts";
export {
  type CheckedScript,
  createScriptChecker,
  forbidsRunning,
  type HostDeclarations,
  type ScriptChecker,
  type ScriptCheckerOptions,
  type ScriptFinding,
  type ScriptToCheck,
  type TypecheckMode,
} from "./script-checker.ts";
