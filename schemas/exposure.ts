/**
 * Decides how a tool reaches the model, and says by which rule. The one place that does: the compiler
 * writes its answer into `exposure.json`, the runtime asks it again when a project's override is laid
 * over a user's server.
 *
 * In order: a `toolExposure` key that is exactly the tool's name; the server's own mark that the tool
 * is not for the model (`_meta.ui.visibility` without `model`); the first `toolExposure` pattern that
 * matches; the server's `exposure`; `codemode`. Names are the server's own, never folded ones, so a rule
 * of server `git` can't reach a tool of `git_hub`.
 */
import type { Exposure, ExposureRule } from "./config/server-config.ts";

export interface ExposureSettings {
  readonly exposure?: Exposure;
  readonly toolExposure: readonly ExposureRule[];
}

export interface ExposureDecision {
  readonly exposure: Exposure;
  /** `default`, `server`, `visibility` or `toolExposure:<key>`, as in `exposure.json`. */
  readonly rule: string;
}

export function decideExposure(
  settings: ExposureSettings,
  tool: { readonly name: string; readonly _meta?: unknown },
): ExposureDecision {
  const exact = settings.toolExposure.find((rule) => rule.pattern === tool.name);
  if (exact) return { exposure: exact.exposure, rule: `toolExposure:${exact.pattern}` };
  if (!isForModel(tool._meta)) return { exposure: "hidden", rule: "visibility" };
  const pattern = settings.toolExposure.find((rule) => matchesPattern(rule.pattern, tool.name));
  if (pattern) return { exposure: pattern.exposure, rule: `toolExposure:${pattern.pattern}` };
  if (settings.exposure !== undefined) return { exposure: settings.exposure, rule: "server" };
  return { exposure: "codemode", rule: "default" };
}

/** Rules that name no tool of the server: most likely misspelt, and a misspelt deny rule denies nothing. */
export function unmatchedRules(settings: ExposureSettings, toolNames: readonly string[]): ExposureRule[] {
  return settings.toolExposure.filter((rule) => !toolNames.some((name) => matchesPattern(rule.pattern, name)));
}

/**
 * Whether `name` is `pattern`, where `*` stands for any characters, also none. The literal pieces
 * between the stars are looked for from left to right, each as early as possible, which never has to go back.
 */
export function matchesPattern(pattern: string, name: string): boolean {
  if (pattern === name) return true;
  const pieces = pattern.split("*");
  if (pieces.length === 1) return false;
  const first = pieces[0]!;
  const last = pieces.at(-1)!;
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  let from = first.length;
  const end = name.length - last.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = name.indexOf(piece, from);
    if (found === -1 || found + piece.length > end) return false;
    from = found + piece.length;
  }
  return true;
}

/** MCP Apps: `ui.visibility` lists who may call the tool; absent means everyone. */
function isForModel(meta: unknown): boolean {
  const ui = ownMember(meta, "ui");
  const visibility = ownMember(ui, "visibility");
  return !Array.isArray(visibility) || visibility.includes("model");
}

function ownMember(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, unknown>)[key];
}
