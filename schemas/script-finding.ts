/**
 * What checking a script finds, and what the checker is asked: the words that the runtime, which has scripts, and the
 * compiler, which knows types, exchange across a thread. Plain data.
 */

export const TYPECHECK_MODES = ["off", "warn", "error"] as const;
/** What a script's type errors do: nobody looks for them, they are told, or they keep it from running. */
export type TypecheckMode = (typeof TYPECHECK_MODES)[number];

export interface ScriptFinding {
  /** An error is sure to fail or contradicts a declaration; a warning is worth a look and stops nothing. */
  readonly severity: "error" | "warning";
  /** `syntax`: no script at all, nothing can run. `types`: it parses, but would do something else than meant. */
  readonly kind: "syntax" | "types";
  /** One line; names the right spelling where one is near. */
  readonly message: string;
  /** Both 1-based, `column` in UTF-16 units, of the script as given. */
  readonly line: number;
  readonly column: number;
  /** The column behind what is meant, where that ends on the same line. */
  readonly endColumn?: number;
  /** What to write in its place, where something is near. */
  readonly suggestion?: string;
}

/** A tool as scripts may call it: by folded name, with the server's schemas. */
export interface CheckedTool {
  readonly name: string;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
  /** What a call resolves to: a `CallToolResult` (default), whose structured content `outputSchema` describes, or what it describes itself. */
  readonly resolvesTo?: "result" | "value";
}

export interface CheckRequest {
  /** Body of an async function. */
  readonly source: string;
  /** The tools it names; another member of `tools` counts as unknown. */
  readonly tools: readonly CheckedTool[];
  /** Members of `tools` that the host adds, as statements of an interface; trusted. */
  readonly hostTools: string;
  /** Declarations of the host's further globals; trusted. */
  readonly hostGlobals: string;
  /** Results come as MCP has them, without pimcp's `structured`. */
  readonly plainResults?: boolean;
  /** Known not to parse: only say where and why. */
  readonly broken: boolean;
}

/** A finding, before anybody with all names has looked for the right one. */
export interface CheckFinding extends ScriptFinding {
  /** The member of `tools` that isn't there, and what is read from it, as in `tools.github.create_issue`. */
  readonly unknownTool?: { readonly name: string; readonly member?: string };
}

/** What the compiler's module of that purpose exports. */
export interface ScriptCheckModule {
  /** Loads what checking needs; later calls come back at once. */
  openScriptCheck(): Promise<ScriptCheck>;
}

export interface ScriptCheck {
  check(request: CheckRequest): readonly CheckFinding[];
  /** A tool's declaration in full, as `describeTool()` shows it. */
  declare(tool: CheckedTool & { readonly description?: string }): string;
}
